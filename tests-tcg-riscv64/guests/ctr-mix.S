/*
 * Control transfer records beside trace: recording goes on and off while the
 * hart runs branches right ahead of traps, loops and calls. How code is
 * translated differs while it records; the trace must not.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define mctrctl         0x34e
#define MCTRCTL_M       0x4
#define MCTRCTL_RASEMU  0x80

	.text
	.globl  main
main:
	SET_MTVEC(handler)
	li      s2, 10
1:	csrw    mctrctl, zero
	call    work
	li      t0, MCTRCTL_M
	csrw    mctrctl, t0
	call    work
	call    work
	li      t0, MCTRCTL_M | MCTRCTL_RASEMU
	csrw    mctrctl, t0
	call    work
	addi    s2, s2, -1
	bnez    s2, 1b
	csrw    mctrctl, zero
	PASS

work:
	mv      s11, ra
	li      s1, 20
1:	andi    t0, s1, 1
	/* both ways lead to a trap at once */
	beqz    t0, 2f
	.option push
	.option norvc
	ecall
	j       3f
2:	ecall
	.option pop
3:	addi    s1, s1, -1
	bnez    s1, 1b
	li      s1, 50
4:	andi    t0, s1, 7
	bnez    t0, 5f
	call    leaf
5:	addi    s1, s1, -1
	bgtz    s1, 4b
	jr      s11

leaf:
	addi    a0, a0, 1
	ret

	.balign 4
handler:
	csrr    t1, mepc
	addi    t1, t1, 4
	csrw    mepc, t1
	bnez    s1, 1f
	nop
1:	mret
