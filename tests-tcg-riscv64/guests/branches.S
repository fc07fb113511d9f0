/*
 * Runs of conditional branches: as many as a branch map holds, one more, two
 * maps full, ended by an uninferable jump, by a trap, by nothing
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

/* How many of the branches below fall through, three rounds together */
#if XLEN == 64
#define EXPECTED_NOT_TAKEN 10659
#else
#define EXPECTED_NOT_TAKEN 11316
#endif

/* Branches whose outcome is the next bit of s1: taken if 1 */
.macro  by_bit
	andi    t1, s1, 1
	srli    s1, s1, 1
	bnez    t1, 1f
	addi    s2, s2, 1
1:
.endm

/* n branches that follow s1, in a function: the return is uninferable */
.macro  run n
	.text
run_\n:
	.rept   \n
	by_bit
	.endr
	ret
/* The same, with a trap behind the last branch */
trap_\n:
	.rept   \n
	by_bit
	.endr
	.word   0xffffffff
	ret
/* Only taken branches, only branches that are not, the same every time */
straight_taken_\n:
	.rept   \n
	beqz    zero, 1f
	ebreak
1:
	.endr
	ret
straight_not_\n:
	.rept   \n
	bnez    zero, bad
	.endr
	ret
.endm

.macro  try n
	/* All taken, none, alternating, one in 32, random */
	li      s1, -1
	call    run_\n
	li      s1, 0
	call    run_\n
	li      s1, 0x55555555
	call    run_\n
	li      s1, 0x7fffffff
	call    run_\n
	li      s1, 0x1a2b3c4d
	la      t0, run_\n
	jalr    t0
	call    straight_taken_\n
	call    straight_not_\n
	li      s1, 0x6b2d9f13
	la      s11, 2f
	li      s8, -1
	j       trap_\n
2:	CHECK_IMM(s8, CAUSE_ILLEGAL)
	li      s1, 0
	la      s11, 2f
	li      s8, -1
	j       trap_\n
2:	CHECK_IMM(s8, CAUSE_ILLEGAL)
.endm

.irp n, 1, 2, 3, 4, 7, 8, 15, 16, 30, 31, 32, 33, 61, 62, 63, 64, 93, 94, 124
	run \n
.endr

	.globl  main
main:
	SET_MTVEC(rec_trap)
	li      s2, 0
	li      s3, 3
again:
.irp n, 1, 2, 3, 4, 7, 8, 15, 16, 30, 31, 32, 33, 61, 62, 63, 64, 93, 94, 124
	try \n
.endr
	addi    s3, s3, -1
	beqz    s3, 1f
	j       again
1:
	/* Nothing but branches for a long time: no uninferable jump at all */
	li      s4, 5000
	li      s1, 0x1a2b3c4d
1:	andi    t1, s1, 1
	srli    t2, s1, 1
	beqz    t1, 2f
	li      t3, 0x48000057
	xor     t2, t2, t3
2:	mv      s1, t2
	addi    s4, s4, -1
	bnez    s4, 1b
	CHECK_IMM(s2, EXPECTED_NOT_TAKEN)
	PASS

bad:
	li      a0, __LINE__
	j       fail
