/*
 * Where the guests here begin, with call frame information
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "function.inc"

	.cfi_sections .debug_frame

	.globl  main
main:
	la      sp, main_stack
	li      ra, 0
	j       begin

/* What compilers call for objects that are initialised or copied */
fn memset
	.cfi_startproc
	add     a2, a2, a0
	mv      a3, a0
1:	beq     a3, a2, 2f
	sb      a1, 0(a3)
	addi    a3, a3, 1
	j       1b
2:	ret
	.cfi_endproc
end memset
fn memcpy
	.cfi_startproc
	add     a2, a2, a0
	mv      a3, a0
1:	beq     a3, a2, 2f
	lbu     a4, 0(a1)
	sb      a4, 0(a3)
	addi    a1, a1, 1
	addi    a3, a3, 1
	j       1b
2:	ret
	.cfi_endproc
end memcpy

/* Where a coroutine begins: s1(s0), which never returns */
fn co_begin
	.cfi_startproc
	li      ra, 0
	mv      a0, s0
	jr      s1
	.cfi_endproc
end co_begin

	.bss
	.balign 16
	.space  64 * 1024
main_stack:
