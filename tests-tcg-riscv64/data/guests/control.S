/*
 * Data accesses: the encoder's registers. Each phase accesses places of its
 * own in a page that nothing else uses; which of them are in the trace is in
 * control.expected.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define ENCODER         0x3020000
#define TE_CONTROL      0x000
#define INST_TRACING    (1 << 2)
#define EMPTY           (1 << 3)
#define DATA_CONTROL    0x010
#define DATA_TRACING    (1 << 1)
#define DATA_FILTERS    0x01c
#define FILTER_CONTROL  0x400
#define FILTER_ENABLE   (1 << 0)
#define MATCH_COMP1     (1 << 4)
#define MATCH_DTYPE     (1 << 24)
#define MATCH_DSIZE     (1 << 25)
#define MATCH_DATA      0x418
#define COMP_CONTROL    0x600
#define COMP_IADDR      0
#define COMP_DADDR      3
#define COMP_P_LOW      0x610
#define COMP_P_HIGH     0x614

#define ROOM            0x80100000

/* Registers take effect between two blocks, soon. */
#define SOON            li t0, 500; 1: addi t0, t0, -1; bnez t0, 1b
#define SET(reg, value) li t0, value; sw t0, reg(s0); SOON
#define CLEAR(reg, bit) lw t0, reg(s0); andi t0, t0, ~(bit); \
	sw t0, reg(s0); SOON
#define ADD(reg, bit)   lw t0, reg(s0); ori t0, t0, bit; sw t0, reg(s0); SOON

	.text
	.globl  main
main:
	li      s0, ENCODER
	li      s1, ROOM
	li      s2, ENCODER + FILTER_CONTROL
	li      s3, ENCODER + COMP_CONTROL
	li      a0, 1
	sd      a0, 0(s1)

	/* without instruction trace: there is something to wait for all the same */
	CLEAR(TE_CONTROL, INST_TRACING)
	lw      t0, TE_CONTROL(s0)
	andi    t0, t0, EMPTY
	CHECK_EQ(t0, zero)
	li      a0, 0x1122334455667788
	sd      a0, 0x10(s1)
	lb      a1, 0x10(s1)
	sw      a0, 0x18(s1)

	/* stores only */
	li      t0, 1 << 1
	sw      t0, MATCH_DATA - FILTER_CONTROL(s2)
	li      t0, FILTER_ENABLE | MATCH_DTYPE
	sw      t0, 0(s2)
	SET(DATA_FILTERS, 1)
	sd      a0, 0x20(s1)
	ld      a1, 0x20(s1)
	amoadd.w a1, a0, (s1)

	/* four bytes only */
	li      t0, 1 << (16 + 2)
	sw      t0, MATCH_DATA - FILTER_CONTROL(s2)
	li      t0, FILTER_ENABLE | MATCH_DSIZE
	sw      t0, 0(s2)
	SOON
	sd      a0, 0x30(s1)
	sw      a0, 0x38(s1)
	lw      a1, 0x38(s1)
	lbu     a1, 0x38(s1)

	/* one address only */
	li      t0, COMP_DADDR
	sw      t0, 0(s3)
	addi    t0, s1, 0x48
	sw      t0, COMP_P_LOW - COMP_CONTROL(s3)
	srli    t0, t0, 32
	sw      t0, COMP_P_HIGH - COMP_CONTROL(s3)
	li      t0, FILTER_ENABLE | MATCH_COMP1
	sw      t0, 0(s2)
	SOON
	sd      a0, 0x40(s1)
	sd      a0, 0x48(s1)
	lh      a1, 0x48(s1)
	lh      a1, 0x4a(s1)

	/* one instruction only, of several in its block */
	sw      zero, 0(s3)
	la      t0, 2f
	sw      t0, COMP_P_LOW - COMP_CONTROL(s3)
	srli    t0, t0, 32
	sw      t0, COMP_P_HIGH - COMP_CONTROL(s3)
	SOON
	li      a2, 3
3:	sw      a2, 0x50(s1)
2:	sw      a2, 0x54(s1)
	sw      a2, 0x58(s1)
	addi    a2, a2, -1
	bnez    a2, 3b

	/* with instruction trace, and everything */
	SET(DATA_FILTERS, 0)
	ADD(TE_CONTROL, INST_TRACING)
	sd      a0, 0x60(s1)
	/* without data trace, and with it again */
	CLEAR(DATA_CONTROL, DATA_TRACING)
	sd      a0, 0x68(s1)
	ADD(DATA_CONTROL, DATA_TRACING)
	SOON
	sd      a0, 0x70(s1)

	/* and neither */
	CLEAR(TE_CONTROL, INST_TRACING)
	CLEAR(DATA_CONTROL, DATA_TRACING)
	lw      t0, TE_CONTROL(s0)
	andi    t0, t0, EMPTY
	CHECK_IMM(t0, EMPTY)
	PASS
