/*
 * RISC-V hart side of the hart to encoder interface: what else the port reports
 *
 * Context, time and trap vectors, in order with the blocks.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "hooks.h"
#include "internal.h"

/* The address space that the hart fetches from, as 4.2.3 recommends it */
static uint64_t context_asid(CPURISCVState *env)
{
    bool rv32 = riscv_cpu_mxl(env) == MXL_RV32;
    /* While V is 1, satp is swapped with vsatp. */
    uint64_t asid = get_field(env->satp, rv32 ? SATP32_ASID : SATP64_ASID);
    uint64_t vmid = 0;

    if (env->virt_enabled) {
        vmid = rv32 ? extract32(env->hgatp, 22, 7)
                    : extract64(env->hgatp, 44, 14);
    }
    return vmid << 16 | asid;
}

bool riscv_trace_hart_has_scontext(CPUState *cs)
{
    const RISCVCPUConfig *cfg = riscv_cpu_cfg(cpu_env(cs));

    return cfg->debug && cfg->scontext;
}

/* The context as it is now, not necessarily reported yet. */
static uint64_t context_now(RISCVTraceHart *hart)
{
    CPURISCVState *env = cpu_env(hart->cs);

    switch (hart->config.context) {
    case RISCV_TRACE_CONTEXT_MCONTEXT:
        return env->mcontext;
    case RISCV_TRACE_CONTEXT_SCONTEXT:
        return (uint64_t)env->mcontext << 32 | env->scontext;
    default:
        return context_asid(env);
    }
}

static void append_event(RISCVTraceHart *hart, ETraceSlotType event,
                         uint64_t value, unsigned sub)
{
    riscv_trace_append(hart, &(ETraceSlot) {
        .event = { .value = value, .type = event, .sub = sub },
    });
}

void riscv_trace_append_context(RISCVTraceHart *hart)
{
    uint64_t context;

    if (hart->config.context == RISCV_TRACE_CONTEXT_OFF) {
        return;
    }
    context = context_now(hart);
    if (!hart->context_reported || context != hart->context) {
        hart->context_reported = true;
        hart->context = context;
        if (riscv_trace_key_is_sparse(cpu_env(hart->cs)->trace.key)) {
            /* How it is reported depends on the block that comes next. */
            riscv_trace_history_off(hart);
        }
        append_event(hart, ETRACE_EVENT_CONTEXT, context, hart->config.ctype);
    }
}

void riscv_trace_append_time(RISCVTraceHart *hart, bool report)
{
    CPURISCVState *env = cpu_env(hart->cs);

    if (hart->config.time && env->rdtime_fn) {
        bool can_do_io = riscv_trace_clock_begin(hart);
        uint64_t time = env->rdtime_fn(env->rdtime_fn_arg);

        riscv_trace_clock_end(hart, can_do_io);
        if (report && riscv_trace_key_is_sparse(env->trace.key)) {
            /* The block that comes next is to be synchronised. */
            riscv_trace_history_off(hart);
        }
        append_event(hart, ETRACE_EVENT_TIME, time,
                     report ? ETRACE_CTYPE_PRECISE : ETRACE_CTYPE_UNREPORTED);
    }
}

void riscv_trace_context_changed(CPURISCVState *env)
{
    RISCVTraceHart *hart = env->trace.hart;

    if (env->trace.key && hart->config.context != RISCV_TRACE_CONTEXT_OFF) {
        /* The CSR instruction itself belongs to the context before. */
        riscv_trace_ask_drain(hart);
    }
}

/*
 * Trap vectors. xtvec says where handlers are; what the reader knows is
 * kept, so that a trap can say whether it leads where the reader expects.
 */

static target_ulong tvec_of(CPURISCVState *env)
{
    return env->priv == PRV_M ? env->mtvec : env->stvec;
}

static unsigned tvec_index(CPURISCVState *env)
{
    return env->priv == PRV_M ? 0 : env->virt_enabled ? 2 : 1;
}

bool riscv_trace_tvec_is_known(RISCVTraceHart *hart, bool async,
                              target_ulong cause)
{
    CPURISCVState *env = cpu_env(hart->cs);
    target_ulong tvec = tvec_of(env);
    target_ulong handler = (tvec & ~(target_ulong)3) +
                           (async && (tvec & 3) == 1 ? cause * 4 : 0);
    const RISCVTraceTvec *known = &hart->tvec[tvec_index(env)];

    return hart->config.tvec && known->reported && known->value == tvec &&
           env->pc == handler;
}

void riscv_trace_tvec_report(RISCVTraceHart *hart)
{
    CPURISCVState *env = cpu_env(hart->cs);
    target_ulong tvec = tvec_of(env);
    RISCVTraceTvec *known = &hart->tvec[tvec_index(env)];

    if (hart->config.tvec && !(known->reported && known->value == tvec)) {
        known->reported = false;
        known->pending = true;
        known->value = tvec;
        riscv_trace_ask_drain(hart);
    }
}
