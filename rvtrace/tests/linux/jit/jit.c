/*
 * A program that makes code at run time, as a JIT compiler does
 *
 * It copies functions of its own to pages of no file and says in
 * /tmp/perf-PID.map what is where, unless it is asked not to. How often it
 * calls each copy, the test knows.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "jit.h"

/* Each in a section of its own, so that its size is that of the section */
#define COPIED(name) \
    static long \
    __attribute__((section("copied_" #name), noinline, used)) name(long n)
#define SIZE(name)  (__stop_copied_##name - __start_copied_##name)

COPIED(sum)
{
    return n * 3 + (n >> 2);
}

COPIED(mix)
{
    n ^= n << 7;
    n ^= n >> 5;
    return n * 11;
}

typedef long Function(long n);

/* Neither is where it is in the file: nothing is known by its bytes. */
static Function *make(char *at, const char *from, size_t size)
{
    memcpy(at, from, size);
    __builtin___clear_cache(at, at + size);
    return (Function *)at;
}

static void say(FILE *map, const void *at, size_t size, const char *name)
{
    if (map) {
        fprintf(map, "%lx %lx %s\n", (unsigned long)at, (unsigned long)size,
                name);
        fflush(map);
    }
}

/* The helper sends what is known by now. */
static void send(const char *helper)
{
    char command[200];

    if (helper) {
        snprintf(command, sizeof(command), "%s jit %d && %s maps %d", helper,
                 (int)getpid(), helper, (int)getpid());
        if (system(command)) {
            puts("jit: not sent");
        }
    }
}

static long calls(Function *fn, int n)
{
    /* volatile: each call is made. */
    volatile long x = 1;

    for (int i = 0; i < n; i++) {
        x = fn(x);
    }
    return x;
}

int main(int argc, char **argv)
{
    const char *helper = argc > 1 ? argv[1] : NULL;
    char *code = mmap(NULL, 12288, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *first = code + 0x540, *second = code + 0x1240;
    /* side by side, at distances that no round number divides */
    char *left = code + 0x2a00;
    char *right = left + SIZE(sum) + (SIZE(sum) % 16 ? 0 : 2);
    char name[40];
    FILE *map = NULL;
    Function *fn, *other;

    if (code == MAP_FAILED) {
        return 1;
    }
    if (helper) {
        snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
        map = fopen(name, "w");
    }
    fn = make(first, __start_copied_sum, SIZE(sum));
    say(map, first, SIZE(sum), "jit_first");
    other = make(second, __start_copied_mix, SIZE(mix));
    say(map, second, SIZE(mix), "jit other, with spaces");
    calls(fn, 1111);
    calls(other, 333);
    fn = make(left, __start_copied_sum, SIZE(sum));
    say(map, left, SIZE(sum), "jit_left");
    other = make(right, __start_copied_mix, SIZE(mix));
    say(map, right, SIZE(mix), "jit_right");
    for (int i = 0; i < 50; i++) {
        calls(fn, 1);
        calls(other, 2);
    }
    send(helper);
    fn = make(first, __start_copied_mix, SIZE(mix));
    say(map, first, SIZE(mix), "jit_second");
    calls(fn, 2222);
    send(helper);
    calls(fn, 5);
    return 0;
}
