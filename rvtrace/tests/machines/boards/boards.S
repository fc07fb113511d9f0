# SPDX-License-Identifier: GPL-2.0-or-later
#
# Each of HARTS harts calls outer() 1000 times, which calls inner() twice and
# makes an environment call. Hart 0 ends QEMU by semihosting when all are ready.

.macro fn name
.globl \name
.type \name, @function
.balign 4
\name:
.endm
.macro end name
.size \name, . - \name
.endm

.section .text.start, "ax"
fn _start
	la	t0, handle
	csrw	mtvec, t0
	csrr	s0, mhartid
	li	s1, 1000
1:	call	outer
	addi	s1, s1, -1
	bnez	s1, 1b
	la	t0, ready
	li	t1, 1
	amoadd.w zero, t1, (t0)
	bnez	s0, 3f
	li	t1, HARTS
2:	lw	t2, 0(t0)
	bne	t2, t1, 2b
	j	leave
3:	wfi
	j	3b
end _start

fn outer
	mv	s2, ra
	call	inner
	ecall
	call	inner
	mv	ra, s2
	ret
end outer

fn inner
	andi	t0, s1, 3
	beqz	t0, 1f
	addi	s3, s3, 1
1:	ret
end inner

fn handle
	csrr	t1, mepc
	addi	t1, t1, 4
	csrw	mepc, t1
	mret
end handle

.option push
.option norvc
fn leave
	li	a0, 0x13		# SYS_ERRNO, which returns
	call	semihosting
	li	a0, 0x20		# SYS_EXIT_EXTENDED
	la	a1, reason
	call	semihosting
end leave

.balign 16
fn semihosting
	slli	x0, x0, 0x1f
	ebreak
	srai	x0, x0, 7
	ret
end semihosting
.option pop

.section .data
.balign 8
reason:
#if __riscv_xlen == 64
	.quad	0x20026, 0
#else
	.word	0x20026, 0
#endif
ready:
	.word	0
