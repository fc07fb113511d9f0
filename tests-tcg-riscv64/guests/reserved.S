/*
 * Encodings that look like jumps and are none: reserved ones of branches and
 * of jalr, and returns from traps where they are not allowed. Each traps
 * several times in a row at the same place, and what they would jump to is
 * the handler.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define BRANCH(funct3, offset) \
	(0x63 | (funct3) << 12 | (((offset) >> 1) & 15) << 8)
#define JALR_T1(funct3) (0x67 | (funct3) << 12 | 6 << 15)
#define MNRET 0x70200073

/* The handler goes on at s11; three times the same trap */
#define THRICE(...) \
	li      s1, 3; \
	la      s11, 87f; \
	j       88f; \
	.balign 4; \
88:	__VA_ARGS__; \
87:	CHECK_IMM(s8, CAUSE_ILLEGAL); \
	la      t0, 88b; \
	CHECK_EQ(s9, t0); \
	addi    s1, s1, -1; \
	bnez    s1, 88b

	.text
	.globl  main
	.option norvc
main:
	li      s1, 400             /* a run worth comparing */
1:	addi    s1, s1, -1
	bnez    s1, 1b
	SET_MTVEC(rec_trap)
	la      t1, rec_trap
	THRICE(.word BRANCH(2, 8))
	THRICE(.word BRANCH(3, 8))
	THRICE(.word JALR_T1(1))
	THRICE(.word JALR_T1(7))
	THRICE(.word MNRET)

	/* mret in S and U mode, sret in U mode */
	PMP_ALL
	SET_MTVEC(from_below)
	li      s2, 3
1:	MRET_TO(MPP_S, 2f)
	.balign 4
2:	mret
	addi    s2, s2, -1
	bnez    s2, 1b
	li      s2, 3
1:	MRET_TO(0, 2f)
	.balign 4
2:	sret
	addi    s2, s2, -1
	bnez    s2, 1b
	PASS

	/* The next instruction goes on in M mode. */
	.balign 4
from_below:
	csrr    s8, mcause
	csrr    s9, mepc
	CHECK_IMM(s8, CAUSE_ILLEGAL)
	jr      4(s9)
