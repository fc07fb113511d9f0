/*
 * A kernel that keeps its task in tp, and in sscratch while the task runs, as
 * Linux does, and two tasks. Labels is_* stand at the instructions behind
 * which another task runs, or the same one by another name: see tasks.py.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

/* In struct task_struct: see run.sh */
#define PID         8
#define TGID        12
#define COMM        20

#define PTE_SUPERVISOR  0xcf    /* D A - - X W R V */
#define PTE_USER        0xdf
/* Where U mode sees what S mode sees at 0x80000000 */
#define USER        0x40000000
#define BASE        0x80000000

#if XLEN == 64
#define XSHIFT      3
#define ROOT_SHIFT  30
#define SATP_MODE   (8 << 60)
#else
#define XSHIFT      2
#define ROOT_SHIFT  22
#define SATP_MODE   (1 << 31)
#endif

/* Map a large page in the table at a0. Changes t0 and t1. */
#define MAP(va, pa, flags) \
	li      t0, ((pa) >> 12 << 10) | (flags); \
	li      t1, ((va) >> ROOT_SHIFT) * XBYTES; \
	add     t1, t1, a0; \
	SX      t0, 0(t1)

#define SET_SATP(table) \
	la      t0, table; \
	srli    t0, t0, 12; \
	li      t1, SATP_MODE; \
	or      t0, t0, t1; \
	csrw    satp, t0; \
	sfence.vma

/* Into U mode at the label, until it calls. Changes t0 to t2. */
#define RUN(label) \
	la      t0, label; \
	li      t1, USER; \
	add     t0, t0, t1; \
	csrw    sepc, t0; \
	csrw    sscratch, tp; \
	li      t0, MSTATUS_SPP; \
	csrc    sstatus, t0; \
	la      t0, user_tp; \
	LX      tp, 0(t0)

	.text
	.globl  main
main:
	PMP_ALL
	li      t0, 1 << CAUSE_ECALL_U | 1 << CAUSE_BREAKPOINT
	csrw    medeleg, t0
	la      a0, root1
	call    map
	la      a0, root2
	call    map
	la      t0, trap
	csrw    stvec, t0
	csrw    sscratch, zero
	/* of M-mode: nobody's task */
	la      t0, task_b
	mv      tp, t0
	MRET_TO(MPP_S, kernel)

map:	MAP(0, 0, PTE_SUPERVISOR)
	MAP(UART, UART >> ROOT_SHIFT << ROOT_SHIFT, PTE_SUPERVISOR)
	MAP(BASE, BASE, PTE_SUPERVISOR)
	MAP(BASE + USER, BASE, PTE_USER)
	ret

kernel:
	/* Not paged yet */
	la      a1, task_idle
	.globl  is_idle
is_idle:
	mv      tp, a1
	call    work
	SET_SATP(root1)
	call    work

	/* In two halves, of which the first is no task's */
	.option push
	.option norvc
1:	auipc   tp, %pcrel_hi(task_a)
	.globl  is_a
is_a:	addi    tp, tp, %pcrel_lo(1b)
	.option pop
	call    work
	RUN(user)
	sret
back1:	call    work

	/* The same again is no news. */
	mv      tp, tp
	addi    tp, tp, 0
	RUN(user)
	sret

	/* Behind a return: what is next is in the middle of history */
back2:	la      a1, task_b
	call    switch_to
	call    work
	RUN(user)
	sret

	/* To the other and back, several times */
back3:	li      s1, 5
1:	la      a1, task_a
	.globl  is_a2
is_a2:	add     tp, a1, zero
	call    work
	la      a1, task_b
	call    switch_to
	addi    s1, s1, -1
	bnez    s1, 1b

	/* A name that changes shows when the task is switched to ... */
	la      t0, task_a
	li      t1, 'Z'
	sb      t1, COMM(t0)
	la      a1, task_a
	.globl  is_z
is_z:	mv      tp, a1
	RUN(user)
	sret

	/* ... or on the way to U mode, if there is another address space. */
back4:	li      t1, 'Y'
	sb      t1, COMM(tp)
	SET_SATP(root2)
	call    work
	RUN(user)
	.globl  is_y
