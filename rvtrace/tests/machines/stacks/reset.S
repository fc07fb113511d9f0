/*
 * A hart that was reset has no callers: f resets the machine twice.
 *
 * row main
 * row main;f
 * row main;f;work 9
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "function.inc"

	.option norvc
	.option norelax
	.equ    POWER, 0x100000
	.equ    RESET, 0x7777
	.equ    BOOTS, 0x80100000	/* outside the program, which is loaded anew */

fn main
	li      sp, BOOTS
	addi    sp, sp, -16
	call    f
	PASS
end main
fn f
	SX      ra, 0(sp)
	call    work
	li      t0, BOOTS
	lw      t1, 0(t0)
	addi    t1, t1, 1
	sw      t1, 0(t0)
	addi    t2, t1, -3
	beqz    t2, 1f
	li      t0, POWER
	li      t1, RESET
	sw      t1, 0(t0)
0:	j       0b
1:	LX      ra, 0(sp)
	ret
end f
leaf work, 3
