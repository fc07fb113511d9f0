/*
 * Tight loops, and loops that only an interrupt ends: jumps to themselves,
 * loops of two and more inferable jumps, a branch to itself
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

/* Each is left after that many timer ticks of 100 ns. */
#define TICKS 2000

	.text
	.globl  main
main:
	SET_MTVEC(on_timer)
	li      t0, MIP_MTIP
	csrw    mie, t0

	/* Counted loops of one, two, three instructions */
	li      t1, 3000
1:	addi    t1, t1, -1
	bnez    t1, 1b
	li      t1, 3000
1:	addi    t1, t1, -1
	beqz    t1, 2f
	j       1b
2:	li      t1, 1000
	li      t2, 0
1:	add     t2, t2, t1
	addi    t1, t1, -1
	bgtz    t1, 1b
	CHECK_IMM(t2, 500500)

	/* Nested loops */
	li      s1, 40
	li      s3, 0
1:	li      s2, 40
2:	addi    s3, s3, 1
	addi    s2, s2, -1
	bnez    s2, 2b
	addi    s1, s1, -1
	bnez    s1, 1b
	CHECK_IMM(s3, 1600)

	/* A jump to itself */
	la      s11, 1f
	call    arm
	csrsi   mstatus, MSTATUS_MIE
	j       .
1:
	/* A branch to itself */
	la      s11, 1f
	call    arm
	csrsi   mstatus, MSTATUS_MIE
	beqz    zero, .
1:
	/* Two jumps */
	la      s11, 3f
	call    arm
	csrsi   mstatus, MSTATUS_MIE
1:	j       2f
	ebreak
2:	j       1b
3:
	/*
	 * Three jumps with instructions in between, one with a link; again, if
	 * a busy host's clock was faster than the way into the loop
	 */
0:	la      s11, 4f
	li      s4, 0
	call    arm
	csrsi   mstatus, MSTATUS_MIE
1:	addi    s4, s4, 1
	j       3f
2:	addi    s4, s4, 1
	j       1b
3:	nop
	jal     a3, 2b
4:	beqz    s4, 0b
	/* A jump over a page's border and back */
	la      s11, 1f
	call    arm
	csrsi   mstatus, MSTATUS_MIE
	j       border
1:
	/* A direct call and a direct jump, without a return */
	la      s11, 2f
	call    arm
	csrsi   mstatus, MSTATUS_MIE
1:	jal     ra, 3f
2:	j       4f
3:	j       1b
4:
	/* A jump to itself by a register */
	la      s11, 2f
	call    arm
	la      t1, 1f
	csrsi   mstatus, MSTATUS_MIE
1:	jr      t1
2:
	/* A loop with a branch and no uninferable jump */
	la      s11, 3f
	call    arm
	li      s4, 0
	csrsi   mstatus, MSTATUS_MIE
1:	addi    s4, s4, 1
	andi    t1, s4, 3
	bnez    t1, 1b
2:	j       1b
3:
	/* The same, many times, short: interrupts at every place */
	li      s5, 200
	la      s11, 3f
1:	mv      a0, s5
	call    arm_in
	li      s4, 0
	csrsi   mstatus, MSTATUS_MIE
2:	addi    s4, s4, 1
	nop
	nop
	j       2b
3:	addi    s5, s5, -1
	bnez    s5, 1b
	PASS

bad:
	li      a0, __LINE__
	j       fail

/* The timer will interrupt in TICKS, or in a0 ticks. Changes t0 to t3. */
arm:
	li      a0, TICKS
arm_in:
	li      t0, CLINT_MTIME
	li      t3, CLINT_MTIMECMP
#if XLEN == 64
	ld      t1, 0(t0)
	add     t1, t1, a0
	sd      t1, 0(t3)
#else
	li      t1, -1
	sw      t1, 4(t3)
	lw      t1, 0(t0)
	lw      t2, 4(t0)
	add     a0, t1, a0
	sltu    t1, a0, t1
	add     t2, t2, t1
	sw      a0, 0(t3)
	sw      t2, 4(t3)
#endif
	ret

	.balign 4
on_timer:
	csrr    t0, mcause
	slli    t0, t0, 1
	srli    t0, t0, 1
	CHECK_IMM(t0, 7)
	csrr    t0, mcause
	bgez    t0, bad
	/* Far away */
	li      t0, CLINT_MTIMECMP
	li      t1, -1
	sw      t1, 0(t0)
	sw      t1, 4(t0)
	/* On behind the loop, with interrupts off */
	csrw    mepc, s11
	li      t0, MSTATUS_MPIE
	csrc    mstatus, t0
	mret

	.balign 4096
	.space  4096 - 4
border:
	.option push
	.option norvc
	j       1f
1:	j       border
	.option pop
