/*
 * wfi, and instructions that end a block or leave it in its middle: CSR
 * accesses, fences, device accesses, a block of the largest size
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

	.text
	.globl  main
main:
	SET_MTVEC(on_timer)
	li      t0, MIP_MTIP
	csrw    mie, t0

	/* wfi with interrupts off: goes on behind itself */
	li      s2, 20
1:	call    arm
	nop
	wfi
	nop
	call    disarm
	addi    s2, s2, -1
	bnez    s2, 1b

	/* wfi that an interrupt ends: epc is behind it */
	li      s0, 0
	li      s2, 20
	csrsi   mstatus, MSTATUS_MIE
1:	la      s11, 2f
	call    arm
	wfi
2:	addi    s2, s2, -1
	bnez    s2, 1b
	CHECK_IMM(s0, 20)
	/* wfi with interrupts off in a loop, taken behind it */
	csrci   mstatus, MSTATUS_MIE
	li      s0, 0
	li      s11, 0              /* go on where it was */
	call    arm
1:	wfi
	csrsi   mstatus, MSTATUS_MIE
	csrci   mstatus, MSTATUS_MIE
	beqz    s0, 1b
	/* wfi while one is pending already: no wait */
	call    arm
1:	csrr    t0, mip
	andi    t0, t0, MIP_MTIP
	beqz    t0, 1b
	wfi
	wfi
	call    disarm

	/* wfi with TW in S-mode: illegal */
	PMP_ALL
	SET_MTVEC(rec_trap)
	li      t0, 1 << 21
	csrs    mstatus, t0
	MRET_TO(MPP_S, 1f)
1:	la      s11, 3f
	li      s8, -1
	nop
2:	wfi
	nop
3:	CHECK_IMM(s8, CAUSE_ILLEGAL)
	la      t0, 2b
	CHECK_EQ(s9, t0)
	/* rec_trap came back to S-mode */
	la      s11, 4f
	li      s8, -1
	ebreak
4:	CHECK_IMM(s8, CAUSE_BREAKPOINT)

	/* CSR reads and writes, fences, in the middle of straight code */
	li      s2, 30
1:	csrr    t1, sstatus
	addi    t2, t2, 1
	csrw    sscratch, t2
	csrr    t3, sscratch
	CHECK_EQ(t2, t3)
	fence.i
	addi    t2, t2, 1
	fence
	sfence.vma
	addi    t2, t2, 1
	csrsi   sscratch, 1
	csrci   sscratch, 1
	addi    s2, s2, -1
	bnez    s2, 1b

	/* Device accesses in the middle of a block: QEMU starts them anew */
	li      s3, CLINT_MTIME
	li      s4, UART
	li      s2, 30
1:	addi    t2, t2, 1
	lw      t1, 0(s3)
	addi    t2, t2, 1
	lbu     t1, 5(s4)
	lbu     t1, 5(s4)
	addi    t2, t2, 1
	sb      zero, 7(s4)         /* the scratch register */
	addi    t2, t2, 1
	addi    s2, s2, -1
	bnez    s2, 1b
	li      s2, 10              /* the loop's first instruction */
1:	lw      t1, 0(s3)
	addi    t2, t2, 1
	lw      t1, 0(s3)
	addi    s2, s2, -1
	bnez    s2, 1b

	/* Straight code, longer than any block may be */
	li      s2, 5
	li      t1, 0
1:	.rept   1500
	addi    t1, t1, 1
	.endr
	addi    s2, s2, -1
	beqz    s2, 2f
	j       1b
2:	CHECK_IMM(t1, 7500)
	PASS

arm:
	li      t0, CLINT_MTIME
	li      t3, CLINT_MTIMECMP
#if XLEN == 64
	ld      t1, 0(t0)
	addi    t1, t1, 500
	sd      t1, 0(t3)
#else
	li      t1, -1
	sw      t1, 4(t3)
	lw      t1, 0(t0)
	lw      t2, 4(t0)
	addi    t4, t1, 500
	sltu    t1, t4, t1
	add     t2, t2, t1
	sw      t4, 0(t3)
	sw      t2, 4(t3)
#endif
	ret

disarm:
	li      t0, CLINT_MTIMECMP
	li      t1, -1
	sw      t1, 0(t0)
	sw      t1, 4(t0)
	ret

	.balign 4
on_timer:
	addi    s0, s0, 1
	csrr    t0, mcause
	bgez    t0, bad
	li      t0, CLINT_MTIMECMP
	li      t1, -1
	sw      t1, 0(t0)
	sw      t1, 4(t0)
	beqz    s11, 1f
	csrw    mepc, s11
1:	mret

bad:
	li      a0, __LINE__
	j       fail
