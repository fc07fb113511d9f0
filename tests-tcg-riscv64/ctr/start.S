/*
 * Entry, and the way into the mode under test and back
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#define CTR_ASM
#include "ctr.h"

/* The control register that run() and the trap handler set */
#ifdef NO_MCTRCTL
#define CONTROL CSR_SCTRCTL
#else
#define CONTROL CSR_MCTRCTL
#endif

#ifndef RV32
#define LX ld
#define SX sd
#define XB 8
#else
#define LX lw
#define SX sw
#define XB 4
#endif

/* x1 to x30, from or to the frame at x31 */
.macro each_register op
    .irp    r, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    \op     x\r, \r*XB(x31)
    .endr
    .irp    r, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
    \op     x\r, \r*XB(x31)
    .endr
.endm

    .option norvc
    .section .text.start, "ax"
    .globl _start
_start:
#ifdef MDT_AT_RESET
    /* Smdbltrp: M-mode starts with MDT=1; traps must not be double ones. */
    li      t0, 1
    slli    t0, t0, 42
    csrc    mstatus, t0
#endif
#ifdef NMIE_AT_RESET
    csrsi   CSR_MNSTATUS, 8
#endif
    csrr    t0, mhartid
1:  bnez    t0, 1b
    la      t0, trap_vector
    csrw    mtvec, t0
    csrw    mscratch, zero
    la      sp, stack_top
    li      t0, -1
    csrw    pmpaddr0, t0
    li      t0, 0x1f
    csrw    pmpcfg0, t0
    call    setup

    .text

/*
 * void enter(struct run *r): mepc and mstatus are set. Loads all registers,
 * sets mctrctl and goes; the next trap to M-mode returns here.
 */
    .globl enter
    .globl enter_mret
enter:
    addi    sp, sp, -16 * XB
    SX      ra, 0(sp)
    SX      s0, 1*XB(sp)
    SX      s1, 2*XB(sp)
    SX      s2, 3*XB(sp)
    SX      s3, 4*XB(sp)
    SX      s4, 5*XB(sp)
    SX      s5, 6*XB(sp)
    SX      s6, 7*XB(sp)
    SX      s7, 8*XB(sp)
    SX      s8, 9*XB(sp)
    SX      s9, 10*XB(sp)
    SX      s10, 11*XB(sp)
    SX      s11, 12*XB(sp)
    SX      gp, 13*XB(sp)
    SX      tp, 14*XB(sp)
    la      t0, enter_sp
    SX      sp, 0(t0)
    csrw    mscratch, a0
    mv      x31, a0
    LX      t0, (RUN_MCTRCTL)(a0)
#ifndef NO_CTR
    csrw    CONTROL, t0
#endif
    each_register LX
    LX      x31, 31*XB(x31)
enter_mret:
    mret

    .balign 4
    .globl trap_vector
trap_vector:
#ifndef NO_CTR
    csrwi   CONTROL, 0          /* before anything that could be recorded */
#endif
    csrrw   x31, mscratch, x31
    beqz    x31, unexpected
    each_register SX
    csrr    t0, mscratch
    SX      t0, 31*XB(x31)
    csrw    mscratch, zero
#ifdef MDT_AT_RESET
    li      t0, 1
    slli    t0, t0, 42
    csrc    mstatus, t0
#endif
    la      t0, enter_sp
    LX      sp, 0(t0)
    LX      ra, 0(sp)
    LX      s0, 1*XB(sp)
    LX      s1, 2*XB(sp)
    LX      s2, 3*XB(sp)
    LX      s3, 4*XB(sp)
    LX      s4, 5*XB(sp)
    LX      s5, 6*XB(sp)
    LX      s6, 7*XB(sp)
    LX      s7, 8*XB(sp)
    LX      s8, 9*XB(sp)
    LX      s9, 10*XB(sp)
    LX      s10, 11*XB(sp)
    LX      s11, 12*XB(sp)
    LX      gp, 13*XB(sp)
    LX      tp, 14*XB(sp)
    addi    sp, sp, 16 * XB
    ret

unexpected:
#ifdef MDT_AT_RESET
    li      t0, 1
    slli    t0, t0, 42
    csrc    mstatus, t0
#endif
    la      sp, stack_top
    csrr    a0, mcause
    csrr    a1, mepc
    csrr    a2, mtval
    j       unexpected_trap

/* A handler for S- and VS-mode: whatever follows is not recorded. */
    .balign 4
    .globl quiet_trap
quiet_trap:
    csrwi   CSR_SCTRCTL, 0
    ecall

    .globl ecall_stub, illegal_stub, ebreak_stub, sret_stub, mret_stub
    .globl spin_stub
ecall_stub:
    ecall
illegal_stub:
    .word   0
ebreak_stub:
    ebreak
    ecall
sret_stub:
    sret
mret_stub:
    mret
spin_stub:
    j       spin_stub

    .bss
    .balign 16
enter_sp:
    .space  8
    .balign 4096
    .space  32768
stack_top:
