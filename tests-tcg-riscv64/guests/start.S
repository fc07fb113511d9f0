/*
 * Entry, exit and the common trap handler of the bare-metal guests
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

	.section .text.start, "ax"
	.globl _start
_start:
	csrr    s0, mhartid
	la      t0, unexpected_trap
	csrw    mtvec, t0
	la      sp, stacks
	addi    t0, s0, 1
	slli    t0, t0, 13
	add     sp, sp, t0
	mv      a0, s0
	bnez    s0, 1f
	j       main
1:	j       secondary

	.text
	.weak   secondary
secondary:
	wfi
	j       secondary

/* PASS ends here; the loop runs until QEMU has stopped. */
	.globl  pass
pass:
	li      t0, SIFIVE_TEST
	li      t1, TEST_PASS
	sw      t1, 0(t0)
1:	j       1b

/* The same for M-mode, without a loop: its length would be by chance. */
	.globl  pass_asleep
pass_asleep:
	csrw    mie, zero
	li      t0, SIFIVE_TEST
	li      t1, TEST_PASS
	sw      t1, 0(t0)
1:	wfi
	j       1b

/* a0: the line that failed */
	.globl  fail
fail:
	mv      s0, a0
	la      a0, fail_text
	jal     print
	mv      a0, s0
	jal     print_hex
	li      t0, SIFIVE_TEST
	li      t1, TEST_FAIL | (1 << 16)
	sw      t1, 0(t0)
1:	j       1b

	.globl  unexpected_trap
	.balign 4
unexpected_trap:
	la      a0, trap_text
	jal     print
	csrr    a0, mcause
	jal     print_hex
	csrr    a0, mepc
	jal     print_hex
	csrr    a0, mtval
	jal     print_hex
	li      a0, __LINE__
	j       fail

/*
 * An M-mode handler that records the trap and goes on at s11:
 * s8 = mcause, s9 = mepc, s10 = mtval.
 */
	.globl  rec_trap
	.balign 4
rec_trap:
	csrr    s8, mcause
	csrr    s9, mepc
	csrr    s10, mtval
	csrw    mepc, s11
	mret

/* a0: text. Changes a0, t0 to t2. */
	.globl  print
print:
	li      t0, UART
1:	lbu     t1, 0(a0)
	beqz    t1, 3f
2:	lbu     t2, 5(t0)
	andi    t2, t2, 0x20
	beqz    t2, 2b
	sb      t1, 0(t0)
	addi    a0, a0, 1
	j       1b
3:	ret

/* a0: value, printed in hex. Changes a0, t0 to t3. */
	.globl  print_digits
print_digits:
	li      t0, UART
	li      t3, __riscv_xlen
1:	addi    t3, t3, -4
	bltz    t3, 4f
	srl     t1, a0, t3
	andi    t1, t1, 15
	addi    t1, t1, '0'
	li      t2, '9'
	ble     t1, t2, 2f
	addi    t1, t1, 'a' - '0' - 10
2:	lbu     t2, 5(t0)
	andi    t2, t2, 0x20
	beqz    t2, 2b
	sb      t1, 0(t0)
	j       1b
4:	ret

/* The same, and a newline. Changes a0, t0 to t4. */
	.globl  print_hex
print_hex:
	mv      t4, ra
	jal     print_digits
	la      a0, newline
	jal     print
	jr      t4

	.section .rodata
newline:
	.asciz  "\n"
fail_text:
	.asciz  "FAIL: line 0x"
trap_text:
	.asciz  "unexpected trap: mcause, mepc, mtval\n"

	.bss
	.balign 4096
stacks:
	.space  8 * 8192
