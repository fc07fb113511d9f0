/*
 * Data accesses that the assembler does not know yet: Zacas, cbo.zero
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

/* amocas.w, .d, .q: rd a2, rs2 a4, rs1 s0 */
#define AMOCAS(width) \
	.word (5 << 27) | (14 << 20) | (8 << 15) | ((width) << 12) | \
	      (12 << 7) | 0x2f
/* cbo.zero (rs1) */
#define CBO_ZERO(rs1) .word 0x0040200f | ((rs1) << 15)

	.text
	.globl  main
main:
	la      s0, room
	.irp    width, 2, 3, 4
	/* succeeds, then fails */
	li      a0, -5
	li      a1, 6
	sd      a0, 0(s0)
	sd      a1, 8(s0)
	.rept   2
	li      a2, -5
	li      a3, 6
	li      a4, 0x1111
	li      a5, 0x2222
	AMOCAS(\width)
	.endr
	.endr
	/* the upper half alone is another */
	li      a0, -5
	sd      a0, 0(s0)
	sd      zero, 8(s0)
	li      a2, -5
	AMOCAS(4)

	la      s0, block + 17
	ld      a0, -17(s0)
	CBO_ZERO(8)
	ld      a0, -17(s0)
	CHECK_IMM(a0, 0)
	PASS

	.data
	.balign 64
room:	.space  64
block:	.dword  1, 2, 3, 4, 5, 6, 7, 8
