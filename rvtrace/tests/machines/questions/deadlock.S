/*
 * Two harts of which one waits for the other for ever, in as many ways as it is
 * built in (KIND):
 *
 * 1: each has a lock that the other one wants
 * 2: hart 0 waits for a flag that hart 1, which sleeps, does not set
 * 3: hart 0 takes its own lock again; hart 1 has had one and given it back
 * 4: hart 1 sleeps with a lock that hart 0 wants, which has had others
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "../stacks/function.inc"

	.option norvc
	.option norelax
.macro take lock
	la      a0, \lock
	jal     spin_lock
.endm
.macro give lock
	la      a0, \lock
	jal     spin_unlock
.endm
/* Wait until the other hart has come as far: each has a flag. */
.macro meet own, others
	la      t0, \own
	li      t1, 1
	sw      t1, 0(t0)
	fence
	la      t0, \others
1:	lw      t1, 0(t0)
	beqz    t1, 1b
.endm

fn main
	jal     first
end main
fn first
	take    lock_c
	give    lock_c
#if KIND == 1
	take    lock_a
	.globl  first_has
first_has:
	meet    flag_0, flag_1
	take    lock_b
#elif KIND == 2
	jal     wait_for_flag
#elif KIND == 3
	meet    flag_0, flag_1
	take    lock_a
	.globl  own_again
own_again:
	take    lock_a
#else
	meet    flag_0, flag_1
	take    lock_a
#endif
	j       .
end first
	.globl  secondary
fn secondary
	jal     second
end secondary
fn second
#if KIND == 1
	take    lock_b
	.globl  second_has
second_has:
	meet    flag_1, flag_0
	take    lock_a
#elif KIND == 3
	take    lock_b
	give    lock_b
	meet    flag_1, flag_0
#elif KIND == 4
	take    lock_a
	.globl  second_has
second_has:
	meet    flag_1, flag_0
#endif
	jal     rest
end second
fn spin_lock
1:	li      t0, 1
	amoswap.w.aq t0, t0, (a0)
	bnez    t0, 1b
	ret
end spin_lock
fn spin_unlock
	amoswap.w.rl zero, zero, (a0)
	ret
end spin_unlock
fn wait_for_flag
	la      t0, flag_0
1:	lw      t1, 0(t0)
	beqz    t1, 1b
	ret
end wait_for_flag
fn rest
	csrw    mie, zero
1:	wfi
	j       1b
end rest

	.data
	.balign 4
lock_a:	.word   0
lock_b:	.word   0
lock_c:	.word   0
flag_0:	.word   0
flag_1:	.word   0
