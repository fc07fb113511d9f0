/*
 * One page of code at 20,000 addresses: more mappings than a hart keeps, so
 * that it forgets them, and has its reader forget them, in the middle. From
 * each page back to one that was left a while ago, which both may still know.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "sv39.inc"

/* Sv39: a table of 1 GiB entries, one of 2 MiB, one of 4 KiB */
#define BEGIN_GIB   4
#define PAGES       20000
#define BACK        8

	.text
	.globl  main
main:
	PMP_ALL

	la      s0, root
	MAP_AS_IT_IS(s0)
	/* Each page of a GiB is `code`. */
	pte     t1, middle, PTE_TABLE
	sd      t1, BEGIN_GIB * 8(s0)
	pte     t1, leaf, PTE_TABLE
	pte     t2, code, PTE_CODE
	la      t3, middle
	la      t4, leaf
	li      t5, ENTRIES
1:	sd      t1, 0(t3)
	sd      t2, 0(t4)
	addi    t3, t3, 8
	addi    t4, t4, 8
	addi    t5, t5, -1
	bnez    t5, 1b

	SET_SATP(root)

	li      s2, (BEGIN_GIB << 30) + BACK * 4096
	li      s3, 2 * PAGES
	li      s4, -BACK * 4096
	li      s5, (BACK + 1) * 4096
	la      s8, done
	SET_MPP(MPP_S)
	csrw    mepc, s2
	mret
done:
	CHECK_IMM(s2, (BEGIN_GIB << 30) + (BACK + PAGES) * 4096)
	PASS

	.data
	.balign 4096
code:
	addi    s3, s3, -1
	mv      a0, s4
	mv      s4, s5
	mv      s5, a0
	add     s2, s2, a0
	bnez    s3, 1f
	jr      s8
1:	jr      s2
	.balign 4096

	.bss
	.balign 4096
root:
	.space  4096
middle:
	.space  4096
leaf:
	.space  4096
