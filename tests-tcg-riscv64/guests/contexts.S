/*
 * One context after the other, in M-mode: ASIDs in satp, which is not in use.
 * In the middle, a door that whoever watches can close, and open again.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define SV39        (8 << 60)
#define CONTEXTS    4

	.text
	.globl  main
main:
	call    contexts
	la      s1, door
	.globl  wait
wait:	lw      t0, 0(s1)
	beqz    t0, wait
	call    contexts
	PASS

/* Twice each of the contexts 0 to CONTEXTS - 1 */
contexts:
	mv      s3, ra
	li      s0, 0
1:	andi    t0, s0, CONTEXTS - 1
	slli    t0, t0, 44
	li      t1, SV39
	or      t0, t0, t1
	.globl  switch_context
switch_context:
	csrw    satp, t0
	addi    t0, s0, 0
	csrr    t1, satp            /* the whole ASID has arrived */
	srli    t1, t1, 44
	andi    t1, t1, CONTEXTS - 1
	andi    t2, s0, CONTEXTS - 1
	CHECK_EQ(t1, t2)
	li      s2, 10
2:	call    work
	addi    s2, s2, -1
	bnez    s2, 2b
	addi    s0, s0, 1
	li      t0, 2 * CONTEXTS
	bne     s0, t0, 1b
	jr      s3

	.globl  work
work:	addi    a0, a0, 1
	andi    t0, a0, 3
	bnez    t0, 1f
	addi    a0, a0, 2
	.globl  work_end
1:
work_end:
	ret

	.data
	.balign 4
	.globl  door
door:	.word   1                   /* 0: closed */
