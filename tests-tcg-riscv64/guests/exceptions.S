/*
 * Exceptions of every kind that M-mode can raise without paging, alone, back
 * to back, on the target of an uninferable jump, in a handler's first
 * instruction, and in front of their own handler
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

/* Nothing answers here. */
#define NOWHERE 0x10

	.text
	.globl  main
main:
	SET_MTVEC(rec_trap)
	li      s0, NOWHERE
	la      s1, data
	li      s2, 1               /* misaligned, and nothing there */

	li      s7, 3               /* everything three times */
again:
	EXPECT_TRAP(CAUSE_ILLEGAL, .word 0)
	CHECK_EQ(s10, zero)
	EXPECT_TRAP(CAUSE_ILLEGAL, .word 0xffffffff)
	EXPECT_TRAP(CAUSE_ILLEGAL, csrr t1, 0x123)
	EXPECT_TRAP(CAUSE_ILLEGAL, csrw mhartid, zero)
	EXPECT_TRAP(CAUSE_BREAKPOINT, ebreak)
	EXPECT_TRAP(CAUSE_ECALL_M, ecall)
	EXPECT_TRAP(CAUSE_LOAD_ACCESS, lw t1, 0(s0))
	EXPECT_TRAP(CAUSE_STORE_ACCESS, sw t1, 0(s0))
	EXPECT_TRAP(CAUSE_STORE_ACCESS, amoadd.w t1, t1, (s0))
	EXPECT_TRAP(CAUSE_LOAD_MISALIGNED, lr.w t1, (s2))
	/*
	 * QEMU 10.2: it fails, having no reservation, and does not trap; the
	 * AMO's address is a load's.
	 */
	li      s8, CAUSE_STORE_MISALIGNED
	la      s11, 1f
	sc.w    t1, t1, (s2)
1:	CHECK_IMM(s8, CAUSE_STORE_MISALIGNED)
	li      s8, -1
	la      s11, 2f
	amoswap.w t1, t1, (s2)
2:	li      t0, CAUSE_LOAD_MISALIGNED
	beq     s8, t0, 2f
	CHECK_IMM(s8, CAUSE_STORE_MISALIGNED)
2:
#if COMPRESSED
	EXPECT_TRAP(CAUSE_ILLEGAL, .hword 0)
	EXPECT_TRAP(CAUSE_BREAKPOINT, c.ebreak)
#else
	/* Misaligned fetch: the jump itself traps, and does not retire. */
	la      t1, odd + 2
	li      a3, 5
	EXPECT_TRAP(CAUSE_FETCH_MISALIGNED, jr t1)
	EXPECT_TRAP(CAUSE_FETCH_MISALIGNED, jalr a3, t1)
	CHECK_IMM(a3, 5)
	EXPECT_TRAP(CAUSE_FETCH_MISALIGNED, .word 0x0020006f)   /* j .+2 */
	EXPECT_TRAP(CAUSE_FETCH_MISALIGNED, .word 0x00000163)   /* beq .+2 */
	.word   0x00001163          /* bne x0, x0, .+2: not taken, no trap */
#endif
	addi    s7, s7, -1
	beqz    s7, 1f
	j       again
1:

	/* Floating point is off: illegal, at a block's end and inside one */
	EXPECT_TRAP(CAUSE_ILLEGAL, fadd.s f0, f0, f0)
	EXPECT_TRAP(CAUSE_ILLEGAL, addi t1, t1, 1; 88: flw f0, 0(s1))

	/* Back to back, in one line of code */
	SET_MTVEC(count_and_skip4)
	li      s8, 0
	.option push
	.option norvc
	ecall
	ebreak
	ecall
	lw      t1, 0(s0)
	sw      t1, 0(s0)
	.word   0xffffffff
	ecall
	lw      t1, 0(s1)
	lw      t1, 0(s0)
	beqz    zero, 1f
	ecall
1:	lw      t1, 0(s0)
	.word   0xffffffff
	.option pop
	CHECK_IMM(s8, 10)
	SET_MTVEC(rec_trap)

	/* On the target of a return, a call, a jump, of both branch outcomes */
	la      ra, bad_word
	EXPECT_TRAP_AT(CAUSE_ILLEGAL, bad_word, ret)
	EXPECT_TRAP_AT(CAUSE_ILLEGAL, bad_word, call bad_word)
	la      t1, bad_load
	EXPECT_TRAP_AT(CAUSE_LOAD_ACCESS, bad_load, jalr t1)
	la      t1, bad_ecall
	EXPECT_TRAP_AT(CAUSE_ECALL_M, bad_ecall, jr t1)
	EXPECT_TRAP_AT(CAUSE_ILLEGAL, bad_word, beqz zero, bad_word)
	li      s8, -1
	la      s11, 2f
	bnez    zero, bad_word
1:	.word   0xffffffff
2:	CHECK_IMM(s8, CAUSE_ILLEGAL)
	la      t0, 1b
	CHECK_EQ(s9, t0)
	/* The target cannot be fetched at all. */
	la      s11, 1f
	jalr    s0
1:	CHECK_IMM(s8, CAUSE_FETCH_ACCESS)
	CHECK_EQ(s9, s0)
	/* On the target of mret */
	la      t0, bad_word
	csrw    mepc, t0
	li      t0, MSTATUS_MPP
	csrs    mstatus, t0
	EXPECT_TRAP_AT(CAUSE_ILLEGAL, bad_word, mret)
	/*
     * An mret to itself: retires twice (M to M, M to U), then it is illegal,
     * with the same epc as always.
     */
	PMP_ALL
	SET_MTVEC(mret_third)
	la      t0, mret_again
	csrw    mepc, t0
	li      t0, MSTATUS_MPP
	csrs    mstatus, t0
mret_again:
	mret
	ebreak
	.balign 4
mret_third:
	csrr    t1, mcause
	CHECK_IMM(t1, CAUSE_ILLEGAL)
	csrr    t1, mepc
	la      t0, mret_again
	CHECK_EQ(t1, t0)

	/*
     * A handler that traps itself: its first instruction installs another
     * handler, its second one is illegal.
     */
	SET_MTVEC(swap_handler)
	li      s7, 0
	la      s6, rec_trap
	la      s11, 1f
	li      s8, -1
	ecall
1:	CHECK_IMM(s8, CAUSE_ILLEGAL)
	la      t0, swap_handler_2
	CHECK_EQ(s9, t0)

	/* The handler right behind the instruction that traps, or does not. */
	li      s7, 2
	.balign 4
	.option push
	.option norvc
probe:
	la      t0, probe_behind
	csrw    mtvec, t0
	csrw    mepc, zero
	csrw    mcause, zero
	csrw    0x123, zero
probe_behind:
	csrr    t1, mepc
	la      t2, probe_behind - 4
	CHECK_EQ(t1, t2)
	la      t0, probe_ok
	csrw    mtvec, t0
	csrw    mepc, zero
	csrw    mcause, zero
	csrw    mscratch, zero
probe_ok:
	csrr    t1, mepc
	CHECK_EQ(t1, zero)
	/* A load in front of the handler that does not trap, then does */
	la      t0, probe_load
	csrw    mtvec, t0
	mv      t1, s1
	mv      t3, zero
try_load:
	csrw    mepc, zero
	lw      t2, 0(t1)
probe_load:
	csrr    t2, mepc
	bnez    t3, 1f
	CHECK_EQ(t2, zero)
	li      t3, 1
	mv      t1, s0
	j       try_load
1:	la      t4, probe_load - 4
	CHECK_EQ(t2, t4)
	/* The handler is a branch's target, and the branch does not trap. */
	la      t0, probe_branch
	csrw    mtvec, t0
	j       probe_branch
	ebreak
probe_branch:
	la      t0, probe_branch_2
	csrw    mtvec, t0
	beqz    zero, probe_branch_2
	ebreak
probe_branch_2:
	addi    s7, s7, -1
	beqz    s7, 1f
	j       probe
1:
	.option pop

	/* A trap inside a loop, and as its first instruction */
	SET_MTVEC(count_and_skip4)
	li      s8, 0
	li      t1, 50
	.option push
	.option norvc
1:	ecall
	addi    t1, t1, -1
	bnez    t1, 1b
	li      t1, 50
1:	addi    t1, t1, -1
	sw      t1, 0(s0)
	bnez    t1, 1b
	.option pop
	CHECK_IMM(s8, 100)
	PASS

	.balign 4
bad_word:
	.word   0xffffffff
bad_load:
	lw      t1, 0(s0)
bad_ecall:
	ecall
odd:
	nop
	nop

	.balign 4
count_and_skip4:
	addi    s8, s8, 1
	csrr    t0, mepc
	addi    t0, t0, 4
	csrw    mepc, t0
	mret

	.balign 4
swap_handler:
	csrw    mtvec, s6
swap_handler_2:
	.word   0xffffffff

	.data
data:
	.word   0x12345678
