/*
 * Data accesses: loads and stores of the hypervisor for its guest
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define HLV(funct7, rs2, rd, rs1) \
	.word ((funct7) << 25) | ((rs2) << 20) | ((rs1) << 15) | (4 << 12) | \
	      ((rd) << 7) | 0x73
/* hsv: the data is a register's, in the place of rs2 */
#define HSV(funct7, data, rs1) HLV(funct7, data, 0, rs1)

	.text
	.globl  main
main:
	PMP_ALL
	csrw    hgatp, zero
	csrw    vsatp, zero
	la      s0, values
	la      s1, room
	.irp    offset, 0, 1, 8
	addi    s0, s0, \offset
	HLV(0x30, 0, 10, 8)     /* hlv.b a0, (s0) */
	HLV(0x30, 1, 11, 8)     /* hlv.bu */
	HLV(0x32, 0, 12, 8)     /* hlv.h */
	HLV(0x32, 1, 13, 8)     /* hlv.hu */
	HLV(0x34, 0, 14, 8)     /* hlv.w */
	HLV(0x34, 1, 15, 8)     /* hlv.wu */
	HLV(0x36, 0, 16, 8)     /* hlv.d */
	HSV(0x31, 10, 9)        /* hsv.b a0, (s1) */
	HSV(0x33, 12, 9)
	HSV(0x35, 14, 9)
	HSV(0x37, 16, 9)
	.endr
	la      s0, values
	HLV(0x32, 3, 10, 8)     /* hlvx.hu */
	HLV(0x34, 3, 10, 8)     /* hlvx.wu */
	HLV(0x36, 0, 8, 8)      /* hlv.d s0, (s0) */
	PASS

	.data
	.balign 8
values:	.dword  0x8182838485868788, 0xf1f2f3f4f5f6f7f8, 3
room:	.dword  0
