/*
 * What the hart signals to its encoder beside instructions: contexts, as
 * signals.py expects them; mtime around traps, which it prints; a trigger that
 * notifies
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define MCONTEXT        0x7a8
#define SCONTEXT        0x5a8
#define HCONTEXT        0x6a8
#define HSTATUS_SPV     (1 << 7)
#define ASID(n)         ((n) << 44)
#define MCONTROL        (2 << 60)
#define NOTIFY          (4 << 12)
#define IN_M_EXECUTE    (1 << 6 | 1 << 2)

#define SET(csr, value) li t0, value; csrw csr, t0; nop; nop

	.text
	.globl  main
main:
	PMP_ALL
	SET_MTVEC(handler)

	/* contexts: satp in M mode */
	SET(satp, ASID(1))
	SET(satp, ASID(0x1234))
	/* the same in VS mode: vsatp's and hgatp's */
	SET(hgatp, ASID(3))
	SET(vsatp, ASID(9))
	li      t0, HSTATUS_SPV
	csrs    hstatus, t0
	li      t0, MSTATUS_SPP
	csrs    mstatus, t0
	la      t0, 1f
	csrw    sepc, t0
	la      s11, 2f
	sret
1:	SET(satp, ASID(10))
	ecall
2:	SET(satp, 0)
	/* mcontext */
	SET(MCONTEXT, 5)
	SET(MCONTEXT, 0x1fff)
	SET(MCONTEXT, 0)
	/* scontext has 32 bits; hcontext is mcontext */
	SET(SCONTEXT, -1)
	SET(HCONTEXT, 5)
	SET(SCONTEXT, 7)
	SET(HCONTEXT, 0)
	SET(SCONTEXT, 0)

	/* the time before and behind a trap, three times */
	li      s1, 3
1:	la      s11, 2f
	rdtime  s2
	ecall
2:	rdtime  s3
	mv      a0, s2
	call    print_hex
	mv      a0, s3
	call    print_hex
	addi    s1, s1, -1
	bnez    s1, 1b

	/* a trigger with the action trace-notify, five times */
	csrw    tselect, zero
	la      t0, noted
	csrw    tdata2, t0
	li      t0, MCONTROL | NOTIFY | IN_M_EXECUTE
	csrw    tdata1, t0
	csrr    t1, tdata1
	CHECK_EQ(t0, t1)
	li      s1, 5
1:	addi    s1, s1, -1
noted:
	addi    s2, s2, 1
	.globl  last_of_block
last_of_block:
	bnez    s1, 1b
	csrw    tdata1, zero
	j       pass_asleep

	/* goes on at s11, in M mode */
	.balign 4
handler:
	li      t0, MSTATUS_MPP
	csrs    mstatus, t0
	csrw    mepc, s11
	mret
