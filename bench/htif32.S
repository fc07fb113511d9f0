/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets a program begin at ENTRY in S-mode, with 4 MiB of RAM (0x81000000)
 * where the virt machine has its flash memory (0x20000000), and the first
 * 4 MiB of RAM where they are.
 */
#define SATP_SV32   0x80000000
#define MPP_S       0x800
#define PAGE        0xcf    /* D, A, X, W, R, V */

	.globl  _start
_start:
	la      t0, table
	srli    t0, t0, 12
	li      t1, SATP_SV32
	or      t0, t0, t1
	csrw    satp, t0
	sfence.vma
	li      t0, MPP_S
	csrs    mstatus, t0
	li      t0, ENTRY
	csrw    mepc, t0
	mret

	.balign 4096
table:
	.zero   4 * (0x20000000 >> 22)
	.word   (0x81000000 >> 2) | PAGE
	.zero   4 * ((0x80000000 - 0x20000000) / (1 << 22) - 1)
	.word   (0x80000000 >> 2) | PAGE
	.zero   4 * (1023 - (0x80000000 >> 22))
