/*
 * A recursion of DEPTH calls
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "function.inc"

	.option norvc
	.option norelax
fn main
	li      a0, DEPTH
	la      sp, top
	jal     f
	jal     after
	j       pass
end main
fn f
	addi    a0, a0, -1
	addi    sp, sp, -8
	SX      ra, 0(sp)
	beqz    a0, 1f
	jal     f
	j       2f
1:	jal     work
2:	LX      ra, 0(sp)
	addi    sp, sp, 8
	ret
end f
leaf work, 3
leaf after, 3
	.bss
	.balign 16
	.space  16 * 100000
top:
