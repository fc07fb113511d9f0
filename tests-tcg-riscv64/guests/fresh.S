/*
 * One hart changes code, one sleeps, and the others run code that nobody has
 * seen before: what they bring up while a change is being announced must not
 * be lost. For 3 harts and more.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define CHANGES     1500
#define FUNCTIONS   4096        /* of a hart; then it begins again */
#define FUNCTION    64          /* bytes */

/* addi a0, zero, imm */
#define ADDI_A0(imm) (0x00000513 | ((imm) << 20))
#define RET          0x00008067

	.text
	.globl  main
	.globl  secondary
main:
	li      s1, CHANGES
	la      s2, changed
	la      s3, stop
1:	andi    t1, s1, 0x7ff
	slli    t1, t1, 20
	li      t2, ADDI_A0(0)
	or      t1, t1, t2
	sw      t1, 0(s2)
	fence
	fence.i
	call    changed
	andi    t0, s1, 0x7ff
	CHECK_EQ(a0, t0)
	addi    s1, s1, -1
	bnez    s1, 1b
	li      t0, 1
	sw      t0, 0(s3)
	fence
	PASS

secondary:
	li      t0, 1
	bne     s0, t0, 2f

	/* asleep, but for what it does to have been there */
	li      s1, 400
1:	addi    s1, s1, -1
	bnez    s1, 1b
	csrw    mie, zero
1:	wfi
	j       1b

2:	la      s3, stop
	la      s4, fresh
	li      t0, FUNCTIONS * FUNCTION
	addi    t1, s0, -2
	mul     t0, t0, t1
	add     s4, s4, t0          /* this hart's functions */
3:	li      s1, 0
4:	slli    s5, s1, 6
	add     s5, s5, s4
	andi    t1, s1, 0x7ff
	slli    t1, t1, 20
	li      t2, ADDI_A0(0)
	or      t1, t1, t2
	sw      t1, 0(s5)
	li      t1, RET
	sw      t1, 4(s5)
	fence.i
	jalr    s5
	andi    t0, s1, 0x7ff
	CHECK_EQ(a0, t0)
	lw      t0, 0(s3)
	bnez    t0, 5f
	addi    s1, s1, 1
	li      t0, FUNCTIONS
	bltu    s1, t0, 4b
	j       3b
5:	wfi
	j       5b

	.option norvc
	.balign 4096
changed:
	addi    a0, zero, 0
	ret

	.bss
	.balign 4096
stop:
	.space  64
	.balign 4096
fresh:
	.space  6 * FUNCTIONS * FUNCTION
