/*
 * Code that changes: patched in place, a buffer rewritten many times, code
 * that patches what follows it, the same place with other instruction sizes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

/* addi a0, zero, imm */
#define ADDI_A0(imm) (0x00000513 | ((imm) << 20))
/* addi a0, a0, imm */
#define ADD_A0(imm) (0x00050513 | ((imm) << 20))
#define RET 0x00008067
/* c.nop and c.addi a0, 1 as a pair */
#define C_PAIR 0x05050001
#define ECALL 0x00000073

	.text
	.globl  main
main:
	SET_MTVEC(rec_trap)

	/* A function of one instruction, patched again and again */
	li      s0, 1
	li      s2, 300
	la      s1, patched
1:	slli    t1, s0, 20
	li      t0, ADDI_A0(0)
	or      t1, t1, t0
	sw      t1, 0(s1)
	fence.i
	call    patched
	CHECK_EQ(a0, s0)
	addi    s0, s0, 1
	bne     s0, s2, 1b

	/* The instruction behind the fence is the one that was patched. */
	li      s0, 1
	li      s2, 200
	la      s1, 2f
	.option push
	.option norvc
1:	slli    t1, s0, 20
	li      t0, ADDI_A0(0)
	or      t1, t1, t0
	sw      t1, 0(s1)
	fence.i
2:	addi    a0, zero, 0
	.option pop
	CHECK_EQ(a0, s0)
	addi    s0, s0, 1
	bne     s0, s2, 1b

	/* A buffer as a JIT compiler fills it: another length every time */
	li      s0, 1
	li      s2, 120
1:	la      s1, buffer
	mv      t1, s0
	li      t2, ADD_A0(1)
2:	sw      t2, 0(s1)
	addi    s1, s1, 4
	addi    t1, t1, -1
	bnez    t1, 2b
	li      t2, RET
	sw      t2, 0(s1)
	fence.i
	li      a0, 0
	la      t1, buffer
	jalr    t1
	CHECK_EQ(a0, s0)
	addi    s0, s0, 1
	bne     s0, s2, 1b

	/* A ring of places in the buffer, each new before it runs */
	li      s0, 0
	li      s2, 400
1:	andi    t1, s0, 63
	slli    t1, t1, 3
	la      s1, buffer
	add     s1, s1, t1
	slli    t1, s0, 20
	li      t0, ADDI_A0(0)
	or      t1, t1, t0
	sw      t1, 0(s1)
	li      t2, RET
	sw      t2, 4(s1)
	fence.i
	jalr    s1
	CHECK_EQ(a0, s0)
	addi    s0, s0, 1
	bne     s0, s2, 1b

	/* A branch that becomes another branch, an ecall, a jump */
	la      s1, buffer
	li      t2, RET
	sw      t2, 4(s1)
	li      t2, ADD_A0(1)
	sw      t2, 8(s1)
	li      t2, RET
	sw      t2, 12(s1)
	li      s2, 50
1:	li      a0, 0
	li      t2, 0x00000463      /* beq zero, zero, .+8 */
	sw      t2, 0(s1)
	fence.i
	jalr    s1
	CHECK_IMM(a0, 1)
	li      t2, 0x00001463      /* bne zero, zero, .+8 */
	sw      t2, 0(s1)
	fence.i
	jalr    s1
	CHECK_IMM(a0, 1)
	li      t2, 0x0080006f      /* j .+8 */
	sw      t2, 0(s1)
	fence.i
	jalr    s1
	CHECK_IMM(a0, 2)
	li      t2, ECALL
	sw      t2, 0(s1)
	fence.i
	la      s11, 3f
	li      s8, -1
	jalr    s1
3:	CHECK_IMM(s8, CAUSE_ECALL_M)
	CHECK_EQ(s9, s1)
	addi    s2, s2, -1
	beqz    s2, 1f
	j       1b
1:
#if COMPRESSED
	/* Two small instructions where a large one was, and back */
	li      s2, 50
1:	li      a0, 0
	li      t2, ADD_A0(5)
	sw      t2, 0(s1)
	li      t2, RET
	sw      t2, 4(s1)
	fence.i
	jalr    s1
	CHECK_IMM(a0, 5)
	li      t2, C_PAIR
	sw      t2, 0(s1)
	fence.i
	jalr    s1
	CHECK_IMM(a0, 6)
	addi    s2, s2, -1
	bnez    s2, 1b
	/* A large instruction at an odd half-word over the old ones */
	li      s2, 20
1:	li      a0, 0
	li      t2, 0x0001          /* c.nop */
	sh      t2, 0(s1)
	li      t2, ADD_A0(7) & 0xffff
	sh      t2, 2(s1)
	li      t2, ADD_A0(7) >> 16
	sh      t2, 4(s1)
	li      t2, 0x8082          /* c.ret */
	sh      t2, 6(s1)
	fence.i
	jalr    s1
	CHECK_IMM(a0, 7)
	li      t2, C_PAIR
	sw      t2, 0(s1)
	li      t2, RET
	sw      t2, 4(s1)
	fence.i
	li      a0, 0
	jalr    s1
	CHECK_IMM(a0, 1)
	addi    s2, s2, -1
	bnez    s2, 1b
#endif

	/* Code that patches code in its own page */
	li      s0, 0
	li      s2, 100
	j       own_page
own_page_done:
	CHECK_IMM(s0, 5050)
	PASS

	.balign 4096
patched:
	.option push
	.option norvc
	addi    a0, zero, 0
	ret

own_page:
	la      s1, target
	li      s3, 1
1:	slli    t1, s3, 20
	li      t0, 0x00040413      /* addi s0, s0, imm */
	or      t1, t1, t0
	sw      t1, 0(s1)
	fence.i
	j       target
back:
	addi    s3, s3, 1
	ble     s3, s2, 1b
	j       own_page_done
target:
	addi    s0, s0, 0
	j       back
	.option pop

	.bss
	.balign 4096
buffer:
	.space  8192
