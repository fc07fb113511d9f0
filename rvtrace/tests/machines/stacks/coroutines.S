/*
 * Coroutines that are switched by a jump through a register that is none for
 * links: all wait at the same place, and each is begun by such a jump.
 *
 * row main 26
 * row begin1 2
 * row begin1;worker1 49
 * row begin1;worker1;work1 20
 * row begin2 2
 * row begin2;worker2 49
 * row begin2;worker2;work2 20
 * row begin3 2
 * row begin3;worker3 49
 * row begin3;worker3;work3 20
 * free park
 * free change
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "function.inc"

	.option norvc
	.option norelax
.macro coroutine k
fn begin\k
	call    worker\k
end begin\k
fn worker\k
1:	call    work\k
	call    park
	j       1b
end worker\k
leaf work\k, 2
.endm

.macro prepare k
	la      t0, begin\k
	SX      t0, 16 * (\k - 1)(s2)
	addi    t1, t1, 128
	SX      t1, 16 * (\k - 1) + 8(s2)
.endm

fn main
	la      s2, contexts
	la      t1, stacks_here
	prepare 1
	prepare 2
	prepare 3
	li      s3, 3
	li      s4, 0
	li      s5, 29
	LX      sp, 8(s2)
	la      a5, begin1
	jr      a5
end main
coroutine 1
coroutine 2
coroutine 3
fn park
	addi    sp, sp, -16
	SX      ra, 0(sp)
	call    change
	LX      ra, 0(sp)
	addi    sp, sp, 16
	ret
end park
fn change
	beqz    s5, 1f
	addi    s5, s5, -1
	slli    t1, s4, 4
	add     t1, t1, s2
	SX      ra, 0(t1)
	SX      sp, 8(t1)
	addi    s4, s4, 1
	bne     s4, s3, 2f
	li      s4, 0
2:	slli    t1, s4, 4
	add     t1, t1, s2
	LX      sp, 8(t1)
	LX      a5, 0(t1)
	jr      a5
1:	PASS
end change
	.bss
	.balign 16
contexts: .space 48
stacks_here: .space 512
