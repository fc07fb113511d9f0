/*
 * Several harts: software interrupts to each other, LR/SC and AMO contention,
 * code that one hart writes and another one runs. For 1 to 4 harts.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#ifndef ROUNDS
#define ROUNDS 400
#endif

/* addi a0, zero, imm */
#define ADDI_A0(imm) (0x00000513 | ((imm) << 20))

	.text
	.globl  main
	.globl  secondary
/* Hart 0 finds out how many harts there are: a hart's msip can be set. */
main:
	li      s10, 0
	li      t0, CLINT_MSIP
	li      t1, 1
1:	sw      t1, 0(t0)
	lw      t2, 0(t0)
	sw      zero, 0(t0)
	add     s10, s10, t2
	addi    t0, t0, 4
	bnez    t2, 1b
	la      t0, n_harts
	fence
	sw      s10, 0(t0)
	j       all

secondary:
	la      t0, n_harts
1:	lw      s10, 0(t0)
	beqz    s10, 1b
	j       all

done:
	wfi
	j       done

all:
	csrr    s0, mhartid
	SET_MTVEC(on_ipi)
	li      t0, MIP_MSIP
	csrw    mie, t0

	/* A counter under LR/SC, one by AMO, one under a spin lock */
	li      s2, ROUNDS
	la      s3, counter
1:	lr.w    t0, (s3)
	addi    t0, t0, 1
	sc.w    t1, t0, (s3)
	bnez    t1, 1b
	addi    t2, s3, 64
	li      t1, 1
	amoadd.w zero, t1, (t2)
	addi    t2, s3, 128
	li      t1, 1
2:	amoswap.w.aq t0, t1, (t2)
	bnez    t0, 2b
	lw      t0, 4(t2)
	addi    t0, t0, 1
	sw      t0, 4(t2)
	amoswap.w.rl zero, zero, (t2)
	addi    s2, s2, -1
	bnez    s2, 1b
	call    barrier
	li      t0, ROUNDS
	mul     t0, t0, s10
	lw      t1, 0(s3)
	CHECK_EQ(t0, t1)
	lw      t1, 64(s3)
	CHECK_EQ(t0, t1)
	lw      t1, 132(s3)
	CHECK_EQ(t0, t1)

	/*
     * Software interrupts round the ring: every hart sends to the next one
     * and waits for its own.
     */
	li      s2, 40
	csrsi   mstatus, MSTATUS_MIE
	addi    s4, s0, 1
	bne     s4, s10, 1f
	li      s4, 0
1:	slli    s4, s4, 2
	li      t0, CLINT_MSIP
	add     s4, s4, t0          /* the next hart's msip */
	li      s5, 0               /* interrupts taken */
	call    barrier
	li      s6, 0               /* interrupts that must have come */
2:	li      t0, 1
	andi    t1, s2, 7
	beqz    t1, 1f
	sw      t0, 0(s4)
	j       4f
1:	amoswap.w zero, t0, (s4)    /* QEMU stops the others for this */
4:	addi    s6, s6, 1
3:	blt     s5, s6, 3b          /* only the interrupt ends this */
	call    barrier
	addi    s2, s2, -1
	bnez    s2, 2b
	CHECK_IMM(s5, 40)
	csrci   mstatus, MSTATUS_MIE

	/*
     * Hart 0 writes a function, the others run it: each makes the others
     * fence, in turn. All harts run the same physical code.
     */
	li      s2, 1
1:	bnez    s0, 2f
	la      t0, shared
	slli    t1, s2, 20
	li      t2, ADDI_A0(0)
	or      t1, t1, t2
	sw      t1, 0(t0)
	fence
2:	call    barrier
	fence.i
	call    shared
	CHECK_EQ(a0, s2)
	call    barrier
	addi    s2, s2, 1
	li      t0, 40
	bne     s2, t0, 1b

	/* The others loop in code that hart 0 changes under them. */
	beqz    s0, 4f
3:	fence.i
	call    spin
	beqz    a0, 3b
	call    barrier
	j       5f
4:	li      t2, 2000
1:	addi    t2, t2, -1
	bnez    t2, 1b
	/*
	 * Once is not enough: QEMU drops the translation before it stores, and
	 * another hart may translate the old bytes in between.
	 */
	la      t0, spin
	li      t1, ADDI_A0(1)
	la      t2, arrived
	addi    t3, s10, -1
1:	sw      t1, 0(t0)
	fence
	fence.i
	lw      t4, 0(t2)
	bne     t4, t3, 1b
	call    barrier
5:
	call    barrier
	bnez    s0, done
	PASS

/* All harts meet here. Changes t0 to t3. */
barrier:
	la      t0, arrived
	la      t1, sense
	lw      t2, 0(t1)
	li      t3, 1
	amoadd.w.aqrl t3, t3, (t0)
	addi    t3, t3, 1
	bne     t3, s10, 1f
	sw      zero, 0(t0)
	addi    t2, t2, 1
	fence
	sw      t2, 0(t1)
	ret
1:	lw      t3, 0(t1)
	beq     t3, t2, 1b
	fence
	ret

	.balign 4
on_ipi:
	csrw    mscratch, t0
	slli    t0, s0, 2
	csrw    sscratch, t1
	li      t1, CLINT_MSIP
	add     t0, t0, t1
	sw      zero, 0(t0)
	addi    s5, s5, 1
	csrr    t0, mscratch
	csrr    t1, sscratch
	mret

	.option norvc
	.balign 4096
shared:
	addi    a0, zero, 0
	ret
	.balign 64
spin:
	addi    a0, zero, 0
	ret

	.bss
	.balign 64
n_harts:
	.space  64
arrived:
	.space  64
sense:
	.space  64
counter:
	.space  192
