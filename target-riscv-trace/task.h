/*
 * RISC-V trace: what task.c has for what knows an operating system
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_TRACE_TASK_H
#define TARGET_RISCV_TRACE_TASK_H

#include "internal.h"

/* An address as software sees it: registers of 32 bits are sign-extended. */
uint64_t riscv_trace_task_pointer(CPURISCVState *env, target_ulong val);

/* Read the task with this descriptor when the TB ends, and report it then. */
void riscv_trace_task_look_at(RISCVTraceHart *hart, uint64_t at);

/*
 * @len bytes at the virtual address @va, as S mode reads it; M mode has the
 * same addresses where nothing is translated. Returns false if they are not all
 * in memory: looking at devices is nothing that they notice.
 */
bool riscv_trace_task_read(RISCVTraceHart *hart, uint64_t va, void *buf,
                           size_t len);

/* RISCVTraceFollower.pending */
void riscv_trace_task_pending(RISCVTraceHart *hart);

#endif /* TARGET_RISCV_TRACE_TASK_H */
