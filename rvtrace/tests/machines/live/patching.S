/*
 * Code that is patched again and again, with branches between that make trace,
 * and a hart that calls it all the time
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

/* addi a0, zero, imm */
#define ADDI_A0(imm) (0x00000513 | ((imm) << 20))
#define PATCHES 1000
#define BRANCHES 1000

	.text
	.globl  main
main:
	li      s0, 1
	li      s2, PATCHES
	la      s1, patched
1:	slli    t1, s0, 20
	li      t0, ADDI_A0(0)
	or      s3, t1, t0
	/*
	 * QEMU drops translated code before it stores: if the other hart
	 * translates it again in between, the old code stays until the next
	 * store.
	 */
2:	sw      s3, 0(s1)
	fence.i
	call    patched
	bne     a0, s0, 2b
	call    branches
	addi    s0, s0, 1
	bne     s0, s2, 1b
	PASS

	.globl  secondary
secondary:
	fence.i
	call    patched
	call    branches
	j       secondary

	.globl  branches
	.type   branches, @function
branches:
	li      t0, BRANCHES
1:	li      t1, 1664525
	mul     s4, s4, t1
	li      t1, 1013904223
	add     s4, s4, t1
	srli    t1, s4, 20
	andi    t1, t1, 1
	beqz    t1, 2f
	addi    s5, s5, 1
2:	addi    t0, t0, -1
	bnez    t0, 1b
	ret
	.size   branches, . - branches

	.option norvc
	.balign 8
	.globl  patched
	.type   patched, @function
patched:
	addi    a0, zero, 0
	ret
	.size   patched, . - patched
