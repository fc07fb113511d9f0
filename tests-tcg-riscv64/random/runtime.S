/*
 * Start, end and trap handlers of the random guests
 *
 * Nothing but a trap leads to a handler: steps.c relies on it. An exception
 * goes on at s11, which everything that may trap sets; ecall with a7 calls a
 * service in M-mode, from any mode. Every exception costs fuel; a hart that
 * has none left goes on with the next part of its program, a few times.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "runtime.inc"

#define MARK_M lui x0, 0xabc01
#define MARK_S lui x0, 0xabc02

	.section .text.start, "ax"
	.globl  _start
_start:
	csrr    s0, mhartid
	la      tp, hart_data
	slli    t0, s0, HART_SHIFT
	add     tp, tp, t0
	SX      s0, HARTID(tp)
	li      t0, FUEL_START
	SX      t0, FUEL(tp)
	li      t0, NAPS_START
	SX      t0, NAPS(tp)
	li      t0, TANKS_START
	SX      t0, TANKS(tp)
	li      t1, CLINT_MTIMECMP
	slli    t0, s0, 3
	add     t1, t1, t0
	SX      t1, TIMECMP(tp)
	li      t0, -1
	sw      t0, 4(t1)
	sw      t0, 0(t1)
	li      t1, CLINT_MSIP
	slli    t0, s0, 2
	add     t0, t0, t1
	SX      t0, MSIP(tp)
	addi    t2, s0, 1
	li      t0, HARTS
	bltu    t2, t0, 1f
	li      t2, 0
1:	slli    t2, t2, 2
	add     t2, t2, t1
	SX      t2, NEXT_MSIP(tp)
	li      t1, 0x3020000
	slli    t0, s0, 12
	add     t1, t1, t0
	SX      t1, ENCODER(tp)
	addi    t2, s0, 1
	li      t0, HARTS
	bltu    t2, t0, 1f
	li      t2, 0
1:	li      t1, 0x3020000
	slli    t0, t2, 12
	add     t1, t1, t0
	SX      t1, NEXT_ENCODER(tp)

	SET_MTVEC(m_vector)
	la      t0, s_vector
	csrw    stvec, t0
	csrw    satp, zero
	PMP_ALL
	li      t0, 0x46600             /* SUM, FS and VS not off */
	csrw    mstatus, t0
	li      t0, -1
	TRY(csrw mcounteren, t0)
	TRY(csrw scounteren, t0)
	TRY(csrw 0x30c, t0)             /* mstateen0 */
	TRY(csrw 0x31c, t0)             /* mstateen0h, RV32 */
	TRY(csrw 0x60c, t0)             /* hstateen0 */
	TRY(csrw 0x10c, t0)             /* sstateen0 */
	TRY(csrw 0x606, t0)             /* hcounteren */
#ifdef HAS_H
	la      t0, vs_vector
	csrw    vstvec, t0
	csrw    hgatp, zero
	csrw    vsatp, zero
	li      t0, 0x46600
	csrw    vsstatus, t0
#endif
#ifdef HAS_ZC
	la      t0, jump_table
	TRY(csrw 0x017, t0)             /* jvt */
#endif
#ifdef HAS_ZICF
	li      t0, 0xc                 /* landing pads, shadow stacks */
	TRY(csrs menvcfg, t0)
	TRY(csrs senvcfg, t0)
	TRY(csrs 0x60a, t0)             /* henvcfg */
	li      t0, 0x400
	TRY(csrs 0x747, t0)             /* mseccfg */
#endif
	la      t0, mains
	LX      s0, HARTID(tp)
	slli    t1, s0, 3
	add     t0, t0, t1
	LX      t0, 0(t0)
	jr      t0

	.text
/* The hart is done. Hart 0 waits for the others, for a while. */
	.globl  park
park:
	csrw    mie, zero
	csrci   mstatus, MSTATUS_MIE
#ifdef HAS_CTR
	li      a0, DUMPS
	add     a0, a0, tp
	.globl  ctr_dump_0_0
ctr_dump_0_0:
	jal     ctr_dump
#endif
	la      t0, parked
	li      t1, 1
	amoadd.w.aqrl zero, t1, (t0)
	LX      t0, HARTID(tp)
	bnez    t0, 3f
	li      s0, 40000
	li      s1, HARTS
1:	la      t0, parked
	lw      t0, 0(t0)
	bgeu    t0, s1, 2f
	jal     doze
	addi    s0, s0, -1
	bnez    s0, 1b
2:	li      t0, SIFIVE_TEST
	li      t1, TEST_PASS
	bnez    s0, 5f
	li      t1, TEST_FAIL | (7 << 16)   /* a hart has not come to its end */
5:	sw      t1, 0(t0)
3:	csrw    mie, zero
4:	wfi
	j       4b

/* As doze, while there are naps left */
	.globl  nap
nap:
	LX      t0, NAPS(tp)
	addi    t0, t0, -1
	bltz    t0, 1f
	SX      t0, NAPS(tp)
	j       doze
1:	ret

/* Sleeps for 500 us or less. Changes t0 to t3, and the hart's timer. */
	.globl  doze
doze:
#ifdef NO_TIMER
	/* QEMU 10.0 does not start timers again behind a migration. */
	li      t0, 500
1:	addi    t0, t0, -1
	bnez    t0, 1b
	ret
#else
	LX      t0, TIMECMP(tp)
	li      t1, CLINT_MTIME
	lw      t2, 0(t1)
	lw      t3, 4(t1)
	li      t1, 5000
	add     t1, t2, t1
	/* no handler that puts the timer off before the hart sleeps */
	csrrci  t2, mstatus, MSTATUS_MIE
	sw      t3, 4(t0)
	sw      t1, 0(t0)
	li      t1, MIP_MTIP
	csrw    mie, t1
	wfi
	li      t1, -1
	sw      t1, 4(t0)
	andi    t2, t2, MSTATUS_MIE
	csrs    mstatus, t2
	ret
#endif

/*
 * For M-mode services: all harts meet, for 20 ms at most. Changes t0 to t6,
 * a0 to a3, the hart's timer.
 */
	.globl  meet
meet:
	mv      a3, ra
	csrr    a2, mie
	la      a0, met
	li      t0, 1
	amoadd.w.aqrl t0, t0, (a0)
	/* the round is over when as many have come as there are harts */
	li      t1, HARTS
	remu    t2, t0, t1
	sub     t0, t0, t2
	add     t4, t0, t1
	li      t5, 40
1:	LX      t0, NAPS(tp)
	addi    t0, t0, -1
	bltz    t0, 2f
	SX      t0, NAPS(tp)
	lw      t0, 0(a0)
	sub     t0, t0, t4
	bgez    t0, 2f
	la      t0, parked
	lw      t0, 0(t0)
	bnez    t0, 2f                  /* who is done will not come */
	jal     doze
	addi    t5, t5, -1
	bnez    t5, 1b
2:	csrw    mie, a2
	jr      a3

#ifdef HAS_CTR
/*
 * Copies what there is of the CTR to a0: three controls, sctrstatus,
 * sctrdepth, and from a0 + 64 on 32 entries. No control transfer but the ret.
 * Changes t0, t1.
 */
	.macro  copy csr, to
	csrr    t0, \csr
	sd      t0, \to(a0)
	.endm
	.globl  ctr_dump, ctr_dumped
ctr_dump:
ctr_dumped:
	copy    0x34e, 0
	copy    0x14e, 8
#ifdef HAS_H
	copy    0x24e, 16
#endif
	copy    0x14f, 24
	copy    0x15f, 32
	.set    entry, 0
	.rept   32
	li      t1, 0x200 + entry
	csrw    0x150, t1
	copy    0x151, (64 + 24 * entry)
	copy    0x152, (72 + 24 * entry)
	copy    0x153, (80 + 24 * entry)
	.set    entry, entry + 1
	.endr
	ret
#endif

/* Changes t0. */
	.macro  STACK_BACK
	sub     t0, sp, tp
	srli    t0, t0, 13
	addi    t0, t0, -(STACK_LOW >> 13)
	beqz    t0, 66f
	li      sp, STACK - 16
	add     sp, sp, tp
