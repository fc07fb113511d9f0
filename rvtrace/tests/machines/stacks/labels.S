/*
 * Labels within a function are no functions: neither where a call returns to
 * nor where one is made.
 *
 * row main 162
 * row main;work 120
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "function.inc"

	.option norvc
	.option norelax
fn main
	li      s0, 40
retry:
	call    work
	addi    s0, s0, -1
	bnez    s0, retry
finish:
	PASS
end main
fn work
	nop
inner:
	beqz    s0, 1f
	ret
1:	nop
	ret
end work
