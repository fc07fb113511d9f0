/*
 * A Linux program that says itself which part of it is of interest
 *
 * region PORT: takes notes by the port, and waits for each to be taken
 * region: takes none
 *
 * It has no libc, and is where nothing else is, so that the executed pcs in
 * QEMU's log are its own.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#define SYS_openat  56
#define SYS_read    63
#define SYS_write   64
#define SYS_exit    93
#define AT_FDCWD    -100
#define O_RDWR      2

	.option norvc
	.option norelax

.macro	syscall number
	li      a7, \number
	ecall
.endm

.macro	repeat times, function
	li      s1, \times
7:	call    \function
	addi    s1, s1, -1
	bnez    s1, 7b
.endm

/* Send the line, and wait for the answer. */
.macro	note text, length
	mv      a0, s0
	la      a1, \text
	li      a2, \length
	syscall SYS_write
	li      t0, \length
	bne     a0, t0, failed
	mv      a0, s0
	la      a1, answer
	li      a2, 16
	syscall SYS_read
	li      t0, 3
	bne     a0, t0, failed
.endm

.macro	function name
	.globl  \name
	.type   \name, @function
\name:
.endm

	.section .rodata
begin:	.ascii "begin of interest\n"
	.equ    begin_length, . - begin
end:	.ascii "end of interest\n"
	.equ    end_length, . - end
	.bss
answer:	.skip 16

	.text
function _start
	ld      t0, 0(sp)
	li      t1, 2
	blt     t0, t1, plain
	li      a0, AT_FDCWD
	ld      a1, 16(sp)
	li      a2, O_RDWR
	syscall SYS_openat
	bltz    a0, failed
	mv      s0, a0
	repeat  300, outside
	note    begin, begin_length
	call    begun
	repeat  5000, inside
	call    ending
	note    end, end_length
	repeat  200, outside
	note    begin, begin_length
	call    begun
	repeat  700, inside
	call    ending
	note    end, end_length
	repeat  100, outside
	j       done
plain:
	call    begun
	repeat  900, inside
	repeat  50, outside
	call    ending
done:
	li      a0, 0
	syscall SYS_exit
failed:
	li      a0, 1
	syscall SYS_exit
	.size   _start, . - _start

function inside
	addi    sp, sp, -16
	sd      ra, 0(sp)
	jal     leaf
	ld      ra, 0(sp)
	addi    sp, sp, 16
	ret
	.size   inside, . - inside

function leaf
	addi    t2, t2, 1
	ret
	.size   leaf, . - leaf

function outside
	addi    t2, t2, 1
	addi    t2, t2, 1
	ret
	.size   outside, . - outside

function begun
	nop
	ret
	.size   begun, . - begun

function ending
	nop
	ret
	.size   ending, . - ending
