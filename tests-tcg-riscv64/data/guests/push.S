/*
 * Data accesses: Zcmp's push and pop, every list; one that traps behind some
 * of its accesses
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define CM(op, rlist) .half 0xa002 | ((op) << 8) | ((rlist) << 4)
#define PUSH    0x18
#define POP     0x1a
#define POPRETZ 0x1c
#define POPRET  0x1e

#define LOCKED  0x80400000

	.text
	.globl  main
main:
	SET_MTVEC(rec_trap)
	li      s7, 0
	.irp    rlist, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	CM(PUSH, \rlist)
	CM(POP, \rlist)
	la      ra, 1f
	CM(PUSH, \rlist)
	CM(POPRET, \rlist)
	nop
1:	la      ra, 1f
	CM(PUSH, \rlist)
	CM(POPRETZ, \rlist)
	nop
1:	nop
	.endr
	/* of four, the lower two are in a locked page without rights */
	li      t0, (LOCKED >> 2) | 0x1ff
	csrw    pmpaddr0, t0
	li      t0, 0x98
	csrw    pmpcfg0, t0
	mv      t3, sp
	li      sp, LOCKED + 4096 - 2 * XBYTES
	mv      t4, s0
	mv      t5, s1
	mv      t6, s2
	EXPECT_TRAP(CAUSE_LOAD_ACCESS, CM(POP, 7))
	mv      s0, t4
	mv      s1, t5
	mv      s2, t6
	mv      sp, t3
	PASS
