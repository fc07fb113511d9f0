/*
 * Compile formulas to machine code, call that, and say in /tmp/perf-PID.map
 * what is where, as JIT compilers do for perf: a program of the demo
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Formulas are postfix: x, digits, + - *. x is in a0, the stack in a1 to a7. */
typedef struct Formula {
    const char *name, *text;
} Formula;

static const Formula formulas[] = {
    { "line", "3x*7+" },
    { "parabola", "xx*5x*-9+" },
    { "polynomial", "3x*1-x*4+x*1-x*5+x*9-x*2+x*6-" },
};

typedef long Function(long x);

enum { A0 = 10, STACK = A0 + 1 };

static uint32_t addi(int rd, int rs, int value)
{
    return value << 20 | rs << 15 | rd << 7 | 0x13;
}

static uint32_t operate(char sign, int rd, int rs)
{
    uint32_t insn = rs << 20 | rd << 15 | rd << 7 | 0x33;

    return sign == '-' ? insn | 1u << 30 : sign == '*' ? insn | 1 << 25 : insn;
}

/* Where the next function can be */
static uint32_t *compile(const char *text, uint32_t *code)
{
    int free = STACK;

    for (; *text; text++) {
        if (*text == 'x') {
            *code++ = addi(free++, A0, 0);
        } else if (*text >= '0' && *text <= '9') {
            *code++ = addi(free++, 0, *text - '0');
        } else {
            free--;
            *code++ = operate(*text, free - 1, free);
        }
    }
    *code++ = addi(A0, STACK, 0);
    *code++ = 0x00008067;   /* ret */
    return code;
}

static long add_up(Function *function, long from, long to)
{
    long sum = 0;

    for (long x = from; x < to; x++) {
        sum += function(x);
    }
    return sum;
}

int main(int argc, char **argv)
{
    const size_t n = sizeof(formulas) / sizeof(formulas[0]);
    long rounds = argc > 1 ? atol(argv[1]) : 1000;
    uint32_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t *begin[sizeof(formulas) / sizeof(formulas[0]) + 1] = { code };
    char text[100];
    FILE *map;

    snprintf(text, sizeof(text), "/tmp/perf-%d.map", (int)getpid());
    map = fopen(text, "w");
    if (code == MAP_FAILED || !map) {
        perror("formulas");
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        begin[i + 1] = compile(formulas[i].text, begin[i]);
        fprintf(map, "%lx %lx %s\n", (unsigned long)begin[i],
                (unsigned long)((begin[i + 1] - begin[i]) * sizeof(*code)),
                formulas[i].name);
    }
    fclose(map);
    __builtin___clear_cache((char *)code, (char *)begin[n]);
    /* so that a trace has the names, too */
    snprintf(text, sizeof(text), "rvtrace-guest jit %d", (int)getpid());
    if (system(text)) {
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        printf("%s %ld\n", formulas[i].name,
               add_up((Function *)begin[i], -rounds, rounds));
    }
    return 0;
}
