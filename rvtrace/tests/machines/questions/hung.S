/*
 * A guest that hangs, in as many ways as it is built in (KIND):
 *
 * 1: it spins on a lock that nobody gives back, while a timer interrupts it
 * 2: it takes the same exception again and again
 * 3: it sleeps, since no interrupt comes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "../stacks/function.inc"

	.option norvc
	.option norelax
fn main
	la      sp, top
	la      t0, handler
	csrw    mtvec, t0
	jal     before
	jal     hang
end main
leaf before, 5
fn hang
	addi    sp, sp, -16
	SX      ra, 0(sp)
#if KIND == 1
	li      t0, MIP_MTIP
	csrw    mie, t0
	csrsi   mstatus, MSTATUS_MIE
	la      a0, lock
	jal     get_lock
#elif KIND == 2
	.globl  fault
fault:	.word   0
#else
	li      t0, 1
	la      t1, ticks
	SX      t0, 0(t1)
	jal     sleep
#endif
	LX      ra, 0(sp)
	addi    sp, sp, 16
	ret
end hang
fn get_lock
	addi    sp, sp, -16
	SX      ra, 0(sp)
	.globl  spin
spin:
1:	jal     look
	bnez    a1, 1b
	LX      ra, 0(sp)
	addi    sp, sp, 16
	ret
end get_lock
fn look
	lw      a1, 0(a0)
	beqz    a1, 1f
	nop
1:	ret
end look
fn sleep
1:	wfi
	j       1b
end sleep

	.balign 4
fn handler
	/* How often it ran */
	la      a5, ticks
	LX      a4, 0(a5)
	addi    a4, a4, 1
	SX      a4, 0(a5)
#if KIND == 1
	li      a5, CLINT_MTIME
	LX      a4, 0(a5)
	li      a6, 300
	add     a4, a4, a6
	li      a5, CLINT_MTIMECMP
	SX      a4, 0(a5)
#endif
	mret
end handler

	.data
	.balign 8
	.globl  ticks
ticks:	XWORD   0
lock:	.word   1
	.bss
	.balign 16
	.space  256
top:
