/*
 * Which context registers the hart has: prints a letter for each
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define MCONTEXT        0x7a8
#define SCONTEXT        0x5a8
#define HCONTEXT        0x6a8
#define MSTATEEN0       0x30c
#define STATEEN_CONTEXT (1 << 57)

/* Prints the letter if the register can be read and written. */
#define PROBE(csr, letter) \
    li s8, -1; la s11, 70f; csrr s2, csr; csrw csr, s2; 70: \
    li t0, -1; bne s8, t0, 71f; \
    li t0, UART; li t1, letter; sb t1, 0(t0); 71:

	.text
	.globl  main
main:
	SET_MTVEC(rec_trap)
	PROBE(MCONTEXT, 'm')
	PROBE(HCONTEXT, 'h')
	PROBE(SCONTEXT, 's')

	/* mstateen0.CONTEXT, which is read-only 0 without them */
	li      s8, -1
	la      s11, 1f
	li      s2, STATEEN_CONTEXT
	csrw    MSTATEEN0, s2
	csrr    s3, MSTATEEN0
	and     s3, s3, s2
	beqz    s3, 1f
	PROBE(mscratch, 'e')
1:	j       pass_asleep
