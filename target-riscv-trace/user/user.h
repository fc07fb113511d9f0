/*
 * RISC-V trace of programs: what user emulation calls
 *
 * A program is traced if its CPUs have the property "etrace", a file's name:
 * each thread is a hart with an encoder of its own, all of their packets go
 * into that file, and a sideband into a second one. The threads are in U mode
 * always; system calls, faults and signals are traps to a handler that is not
 * traced.
 *
 * Each function does nothing where nothing is traced.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_TRACE_USER_H
#define TARGET_RISCV_TRACE_USER_H

#include "cpu.h"

/*
 * The thread of @env is going to run its first instruction, that of the program
 * @file, which is copied, or of a clone. In that thread.
 */
void riscv_trace_user_start(CPURISCVState *env, const char *file);

/* Is the program of @cs traced, or is it going to be? */
bool riscv_trace_user_traces(CPUState *cs);

/* The thread of @cs ends. In that thread, which has no lock of QEMU's. */
void riscv_trace_user_end(CPUState *cs);

/*
 * The thread is going to run code of the guest, for the first time or again;
 * behind cpu_exec_start().
 */
void riscv_trace_user_enter(CPURISCVState *env);

/*
 * cpu_exec() of the thread has returned @trapnr; between cpu_exec_start() and
 * cpu_exec_end().
 */
void riscv_trace_user_trap(CPURISCVState *env, int trapnr);

/* An access of the instruction at @ra is going to end in SIGSEGV. */
void riscv_trace_user_fault(CPURISCVState *env, target_ulong addr,
                            MMUAccessType access);

/* The thread is going to enter the handler of signal @sig. */
void riscv_trace_user_signal(CPURISCVState *env, int sig);

/* Report what is mapped when the next code is translated. */
void riscv_trace_user_maps_changed(void);

/* Memory has been mapped, to be executed or not, of a file or anonymous. */
void riscv_trace_user_mapped(bool exec, bool anonymous);

/*
 * The process is going to run another program, if that can be executed, or to
 * end: all is written that its threads have retired.
 */
void riscv_trace_user_exec(void);
void riscv_trace_user_exit(void);

/*
 * fork(), before and after it. No other thread runs code of the guest. The
 * child is a trace of its own if the file's name differs, else it has none.
 */
void riscv_trace_user_fork_start(void);
void riscv_trace_user_fork_end(CPURISCVState *env, bool child);

#endif /* TARGET_RISCV_TRACE_USER_H */
