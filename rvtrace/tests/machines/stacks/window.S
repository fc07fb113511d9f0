/*
 * Calls of functions that a filter leaves out have returned when the caller
 * goes on.
 *
 * trace filter=pc=main-main_end
 * row main 202
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "function.inc"

	.option norvc
	.option norelax
fn main
	li      s0, 40
1:	nop
	call    work
	addi    s0, s0, -1
	bnez    s0, 1b
	PASS
end main
	.globl  main_end
	.type   main_end, @object
main_end:
	nop
leaf work, 2
