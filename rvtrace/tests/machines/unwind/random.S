/*
 * What is the same in all programs of generate.py
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "function.inc"

	.cfi_sections .debug_frame

/* In words, as in generate.py */
#define FIELDS  6
#define SP      (0 * XBYTES)
#define PC      (1 * XBYTES)
#define CATCH_PC (1 * XBYTES)
#define CATCH_SP (2 * XBYTES)
#define CATCH_S0 (3 * XBYTES)
#define CATCH_S1 (4 * XBYTES)
#define CATCH_S2 (5 * XBYTES)

#define STACK   (32 * 1024)

/* run_program(seed): the first coroutine, on a stack of its own */
fn run_program
	.cfi_startproc
	mv      s10, a0
	la      tp, coroutines
	la      t1, stacks_here
	li      t2, STACK
	.irp    k, 0, 1, 2, 3
	add     t1, t1, t2
	SX      t1, SP + \k * FIELDS * XBYTES(tp)
	la      t3, begin_\k\()_switching
	SX      t3, PC + \k * FIELDS * XBYTES(tp)
	.endr
	j       run_switching
	.cfi_endproc
end run_program
fn run_switching
	LX      sp, SP(tp)
	LX      t1, PC(tp)
	jr      t1
end run_switching

	.irp    k, 0, 1, 2, 3
fn begin_\k\()_switching
	li      ra, 0
	la      t1, coroutine_\k
	jr      t1
end begin_\k\()_switching
	.endr

/* To the place that t2 points to */
.macro throw name, reg
fn throw_\name\()_switching
	LX      sp, CATCH_SP(t2)
	LX      s0, CATCH_S0(t2)
	LX      s1, CATCH_S1(t2)
	LX      s2, CATCH_S2(t2)
	LX      \reg, CATCH_PC(t2)
	jr      \reg
end throw_\name\()_switching
.endm
	throw   0, t1
	throw   1, ra
	throw   2, a5

fn millicode_save
	.cfi_startproc
	.cfi_return_column 5
	addi    sp, sp, -64
	.cfi_def_cfa_offset 64
	SX      ra, 64 - 1 * XBYTES(sp)
	SX      s0, 64 - 2 * XBYTES(sp)
	SX      s1, 64 - 3 * XBYTES(sp)
	SX      s2, 64 - 4 * XBYTES(sp)
	jr      t0
	.cfi_endproc
end millicode_save
fn millicode_restore
	.cfi_startproc
	.cfi_def_cfa_offset 64
	.cfi_offset ra, -1 * XBYTES
	.cfi_offset s0, -2 * XBYTES
	.cfi_offset s1, -3 * XBYTES
	.cfi_offset s2, -4 * XBYTES
	LX      ra, 64 - 1 * XBYTES(sp)
	.cfi_restore ra
	LX      s0, 64 - 2 * XBYTES(sp)
	.cfi_restore s0
	LX      s1, 64 - 3 * XBYTES(sp)
	.cfi_restore s1
	LX      s2, 64 - 4 * XBYTES(sp)
	.cfi_restore s2
	addi    sp, sp, 64
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
end millicode_restore

	.bss
	.balign 16
	.globl  coroutines
coroutines:
	.space  4 * FIELDS * XBYTES
	.balign 16
stacks_here:
	.space  4 * STACK
