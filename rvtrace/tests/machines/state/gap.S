/*
 * A filter leaves out a part of what runs, where registers and code change:
 * what was known of them before is not so any more.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define ADDI_A0(imm) (0x00000513 | ((imm) << 20))

	.text
	.globl  main
main:
	li      s0, 1
	li      s2, 40
	la      s1, patched
	li      s3, 0
	/* Only what is from here to traced_end is traced. */
	.globl  traced
traced:
	addi    s3, s3, 1
	li      s4, 7
	li      s5, 9
	beqz    zero, elsewhere
back:
	addi    s6, s4, 1
	addi    s5, s5, 1
	addi    s0, s0, 1
	bne     s0, s2, traced
	.globl  traced_end
traced_end:
	PASS

elsewhere:
	/* A fence: known bytes are replaced. */
	slli    t1, s0, 20
	li      t0, ADDI_A0(0)
	or      t1, t1, t0
	sw      t1, 0(s1)
	fence.i
	call    patched
	add     s4, s4, a0
	j       back

	.balign 4
patched:
	.word   ADDI_A0(0)
	ret
