/*
 * A kernel and its firmware: S-mode runs at an address that only its page
 * table has, M-mode at a physical one. Timer interrupts and ecalls go to
 * M-mode, and a user's program is at the same address in two address spaces.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define PTE_V   0x01
#define PTE_RWX 0x0e
#define PTE_U   0x10
#define PTE_AD  0xc0
#define MODE_SV39       (8 << 60)
/* Gigapages: the kernel, and two users, who all are in the same memory */
#define KERNEL  0xffffffff80000000
#define USER    0x40000000

	.text
	.globl  main
main:
	PMP_ALL
	SET_MTVEC(firmware)
	/* ecalls from U go to S */
	li      t0, 1 << 8
	csrw    medeleg, t0
	la      t1, kernel_trap
	li      t2, KERNEL - 0x80000000
	add     t1, t1, t2
	csrw    stvec, t1
	/* the page tables */
	la      t1, table_a
	la      t2, table_b
	li      t0, (0x80000000 >> 2) | PTE_V | PTE_RWX | PTE_AD
	li      t3, 510 * 8
	add     t4, t1, t3
	sd      t0, 0(t4)
	add     t4, t2, t3
	sd      t0, 0(t4)
	ori     t0, t0, PTE_U
	sd      t0, 8(t1)               /* USER */
	sd      t0, 8(t2)
	la      t1, table_a
	srli    t1, t1, 12
	li      t0, MODE_SV39
	or      s4, t0, t1
	la      t2, table_b
	srli    t2, t2, 12
	or      s5, t0, t2
	csrw    satp, s4
	sfence.vma
	li      t0, MSTATUS_MPP
	csrc    mstatus, t0
	li      t0, MPP_S
	csrs    mstatus, t0
	la      t0, kernel
	li      t2, KERNEL - 0x80000000
	add     t0, t0, t2
	csrw    mepc, t0
	li      s1, 20
	mret

	/* M-mode: of use to nobody, but it runs */
	.balign 4
firmware:
	csrr    t5, mepc
	addi    t5, t5, 4
	csrw    mepc, t5
	li      t6, 3
1:	addi    t6, t6, -1
	bnez    t6, 1b
	mret

	/* S-mode */
kernel:
	.option push
	.option norvc
	ecall
	.option pop
	call    swap
	addi    s1, s1, -1
	beqz    s1, kernel_stops
	/* a user's turn */
	li      t0, 1 << 8              /* sstatus.SPP */
	csrc    sstatus, t0
	la      t0, user
	li      t1, 0x3fffffff
	and     t0, t0, t1
	li      t1, USER
	or      t0, t0, t1
	csrw    sepc, t0
	sret
swap:
	csrw    satp, s5
	sfence.vma
	mv      t0, s5
	mv      s5, s4
	mv      s4, t0
	ret

	.balign 4
kernel_trap:
	j       kernel

	.globl  kernel_stops
kernel_stops:
	nop
1:	j       1b

	/* U-mode */
	.globl  user
user:
	li      t6, 2
1:	addi    t6, t6, -1
	bnez    t6, 1b
	.option push
	.option norvc
	ecall
	.option pop

	.section .bss
	.balign 4096
table_a:
	.space  4096
table_b:
	.space  4096
