/*
 * From reset to main, and into a generated program and back
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
    .section .text.start, "ax"
    .globl  _start
_start:
    csrr    t0, mhartid
1:  bnez    t0, 1b
    la      t0, unexpected
    csrw    mtvec, t0
    la      sp, stack_top
    j       main

    .balign 4
unexpected:
    csrr    a0, mcause
    csrr    a1, mepc
    j       unexpected_trap

    .macro  each_saved op
    \op     ra, 0(sp)
    \op     gp, 8(sp)
    \op     tp, 16(sp)
    \op     s0, 24(sp)
    \op     s1, 32(sp)
    \op     s2, 40(sp)
    \op     s3, 48(sp)
    \op     s4, 56(sp)
    \op     s5, 64(sp)
    \op     s6, 72(sp)
    \op     s7, 80(sp)
    \op     s8, 88(sp)
    \op     s9, 96(sp)
    \op     s10, 104(sp)
    \op     s11, 112(sp)
    .endm

    .text
/* a0: x0 to x31, read and then written back; a1: where to start */
    .globl  enter
enter:
    addi    sp, sp, -128
    each_saved sd
    la      t0, saved_sp
    sd      sp, 0(t0)
    csrw    mscratch, a0
    mv      x31, a1
    .irp    n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, \
               19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 10
    ld      x\n, 8 * \n(x10)
    .endr
    jr      x31

/* Programs jump here at their end, in M-mode with CTR off. */
    .globl  leave
    .balign 4
leave:
    csrr    x31, mscratch
    .irp    n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, \
               18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
    sd      x\n, 8 * \n(x31)
    .endr
    la      t0, saved_sp
    ld      sp, 0(t0)
    each_saved ld
    addi    sp, sp, 128
    ret

    .bss
    .balign 8
saved_sp:
    .space  8
    .balign 16
    .space  16384
stack_top:
