/*
 * walk_setjmp(), longjmp() and switches of stacks, with call frame information
 *
 * Of what is in a function whose name ends in _switching, the true stack is not
 * defined: registers of two stacks are mixed there.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "function.inc"

	.cfi_sections .debug_frame

/* Registers that functions have to keep: struct context in walk.h */
.macro each_saved what, base
	\what   ra, 0 * XBYTES(\base)
	\what   sp, 1 * XBYTES(\base)
	.irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	\what   s\n, (2 + \n) * XBYTES(\base)
	.endr
.endm

fn walk_setjmp
	.cfi_startproc
	each_saved SX, a0
	li      a0, 0
	ret
	.cfi_endproc
end walk_setjmp

fn longjmp_switching
	each_saved LX, a0
	mv      a0, a1
	ret
end longjmp_switching

/* switch_*(struct context *from, struct context *to): a jump by @reg */
.macro switch name, reg
fn switch_\name\()_switching
	each_saved SX, a0
	each_saved LX, a1
	.ifnc   \reg, ra
	mv      \reg, ra
	.endif
	jr      \reg
end switch_\name\()_switching
.endm
	switch  ret, ra
	switch  t1, t1
	switch  a5, a5
	switch  t0, t0
