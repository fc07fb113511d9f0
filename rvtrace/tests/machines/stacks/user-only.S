/*
 * Traps whose handlers a filter leaves out are over when the program goes on.
 *
 * trace filter=priv=U
 * row user 159
 * row user;work 80
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "function.inc"

fn main
	PMP_ALL
	SET_MTVEC(handler)
	li      s0, 40
	MRET_TO(0, user)
end main
	.balign 4
fn handler
	csrr    t1, mepc
	addi    t1, t1, 4
	csrw    mepc, t1
	beqz    s0, 1f
	mret
1:	PASS
end handler
fn user
	addi    s0, s0, -1
	call    work
	ecall
	j       user
end user
leaf work, 2
