/*
 * System resets: three of them, after work and traps, and from a loop; one of
 * them from S-mode
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define TEST_RESET  0x7777
#define KEPT        0x84000000  /* no reset writes there */
#define MAGIC       0x5eed

	.text
	.globl  main
main:
	SET_MTVEC(rec_trap)
	li      s0, KEPT
	lw      s1, 0(s0)
	li      t0, MAGIC
	srli    t1, s1, 8
	beq     t1, t0, 1f
	slli    s1, t0, 8           /* the first time */
1:	addi    s1, s1, 1
	sw      s1, 0(s0)
	andi    s1, s1, 255

	/* A different amount of work each time */
	mv      s2, s1
1:	EXPECT_TRAP(CAUSE_ILLEGAL, .word 0xffffffff)
	EXPECT_TRAP(CAUSE_ECALL_M, ecall)
	addi    s2, s2, -1
	bnez    s2, 1b
	/* Reset from S-mode the second time */
	li      t0, 2
	bne     s1, t0, 1f
	PMP_ALL
	MRET_TO(MPP_S, 1f)
1:	li      t0, 4
	beq     s1, t0, 2f
	li      t0, SIFIVE_TEST
	li      t1, TEST_RESET
	sw      t1, 0(t0)
1:	addi    t2, t2, 1
	j       1b
2:	PASS
