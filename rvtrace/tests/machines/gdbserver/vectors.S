/*
 * A vector instruction that makes more accesses than any other one: 128, where
 * registers have 128 bits
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define MSTATUS_VS  0x600
#define BYTES       128

	.text
	.globl  main
main:
	.option arch, +v
	li      t0, MSTATUS_VS
	csrs    mstatus, t0
	la      t1, source
	la      t2, target
	li      t0, 7
	sb      t0, 100(t1)
	li      t3, BYTES
	vsetvli t0, t3, e8, m8, ta, ma
	bne     t0, t3, bad
	.globl  load
load:
	vle8.v  v8, (t1)
	.globl  store
store:
	vse8.v  v8, (t2)
	nop
	j       pass
bad:
	li      a0, __LINE__
	j       fail

	.data
	.globl  source, target
source:
	.zero   BYTES
target:
	.zero   BYTES
