/*
 * A run of more than 4 GiB: thousands of jumps ahead without a branch, then a
 * jump through a register into their midst. Decoders look for the address of
 * the jump's packet from the branch on (inferred_address in the specification's
 * decoder), so the encoder is to know that it is in the run: the next packet
 * must have an address then.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "sv39.inc"

/* Sv39: a table of 1 GiB entries, two of 2 MiB entries */
#define MIB2        (2 << 20)

/* The run begins at 4 GiB, and ends behind as many GiB. */
#define FIRST_GIB   4
#define GIBS        5
#define BEGIN       (FIRST_GIB << 30)

/* From BEGIN to where the run is entered again */
#define AGAIN       20

#define STEP        0x80000
#define JUMP_STEP   0x0008006f              /* jal zero, . + STEP */

	.text
	.globl  main
main:
	PMP_ALL

	/* Each 2 MiB of the run are the same memory, which jumps through it. */
	la      t0, chain
	li      t1, JUMP_STEP
	li      t2, STEP
	li      t3, 4
1:	sw      t1, 0(t0)
	add     t0, t0, t2
	addi    t3, t3, -1
	bnez    t3, 1b

	la      s0, root
	MAP_AS_IT_IS(s0)
	/* The first 2 MiB are `begin`, then all is `chain`. */
	pte     t1, chain, PTE_CODE
	pte     t2, begin, PTE_CODE
	la      t0, table_first
	sd      t2, 0(t0)
	la      t3, table
	sd      t1, 0(t3)
	li      t4, ENTRIES - 1
1:	addi    t0, t0, 8
	addi    t3, t3, 8
	sd      t1, 0(t0)
	sd      t1, 0(t3)
	addi    t4, t4, -1
	bnez    t4, 1b
	pte     t1, table_first, PTE_TABLE
	sd      t1, FIRST_GIB * 8(s0)
	pte     t1, table, PTE_TABLE
	.set    gib, FIRST_GIB + 1
	.rept   GIBS - 1
	sd      t1, gib * 8(s0)
	.set    gib, gib + 1
	.endr
	pte     t1, table_end, PTE_TABLE
	sd      t1, (FIRST_GIB + GIBS) * 8(s0)
	pte     t1, end, PTE_CODE
	la      t0, table_end
	sd      t1, 0(t0)

	SET_SATP(root)
	fence.i

	/*
	 * From the start to the end. Now each of its pages is known, and
	 * nothing but its jumps ends a TB: again, from the branch, and into its
	 * midst. The jump target cache knows where it goes then.
	 */
	li      s2, 0
	li      s3, 0
	li      s4, BEGIN + AGAIN
	li      s5, BEGIN
	li      s6, BEGIN + GIB
	li      s7, BEGIN + AGAIN
	la      s8, done
	SET_MPP(MPP_S)
	li      t0, BEGIN
	csrw    mepc, t0
	mret
done:
	CHECK_IMM(s2, 2)
	CHECK_IMM(s3, 4)
	PASS

	/* Not in .text: they would part main from what it jumps to. */
	.data
	.balign MIB2
begin:
	.option push
	.option norvc
	addi    t0, zero, 100
1:	addi    t0, t0, -1
	bnez    t0, 1b
	bnez    t0, 1b                      /* as predicted */
	addi    s2, s2, 1
	.org    begin + AGAIN
	addi    s3, s3, 1
	j       begin + STEP
	.option pop
	.set    step, STEP
	.rept   3
	.org    begin + step
	.word   JUMP_STEP
	.set    step, step + STEP
	.endr
	.balign MIB2

	/* Where to, the next five times */
end:
	mv      a0, s4
	mv      s4, s5
	mv      s5, s6
	mv      s6, s7
	mv      s7, s8
	jr      a0

	.bss
	.balign MIB2
chain:
	.space  MIB2
	.balign 4096
root:
	.space  4096
table_first:
	.space  4096
table:
	.space  4096
table_end:
	.space  4096
