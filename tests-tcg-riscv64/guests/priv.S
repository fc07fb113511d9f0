/*
 * Privilege: ecall from M, S and U, mret and sret into every mode, delegated
 * exceptions, handlers that cannot be fetched, a storm of ecalls
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

/* Nothing can be fetched from here. */
#define NOWHERE 0x400

	.text
	.globl  main, in_s, in_u
main:
	PMP_ALL
	SET_MTVEC(m_service)

	/* M to M by mret, then to S, to U, and back up by ecalls */
	li      t0, MSTATUS_MPP
	csrs    mstatus, t0
	la      t0, 1f
	csrw    mepc, t0
	mret
1:	la      s11, 2f
	li      s8, -1
	ecall
2:	CHECK_IMM(s8, CAUSE_ECALL_M)
	li      s7, 30
rounds:
	MRET_TO(MPP_S, in_s)
in_s:	la      s11, 2f
	ecall                       /* S: goes on in M at s11 */
2:	CHECK_IMM(s8, CAUSE_ECALL_S)
	MRET_TO(0, in_u)
in_u:	la      s11, 2f
	ecall
2:	CHECK_IMM(s8, CAUSE_ECALL_U)
	/* S to S and S to U by sret */
	MRET_TO(MPP_S, 1f)
1:	li      t0, MSTATUS_SPP
	csrs    sstatus, t0
	la      t0, 2f
	csrw    sepc, t0
	sret
2:	li      t0, MSTATUS_SPP
	csrc    sstatus, t0
	la      t0, 3f
	csrw    sepc, t0
	sret
3:	la      s11, 4f
	ecall
4:	CHECK_IMM(s8, CAUSE_ECALL_U)
	/* sret in M-mode: to S */
	li      t0, MSTATUS_SPP
	csrs    mstatus, t0
	la      t0, 1f
	csrw    sepc, t0
	sret
1:	la      s11, 2f
	ecall
2:	CHECK_IMM(s8, CAUSE_ECALL_S)
	addi    s7, s7, -1
	beqz    s7, 1f
	j       rounds
1:
	/* What U and S must not do: the returns themselves are illegal */
	MRET_TO(0, 1f)
1:	la      s11, 3f
	li      s8, -1
2:	mret
3:	CHECK_IMM(s8, CAUSE_ILLEGAL)
	la      t0, 2b
	CHECK_EQ(s9, t0)
	MRET_TO(0, 1f)
1:	la      s11, 3f
	li      s8, -1
2:	sret
3:	CHECK_IMM(s8, CAUSE_ILLEGAL)
	la      t0, 2b
	CHECK_EQ(s9, t0)
	MRET_TO(MPP_S, 1f)
1:	la      s11, 3f
	li      s8, -1
2:	mret
3:	CHECK_IMM(s8, CAUSE_ILLEGAL)
	MRET_TO(0, 1f)
1:	la      s11, 3f
	li      s8, -1
2:	csrr    t0, sstatus
3:	CHECK_IMM(s8, CAUSE_ILLEGAL)
	la      t0, 2b
	CHECK_EQ(s9, t0)
	MRET_TO(0, 1f)
1:	la      s11, 3f
	li      s8, -1
2:	wfi                         /* TW is 0, but in U it may trap at once */
	ecall
3:
	/* An mret whose target cannot be fetched: it retires */
	la      s11, 1f
	li      s8, -1
	li      t0, MSTATUS_MPP
	csrc    mstatus, t0
	li      t0, NOWHERE
	csrw    mepc, t0
	mret
1:	CHECK_IMM(s8, CAUSE_FETCH_ACCESS)
	CHECK_IMM(s9, NOWHERE)

	/* Delegated exceptions, S takes what U does */
	li      t0, (1 << CAUSE_ECALL_U) | (1 << CAUSE_ILLEGAL) | \
                (1 << CAUSE_BREAKPOINT) | (1 << CAUSE_LOAD_ACCESS)
	csrw    medeleg, t0
	la      t0, s_service
	csrw    stvec, t0
	li      s0, 0
	MRET_TO(0, 1f)
1:	li      s7, 1000            /* the storm */
	.option push
	.option norvc
1:	ecall
	addi    s7, s7, -1
	bnez    s7, 1b
	CHECK_IMM(s0, 1000)
	li      s7, 50
1:	ecall
	ecall
	ebreak
	.word   0xffffffff
	lw      t1, 0x40(zero)
	ecall
	addi    s7, s7, -1
	bnez    s7, 1b
	.option pop
	CHECK_IMM(s0, 1300)

	/*
     * S's handler cannot be fetched: the trap to S is followed by one to M,
     * and nothing retires in between.
     */
	la      s11, 1f
	.option push
	.option norvc
	li      a7, 1               /* a service of M: stvec = NOWHERE */
	sw      zero, 0(zero)       /* not delegated: m_service */
1:
	/* An ecall: does not retire */
	li      a7, 2
	la      s11, 2f
1:	ecall
	ebreak
2:	la      t0, 1b
	CHECK_EQ(s10, t0)           /* sepc */
	CHECK_IMM(s9, NOWHERE)      /* mepc */
	/* A load in the middle of a block */
	la      s11, 2f
	addi    t1, t1, 1
1:	lw      t1, 0x40(zero)
	addi    t1, t1, 1
2:	la      t0, 1b
	CHECK_EQ(s10, t0)
	/* An instruction behind one that ends a block */
	la      s11, 2f
	fence.i
1:	.word   0xffffffff
2:	la      t0, 1b
	CHECK_EQ(s10, t0)
	/* A jump in front: it retires */
	la      s11, 2f
	la      t1, 1f
	jr      t1
	ebreak
1:	.word   0xffffffff
2:	la      t0, 1b
	CHECK_EQ(s10, t0)
	.option pop

	/* M raises SSIP and returns: interrupted before anything retires */
	la      s11, 1f
	li      a7, 3               /* back to M */
	sw      zero, 0(zero)
1:	li      t0, MIP_SSIP
	csrw    mideleg, t0
	csrw    mie, t0
	csrw    mip, t0
	li      t0, MSTATUS_SIE
	csrs    mstatus, t0
	li      a7, 2
	la      s11, 3f
	MRET_TO(0, 2f)
2:	ebreak                      /* never reached: S, then M */
3:	la      t0, 2b
	CHECK_EQ(s10, t0)
	CHECK_IMM(s9, NOWHERE)
	PASS

/*
 * Records cause and epc in s8 and s9 and goes on in M-mode at s11; by a7:
 * 1: sets stvec to NOWHERE and goes on in the mode that trapped
 * 2: goes on in U-mode, with sepc in s10
 */
	.balign 4
m_service:
	csrr    s8, mcause
	csrr    s9, mepc
	csrw    mepc, s11
	li      t0, 1
	beq     a7, t0, 1f
	li      t0, 2
	beq     a7, t0, 2f
	li      t0, MSTATUS_MPP
	csrs    mstatus, t0
	mret
1:	li      t0, NOWHERE
	csrw    stvec, t0
	mret
2:	csrr    s10, sepc
	csrw    mip, zero
	li      t0, MSTATUS_MPP
	csrc    mstatus, t0
	mret

	.balign 4
s_service:
	addi    s0, s0, 1
	csrr    t0, sepc
	addi    t0, t0, 4
	csrw    sepc, t0
	sret
