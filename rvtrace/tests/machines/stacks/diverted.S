/*
 * Returns that something has diverted, as Linux' function_graph does: the
 * function returns to another one, which goes back by a call, by its registers.
 *
 * row main 10
 * row main;outer 18
 * row main;outer;traced 6
 * row main;outer;traced;divert 8
 * row main;outer;go_back 8
 * row main;outer;go_back;left 4
 * row main;outer;after 4
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "function.inc"

	.option norvc
	.option norelax
fn main
	li      s0, 2
1:	call    outer
	addi    s0, s0, -1
	bnez    s0, 1b
	PASS
end main
fn outer
	addi    sp, sp, -16
	SX      ra, 0(sp)
	call    traced
	call    after
	LX      ra, 0(sp)
	addi    sp, sp, 16
	ret
end outer
fn traced
	jal     t0, divert
	nop
	ret
end traced
fn divert
	mv      s1, ra
	la      ra, go_back
	jr      t0
end divert
fn go_back
	nop
	call    left
	jalr    s1
end go_back
leaf left, 2
leaf after, 2
