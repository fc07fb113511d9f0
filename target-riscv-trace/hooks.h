/*
 * RISC-V trace: what target/riscv calls
 *
 * Each of these does nothing on a hart that is not traced.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_TRACE_HOOKS_H
#define TARGET_RISCV_TRACE_HOOKS_H

#include "cpu.h"
#include "exec/translator.h"
#include "hw/trace/etrace/ranges.h"

/* ETracePriv of a privilege mode with or without virtualization. */
static inline ETracePriv riscv_trace_priv(target_ulong priv, bool virt)
{
    return virt ? (priv == PRV_U ? ETRACE_PRIV_VU : ETRACE_PRIV_VS) : priv;
}

/* ... of the mode that the hart is in */
static inline ETracePriv riscv_trace_priv_now(const CPURISCVState *env)
{
#ifdef CONFIG_USER_ONLY
    return ETRACE_PRIV_U;
#else
    return riscv_trace_priv(env->priv, env->virt_enabled);
#endif
}

/*
 * One instruction of @len bytes at @pc retired outside of what translated
 * code reports: xRET, WFI, semihosting. @priv and @virt: where it executed.
 */
void riscv_trace_insn(CPURISCVState *env, target_ulong pc, unsigned len,
                      ETraceItype itype, target_ulong priv, bool virt);

/* A trap was taken; @priv and @virt: where from. @tval as in xtval. */
void riscv_trace_trap(CPURISCVState *env, bool async, target_ulong cause,
                      target_ulong tval, target_ulong epc,
                      target_ulong priv, bool virt);

/*
 * State was restored to the middle of a TB: what the TB retired before the
 * instruction at env->pc comes as a block of its own. @uw2 is the unwind word
 * of that instruction.
 */
void riscv_trace_unwind(CPURISCVState *env, target_ulong uw2);

/*
 * A page became executable for @mmu_idx. @retaddr: 0 between TBs, else the
 * host address inside the TB that runs.
 */
void riscv_trace_tlb_fill(CPURISCVState *env, vaddr va, hwaddr pa, int prot,
                          int mmu_idx, uintptr_t retaddr);

/*
 * Which addresses are qualified where TBs with this key run, the one that the
 * hart has now; NULL: any, or each instruction is a TB.
 */
const ETraceRanges *riscv_trace_ranges(CPURISCVState *env, uint64_t cs_base);

/* A TB of a traced hart was translated and has not been published yet. */
void riscv_trace_translated(CPURISCVState *env, const DisasContextBase *db);

/* A CSR that the context may come from was written. */
void riscv_trace_context_changed(CPURISCVState *env);

/*
 * A trigger with a trace action fired: before the instruction at @pc, or with
 * RISCV_TRACE_PC_UNKNOWN inside of the TB that runs.
 */
void riscv_trace_trigger(CPURISCVState *env, ETraceTrigger action,
                         target_ulong pc);
#define RISCV_TRACE_PC_UNKNOWN  ((target_ulong)-1)

/* A trigger was written; see riscv_has_trace_trigger(). */
void riscv_trace_triggers_changed(CPURISCVState *env);

/* The hart was reset. */
void riscv_trace_reset(CPURISCVState *env);

/*
 * Stall state for the CPU's has_work. Returns 0: not involved, -1: stalled,
 * has no work whatever is pending, 1: just released, has work.
 */
int riscv_trace_stall_state(CPURISCVState *env);

#endif /* TARGET_RISCV_TRACE_HOOKS_H */
