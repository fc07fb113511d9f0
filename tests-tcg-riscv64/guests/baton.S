/*
 * Harts that take turns: each works for a while, wakes the next one by a
 * software interrupt and sleeps. Only one runs at any time, so this is also
 * fit for several harts on one host thread (-icount). For any number of harts.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#ifndef TURNS
#define TURNS 60
#endif

	.text
	.globl  main
	.globl  secondary
main:
	/* How many harts are there? Those whose msip can be set. */
	li      s10, 0
	li      t0, CLINT_MSIP
	li      t1, 1
1:	sw      t1, 0(t0)
	lw      t2, 0(t0)
	sw      zero, 0(t0)
	add     s10, s10, t2
	addi    t0, t0, 4
	bnez    t2, 1b
	la      t0, n_harts
	sw      s10, 0(t0)
	fence
	li      s7, 1               /* has the baton */
	j       all

secondary:
	li      s7, 0
	la      t0, n_harts         /* until then msip is hart 0's */
1:	lw      s10, 0(t0)
	beqz    s10, 1b
all:
	csrr    s0, mhartid
	SET_MTVEC(on_ipi)
	li      t0, MIP_MSIP
	csrw    mie, t0
	li      s2, TURNS
turn:
	/* Wait for the baton, with interrupts on: taken behind the wfi */
1:	bnez    s7, 2f
	wfi
	csrsi   mstatus, MSTATUS_MIE
	nop
	csrci   mstatus, MSTATUS_MIE
	j       1b
2:	li      s7, 0

	/* Work: the same code for all, another amount */
	la      t0, total
	lw      s1, 0(t0)
	addi    a0, s0, 3
	call    work
	add     s1, s1, a0
	la      t0, total
	sw      s1, 0(t0)
	fence

	addi    s2, s2, -1
	bnez    s2, 3f
	addi    t1, s10, -1
	beq     s0, t1, check
	/* Hand it on */
3:	addi    t1, s0, 1
	bne     t1, s10, 4f
	li      t1, 0
4:	slli    t1, t1, 2
	li      t0, CLINT_MSIP
	add     t0, t0, t1
	li      t1, 1
	sw      t1, 0(t0)
	bnez    s2, turn
5:	wfi
	j       5b

check:
	/* Everybody's work: the Fibonacci numbers of 3, 4, 5, ... */
	li      s3, 0
	mv      s4, s10
1:	addi    a0, s4, 2
	call    work
	add     s3, s3, a0
	addi    s4, s4, -1
	bnez    s4, 1b
	li      t0, TURNS
	mul     s3, s3, t0
	CHECK_EQ(s1, s3)
	j       pass_asleep         /* leaves nothing but the work in a ring */

work:
	li      t0, 2
	blt     a0, t0, 1f
	addi    sp, sp, -16
	SX      ra, 0(sp)
	SX      a0, XBYTES(sp)
	addi    a0, a0, -1
	call    work
	LX      t0, XBYTES(sp)
	SX      a0, XBYTES(sp)
	addi    a0, t0, -2
	call    work
	LX      t0, XBYTES(sp)
	add     a0, a0, t0
	LX      ra, 0(sp)
	addi    sp, sp, 16
1:	ret

	.balign 4
on_ipi:
	slli    t0, s0, 2
	li      t1, CLINT_MSIP
	add     t0, t0, t1
	sw      zero, 0(t0)
	li      s7, 1
	mret

	.bss
	.balign 64
n_harts:
	.space  64
total:
	.space  64
