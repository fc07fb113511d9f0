/*
 * The hypervisor extension: mret and sret into VS and VU, ecalls and faults
 * from there to M, HS and VS, a guest page fault, a handler of VS that cannot
 * be fetched
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define HSTATUS_SPV (1 << 7)
#define NOWHERE 0x400
#define HGATP_SV39X4 (8 << 60)

/* hfence.gvma and hfence.vvma, all */
#define HFENCE_GVMA .word 0x62000073
#define HFENCE_VVMA .word 0x22000073

/*
 * sret with V=1, spp 0 is VU, MSTATUS_SPP is VS. (QEMU 10.0 does not let
 * software write mstatus.MPV, so mret cannot begin it.) Changes t0.
 */
#define SRET_TO_V(spp, label) \
	li t0, HSTATUS_SPV; csrs hstatus, t0; \
	li t0, MSTATUS_SPP; csrc mstatus, t0; li t0, spp; csrs mstatus, t0; \
	la t0, label; csrw sepc, t0; sret

	.text
	.globl  main
main:
	PMP_ALL
	SET_MTVEC(m_record)
	csrw    hgatp, zero
	csrw    vsatp, zero

	li      s7, 30
again:
	/* M to VS and back by ecall */
	li      s8, -1
	la      s11, 2f
	SRET_TO_V(MSTATUS_SPP, 1f)
1:	ecall
2:	CHECK_IMM(s8, CAUSE_ECALL_VS)
	la      t0, 1b
	CHECK_EQ(s9, t0)
	/* M to VU and back */
	la      s11, 2f
	SRET_TO_V(0, 1f)
1:	nop
	ecall
2:	CHECK_IMM(s8, CAUSE_ECALL_U)
	/* mret into VS and VU, behind a trap from there */
	li      a7, 1               /* m_record returns to behind the ecall */
	SRET_TO_V(MSTATUS_SPP, 1f)
	.option push
	.option norvc
1:	ecall
	nop
	ecall
	li      t0, MSTATUS_SPP
	csrc    sstatus, t0
	la      t0, 1f
	csrw    sepc, t0
	sret
1:	ecall
	ecall
	li      a7, 0
	la      s11, 1f
	ecall
	.option pop
1:	CHECK_IMM(s8, CAUSE_ECALL_U)
	/* VS to VU by its own sret */
	la      s11, 3f
	SRET_TO_V(MSTATUS_SPP, 1f)
1:	li      t0, MSTATUS_SPP
	csrc    sstatus, t0
	la      t0, 2f
	csrw    sepc, t0
	sret
2:	ecall
3:	CHECK_IMM(s8, CAUSE_ECALL_U)
	/* HS to VS and VU by sret with hstatus.SPV */
	MRET_TO(MPP_S, 1f)
1:	li      t0, HSTATUS_SPV
	csrs    hstatus, t0
	li      t0, MSTATUS_SPP
	csrs    sstatus, t0
	la      t0, 2f
	csrw    sepc, t0
	la      s11, 3f
	sret
2:	ecall
3:	CHECK_IMM(s8, CAUSE_ECALL_VS)
	MRET_TO(MPP_S, 1f)
1:	li      t0, HSTATUS_SPV
	csrs    hstatus, t0
	li      t0, MSTATUS_SPP
	csrc    sstatus, t0
	la      t0, 2f
	csrw    sepc, t0
	la      s11, 3f
	sret
2:	ecall
3:	CHECK_IMM(s8, CAUSE_ECALL_U)
	/* Instructions that VS must not execute: virtual instruction traps */
	la      s11, 3f
	SRET_TO_V(MSTATUS_SPP, 2f)
2:	csrr    t0, hstatus
3:	CHECK_IMM(s8, CAUSE_VIRTUAL_INST)
	la      t0, 2b
	CHECK_EQ(s9, t0)
	la      s11, 3f
	SRET_TO_V(MSTATUS_SPP, 2f)
