/*
 * A system call of programs without a C library
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_USER_CALL_H
#define TESTS_USER_CALL_H

/* Call @nr; returns what the kernel does, an error as a negative number. */
static inline long call(long nr, long a, long b, long c, long d, long e, long f)
{
    register long a0 asm("a0") = a;
    register long a1 asm("a1") = b;
    register long a2 asm("a2") = c;
    register long a3 asm("a3") = d;
    register long a4 asm("a4") = e;
    register long a5 asm("a5") = f;
    register long a7 asm("a7") = nr;

    asm volatile("ecall" : "+r"(a0)
                 : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7)
                 : "memory");
    return a0;
}

#endif /* TESTS_USER_CALL_H */
