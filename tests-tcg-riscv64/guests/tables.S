/*
 * Jump tables, function pointers, computed targets
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

	.text
	.globl  main
main:
	li      s0, 0               /* sum */
	li      s1, 0               /* index */
	la      s2, cases
	li      s3, 4000

	/* A switch by a table of addresses, in a loop */
again:
	/* The next index: a small generator, not a pattern of two */
	li      t0, 13
	mul     s1, s1, t0
	addi    s1, s1, 7
	andi    s1, s1, 1023
	andi    t1, s1, 7
	slli    t1, t1, 3
	add     t1, t1, s2
	LX      t1, 0(t1)
	jr      t1
case0:
	addi    s0, s0, 1
	j       next
case1:
	addi    s0, s0, 2
case2:	/* falls into the next */
	addi    s0, s0, 3
case3:
	addi    s0, s0, 4
	j       next
case4:
	andi    t2, s1, 8
	beqz    t2, next
	addi    s0, s0, 5
	j       next
case5:
	la      t3, functions
	andi    t2, s1, 16
	add     t3, t3, t2
	LX      t3, 0(t3)
	jalr    t3
	j       next
case6:
	la      t3, functions
	LX      t3, 8(t3)
	jalr    t0, t3              /* the other link register */
	j       next
case7:
	call    case7_function
next:
	addi    s3, s3, -1
	bnez    s3, again

	/* A table of code: steps of equal size, the index scaled */
	li      s4, 0
	li      s3, 64
1:	andi    t1, s3, 7
	slli    t1, t1, 3
	la      t2, steps
	add     t1, t1, t2
	jalr    t1
	addi    s3, s3, -1
	bnez    s3, 1b
	CHECK_IMM(s4, 8 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8))

	/* A jump through memory that the guest has just written */
	la      s5, slot
	li      s3, 100
	la      t1, ping
	SX      t1, 0(s5)
	li      s6, 0
1:	LX      t1, 0(s5)
	jalr    t1
	addi    s3, s3, -1
	bnez    s3, 1b
	CHECK_IMM(s6, 50)

	/* auipc and jalr, lui and jalr: inferable with sijump only */
	li      s6, 0
1:	auipc   t1, %pcrel_hi(pong)
	jalr    ra, %pcrel_lo(1b)(t1)
1:	auipc   t1, %pcrel_hi(2f)
	jr      %pcrel_lo(1b)(t1)
	ebreak
2:	CHECK_IMM(s6, 1)

	/* The same sum without a table */
	mv      a0, s0
	call    reference
	CHECK_EQ(s0, a0)
	PASS

case7_function:
	addi    s0, s0, 9
	ret
function0:
	addi    s0, s0, 10
	ret
function1:
	addi    s0, s0, 11
	jr      t0
function2:
	addi    s0, s0, 12
	ret

	.balign 8
	.option push
	.option norvc
steps:
	.irp n, 1, 2, 3, 4, 5, 6, 7, 8
	addi    s4, s4, \n
	ret
	.endr
	.option pop

ping:
	la      t1, pong
	SX      t1, 0(s5)
	ret
pong:
	addi    s6, s6, 1
	la      t1, ping
	SX      t1, 0(s5)
	ret

/* a0: what the loop adds up, by branches */
reference:
	li      a0, 0
	li      s1, 0
	li      s3, 4000
1:	li      t0, 13
	mul     s1, s1, t0
	addi    s1, s1, 7
	andi    s1, s1, 1023
	andi    t1, s1, 7
	li      t2, 1
	beqz    t1, 3f
	li      t2, 9
	li      t0, 1
	beq     t1, t0, 3f
	li      t2, 7
	li      t0, 2
	beq     t1, t0, 3f
	li      t2, 4
	li      t0, 3
	beq     t1, t0, 3f
	li      t0, 4
	bne     t1, t0, 2f
	li      t2, 5
	andi    t0, s1, 8
	bnez    t0, 3f
	li      t2, 0
	j       3f
2:	li      t2, 11
	li      t0, 6
	beq     t1, t0, 3f
	li      t2, 9
	li      t0, 7
	beq     t1, t0, 3f
	li      t2, 10
	andi    t0, s1, 16
	beqz    t0, 3f
	li      t2, 12
3:	add     a0, a0, t2
	addi    s3, s3, -1
	bnez    s3, 1b
	ret

	.section .rodata
	.balign 8
cases:
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	XWORD   case\n
	.balign 8
	.endr
functions:
	XWORD   function0
	.balign 8
	XWORD   function1
	.balign 8
	XWORD   function2

	.bss
	.balign 8
slot:
	.space  8
