/*
 * A kernel that keeps its task in tp, and in sscratch while the task runs, as
 * Linux does: two tasks and an idle one, which it runs in this order and for
 * these reasons, each behind switched:
 *
 * run swapper/0 idle
 * run a preempted
 * run b syscall
 * run a syscall
 * run swapper/0 idle
 * run b exited
 * run a exited
 * run swapper/0 runs
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "../stacks/function.inc"

/* In struct task_struct; see questions.py */
#define PID         8
#define TGID        12
#define COMM        20
#define TASK_RA     40
#define TASK_SP     48
#define TASK_TOP    56

#define STIMECMP    0x14d
#define MENVCFG     0x30a
#define FRAME       32

/* Numbers of system calls */
#define PAUSE       34
#define EXIT        93
#define ARM         500

	.option norvc
	.option norelax
fn main
	PMP_ALL
	li      t0, 1 << CAUSE_ECALL_U
	csrw    medeleg, t0
	li      t0, MIP_STIP
	csrw    mideleg, t0
	li      t0, 1 << 63
	csrw    MENVCFG, t0
	li      t0, 7
	csrw    mcounteren, t0
	la      t0, trap
	csrw    stvec, t0
	csrw    sscratch, zero
	MRET_TO(MPP_S, kernel)
end main
fn kernel
	la      tp, task_idle
	LX      sp, TASK_TOP(tp)
	li      t0, -1
	csrw    STIMECMP, t0
	li      t0, MIP_STIP
	csrw    sie, t0
	jal     schedule
	jal     schedule
	j       pass
end kernel

	/* From U mode */
	.balign 4
fn trap
	csrrw   tp, sscratch, tp
	LX      sp, TASK_TOP(tp)
	addi    sp, sp, -FRAME
	csrr    t0, sepc
	SX      t0, 0(sp)
	SX      s0, 8(sp)
	csrw    sscratch, zero
	csrr    t0, scause
	bltz    t0, 1f
	LX      t0, 0(sp)
	addi    t0, t0, 4
	SX      t0, 0(sp)
	jal     do_syscall
	j       to_user
1:	jal     do_timer
to_user:
	LX      t0, 0(sp)
	csrw    sepc, t0
	LX      s0, 8(sp)
	addi    sp, sp, FRAME
	li      t0, MSTATUS_SPP
	csrc    sstatus, t0
	csrw    sscratch, tp
	sret
end trap
fn ret_from_fork
	j       to_user
end ret_from_fork

fn do_syscall
	addi    sp, sp, -16
	SX      ra, 0(sp)
	li      t0, PAUSE
	beq     a7, t0, 1f
	li      t0, EXIT
	beq     a7, t0, 2f
	jal     sys_arm
	j       3f
1:	jal     sys_pause
	j       3f
2:	jal     sys_exit
3:	LX      ra, 0(sp)
	addi    sp, sp, 16
	ret
end do_syscall
calls sys_pause, wait_for_it
calls wait_for_it, schedule
calls sys_exit, do_exit
calls do_exit, schedule
fn sys_arm
	rdtime  t0
	addi    t0, t0, 60
	csrw    STIMECMP, t0
	ret
end sys_arm
fn do_timer
	addi    sp, sp, -16
	SX      ra, 0(sp)
	li      t0, -1
	csrw    STIMECMP, t0
	jal     schedule
	LX      ra, 0(sp)
	addi    sp, sp, 16
	ret
end do_timer
fn schedule
	addi    sp, sp, -16
	SX      ra, 0(sp)
	la      t0, cursor
	LX      t1, 0(t0)
	LX      a1, 0(t1)
	addi    t1, t1, XBYTES
	SX      t1, 0(t0)
	jal     switch_to
	LX      ra, 0(sp)
	addi    sp, sp, 16
	ret
end schedule
fn switch_to
	SX      ra, TASK_RA(tp)
	SX      sp, TASK_SP(tp)
	LX      ra, TASK_RA(a1)
	LX      sp, TASK_SP(a1)
	.globl  switched
switched:
	mv      tp, a1
	ret
end switch_to

fn user_a
	li      a7, ARM
	ecall
	li      s0, 200
1:	addi    s0, s0, -1
	bnez    s0, 1b
	li      a7, PAUSE
	ecall
	li      a7, EXIT
	ecall
end user_a
fn user_b
	li      a7, PAUSE
	ecall
	nop
	li      a7, EXIT
	ecall
end user_b

.macro task label, pid, comm, top, entry
	.balign 16
	.globl  \label
\label:	.zero   PID
	.word   \pid, \pid
	.zero   COMM - TGID - 4
	.ascii  "\comm"
	.zero   TASK_RA - (. - \label)
	XWORD   ret_from_fork, \top - FRAME, \top
	.balign 16
	.zero   1024
	XWORD   \entry, 0, 0, 0
\top:
.endm

	.data
	.balign 8
cursor:	XWORD   order
order:	XWORD   task_a, task_b, task_a, task_idle, task_b, task_a, task_idle
	task    task_idle, 0, "swapper/0", top_idle, 0
	task    task_a, 100, "a", top_a, user_a
	task    task_b, 200, "b", top_b, user_b
