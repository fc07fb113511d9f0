/*
 * A program that nothing interrupts: a loop of branches, then one that reads
 * mtime, so that the reads are among what is traced
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define BRANCHES        2000000
#define READS           20000

	.text
	.globl  main
main:
	li      t0, BRANCHES
1:	addi    t0, t0, -1
	bnez    t0, 1b
	li      t0, READS
1:	rdtime  t1
	addi    t0, t0, -1
	bnez    t0, 1b
	PASS
