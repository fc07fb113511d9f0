/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An interpreter: a small language is compiled to a tree, which is walked.
 * Most of its operators, and all of its errors, are rare.
 */
#include "program.h"

const uint32_t program_sum = 0x5ff9dbfa;

typedef enum Kind {
    NUMBER, VARIABLE, NEGATE, NOT, INVERT, ADD, SUB, MUL, DIV, MOD, AND, OR,
    XOR, SHIFT_LEFT, SHIFT_RIGHT, LESS, GREATER, EQUAL, UNEQUAL, ASSIGN, THEN,
    WHILE, IF,
} Kind;

typedef struct Node {
    Kind kind;
    int32_t value;
    struct Node *a, *b, *c;
} Node;

static Node nodes[512];
static unsigned nr_nodes;
static int32_t variables[26];
static const char *text;
static unsigned errors, steps;

static const char source[] =
    "n = 2000; i = 2; c = 0; s = 1; "
    "while (i < n) { j = 2; p = 1; "
    "  while (p & (j * j < i + 1)) { "
    "    if (i % j == 0) { p = 0 } else { j = j + 1 } }; "
    "  if (p) { c = c + 1; s = (s << 5 ^ s >> 3) + i } else { "
    "    if (i % 210 == 0) { s = s - ~i } else { s = s + 1 } }; "
    "  i = i + 1 }; "
    "k = 0; while (k < 6000) { x = k; r = 0; "
    "  while (x > 0) { r = r * 10 + x % 10; x = x / 10 }; "
    "  if (r == k) { s = s ^ k } else { "
    "    if (k % 997 == 0) { s = -s | !k } else { c = c + 0 } }; "
    "  k = k + 1 }; s + c ";

static Node *sequence(void);

static void error(void)
{
    errors++;
    if (errors > 100) {
        text = "";
    }
}

static Node *make(Kind kind, Node *a, Node *b, Node *c)
{
    static Node none;
    Node *n;

    if (nr_nodes == ARRAY_SIZE(nodes)) {
        error();
        return &none;
    }
    n = &nodes[nr_nodes++];
    n->kind = kind;
    n->a = a;
    n->b = b;
    n->c = c;
    return n;
}

static void space(void)
{
    while (*text == ' ') {
        text++;
    }
}

static int accept(char c)
{
    space();
    if (*text != c) {
        return 0;
    }
    text++;
    return 1;
}

static Node *block(void)
{
    Node *n;

    if (!accept('{')) {
        error();
    }
    n = sequence();
    if (!accept('}')) {
        error();
    }
    return n;
}

static int word(const char *w)
{
    size_t n = strlen(w);

    space();
    if (memcmp(text, w, n) || (text[n] >= 'a' && text[n] <= 'z')) {
        return 0;
    }
    text += n;
    return 1;
}

static Node *primary(void)
{
    Node *n;

    space();
    if (accept('(')) {
        n = sequence();
        if (!accept(')')) {
            error();
        }
        return n;
    }
    if (accept('-')) {
        return make(NEGATE, primary(), 0, 0);
    }
    if (accept('!')) {
        return make(NOT, primary(), 0, 0);
    }
    if (accept('~')) {
        return make(INVERT, primary(), 0, 0);
    }
    n = make(NUMBER, 0, 0, 0);
    if (*text >= '0' && *text <= '9') {
        while (*text >= '0' && *text <= '9') {
            n->value = n->value * 10 + *text++ - '0';
        }
    } else if (*text >= 'a' && *text <= 'z') {
        n->kind = VARIABLE;
        n->value = *text++ - 'a';
    } else {
        error();
    }
    return n;
}