2:	HFENCE_GVMA
3:	CHECK_IMM(s8, CAUSE_VIRTUAL_INST)
	la      s11, 3f
	SRET_TO_V(0, 2f)
2:	sret
	/*
	 * Stock QEMU 10.2 has CAUSE_ILLEGAL, and is to run the same blocks
	 * (off-costs-nothing.sh): no branch between the two.
	 */
3:	li      t0, 1 << CAUSE_VIRTUAL_INST | 1 << CAUSE_ILLEGAL
	srl     t0, t0, s8
	andi    t0, t0, 1
	CHECK_IMM(t0, 1)
	la      s11, 3f
	SRET_TO_V(MSTATUS_SPP, 2f)
2:	mret
3:	CHECK_IMM(s8, CAUSE_ILLEGAL)
	addi    s7, s7, -1
	beqz    s7, 1f
	j       again
1:
	/* Delegated to HS: ecall from VS and VU, breakpoints to VS */
	li      t0, (1 << CAUSE_ECALL_U) | (1 << CAUSE_ECALL_VS) | \
                (1 << CAUSE_BREAKPOINT) | (1 << CAUSE_FETCH_GUEST_PAGE) | \
                (1 << CAUSE_LOAD_GUEST_PAGE) | (1 << CAUSE_ILLEGAL)
	csrw    medeleg, t0
	li      t0, (1 << CAUSE_BREAKPOINT) | (1 << CAUSE_ECALL_U)
	csrw    hedeleg, t0
	la      t0, hs_skip
	csrw    stvec, t0
	la      t0, vs_skip
	csrw    vstvec, t0
	li      s0, 0               /* taken in HS */
	li      s3, 0               /* taken in VS */
	la      s11, done_1
	li      s7, 50
	SRET_TO_V(MSTATUS_SPP, 1f)
	.option push
	.option norvc
	.balign 4
1:	ecall                       /* VS to HS */
	ebreak                      /* VS to VS */
	ecall
	.word   0xffffffff          /* VS to HS */
	addi    s7, s7, -1
	bnez    s7, 1b
	li      s7, 50
	li      t0, MSTATUS_SPP
	csrc    sstatus, t0
	la      t0, 2f
	csrw    sepc, t0
	sret
2:	ebreak                      /* VU to VS */
	ecall                       /* VU to VS */
	.word   0xffffffff          /* VU to HS */
	addi    s7, s7, -1
	bnez    s7, 2b
	lw      t0, 0x40(zero)      /* access fault, to M */
	.option pop
done_1:
	CHECK_IMM(s0, 200)
	CHECK_IMM(s3, 150)
	CHECK_IMM(s8, CAUSE_LOAD_ACCESS)

	/* VS's handler cannot be fetched: VS, then M; from VU and from VS */
	li      t0, NOWHERE
	csrw    vstvec, t0
	la      s11, 2f
	SRET_TO_V(0, 1f)
1:	ebreak
2:	CHECK_IMM(s9, NOWHERE)
	csrr    t1, vsepc
	la      t0, 1b
	CHECK_EQ(t1, t0)
	la      s11, 2f
	SRET_TO_V(MSTATUS_SPP, 1f)
1:	ebreak
2:	CHECK_IMM(s9, NOWHERE)
	csrr    t1, vsepc
	la      t0, 1b
	CHECK_EQ(t1, t0)
	/* HS's handler cannot be fetched: HS, then M */
	li      t0, NOWHERE
	csrw    stvec, t0
	la      s11, 2f
	SRET_TO_V(0, 3f)
