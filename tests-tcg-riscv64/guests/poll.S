/*
 * A traced hart that reads its own trTeControl in the middle of blocks that
 * end in every way there is
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define ENCODER     0x3020000
#define TE_CONTROL  0x000

	.text
	.globl  main
main:
	li      s3, ENCODER
	li      s2, 200
1:	lw      t0, TE_CONTROL(s3)  /* a branch, taken or not */
	andi    t1, s2, 3
	bnez    t1, 2f
	addi    a0, a0, 1
	lw      t0, TE_CONTROL(s3)  /* a jump ahead */
	addi    a0, a0, 1
	j       3f
2:	addi    a0, a0, 2
	lw      t0, TE_CONTROL(s3)  /* a jump back, twice */
	j       5f
4:	lw      t0, TE_CONTROL(s3)
	addi    a0, a0, 2
	j       3f
5:	lw      t0, TE_CONTROL(s3)
	j       4b
3:	lw      t0, TE_CONTROL(s3)  /* a call and its return */
	jal     ra, leaf
	lw      t0, TE_CONTROL(s3)  /* nothing: the end of the page */
	j       page_end
6:	addi    s2, s2, -1
	bnez    s2, 1b
	PASS

leaf:
	lw      t0, TE_CONTROL(s3)
	addi    a0, a0, 1
	ret

	.balign 4096
	.space  4096 - 16
	.option push
	.option norvc
page_end:
	addi    a0, a0, 1
	lw      t0, TE_CONTROL(s3)
	addi    a0, a0, 1
	addi    a0, a0, 1
	/* the next page */
	addi    a0, a0, 1
	j       6b
	.option pop
