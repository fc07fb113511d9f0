/*
 * Calls, returns, tail calls, recursion, coroutine swaps
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

	.text
	.globl  main
main:
	SET_MTVEC(rec_trap)

	/* Direct calls, links in ra and in t0 */
	li      s0, 0
	call    leaf
	jal     t0, leaf_t0
	jal     ra, leaf
	CHECK_IMM(s0, 3)

	/* A link register that is neither */
	jal     a3, leaf_a3
	CHECK_IMM(s0, 4)
	la      a4, leaf_a3
	jalr    a3, a4
	CHECK_IMM(s0, 5)

	/* Indirect calls */
	la      a0, leaf
	jalr    a0
	la      a0, leaf_t0
	jalr    t0, a0
	la      ra, leaf            /* rd and rs1 the same: a call */
	jalr    ra, ra
	CHECK_IMM(s0, 8)

	/* A call by auipc and jalr far away */
	call    far_leaf
	CHECK_IMM(s0, 9)

	/* Tail calls: direct and through a register */
	call    tail_direct
	CHECK_IMM(s0, 11)
	call    tail_indirect
	CHECK_IMM(s0, 13)

	/* Recursion: Fibonacci, two calls a level */
	li      a0, 15
	call    fib
	CHECK_IMM(a0, 610)

	/* Deep recursion, deeper than any return stack */
	li      a0, 200
	call    deep
	CHECK_IMM(a0, 200)

	/* Mutual recursion through tail calls */
	li      a0, 101
	call    is_even
	CHECK_EQ(a0, zero)

	/* Coroutines: jalr t0, ra and jalr ra, t0 swap, many times */
	li      s0, 0
	li      s1, 0
	la      t0, coroutine
	li      s2, 300
1:	addi    s0, s0, 1
	jalr    ra, t0              /* into the coroutine: ra is new */
	addi    s2, s2, -1
	bnez    s2, 1b
	CHECK_IMM(s0, 300)
	CHECK_IMM(s1, 300)
	la      ra, coroutine_b
	jalr    t0, ra
	CHECK_IMM(s1, 400)

	/* A return that goes to a place that was not called from */
	la      ra, 2f
	ret
	j       main
2:
	/* Returns that unwind two frames at once */
	li      s0, 0
	call    outer
	CHECK_IMM(s0, 1)

	/* A call that returns through another register */
	call    return_by_a5
	CHECK_IMM(s0, 2)

	/* jalr from x0: the target is a constant; nothing is there */
	la      s11, 3f
	li      s8, -1
	jalr    ra, 0x400(zero)
3:	CHECK_IMM(s8, CAUSE_FETCH_ACCESS)
	CHECK_IMM(s9, 0x400)
	la      s11, 4f
	jr      -0x400(zero)
4:	CHECK_IMM(s8, CAUSE_FETCH_ACCESS)
	CHECK_IMM(s9, -0x400)
	PASS

leaf:
	addi    s0, s0, 1
	ret
leaf_t0:
	addi    s0, s0, 1
	jr      t0
leaf_a3:
	addi    s0, s0, 1
	jr      a3

tail_direct:
	addi    s0, s0, 1
	tail    leaf
tail_indirect:
	addi    s0, s0, 1
	la      t1, leaf
	jr      t1

fib:
	li      t0, 2
	blt     a0, t0, 1f
	addi    sp, sp, -16
	SX      ra, 0(sp)
	SX      a0, XBYTES(sp)
	addi    a0, a0, -1
	call    fib
	LX      t0, XBYTES(sp)
	SX      a0, XBYTES(sp)
	addi    a0, t0, -2
	call    fib
	LX      t0, XBYTES(sp)
	add     a0, a0, t0
	LX      ra, 0(sp)
	addi    sp, sp, 16
1:	ret

deep:
	beqz    a0, 1f
	addi    sp, sp, -16
	SX      ra, 0(sp)
	addi    a0, a0, -1
	call    deep
	addi    a0, a0, 1
	LX      ra, 0(sp)
	addi    sp, sp, 16
1:	ret

is_even:
	beqz    a0, 1f
	addi    a0, a0, -1
	j       is_odd
1:	li      a0, 1
	ret
is_odd:
	beqz    a0, 1f
	addi    a0, a0, -1
	j       is_even
1:	li      a0, 0
	ret

coroutine:
	addi    s1, s1, 1
	jalr    t0, ra              /* back to where ra says, t0 is new */
	j       coroutine

coroutine_b:
	li      t2, 100
1:	addi    s1, s1, 1
	addi    t2, t2, -1
	bnez    t2, 1b
	jr      t0

outer:
	addi    sp, sp, -16
	SX      ra, 0(sp)
	call    inner
	addi    s0, s0, 100         /* inner returns past this */
	ret
inner:
	LX      ra, 0(sp)
	addi    sp, sp, 16
	addi    s0, s0, 1
	ret

return_by_a5:
	mv      a5, ra
	addi    s0, s0, 1
	jr      a5

	.section .text.far, "ax"
	.balign 4096
	.space  0x200000
far_leaf:
	addi    s0, s0, 1
	ret
