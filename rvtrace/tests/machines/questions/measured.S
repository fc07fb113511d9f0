/*
 * A guest that measures itself: how many instructions its calls took, and from
 * the first to the last one of its handler for each trap. It prints a kind and
 * a number for each, in the order in which they ended: the kind is mcause, or
 * CALL of those in front of target, with the ticks of mtime behind it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "../stacks/function.inc"

#define MSIP    0x2000000
#define CALL    0x100
#define TICKS   0x101
#define STORM   1500
#define WRITE   64
#define READ    63
#define EXIT    93

/* @kind and what minstret is more in @to than in @from */
.macro note kind, from, to
	sub     \to, \to, \from
	SX      \kind, 0(s6)
	SX      \to, XBYTES(s6)
	addi    s6, s6, 2 * XBYTES
.endm

/* Calls target, which takes 2 * @a0 + 1 instructions */
.macro measured name
fn \name
	addi    sp, sp, -16
	SX      ra, 0(sp)
	rdtime  s10
	csrr    s8, minstret
	jal     target
	csrr    s9, minstret
	rdtime  s11
	li      s7, CALL
	note    s7, s8, s9
	li      s7, TICKS
	note    s7, s10, s11
	LX      ra, 0(sp)
	addi    sp, sp, 16
	ret
end \name
.endm

	.option norvc
	.option norelax
fn main
	la      sp, top
	la      s6, notes
	la      t0, handler
	csrw    mtvec, t0
	PMP_ALL

	/* calls: by two callers, recursive, by a jump, and from a handler */
	li      s1, 3
1:	slli    a0, s1, 2
	jal     alpha
	addi    s1, s1, -1
	bnez    s1, 1b
	li      s1, 5
1:	slli    a0, s1, 10
	jal     beta
	addi    s1, s1, -1
	bnez    s1, 1b
	li      a0, 4
	jal     again
	li      a0, 2
	jal     tail

	/* interrupts, each handled for longer than the one before */
	li      t0, MIP_MSIP
	csrw    mie, t0
	csrsi   mstatus, MSTATUS_MIE
	li      s2, 1
1:	jal     raise
	addi    s2, s2, 1
	li      t0, 7
	bne     s2, t0, 1b
	csrw    mie, zero

	/* faults: 7 at one place, 2 at another one, and many of the same */
	li      s1, 7
1:	slli    t0, s1, 3
	.globl  fault_7
fault_7:
	LX      t1, 0(t0)
	addi    s1, s1, -1
	bnez    s1, 1b
	jal     other
	jal     other
	jal     storm

	/* system calls */
	MRET_TO(0, user)
done:	la      s1, notes
1:	LX      a0, 0(s1)
	jal     print_hex
	addi    s1, s1, XBYTES
	bne     s1, s6, 1b
	j       pass
end main

measured alpha
measured beta
fn target
	addi    a0, a0, -1
	bnez    a0, target
	ret
end target
fn again
	addi    sp, sp, -16
	SX      ra, 0(sp)
	addi    a0, a0, -1
	beqz    a0, 1f
	jal     again
	nop
1:	LX      ra, 0(sp)
	addi    sp, sp, 16
	ret
end again
fn tail
	nop
	j       target
end tail
fn raise
	li      a5, MSIP
	li      a4, 1
	sw      a4, 0(a5)
	nop
	nop
	ret
end raise
fn other
	li      t0, 256
	.globl  fault_2
fault_2:
	LX      t1, 0(t0)
	ret
end other
fn storm
	li      s1, STORM
	.globl  fault_storm
1:
fault_storm:
	.word   0
	addi    s1, s1, -1
	bnez    s1, 1b
	ret
end storm
fn user
	li      a7, WRITE
	ecall
	li      a7, READ
	ecall
	nop
	li      a7, WRITE
	ecall
	li      a7, EXIT
	ecall
end user

	.balign 4
fn handler
	csrr    s3, minstret
	csrr    s5, mcause
	bltz    s5, 3f
	csrr    a4, mepc
	addi    a4, a4, 4
	csrw    mepc, a4
	li      a4, CAUSE_ECALL_U
	bne     s5, a4, 2f
	li      a4, EXIT
	beq     a7, a4, 4f
	li      a4, WRITE
	beq     a7, a4, 1f
	jal     sys_read
	j       2f
1:	jal     sys_write
2:	li      a4, CAUSE_ILLEGAL       /* so many of them are not noted */
	bne     s5, a4, 1f
	mret
1:	csrr    s4, minstret
	note    s5, s3, s4
	mret
3:	li      a5, MSIP
	sw      zero, 0(a5)
	slli    a0, s2, 4
	mv      s10, ra
	jal     target
	mv      ra, s10
	csrr    s4, minstret
	note    s5, s3, s4
	mret
4:	li      t0, MSTATUS_MPP
	csrs    mstatus, t0
	la      t0, done
	csrw    mepc, t0
	mret
end handler
leaf sys_read, 30
leaf sys_write, 11

	.bss
	.balign 16
	.space  1024
top:
	.balign 16
notes:	.space  64 * 2 * XBYTES
