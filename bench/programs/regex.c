/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matching with backtracking: . [sets] * + ? ^ $ | and groups */
#include "program.h"

static const char *text_start;

static const char *match(const char *re, const char *end, const char *s);

static const char *atom_end(const char *re)
{
    int depth = 0;

    if (*re == '[') {
        while (*re != ']') {
            re++;
        }
        return re + 1;
    }
    do {
        depth += (*re == '(') - (*re == ')');
        re++;
    } while (depth);
    return re;
}

static int in_set(const char *re, char c)
{
    int negative = re[1] == '^', found = 0;

    for (re += 1 + negative; *re != ']'; re++) {
        if (re[1] == '-' && re[2] != ']') {
            found |= c >= re[0] && c <= re[2];
            re += 2;
        } else {
            found |= c == *re;
        }
    }
    return found != negative;
}

/* One atom; NULL: it does not match */
static const char *one(const char *re, const char *end, const char *s)
{
    switch (*re) {
    case '(':
        return match(re + 1, end - 1, s);
    case '[':
        return *s && in_set(re, *s) ? s + 1 : NULL;
    case '.':
        return *s ? s + 1 : NULL;
    default:
        return *s == *re ? s + 1 : NULL;
    }
}

static const char *repeat(const char *re, const char *atom, const char *end,
                          const char *s, int least, int most)
{
    const char *next, *result;

    if (most > 0) {
        next = one(re, atom, s);
        if (next && next != s) {
            result = repeat(re, atom, end, next, least - 1, most - 1);
            if (result) {
                return result;
            }
        }
    }
    return least > 0 ? NULL : match(atom + 1, end, s);
}

static const char *sequence(const char *re, const char *end, const char *s)
{
    while (re < end) {
        const char *atom;

        if (*re == '$') {
            return *s ? NULL : s;
        }
        if (*re == '^') {
            if (s != text_start) {
                return NULL;
            }
            re++;
            continue;
        }
        atom = atom_end(re);
        if (atom < end && *atom == '*') {
            return repeat(re, atom, end, s, 0, 60);
        }
        if (atom < end && *atom == '+') {
            return repeat(re, atom, end, s, 1, 60);
        }
        if (atom < end && *atom == '?') {
            return repeat(re, atom, end, s, 0, 1);
        }
        s = one(re, atom, s);
        if (!s) {
            return NULL;
        }
        re = atom;
    }
    return s;
}

static const char *match(const char *re, const char *end, const char *s)
{
    const char *from = re;
    int depth = 0;

    for (;; re++) {
        if (re == end || (*re == '|' && depth == 0)) {
            const char *result = sequence(from, re, s);

            if (result || re == end) {
                return result;
            }
            from = re + 1;
        } else {
            depth += (*re == '(') - (*re == ')');
        }
    }
}

/* Where it begins * 256 + how long it is; -1: nowhere */
static int search(const char *re, const char *text)
{
    text_start = text;
    for (const char *s = text;; s++) {
        const char *end = match(re, re + strlen(re), s);

        if (end) {
            return (s - text) * 256 + (end - s);
        }
        if (!*s) {
            return -1;
        }
    }
}

const uint32_t program_sum = 0x30ecf4ed;

uint32_t program(void)
{
    static const char *const expressions[] = {
        "[0-9]+", "(GET|POST) (/[^ ]*)+", "[a-z]+@[a-z]+(.[a-z]+)+$",
        "^(a|b)*c", "x.*y.*z", "Host: ?[^ ]+", "k(ey|ing)?=[0-9a-f]+", "nowhere",
    };
    static const char *const texts[] = {
        "GET /index/of/all.html?key=12ab HTTP/1.1",
        "Host: www.example.org", "mail somebody@example.co.uk",
        "ababababababc and then some more", "an x and a y, an x, no more",
        "POST /a HTTP/1.0 king=beef", "", "0123456789",
    };
    uint32_t sum = 0;

    for (int round = 0; round < 8; round++) {
        for (size_t i = 0; i < ARRAY_SIZE(expressions); i++) {
            for (size_t j = 0; j < ARRAY_SIZE(texts); j++) {
                sum = mix(sum, search(expressions[i], texts[j]));
            }
        }
    }
    return sum;
}
