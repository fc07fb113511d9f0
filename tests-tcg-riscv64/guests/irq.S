/*
 * Interrupts: software ones in M-mode and delegated to S-mode, vectored, back
 * to back, nested, taken by CSR writes and trap returns
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

	.text
	.globl  main
main:
	PMP_ALL
	/* A software interrupt to oneself: direct mode */
	SET_MTVEC(m_direct)
	li      s0, 0
	li      t0, MIP_MSIP
	csrw    mie, t0
	csrsi   mstatus, MSTATUS_MIE
	li      s1, CLINT_MSIP
	li      s2, 100
	li      t1, 1
1:	sw      t1, 0(s1)
	nop
	nop
	addi    s2, s2, -1
	bnez    s2, 1b
	CHECK_IMM(s0, 100)
	csrci   mstatus, MSTATUS_MIE

	/* The same in vectored mode; an exception still goes to the base */
	la      t0, m_vectored + 1
	csrw    mtvec, t0
	csrsi   mstatus, MSTATUS_MIE
	li      s2, 20
1:	sw      t1, 0(s1)
	nop
	.option push
	.option norvc
	ecall
	.option pop
	addi    s2, s2, -1
	bnez    s2, 1b
	CHECK_IMM(s0, 140)
	csrci   mstatus, MSTATUS_MIE
	SET_MTVEC(unexpected_trap)

	/* Enabled by a CSR instruction while it is pending */
	SET_MTVEC(m_direct)
	sw      t1, 0(s1)
	nop
	nop
	csrsi   mstatus, MSTATUS_MIE
	nop
	CHECK_IMM(s0, 141)
	/* Enabled by mret */
	csrci   mstatus, MSTATUS_MIE
	sw      t1, 0(s1)
	li      t0, MSTATUS_MPIE | MSTATUS_MPP
	csrs    mstatus, t0
	la      t0, 1f
	csrw    mepc, t0
	mret
1:	CHECK_IMM(s0, 142)
	csrci   mstatus, MSTATUS_MIE

	/* Nested: the handler raises and enables the next one, 20 deep */
	SET_MTVEC(m_nested)
	li      s0, 0
	li      s5, 20
	csrsi   mstatus, MSTATUS_MIE
	sw      t1, 0(s1)
	nop
	nop
	CHECK_IMM(s0, 20)
	csrci   mstatus, MSTATUS_MIE

	/* Delegated: S takes its own, machine interrupts in between */
	li      t0, MIP_SSIP | MIP_STIP
	csrw    mideleg, t0
	la      t0, s_handler
	csrw    stvec, t0
	li      t0, MIP_SSIP | MIP_STIP | MIP_MSIP
	csrw    mie, t0
	SET_MTVEC(m_from_s)
	li      s0, 0               /* taken in S */
	li      s3, 0               /* taken in M */
	MRET_TO(MPP_S, in_s)
in_s:
	csrsi   sstatus, MSTATUS_SIE
	li      s2, 50
	/* Only S's own */
1:	csrsi   sip, MIP_SSIP
	nop
	addi    s2, s2, -1
	bnez    s2, 1b
	CHECK_IMM(s0, 50)
	/*
     * Three in a row: M's handler raises SSIP and leaves MSIP up, so that its
     * mret is followed by M's interrupt again, and that one's mret by S's,
     * with nothing retired in between.
     */
	li      s2, 50
1:	li      s4, 1               /* ask M to raise SSIP, and MSIP again */
	sw      t1, 0(s1)
	nop
	nop
	addi    s2, s2, -1
	bnez    s2, 1b
	CHECK_IMM(s0, 100)
	CHECK_IMM(s3, 100)

	/* The same from U-mode, with an ecall that the interrupt follows */
	la      t0, in_u
	csrw    sepc, t0
	li      t0, MSTATUS_SPP
	csrc    sstatus, t0
	li      s2, 50
	sret
in_u:
1:	li      s4, 1
	sw      t1, 0(s1)
	nop
	nop
	addi    s2, s2, -1
	bnez    s2, 1b
	CHECK_IMM(s0, 150)
	CHECK_IMM(s3, 200)
	PASS

	.balign 4
m_direct:
	csrr    t0, mcause
	bgez    t0, bad
	slli    t0, t0, 1
	srli    t0, t0, 1
	CHECK_IMM(t0, 3)
	sw      zero, 0(s1)
	addi    s0, s0, 1
	mret

	.balign 4
m_nested:
	addi    sp, sp, -32
	csrr    t0, mepc
	SX      t0, 0(sp)
	csrr    t0, mstatus
	SX      t0, XBYTES(sp)
	addi    s0, s0, 1
	sw      zero, 0(s1)
	addi    s5, s5, -1
	beqz    s5, 1f
	sw      t1, 0(s1)
	csrsi   mstatus, MSTATUS_MIE
	nop
	csrci   mstatus, MSTATUS_MIE
1:	LX      t0, XBYTES(sp)
	csrw    mstatus, t0
	LX      t0, 0(sp)
	csrw    mepc, t0
	addi    sp, sp, 32
	mret

	.balign 256
	.option push
	.option norvc
m_vectored:
	j       m_exception
	j       bad
	j       bad
	j       m_software
	.option pop
m_exception:
	csrr    t0, mcause
	CHECK_IMM(t0, CAUSE_ECALL_M)
	csrr    t0, mepc
	addi    t0, t0, 4
	csrw    mepc, t0
	addi    s0, s0, 1
	mret
m_software:
	sw      zero, 0(s1)
	addi    s0, s0, 1
	mret

	.balign 4
s_handler:
	addi    s0, s0, 1
	csrr    t0, scause
	bgez    t0, bad
	csrci   sip, MIP_SSIP
	sret

	.balign 4
m_from_s:
	addi    s3, s3, 1
	beqz    s4, 1f
	li      s4, 0
	csrsi   mip, MIP_SSIP
	mret
1:	sw      zero, 0(s1)
	mret

bad:
	li      a0, __LINE__
	j       fail
