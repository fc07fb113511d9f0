/*
 * A program of several files, with much inlining, to ask debug info about
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "check.h"
#include "debug-program.h"
#include "guest-build.h"

static const char *const inner_h =
    "static inline int inner(volatile int *p, int n)\n"
    "{\n"
    "    int sum = 0;\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        sum += p[i] ? p[i] : -1; if (sum > 1000) { sum /= 3; }\n"
    "    }\n"
    "    return sum;\n"
    "}\n"
    "static inline int middle(volatile int *p, int n)\n"
    "{\n"
    "    return inner(p, n) + inner(p + 1, n - 1) * 2;\n"
    "}\n";

static const char *const one_c =
    "#include \"inc/inner.h\"\n"
    "int shared[16];\n"
    "int two(volatile int *p, int n);\n"
    "static __attribute__((noinline)) int own(int n)\n"
    "{\n"
    "    return middle(shared, n & 7) ^ n;\n"
    "}\n"
    "static int folded(int a, int b)\n"
    "{\n"
    "    int r = middle(shared, a);\n"
    "    if (__builtin_expect(r < b, 0)) {\n"
    "        r += own(b);\n"
    "    }\n"
    "    return r + inner(shared, b);\n"
    "}\n"
    "__attribute__((cold, noinline)) void unused(void)\n"
    "{\n"
    "    shared[3] = 7;\n"
    "}\n"
    "void _start(void)\n"
    "{\n"
    "    for (int i = 0; i < 4; i++) {\n"
    "        shared[i] = folded(i, two(shared, i)); shared[5] += own(i);\n"
    "    }\n"
    "    for (;;) {\n"
    "    }\n"
    "}\n";

static const char *const two_c =
    "#include \"inc/inner.h\"\n"
    "extern int shared[16];\n"
    "int two(volatile int *p, int n)\n"
    "{\n"
    "    switch (n) {\n"
    "    case 0: return inner(p, 3);\n"
    "    case 1: return middle(p, 2) - 1;\n"
    "    case 2: p[0] = 8; p[1] = 9; return 4;\n"
    "    }\n"
    "    for (int i = 0; i < n; i++) { shared[i] = middle(p, i); }\n"
    "    return inner(p, n);\n"
    "}\n";

/* Code without functions, as far as DWARF goes */
static const char *const low_s =
    "    .text\n"
    "    .globl low\n"
    "low:\n"
    "    addi a0,a0,1\n"
    "    nop\n"
    "    ret\n";

char *debug_program_dir(void)
{
    char *dir = guest_dir_new();

    g_free(guest_run(dir, NULL, "mkdir inc"));
    guest_write(dir, "inc/inner.h", inner_h);
    guest_write(dir, "one.c", one_c);
    guest_write(dir, "two.c", two_c);
    guest_write(dir, "low.S", low_s);
    return dir;
}

char *debug_program_build(const char *dir, const char *flags, const char *name)
{
    g_free(guest_run(dir, NULL, GUEST_TOOLS "gcc -ffreestanding -fno-pic "
                     "-no-pie -nostdlib -static -Wl,--build-id %s "
                     "one.c two.c low.S -o %s", flags, name));
    return g_build_filename(dir, name, NULL);
}
