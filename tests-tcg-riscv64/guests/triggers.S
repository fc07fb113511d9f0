/*
 * Debug triggers (Sdtrig, mcontrol) with trace actions: on at one address,
 * off at another, notify at a third; one elsewhere that raises an exception
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define MCONTROL    (2 << 60)
#define ACTION(n)   ((n) << 12)
#define IN_M        (1 << 6)
#define EXECUTE     (1 << 2)

/* Trigger n: the action when the label is executed. Changes t0. */
#define TRIGGER(n, action, label) \
	li t0, n; csrw tselect, t0; \
	la t0, label; csrw tdata2, t0; \
	li t0, MCONTROL | ACTION(action) | IN_M | EXECUTE; csrw tdata1, t0; \
	csrr t1, tdata1; CHECK_EQ(t0, t1)

	.text
	.globl  main
main:
	TRIGGER(0, 2, trace_on)
	TRIGGER(1, 3, trace_off)
	li      s1, 50
1:	li      s2, 0
	call    work
	.globl  trace_on
trace_on:
	addi    s2, s2, 1
	call    work
	andi    t0, s1, 1
	beqz    t0, 2f
	addi    s2, s2, 1
2:	call    work
	.globl  trace_off
trace_off:
	addi    s2, s2, 1
	call    work
	addi    s1, s1, -1
	bnez    s1, 1b

	/* Off at one instruction, on at the next: it goes on. */
	TRIGGER(0, 2, on_again)
	TRIGGER(1, 3, off_before)
	li      s1, 3
1:
	.globl  off_before
off_before:
	addi    s2, s2, 1
	.globl  on_again
on_again:
	addi    s2, s2, 1
	call    work
	addi    s1, s1, -1
	bnez    s1, 1b

	/* An exception elsewhere is no matter of this one. */
	TRIGGER(0, 0, never)
	TRIGGER(1, 4, notify)
	li      s1, 20
1:	call    work
	.globl  notify
notify:
	addi    s2, s2, 1
	addi    s1, s1, -1
	bnez    s1, 1b
	PASS
never:	j       fail

work:	addi    s2, s2, 2
	beqz    s2, work
	ret
