/*
 * Tasks that an interrupt switches, as an RTOS does in M-mode: neither is
 * called by the other one. Each raises the interrupt itself.
 *
 * row main
 * row main;start
 * row task_a
 * row task_a;fa
 * row task_a;fa;[machine software interrupt];handler
 * row task_a;fa;[machine software interrupt];handler;choose
 * row task_b
 * row task_b;gb
 * row task_b;gb;hb
 * row task_b;gb;hb;[machine software interrupt];handler
 * row task_b;gb;hb;[machine software interrupt];handler;choose
 * calls start 1
 * calls handler 6
 * calls choose 6
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "function.inc"

#define MSIP    0x2000000

/* Interrupts itself */
.macro yield
	li      a5, MSIP
	li      a4, 1
	sw      a4, 0(a5)
	nop
	nop
	nop
	nop
.endm

fn main
	la      t0, handler
	csrw    mtvec, t0
	li      t0, 8
	csrw    mie, t0
	la      s0, tcb_a
	la      s1, tcb_b
	la      t0, task_b
	SX      t0, 0(s1)
	la      t0, stack_b
	SX      t0, 8(s1)
	la      t0, task_a
	SX      t0, 0(s0)
	la      t0, stack_a
	SX      t0, 8(s0)
	li      s2, 6
	call    start
end main
fn start
	LX      t0, 0(s0)
	csrw    mepc, t0
	LX      sp, 8(s0)
	li      t0, 0x1880
	csrw    mstatus, t0
	mret
end start
	.balign 4
fn handler
	addi    sp, sp, -16
	SX      ra, 0(sp)
	li      a5, MSIP
	sw      zero, 0(a5)
	call    choose
	csrr    a4, mepc
	SX      a4, 0(s0)
	LX      ra, 0(sp)
	addi    sp, sp, 16
	SX      sp, 8(s0)
	SX      ra, 16(s0)
	mv      a4, s0
	mv      s0, s1
	mv      s1, a4
	LX      a4, 0(s0)
	csrw    mepc, a4
	LX      sp, 8(s0)
	LX      ra, 16(s0)
	addi    s2, s2, -1
	beqz    s2, 1f
	mret
1:	PASS
end handler
leaf choose, 2
fn task_a
	call    fa
	j       task_a
end task_a
fn fa
	nop
	yield
	ret
end fa
fn task_b
	call    gb
	j       task_b
end task_b
calls gb, hb
fn hb
	yield
	ret
end hb
	.bss
	.balign 16
tcb_a:	.space  32
tcb_b:	.space  32
	.space  256
stack_a:
	.space  256
stack_b:
