/*
 * Floating-point and vector instructions among others, with the first use
 * trapping because the unit is off
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define MSTATUS_FS 0x6000
#define MSTATUS_VS 0x600

	.text
	.globl  main
main:
	.option arch, +v
	SET_MTVEC(switch_on)
	li      s0, 0               /* first uses */
	la      s1, numbers

	/* A dot product and a comparison that decides a branch */
	li      s7, 10
again:
	fcvt.d.w f0, zero
	li      s2, 16
	mv      t1, s1
1:	fld     f1, 0(t1)
	fmadd.d f0, f1, f1, f0
	addi    t1, t1, 8
	addi    s2, s2, -1
	bnez    s2, 1b
	fcvt.w.d t2, f0
	CHECK_IMM(t2, 1496)         /* the squares of 1 to 16 */
	fld     f2, 0(s1)
	flt.d   t2, f2, f0
	beqz    t2, bad
	fsqrt.d f3, f0
	fdiv.d  f4, f0, f3
	feq.d   t2, f3, f3
	beqz    t2, bad
	csrr    t2, fflags
	csrw    fflags, zero

	/* Vectors: a strip-mined copy with an addition, then a reduction */
	la      t1, words
	la      t3, result
	li      s2, 37
1:	vsetvli t4, s2, e32, m2, ta, ma
	vle32.v v4, (t1)
	vadd.vi v4, v4, 3
	vse32.v v4, (t3)
	slli    t5, t4, 2
	add     t1, t1, t5
	add     t3, t3, t5
	sub     s2, s2, t4
	bnez    s2, 1b
	la      t3, result
	li      t4, 37
	li      t5, 0
1:	lw      t2, 0(t3)
	add     t5, t5, t2
	addi    t3, t3, 4
	addi    t4, t4, -1
	bnez    t4, 1b
	CHECK_IMM(t5, 37 * 36 / 2 + 37 * 3)
	/* A fault in the middle of a vector load: not restarted here */
	vsetivli t4, 4, e32, m1, ta, ma
	la      s11, 3f
	li      t1, 0x40
	li      s8, -1
2:	vle32.v v8, (t1)
3:	CHECK_IMM(s8, CAUSE_LOAD_ACCESS)
	la      t0, 2b
	CHECK_EQ(s9, t0)
	csrw    vstart, zero
	addi    s7, s7, -1
	beqz    s7, 1f
	j       again
1:	CHECK_IMM(s0, 2)
	PASS

bad:
	li      a0, __LINE__
	j       fail

/* Switches on what was missing, and tries again; else as rec_trap. */
	.balign 4
switch_on:
	csrr    s8, mcause
	csrr    s9, mepc
	li      t0, CAUSE_ILLEGAL
	bne     s8, t0, 2f
	addi    s0, s0, 1
	li      t0, 2
	bgt     s0, t0, bad         /* there is no such unit */
	li      t0, MSTATUS_FS
	csrr    t2, mstatus
	and     t2, t2, t0
	beqz    t2, 1f
	li      t0, MSTATUS_VS
1:	csrs    mstatus, t0
	mret
2:	csrw    mepc, s11
	mret

	.data
	.balign 64
numbers:
	.irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
	.double \n
	.endr
words:
	.set    i, 0
	.rept   37
	.word   i
	.set    i, i + 1
	.endr
result:
	.space  4 * 37
