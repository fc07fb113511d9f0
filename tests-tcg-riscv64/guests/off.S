/*
 * A hart runs some code, switches its tracing off, and then another hart
 * changes that code: what was traced is what ran then; and when it is traced
 * again, what runs now. For 2 harts.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define ENCODER_1       0x3021000   /* of hart 1 */
#define TE_CONTROL      0x000
#define TE_INST_TRACING 0x4
#define TE_EMPTY        0x8

/* addi a0, zero, imm */
#define ADDI_A0(imm) (0x00000513 | ((imm) << 20))

	.text
	.globl  main
	.globl  secondary
main:
	la      s1, state
1:	lw      t0, 0(s1)           /* hart 1 is not traced any more */
	beqz    t0, 1b
	la      t0, shared
	li      t1, ADDI_A0(2)
	sw      t1, 0(t0)
	sw      t1, 4(t0)
	li      t1, 0x00008067      /* ret: it is shorter now */
	sw      t1, 8(t0)
	fence
	fence.i
	call    shared
	CHECK_IMM(a0, 2)
	li      t0, 2
	sw      t0, 0(s1)
	fence
1:	lw      t0, 0(s1)
	addi    t0, t0, -3
	bnez    t0, 1b
	PASS

secondary:
	la      s1, state
	li      s2, 100
1:	call    shared
	CHECK_IMM(a0, 1)
	addi    s2, s2, -1
	bnez    s2, 1b
	li      s3, ENCODER_1
	lw      t0, TE_CONTROL(s3)
	andi    t0, t0, ~TE_INST_TRACING
	sw      t0, TE_CONTROL(s3)
1:	lw      t0, TE_CONTROL(s3)  /* until everything is out */
	andi    t0, t0, TE_EMPTY
	beqz    t0, 1b
	li      t0, 1
	sw      t0, 0(s1)
	fence
1:	lw      t0, 0(s1)
	addi    t0, t0, -2
	bnez    t0, 1b
	fence.i
	call    shared
	CHECK_IMM(a0, 2)
	/* Traced again, it runs what the other hart has had translated. */
	lw      t0, TE_CONTROL(s3)
	ori     t0, t0, TE_INST_TRACING
	sw      t0, TE_CONTROL(s3)
	li      s2, 100
1:	call    shared
	CHECK_IMM(a0, 2)
	addi    s2, s2, -1
	bnez    s2, 1b
	li      t0, 3
	sw      t0, 0(s1)
	fence
1:	wfi
	j       1b

	.option norvc
	.balign 4096
shared:
	addi    a0, zero, 0
	addi    a0, a0, 3
	addi    a0, a0, -2
	ret

	.bss
	.balign 64
state:
	.space  64
