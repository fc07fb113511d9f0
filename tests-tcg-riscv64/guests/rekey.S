/*
 * Software that changes the encoder's modes between two runs of the same
 * loops: with some modes the encoder wants to see each block, with others it
 * does not, and code that was translated for the one must not run in the
 * other.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define ENCODER             0x3020000
#define TE_INST_FEATURES    0x008
#define TE_IMPLICIT_RETURN  0x8
#define MCONTROL            (2 << 60)
#define ACTION_NOTIFY       (4 << 12)
#define IN_M_EXECUTE        (1 << 6 | 1 << 2)

/*
 * The modes change behind the store; the first block with the new ones ends in
 * a branch by a1. Changes t0 and t1.
 */
#define TOGGLE_AND_CALL(label) \
	andi    t1, a1, 1; \
	lw      t0, TE_INST_FEATURES(s3); \
	xori    t0, t0, TE_IMPLICIT_RETURN; \
	sw      t0, TE_INST_FEATURES(s3); \
	bnez    t1, 78f; \
	addi    a0, a0, 1; \
	j       79f; \
78:	addi    a0, a0, 2; \
79:	call    label

	.text
	.globl  main
main:
	li      s3, ENCODER
	li      s4, 0
	li      s2, 12
	call    work
1:	li      a1, 0
2:	TOGGLE_AND_CALL(work)       /* on, off, on, off, through one store */
	andi    t1, s2, 3
	addi    t1, t1, -2
	snez    a1, t1              /* 0 where s2 % 4 is 2 */
	addi    s2, s2, -1
	bnez    s2, 2b

#if XLEN == 64
	/* A trigger with a trace action is looked for in each block, too. */
	csrw    tselect, zero
	la      t0, nowhere
	csrw    tdata2, t0
	li      s5, MCONTROL | ACTION_NOTIFY | IN_M_EXECUTE
	li      s2, 12
1:	mv      s4, s5
	li      a1, 2
	call    work
	li      s4, 0
	li      a1, 3
	call    work
	mv      s4, s5
	call    work
	addi    s2, s2, -1
	bnez    s2, 1b
#endif
	PASS

/* Loops, calls and jumps back; two ways to them by a1 */
work:
	mv      s11, ra
	andi    t0, a1, 1
	bnez    t0, 1f
	addi    a0, a0, 1
	j       2f
1:	addi    a0, a0, 2
2:	csrw    tdata1, s4
	andi    t0, a1, 1
	bnez    t0, 1f
	addi    a0, a0, 1
	j       2f
1:	addi    a0, a0, 2
2:	addi    t0, a1, -2
	bltz    t0, 1f
	addi    a0, a0, 3
	bnez    t0, 2f
	addi    a0, a0, 4
	j       1f
2:	addi    a0, a0, 5
1:
	li      s1, 60
1:	andi    t0, s1, 3
	beqz    t0, 2f
	call    leaf
	j       3f
2:	addi    a0, a0, 1
3:	addi    s1, s1, -1
	bgtz    s1, 1b
	li      s1, 20
	j       5f
4:	addi    s1, s1, -1
	j       5f
	nop
6:	jr      s11
5:	bgtz    s1, 4b
	j       6b

leaf:
	andi    t1, s1, 1
	beqz    t1, 1f
	addi    a0, a0, 2
1:	ret

nowhere:
	nop
	j       nowhere
