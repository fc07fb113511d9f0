/*
 * Data accesses: CSRs. What the trace has to say of mscratch, sscratch and
 * mvendorid is in csr.expected.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

	.text
	.globl  main
main:
	li      a0, 0x123
	li      a1, 0x456
	csrw    mscratch, a0
	csrrw   a2, mscratch, a1
	csrrw   zero, mscratch, a0
	csrrs   a2, mscratch, a1
	csrr    a2, mscratch
	csrrc   a2, mscratch, a0
	csrc    mscratch, a1
	csrrwi  a2, mscratch, 21
	csrrsi  a2, mscratch, 10
	csrci   mscratch, 1
	csrrsi  a2, mscratch, 0
	csrrw   a1, mscratch, a1
	csrrc   a1, mscratch, a1
	/* -1 is XLEN bits of ones */
	li      a0, -1
	csrw    sscratch, a0
	csrr    a0, sscratch
	csrr    a2, mvendorid
	PASS
