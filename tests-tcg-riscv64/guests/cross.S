/*
 * Page borders: 4-byte instructions across one, blocks that end at one,
 * jumps, branches and traps there. Needs compressed instructions.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

/* A fresh page that is filled with c.nop up to `left` bytes before its end */
.macro  before_border name, left
	.balign 4096
	.option push
	.option norvc
	j       \name
	.option pop
	.space  4096 - 4 - \left - 8
	.option push
	.option rvc
\name:
	.rept   4
	c.nop
	.endr
	.option pop
.endm

	.text
	.globl  main
main:
	SET_MTVEC(rec_trap)
	la      s1, word
	li      s7, 20
again:
	li      s0, 0
	call    plain
	call    load
	call    branch_taken
	call    branch_not
	call    jump
	call    link
	call    indirect
	call    csr
	call    ends_there
	call    starts_there
	CHECK_IMM(s0, 10)
	EXPECT_TRAP_AT(CAUSE_ILLEGAL, bad_insn, j bad)
	EXPECT_TRAP_AT(CAUSE_ECALL_M, bad_ecall, j bad_2)
	EXPECT_TRAP_AT(CAUSE_LOAD_ACCESS, bad_load, j bad_3)
	addi    s7, s7, -1
	beqz    s7, 1f
	j       again
1:
	PASS

	.option norvc
	before_border plain, 2
	addi    s0, s0, 1
	ret
	before_border load, 2
	lw      t1, 0(s1)
	addi    s0, s0, 1
	ret
	before_border branch_taken, 2
	beq     zero, zero, 1f
	ebreak
1:	addi    s0, s0, 1
	ret
	before_border branch_not, 2
	bne     zero, zero, 1f
	addi    s0, s0, 1
	ret
1:	ebreak
	before_border jump, 2
	j       1f
	ebreak
1:	addi    s0, s0, 1
	ret
	before_border link, 2
	jal     t0, 1f
1:	addi    s0, s0, 1
	ret
	before_border indirect_2, 2
	jalr    zero, 0(ra)
indirect:
	addi    s0, s0, 1
	j       indirect_2
	before_border csr, 2
	csrr    t0, mscratch
	addi    s0, s0, 1
	ret
	/* A block whose last instruction is the page's last */
	before_border ends_there, 4
	addi    s0, s0, 1
	ret
	/* A jump to an instruction across the border */
	.balign 4096
starts_there:
	la      t1, 1f
	jr      t1
	.space  4096 - 12 - 2
1:	addi    s0, s0, 1
	ret
	before_border bad, 2
bad_insn:
	.word   0xffffffff
	before_border bad_2, 2
bad_ecall:
	ecall
	before_border bad_3, 2
bad_load:
	lw      t1, 0x40(zero)
	.option rvc

	.data
word:
	.word   1