static int operator_at(const char *s, Kind *kind, int *length)
{
    *length = 1;
    switch (*s) {
    case '*': *kind = MUL; return 5;
    case '/': *kind = DIV; return 5;
    case '%': *kind = MOD; return 5;
    case '+': *kind = ADD; return 4;
    case '-': *kind = SUB; return 4;
    case '<':
        *length = s[1] == '<' ? 2 : 1;
        *kind = s[1] == '<' ? SHIFT_LEFT : LESS;
        return 3;
    case '>':
        *length = s[1] == '>' ? 2 : 1;
        *kind = s[1] == '>' ? SHIFT_RIGHT : GREATER;
        return 3;
    case '=':
    case '!':
        if (s[1] != '=') {
            return 0;
        }
        *length = 2;
        *kind = *s == '=' ? EQUAL : UNEQUAL;
        return 2;
    case '&': *kind = AND; return 1;
    case '|': *kind = OR; return 1;
    case '^': *kind = XOR; return 1;
    default: return 0;
    }
}

static Node *expression(int above)
{
    Node *left = primary();

    for (;;) {
        Kind kind = NUMBER;
        int length, level;

        space();
        level = operator_at(text, &kind, &length);
        if (level <= above) {
            return left;
        }
        text += length;
        left = make(kind, left, expression(level), 0);
    }
}

static Node *statement(void)
{
    Node *a, *b;

    if (word("while")) {
        a = primary();
        return make(WHILE, a, block(), 0);
    }
    if (word("if")) {
        a = primary();
        b = block();
        return make(IF, a, b, word("else") ? block() : 0);
    }
    a = expression(0);
    if (a->kind == VARIABLE && accept('=')) {
        return make(ASSIGN, a, statement(), 0);
    }
    return a;
}

static Node *sequence(void)
{
    Node *n = statement();

    while (accept(';')) {
        n = make(THEN, n, statement(), 0);
    }
    return n;
}

static __attribute__((noinline)) int32_t divide(int32_t a, int32_t b, int rest)
{
    if (b == 0 || (b == -1 && a == INT32_MIN)) {
        error();
        return 0;
    }
    return rest ? a % b : a / b;
}

static int32_t eval(const Node *n)
{
    int32_t v;

    if (++steps > 20000000) {
        error();
        return 0;
    }
    switch (n->kind) {
    case NEGATE: return -(uint32_t)eval(n->a);
    case NOT: return !eval(n->a);
    case INVERT: return ~eval(n->a);
    case UNEQUAL: return eval(n->a) != eval(n->b);
    case OR: return eval(n->a) | eval(n->b);
    case XOR: return eval(n->a) ^ eval(n->b);
    case SHIFT_LEFT: return (uint32_t)eval(n->a) << (eval(n->b) & 31);
    case SHIFT_RIGHT: return (uint32_t)eval(n->a) >> (eval(n->b) & 31);
    case NUMBER: return n->value;
    case VARIABLE: return variables[n->value];
    case ADD: return (uint32_t)eval(n->a) + eval(n->b);
    case SUB: return (uint32_t)eval(n->a) - eval(n->b);
    case MUL: return (uint32_t)eval(n->a) * eval(n->b);
    case DIV:
        v = eval(n->a);
        return divide(v, eval(n->b), 0);
    case MOD:
        v = eval(n->a);
        return divide(v, eval(n->b), 1);
    case AND: return eval(n->a) & eval(n->b);
    case LESS: return eval(n->a) < eval(n->b);
    case GREATER: return eval(n->a) > eval(n->b);
    case EQUAL: return eval(n->a) == eval(n->b);
    case ASSIGN: return variables[n->a->value] = eval(n->b);
    case THEN:
        eval(n->a);
        return eval(n->b);
    case WHILE:
        for (v = 0; eval(n->a); ) {
            v = eval(n->b);
        }
        return v;
    case IF:
        return eval(n->a) ? eval(n->b) : n->c ? eval(n->c) : 0;
    default:
        error();
        return 0;
    }
}

uint32_t program(void)
{
    uint32_t sum;

    text = source;
    sum = eval(sequence());
    space();
    if (*text) {
        error();
    }
    return mix(mix(mix(sum, errors), steps), nr_nodes);
}
