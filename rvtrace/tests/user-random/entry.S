/*
 * Where a random program of user mode, its threads and handlers begin and end
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "runtime.inc"

    .text
    .globl _start
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    andi sp, sp, -16
    tail begin

/* enter(area): the first thread is on its own, too. */
    .globl enter
enter:
    mv tp, a0
    li sp, STACK - 16
    add sp, sp, tp
    tail thread_begins

/* clone(): the child begins at thread_begins(). */
    .globl clone_thread
clone_thread:
    li a7, 220
    ecall
    bnez a0, 1f
    tail thread_begins
1:  ret

/* Where the thread's own program is */
    .globl begin_program
begin_program:
    li s11, 0
    LX t0, CONTINUE(tp)
    jr t0

    .globl thread_done
thread_done:
    li sp, STACK - 16
    add sp, sp, tp
    tail thread_ends

/*
 * Signals that may come at any time: one of the program's functions is called.
 * The registers that it changes are the kernel's to restore.
 */
    .globl on_signal
on_signal:
    addi sp, sp, -16
    SX ra, 0(sp)
    lw t0, function_count
    remu t0, a0, t0
    slli t0, t0, 3
    la t1, functions
    add t1, t1, t0
    LX t1, 0(t1)
    jalr t1
    LX ra, 0(sp)
    addi sp, sp, 16
    ret
