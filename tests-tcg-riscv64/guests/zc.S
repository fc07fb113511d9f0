/*
 * Zcmp and Zcmt: functions that are left by cm.popret, table jumps and calls,
 * and faults in the middle of them. The assembler need not know these.
 *
 * To be run with -cpu rv64,d=off,zcmp=on,zcmt=on
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define jvt 0x017

/* {ra, s0} and 16 bytes of stack */
#define CM_PUSH .hword 0xb852
#define CM_POP .hword 0xba52
#define CM_POPRETZ .hword 0xbc52
#define CM_POPRET .hword 0xbe52
/* Index below 32: a jump; from 32 on: a call */
#define CM_JT(index) .hword 0xa002 | (index) << 2
#define CM_JALT(index) .hword 0xa002 | (index) << 2

	.text
	.globl  main
main:
	la      t0, jump_table
	csrw    jvt, t0             /* ends here if there is no Zcmt */
	SET_MTVEC(rec_trap)
	li      s7, 50
again:
	li      s0, 7
	li      a0, 5
	call    add_s0
	CHECK_IMM(a0, 12)
	CHECK_IMM(s0, 7)
	li      a0, 5
	call    zero
	CHECK_EQ(a0, zero)
	li      a0, 10
	call    sum_down
	CHECK_IMM(a0, 55)
	li      a0, 3
	call    plain_pop
	CHECK_IMM(a0, 4)

	/* Table jumps */
	CM_JT(0)
	ebreak
jumped_0:
	CM_JT(31)
	ebreak
jumped_31:
	li      a0, 1
	CM_JALT(32)
	CHECK_IMM(a0, 3)
	CM_JALT(255)
	CHECK_IMM(a0, 6)
	li      a0, 4
	CM_JALT(32)                 /* the same entry from another place */
	CHECK_IMM(a0, 6)

	/* The table cannot be read: the jump itself traps. */
	li      t1, 0x40
	csrw    jvt, t1
	li      s8, -1
	la      s11, 2f
1:	CM_JT(0)
2:	la      t0, 1b
	CHECK_EQ(s9, t0)
	la      t0, jump_table
	csrw    jvt, t0
	/* Nor can the stack: neither push nor popret is done. */
	mv      s6, sp
	li      sp, 0x40
	EXPECT_TRAP(CAUSE_STORE_ACCESS, CM_PUSH)
	EXPECT_TRAP(CAUSE_LOAD_ACCESS, CM_POPRET)
	mv      sp, s6
	addi    s7, s7, -1
	beqz    s7, 1f
	j       again
1:	PASS

add_s0:
	CM_PUSH
	mv      t0, s0
	li      s0, 99
	add     a0, a0, t0
	CM_POPRET
zero:
	CM_PUSH
	CM_POPRETZ
sum_down:
	CM_PUSH
	mv      s0, a0
	beqz    a0, 1f
	addi    a0, a0, -1
	call    sum_down
	add     a0, a0, s0
1:	CM_POPRET
plain_pop:
	CM_PUSH
	addi    a0, a0, 1
	CM_POP
	ret
called_32:
	addi    a0, a0, 2
	ret
called_255:
	addi    a0, a0, 3
	ret

	.section .rodata
	.balign 64
jump_table:
	XWORD   jumped_0
	.space  30 * XBYTES
	XWORD   jumped_31
	XWORD   called_32
	.space  222 * XBYTES
	XWORD   called_255
