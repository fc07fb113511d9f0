/*
 * A task of tasks.c
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

/* Tasks of S-mode ask by ebreak: their ecalls are for M-mode. */
static noinline void yield(struct walk *w)
{
#if LEVEL == 1
    asm volatile(WIDE("ebreak"));
#else
    asm volatile("ecall");
#endif
    w->sum++;
}

void member(struct walk *w)
{
    w->pause = yield;
    while (true) {
        walk_any(w);
    }
}