is_y:	sret

	/* It does not show otherwise: system calls have to be cheap. */
back5:	li      t1, 'X'
	sb      t1, COMM(tp)
	RUN(user)
	sret

	/*
	 * ... but for the one that asks for it, and when that returns: the
	 * program of the last RUN goes on behind its call.
	 */
back6:	RUN(rename)
	sret
back7:	li      t1, 'W'
	sb      t1, COMM(tp)
	RUN(renamed)
	.globl  is_w
is_w:	sret
	/* Neither another option of that call nor another call asks for it. */
back8:	li      t1, 'V'
	sb      t1, COMM(tp)
	RUN(other)
	sret
back9:	RUN(user)
	sret

	/* Pointers to nothing, and to what is no task: the last one stays. */
back10:	li      tp, 0
	li      a1, 0x7ff
	mv      tp, a1
	li      a1, 0x100000            /* a device: not to be read */
	mv      tp, a1
	la      a1, no_task
	mv      tp, a1
	la      a1, no_pid
	mv      tp, a1
	la      a1, no_end
	mv      tp, a1
	call    work

	/* How it was loaded shows in the handler of the next trap. */
	la      t0, task_c_at
	LX      tp, 0(t0)
	la      t0, resume
	.option push
	.option norvc
	ebreak
	.option pop
	call    work
	la      a1, task_b
	.globl  is_b3
is_b3:	mv      tp, a1
	call    work
	PASS

/* As __switch_to of Linux: a1 is the task. */
switch_to:
	addi    a0, a0, 1
	.globl  is_b
is_b:	mv      tp, a1
	ret

/* S mode: from U mode, or ebreak */
	.balign 4
trap:	csrrw   tp, sscratch, tp
	bnez    tp, 1f
	csrr    tp, sscratch
	csrw    sscratch, zero
	csrr    t0, sepc
	addi    t0, t0, 4
	csrw    sepc, t0
	.globl  resume
resume:	nop
	li      t0, MSTATUS_SPP
	csrs    sstatus, t0
	sret
1:	csrw    sscratch, zero
	/* back1, back2 ... one after the other */
	la      t0, backs
	la      t1, round
	lw      t2, 0(t1)
	addi    t2, t2, 1
	sw      t2, 0(t1)
	slli    t2, t2, XSHIFT
	add     t0, t0, t2
	LX      t0, -XBYTES(t0)
	jr      t0

work:	li      t0, 7
1:	addi    t0, t0, -1
	bnez    t0, 1b
	ret

/* U mode, where tp is the program's own */
user:	lla     t0, no_task
	mv      tp, t0
	li      t0, 20
1:	addi    t0, t0, -1
	bnez    t0, 1b
	.option push
	.option norvc
	ecall
	.option pop

	/* Linux' prctl(PR_SET_NAME) */
rename:	li      a7, 167
	li      a0, 15
	.option push
	.option norvc
	ecall
	/* ... prctl(PR_GET_NAME), and renameat() of the file with number 15 */
renamed: li     a7, 167
	li      a0, 16
	ecall
other:	li      a7, 38
	li      a0, 15
	ecall
	.option pop

	.section .rodata
	.balign 8
backs:	XWORD   back1, back2, back3, back4, back5, back6, back7, back8, \
	        back9, back10
task_c_at:
	XWORD   task_c

#define TASK(label, pid_, tgid_, comm_) \
	.globl  label; \
label:	.zero   PID; .word pid_, tgid_; .zero COMM - TGID - 4; \
	.ascii  comm_; \
	.zero   16 - (. - label - COMM)

	.data
	.balign 4
round:	.word   0
	.balign 8
user_tp: XWORD  0x12345678
TASK(task_idle, 0, 0, "swapper/0")
TASK(task_a, 100, 99, "a")
TASK(task_c, 0x3fffff, 1, "fifteen letters")
TASK(no_task, 5, 5, "")
TASK(no_pid, 0x400000, 5, "no pid")
TASK(no_end, 6, 6, "sixteen letters!")
	.balign 4096
	.zero   4096 - COMM - 2
	/* Its name crosses a page. */
TASK(task_b, 200, 200, "b task")

	.bss
	.balign 4096
root1:	.zero   4096
root2:	.zero   4096