66:
	.endm

	.balign 4
	.globl  m_vector
m_vector:
	MARK_M
	SX      t0, SAVED_M(tp)
	SX      t1, SAVED_M + 8(tp)
	SX      t2, SAVED_M + 16(tp)
	csrr    t0, mcause
	bltz    t0, m_interrupt
	LX      t1, FUEL(tp)
	addi    t1, t1, -1
	SX      t1, FUEL(tp)
	bgtz    t1, 1f
	j       out_of_fuel
1:	li      t1, CAUSE_ECALL_U
	bltu    t0, t1, m_exception
	li      t1, CAUSE_ECALL_M
	bgtu    t0, t1, m_exception
	beqz    a7, skip_ecall
	/* the service's address, whatever window the caller runs in */
	li      t1, 0x3fffffff
	and     t0, a7, t1
	li      t1, 0x40000000
	add     t0, t0, t1
	add     t0, t0, t1
	jr      t0
	.globl  skip_ecall
skip_ecall:
	csrr    t0, mepc
	addi    t0, t0, 4
	csrw    mepc, t0
	j       m_return
m_exception:
	STACK_BACK
	csrw    mepc, s11
#ifdef HAS_ZICF
	li      t0, 0x20000800000       /* MPELP, SPELP */
	csrc    mstatus, t0
#endif
m_return:
	LX      t0, SAVED_M(tp)
	LX      t1, SAVED_M + 8(tp)
	LX      t2, SAVED_M + 16(tp)
	mret
m_interrupt:
	LX      t1, TIMECMP(tp)
	li      t0, -1
	sw      t0, 4(t1)
	LX      t1, MSIP(tp)
	sw      zero, 0(t1)
	li      t0, MIP_SSIP | 0x2000
	csrc    mip, t0
#ifdef HAS_H
	csrw    hvip, zero
#endif
	j       m_return

/* Service: the region is left. */
	.globl  leave_region
out_of_fuel:
	LX      t0, TANKS(tp)
	addi    t0, t0, -1
	SX      t0, TANKS(tp)
	bgtz    t0, leave_region
	j       park
leave_region:
	li      t0, FUEL_START
	SX      t0, FUEL(tp)
	LX      t0, CONTINUE(tp)
	csrw    mepc, t0
	li      t0, MSTATUS_MPP
	csrs    mstatus, t0
	mret

	.macro  s_handler saved, hs
	MARK_S
	SX      t0, \saved(tp)
	SX      t1, \saved + 8(tp)
	csrr    t0, scause
	bltz    t0, 3f
	LX      t1, FUEL(tp)
	addi    t1, t1, -1
	SX      t1, FUEL(tp)
	bgtz    t1, 1f
	la      a7, out_of_fuel
1:	addi    t0, t0, -CAUSE_ECALL_U
	li      t1, CAUSE_ECALL_M - CAUSE_ECALL_U
	bgtu    t0, t1, 2f
	ecall                           /* M-mode does it */
	csrr    t0, sepc
	addi    t0, t0, 4
	csrw    sepc, t0
	j       4f
2:	STACK_BACK
	csrw    sepc, s11
	LX      t1, FUEL(tp)
	bgtz    t1, 5f
	ecall
5:
#ifdef HAS_ZICF
	li      t0, MSTATUS_SPELP
	csrc    sstatus, t0
#endif
	j       4f
3:	csrci   sip, MIP_SSIP
	li      t0, 0x2000
	csrc    sip, t0
#ifdef HAS_H
	.if     \hs
	csrw    hvip, zero
	.endif
#endif
4:	LX      t0, \saved(tp)
	LX      t1, \saved + 8(tp)
	sret
	.endm

	.balign 4
	.globl  s_vector
s_vector:
	s_handler SAVED_S, 1
	.balign 4
	.globl  vs_vector
vs_vector:
	s_handler SAVED_VS, 0

	.data
	.balign 4096
	.globl  shared_data
shared_data:
parked:
	.space  64
met:
	.space  64
	.space  4096 - 128
	.balign 4096
	.globl  hart_data
hart_data:
	.space  HARTS << HART_SHIFT