3:	nop
1:	.word   0xffffffff
2:	CHECK_IMM(s9, NOWHERE)
	csrr    t1, sepc
	la      t0, 1b
	CHECK_EQ(t1, t0)

	/* Two-stage translation: guest pages at two physical addresses */
	la      t0, hs_skip
	csrw    stvec, t0
	la      t0, vs_skip
	csrw    vstvec, t0
	/* G-stage: 1 GiB pages, 0x80000000 as it is, 0x140000000 the same */
	la      t1, g_root
	li      t2, (0x80000000 >> 2) | 0xdf    /* V R W X U A D */
	sd      t2, 2 * 8(t1)
	sd      t2, 5 * 8(t1)
	srli    t1, t1, 12
	li      t2, HGATP_SV39X4
	or      t1, t1, t2
	csrw    hgatp, t1
	HFENCE_GVMA
	li      s7, 10
1:	/* The same code at two guest physical addresses */
	la      s11, 4f
	la      t1, 3f
	li      t2, 0xc0000000
	add     t1, t1, t2          /* 0x8... to 0x14... */
	SRET_TO_V(MSTATUS_SPP, 2f)
2:	jr      t1
	.balign 4
3:	nop
	lw      t0, 0x40(zero)      /* a guest page fault: HS skips it */
	.option push
	.option norvc
	lw      t0, 0x40(zero)
	.option pop
	nop
	.hword  0, 0                /* illegal: HS skips it */
	mret                        /* illegal for VS: to HS, which skips it */
	li      t0, 0x10000000
	jr      t0                  /* a guest page fault on a fetch: HS to M */
4:	CHECK_IMM(s8, CAUSE_ECALL_S)
	addi    s7, s7, -1
	beqz    s7, 1f
	j       1b
1:
	/* No handler can be fetched: VS, by a guest page fault HS, M */
	li      t0, 0x10000000
	csrw    vstvec, t0
	li      t0, NOWHERE
	csrw    stvec, t0
	li      s7, 10
1:	la      s11, 4f
	SRET_TO_V(0, 2f)
2:	nop
3:	ebreak
4:	CHECK_IMM(s9, NOWHERE)
	csrr    t1, sepc
	CHECK_IMM(t1, 0x10000000)
	csrr    t1, vsepc
	la      t0, 3b
	CHECK_EQ(t1, t0)
	addi    s7, s7, -1
	bnez    s7, 1b

	/* VS-stage on top: Sv39 with one gigabyte page, 0x140000000 again */
	la      t1, vs_root
	li      t2, (0x140000000 >> 2) | 0xcf   /* V R W X A D */
	sd      t2, 2 * 8(t1)
	srli    t1, t1, 12
	li      t2, HGATP_SV39X4
	or      t1, t1, t2
	csrw    vsatp, t1
	HFENCE_VVMA
	li      s7, 10
1:	la      s11, 4f
	SRET_TO_V(MSTATUS_SPP, 2f)
2:	nop
	li      t0, 0x10000000
	jr      t0                  /* not mapped by VS: a page fault, to M */
4:	CHECK_IMM(s8, CAUSE_FETCH_PAGE)
	CHECK_IMM(s9, 0x10000000)
	addi    s7, s7, -1
	bnez    s7, 1b
	PASS

/* Records, and goes on in M-mode at s11; or where it was if a7 is 1 */
	.balign 4
m_record:
	csrr    s8, mcause
	csrr    s9, mepc
	bnez    a7, 1f
	csrw    mepc, s11
	li      t0, MSTATUS_MPP
	csrs    mstatus, t0
	mret
1:	addi    t0, s9, 4
	csrw    mepc, t0
	mret

/* HS: goes on behind the instruction; after a fetch fault, back to M */
	.balign 4
hs_skip:
	addi    s0, s0, 1
	csrr    t0, scause
	addi    t0, t0, -CAUSE_FETCH_GUEST_PAGE
	beqz    t0, 1f
	csrr    t0, sepc
	addi    t0, t0, 4
	csrw    sepc, t0
	sret
1:	ecall

	.balign 4
vs_skip:
	addi    s3, s3, 1
	csrr    t0, sepc
	addi    t0, t0, 4
	csrw    sepc, t0
	sret

	.bss
	.balign 16384
g_root:
	.space  16384
vs_root:
	.space  4096
