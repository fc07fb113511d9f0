/*
 * A guest that goes on until somebody ends it: it prints a line when it begins
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define UART 0x10000000

	.text
	.globl  main
main:
	li      t0, UART
	li      t1, '\n'
	sb      t1, 0(t0)
1:	jal     around
	j       1b

	.globl  around
	.type   around, @function
around:
	li      t0, 1000
1:	addi    t0, t0, -1
	bnez    t0, 1b
	ret
	.size   around, . - around
