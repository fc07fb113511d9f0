/*
 * Calls and tail calls through t0, which by their registers are coroutine swaps
 * and returns: Go, Java and outlined code make them.
 *
 * row main 12
 * row main;f 10
 * row main;f;g 4
 * row main;tail 3
 * row main;h 4
 * row main;save 3
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "function.inc"

	.option norvc
	.option norelax
fn main
	la      t0, f
	jalr    ra, 0(t0)
	la      t1, f
	jalr    ra, 0(t1)
	call    tail
	jal     t0, save
	la      a0, h
	PASS
end main
fn f
	mv      s1, ra
	call    g
	mv      ra, s1
	ret
end f
leaf g, 2
fn tail
	la      t0, h
	jr      t0
end tail
leaf h, 4
/* A prologue that is shared, as libgcc's __riscv_save_0 */
fn save
	nop
	nop
	jr      t0
end save
