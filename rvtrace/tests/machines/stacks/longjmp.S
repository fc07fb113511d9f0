/*
 * longjmp() and what unwinds for exceptions end with a return, to an outer
 * function: its callers are still there.
 *
 * row main 3
 * row main;outer 7
 * row main;outer;catcher 17
 * row main;outer;catcher;set 8
 * row main;outer;catcher;a 4
 * row main;outer;catcher;a;b 4
 * row main;outer;catcher;a;b;jump 8
 * row main;outer;catcher;handle 10
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "function.inc"

	.option norvc
	.option norelax
fn main
	call    outer
	PASS
end main
calls outer, catcher
fn catcher
	addi    sp, sp, -16
	SX      ra, 0(sp)
	la      a0, buffer
	call    set
	bnez    a0, 1f
	call    a
1:	call    handle
	call    handle
	LX      ra, 0(sp)
	addi    sp, sp, 16
	ret
end catcher
fn set
	SX      ra, 0(a0)
	SX      sp, 8(a0)
	li      a0, 0
	j       1f
	nop
1:	nop
	nop
	nop
	ret
end set
calls a, b
calls b, jump
fn jump
	la      a1, buffer
	LX      ra, 0(a1)
	LX      sp, 8(a1)
	nop
	nop
	li      a0, 1
	ret
end jump
leaf handle, 5
	.bss
buffer:	.space  32
