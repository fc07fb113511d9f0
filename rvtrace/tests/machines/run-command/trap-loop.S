/*
 * A firmware whose stack pointer leads nowhere: its handler's first store takes
 * an exception, and so does the handler of that, for ever.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
    .globl _start
_start:
    la      t0, handler
    csrw    mtvec, t0
    li      sp, 0
    sd      ra, -8(sp)
1:  j       1b

    .balign 4
handler:
    addi    sp, sp, -64
faults:
    sd      ra, 8(sp)
    ld      ra, 8(sp)
    mret
