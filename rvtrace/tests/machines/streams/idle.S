/*
 * Waits for two seconds of virtual time, doing nothing
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define MTIMECMP    0x2004000
#define MTIME       0x200bff8
#define TICKS       20000000    /* of 10 MHz */

	.text
	.globl  main
main:
	li      t0, MTIME
	ld      t1, (t0)
	li      t2, TICKS
	add     t1, t1, t2
	li      t0, MTIMECMP
	sd      t1, (t0)
	li      t2, 1 << 7          /* MTIE, with MIE 0: only wakes up */
	csrs    mie, t2
1:	wfi
	li      t0, MTIME
	ld      t2, (t0)
	bltu    t2, t1, 1b
	PASS
