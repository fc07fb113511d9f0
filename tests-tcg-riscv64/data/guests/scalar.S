/*
 * Data accesses: loads and stores of every size, aligned and not, of integer
 * and floating-point registers; LR and SC, with every way to fail; atomics
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define FS_ON (1 << 13)
/* behind the last byte of RAM */
#define NOWHERE 0x88000000

	.text
	.globl  main
main:
	SET_MTVEC(rec_trap)
	li      t0, FS_ON
	csrs    mstatus, t0
	li      s7, 3
again:
	la      s0, values
	la      s1, room

	.irp    offset, 0, 1, 2, 3, 7, 4093, 4094, 4095
	la      s0, values
	la      s1, room
	.if     \offset > 2000
	li      t0, \offset
	add     s0, s0, t0
	add     s1, s1, t0
	.set    at, 0
	.else
	.set    at, \offset
	.endif
	lb      a0, at(s0)
	lbu     a1, at(s0)
	lh      a2, at(s0)
	lhu     a3, at(s0)
	lw      a4, at(s0)
	sb      a0, at(s1)
	sh      a2, at + 16(s1)
	sw      a4, at + 32(s1)
	flw     fa0, at(s0)
	fsw     fa0, at + 4(s1)
	fld     fa1, at(s0)
	fsd     fa1, at + 8(s1)
#if XLEN == 64
	lwu     a5, at(s0)
	ld      a6, at(s0)
	sd      a6, at + 24(s1)
#endif
	.endr

	/* into the register that holds the address, and into none */
	la      s0, pointers
	LX      s0, 0(s0)
	LX      s0, 0(s0)
	LX      zero, 0(s0)
	/* nothing is stored or loaded that traps */
	li      a0, NOWHERE
	EXPECT_TRAP(CAUSE_LOAD_ACCESS, lw a1, 0(a0))
	EXPECT_TRAP(CAUSE_STORE_ACCESS, sw a1, 4(a0))
	EXPECT_TRAP(CAUSE_STORE_ACCESS, amoadd.w a1, a1, (a0))
	/* compressed: by a register, by sp */
	la      s0, room
	lw      a1, 4(s0)
	sw      a1, 8(s0)
	fld     fa0, 16(s0)
	fsd     fa0, 24(s0)
	mv      s1, sp
	addi    sp, sp, -32
	sw      a1, 4(sp)
	LX      a1, 8(sp)
	SX      a1, 16(sp)
	fsd     fa0, 24(sp)
	fld     fa2, 24(sp)
	mv      sp, s1

	/* LR and SC: succeeds; no reservation; another address; other data */
	la      s0, room
	la      s1, values
	li      a3, 0x1234
	lr.w    a1, (s0)
	sc.w    a2, a3, (s0)
	CHECK_IMM(a2, 0)
	sc.w    a2, a1, (s0)
	CHECK_IMM(a2, 1)
	sw      a1, 0(s0)
	lr.w    a1, (s0)
	sc.w    a2, a3, (s1)
	CHECK_IMM(a2, 1)
	sw      a3, 0(s1)
	lr.w    a1, (s0)
	addi    a4, a1, 1
	sw      a4, 0(s0)
	sc.w    a2, a3, (s0)
	CHECK_IMM(a2, 1)
	/* the same register for all */
	lr.w    a1, (s0)
	sc.w    a1, a1, (s0)
	CHECK_IMM(a1, 0)
#if XLEN == 64
	lr.d    a1, (s0)
	sc.d    a2, a3, (s0)
	CHECK_IMM(a2, 0)
	sc.d    a2, a3, (s0)
	CHECK_IMM(a2, 1)
#endif

#define AMO(op, suffix) \
	li a1, \old; li a2, \operand; sw a1, 8(s0); amo##op.suffix a3, a2, (s1)
#define AMOS(suffix) \
	AMO(swap, suffix); AMO(add, suffix); AMO(and, suffix); \
	AMO(or, suffix); AMO(xor, suffix); AMO(max, suffix); \
	AMO(min, suffix); AMO(maxu, suffix); AMO(minu, suffix)
/* results into the registers of operand or address, into none */
#define AMO_REGISTERS(suffix) \
	amoadd.suffix a2, a2, (s1); amoadd.suffix zero, a2, (s1); \
	amoor.suffix s1, zero, (s1); la s1, room + 8; \
	amoswap.suffix s1, s1, (s1); la s1, room + 8
	la      s1, room + 8
	.irp    old, 5, -3
	.irp    operand, 7, -9, 0
	AMOS(w)
	.endr
	.endr
	AMO_REGISTERS(w)
#if XLEN == 64
	sd      a2, 8(s0)
	.irp    old, 5, -3
	.irp    operand, 7, -9, 0
	AMOS(d)
	.endr
	.endr
	AMO_REGISTERS(d)
#endif
	addi    s7, s7, -1
	beqz    s7, 1f
	j       again
1:	PASS

	.data
	.balign 8
pointers:
	XWORD   1f
1:	XWORD   2f
2:	XWORD   0x1234567
	.balign 8
values:
	.set    x, 1
	.rept   4200
	.byte   x & 0xff
	.set    x, x * 17 + 29
	.endr
	.balign 8
room:	.space  4400
