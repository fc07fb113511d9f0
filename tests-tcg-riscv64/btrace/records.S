/*
 * The guest uses Smctr itself: M-mode, all entries. FILTER: without direct
 * calls, so that what is between two entries is not always straight.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define sctrdepth       0x15f
#define mctrctl         0x34e
#define MCTRCTL_M       0x4
#define DEPTH_256       4

	.text
	.globl  main
main:
	li      t0, DEPTH_256
	csrw    sctrdepth, t0
	li      t0, MCTRCTL_M
	csrw    mctrctl, t0
	li      s1, 200
1:	andi    t0, s1, 3
	bnez    t0, 2f
	call    outer
2:	addi    s1, s1, -1
	bnez    s1, 1b

	.globl	all
all:
	/* DIRCALLINH */
	li      t0, MCTRCTL_M | 1 << 41
	csrw    mctrctl, t0
	jal     leaf
	.globl  called
called:
	li      s1, 5
3:	addi    s1, s1, -1
	bnez    s1, 3b
	.globl  filtered
filtered:
	nop
	PASS

outer:
	addi    sp, sp, -16
	SX      ra, 0(sp)
	call    leaf
	LX      ra, 0(sp)
	addi    sp, sp, 16
	ret

leaf:
	addi    a0, a0, 1
	ret
