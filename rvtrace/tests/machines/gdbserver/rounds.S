/*
 * Two loops of so many rounds that a trace says no more of them than how many
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define ROUNDS 170000

	.text
	.globl  main
main:
	li      t1, ROUNDS
first:
	addi    t1, t1, -1
	bnez    t1, first
	li      t1, ROUNDS
second:
	addi    t1, t1, -1
	bnez    t1, second
	j       pass
