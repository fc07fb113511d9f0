/*
 * RISC-V hart side of the hart to encoder interface: traps and switches
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/lockable.h"
#include "exec/cputlb.h"
#include "system/tcg.h"
#ifndef CONFIG_USER_ONLY
#include "ctr/tb-key.h"
#endif
#include "hooks.h"
#include "internal.h"

#ifndef CONFIG_USER_ONLY
/* The port's part of the TB key leaves the rest of it alone. */
QEMU_BUILD_BUG_ON(RISCV_TRACE_KEY_MASK & RISCV_TB_KEY_MISA_MASK);
QEMU_BUILD_BUG_ON(RISCV_TRACE_KEY_MASK & RISCV_TB_KEY_CTR_MASK);
#endif

/* The CPU state is right behind CPUState, whose size differs between hosts. */
QEMU_BUILD_BUG_ON(__alignof__(CPURISCVState) > __alignof__(CPUState));

#define TRACE_KEY(session)                                              \
    (((uint64_t)(session) << RISCV_TRACE_KEY_SESSION_SHIFT) |           \
     RISCV_TRACE_KEY_ON)

static void follower_pending(RISCVTraceHart *hart)
{
    if (hart->task.pending) {
        hart->config.follower->pending(hart);
    }
}

void riscv_trace_drain(RISCVTraceHart *hart)
{
    /* It runs, so it knows that it was released. */
    qatomic_cmpxchg(&hart->stall, RISCV_TRACE_RELEASED, RISCV_TRACE_RUNNING);

    riscv_trace_flush(hart);
    if (hart->active) {
        riscv_trace_maps_pending(hart);
        follower_pending(hart);
        riscv_trace_append_context(hart);
        riscv_trace_append_time(hart, hart->time_due);
        hart->time_due = false;
    }
}

/* Between two TBs, what waits for the end of one gets its turn, too. */
static void drain_if_asked(RISCVTraceHart *hart)
{
    RISCVTracePort *port = &cpu_env(hart->cs)->trace;

    if (port->head >= port->limit) {
        riscv_trace_drain(hart);
    }
}

void riscv_trace_to_blocks(RISCVTraceHart *hart, target_ulong pc,
                           ETracePriv priv)
{
    riscv_trace_history_end(hart, pc, priv);
    if (riscv_trace_key_is_sparse(cpu_env(hart->cs)->trace.key)) {
        riscv_trace_history_off(hart);
    }
}

ETraceDetail riscv_trace_detail(RISCVTraceHart *hart,
                                ETraceHistoryModes *modes)
{
    CPURISCVState *env = cpu_env(hart->cs);
    ETraceDetail detail = ETRACE_DETAIL_BLOCKS;
    ETraceRanges ranges = { };

    if (!hart->active) {
        return detail;
    }
    if (hart->ops->detail && env->xl == riscv_cpu_mxl(env)) {
        detail = hart->ops->detail(hart->opaque,
                                   riscv_trace_priv_now(env),
                                   env->pc, modes, &ranges);
    }
    return riscv_trace_ranges_set(hart, &ranges) ? detail
                                                 : ETRACE_DETAIL_BLOCKS;
}

/* The blocks that come end where ranges do, before one has ended. */
static void set_ranges(RISCVTraceHart *hart)
{
    ETraceHistoryModes modes;

    riscv_trace_detail(hart, &modes);
    riscv_trace_key_changed(cpu_env(hart->cs));
}

void riscv_trace_insn(CPURISCVState *env, target_ulong pc, unsigned len,
                      ETraceItype itype, target_ulong priv, bool virt)
{
    RISCVTraceHart *hart = env->trace.hart;

    if (env->trace.key) {
        riscv_trace_to_blocks(hart, pc, riscv_trace_priv(priv, virt));
        riscv_trace_append(hart, &(ETraceSlot) {
            .block = {
                .iaddr = pc,
                .iretire = len / 2,
                .itype = itype,
                .ilastsize = len == 4,
                .priv = riscv_trace_priv(priv, virt),
            },
        });
        if (itype == ETRACE_ITYPE_TRAP_RETURN && hart->config.follower) {
            hart->config.follower->xret(hart, priv);
        }
        drain_if_asked(hart);
        if (itype == ETRACE_ITYPE_TRAP_RETURN) {
            riscv_trace_append_context(hart);
        }
    }
}

void riscv_trace_trap(CPURISCVState *env, bool async, target_ulong cause,
                      target_ulong tval, target_ulong epc,
                      target_ulong priv, bool virt)
{
    RISCVTraceHart *hart = env->trace.hart;

    if (env->trace.key) {
        bool known = riscv_trace_tvec_is_known(hart, async, cause);
        ETracePriv from = riscv_trace_priv(priv, virt);

        riscv_trace_to_blocks(hart, epc, from);
        /* A switch before the trap whose TB did not look at the limit */
        follower_pending(hart);
        riscv_trace_append_time(hart, false);
        riscv_trace_append(hart, &(ETraceSlot) {
            .block = {
                .iaddr = epc,
                .itype = async ? ETRACE_ITYPE_INTERRUPT
                               : ETRACE_ITYPE_EXCEPTION,
                .cause = cause,
                .priv = from,
                .flags = known ? ETRACE_BLOCK_TVEC : 0,
            },
            .tval = tval,
        });
        drain_if_asked(hart);
        riscv_trace_append_context(hart);
        riscv_trace_tvec_report(hart);
        if (hart->config.follower && hart->config.follower->trap) {
            hart->config.follower->trap(hart, async, cause, priv, virt);
        }
    }
}

void riscv_trace_unwind(CPURISCVState *env, target_ulong uw2)
{
    unsigned halfwords = uw2 >> RISCV_UW2_TRACE_SHIFT;

    if (!halfwords || !env->trace.key) {
        return;
    }
    if (env->trace.key & RISCV_TRACE_KEY_HISTORY) {
        env->trace.back =
            RISCV_TRACE_BACK(uw2 & RISCV_UW2_TRACE_LASTSIZE ? 4 : 2);
    } else {
        riscv_trace_append(env->trace.hart, &(ETraceSlot) {
            .block = {
                .iaddr = env->pc - 2 * halfwords,
                .iretire = halfwords,
                .ilastsize = !!(uw2 & RISCV_UW2_TRACE_LASTSIZE),
                .priv = riscv_trace_priv_now(env),
            },
        });
        drain_if_asked(env->trace.hart);
    }
}

/* Tracing on or off, in the hart's thread between TBs. */
static void trace_switch(CPUState *cs, bool on)
{
    RISCVTraceHart *hart = riscv_trace_hart(cs);
    RISCVTracePort *port = &cpu_env(cs)->trace;

    if (hart->active) {
        riscv_trace_flush(hart);
        hart->active = false;
        port->key = 0;
        riscv_trace_key_changed(cpu_env(cs));
        port->back = RISCV_TRACE_BACK_NONE;
        port->jumps = 0;
        g_array_set_size(hart->pending, 0);
        hart->task.pending = false;
        hart->ops->stop(hart->opaque);
    }

    if (on) {
        hart->active = true;
        hart->fenced = UINT64_MAX;
        riscv_trace_maps_start(hart);
        if (tcg_enabled()) {
            /* Mappings that changed while nobody looked show at the fill. */
            tlb_flush(cs);
        }
        hart->ops->start(hart->opaque);
        hart->recheck_mode = true;
        port->limit = hart->ring;
        port->key = TRACE_KEY(hart->session) |
                    (hart->config.data ? RISCV_TRACE_KEY_DATA : 0) |
                    (hart->config.follower ? RISCV_TRACE_KEY_TASK : 0);
        set_ranges(hart);
        riscv_trace_append_context(hart);
        riscv_trace_append_time(hart, false);
        if (hart->config.follower) {
            hart->config.follower->start(hart);
        }
        riscv_trace_reader_registers(hart, false);
    }
}

void riscv_trace_hart_configure(CPUState *cs,
                                const RISCVTraceHartConfig *config)
{
    RISCVTraceHart *hart = riscv_trace_hart(cs);

    hart->config = *config;
    hart->context_reported = false;
}

void riscv_trace_hart_enable_now(CPUState *cs, bool on)
{
    RISCVTraceHart *hart = riscv_trace_hart(cs);

    if (!on || !hart->active ||
        hart->session != riscv_trace_reader_session(hart->reader)) {
        trace_switch(cs, on);
    }
}

static void enable_work(CPUState *cs, run_on_cpu_data data)
{
    riscv_trace_hart_enable_now(cs, data.host_int);
}

void riscv_trace_hart_enable(CPUState *cs, bool on)
{
    async_run_on_cpu(cs, enable_work, RUN_ON_CPU_HOST_INT(on));
}

static void restart_work(CPUState *cs, run_on_cpu_data data)
{
    if (riscv_trace_hart(cs)->active) {
        trace_switch(cs, true);
    }
}

void riscv_trace_hart_restart(CPUState *cs)
{
    async_run_on_cpu(cs, restart_work, RUN_ON_CPU_NULL);
}

void riscv_trace_hart_drain(CPUState *cs)
{
    RISCVTraceHart *hart = riscv_trace_hart(cs);

    riscv_trace_flush(hart);
    if (hart->active) {
        /* What for? It may be that blocks are needed now. */
        riscv_trace_history_off(hart);
    }
}

void riscv_trace_hart_refresh(CPUState *cs)
{
    RISCVTraceHart *hart = riscv_trace_hart(cs);

    if (hart->active) {
        set_ranges(hart);
    }
}

void riscv_trace_hart_drain_in_tb(CPUState *cs)
{
    RISCVTraceHart *hart = riscv_trace_hart(cs);

    /*
     * The TB that runs was made for branch history, which may not end in its
     * middle. No event is in it.
     */
    if (!(cpu_env(cs)->trace.key & RISCV_TRACE_KEY_HISTORY)) {
        riscv_trace_flush(hart);
    }
}

void riscv_trace_reset(CPURISCVState *env)
{
    RISCVTraceHart *hart = env->trace.hart;

    if (hart && hart->active) {
        riscv_trace_hart_drain(hart->cs);
        g_array_set_size(hart->pending, 0);
        riscv_trace_maps_reset(hart);
    }
}

void riscv_trace_hart_attach(CPUState *cs, const RISCVTraceHartOps *ops,
                             void *opaque, unsigned hart_index)
{
    RISCVTracePort *port = &cpu_env(cs)->trace;
    RISCVTraceHart *hart = g_new0(RISCVTraceHart, 1);

    assert(!port->hart);
    hart->cs = cs;
    hart->ops = ops;
    hart->opaque = opaque;
    hart->index = hart_index;
    hart->drain = riscv_trace_drain;
    hart->ring = g_new0(ETraceSlot,
                        RISCV_TRACE_RING_SLOTS + RISCV_TRACE_RING_SLACK);
    hart->pending = g_array_new(false, false, sizeof(RISCVTracePage));
    riscv_trace_stall_init(hart);
    port->hart = hart;
    port->head = hart->ring;
    port->limit = hart->ring + RISCV_TRACE_RING_SLOTS;
}

void riscv_trace_hart_detach_now(CPUState *cs)
{
    RISCVTraceHart *hart = riscv_trace_hart(cs);

    trace_switch(cs, false);
    if (hart->reader) {
        QEMU_LOCK_GUARD(&hart->reader->lock);
        QLIST_REMOVE(hart, next);
    }
    cpu_env(cs)->trace = (RISCVTracePort) { };
    g_clear_pointer(&hart->maps, g_hash_table_destroy);
    g_array_free(hart->pending, true);
    g_free(hart->ring);
    g_free(hart);
}

#ifndef CONFIG_USER_ONLY
/* Behind all that was queued for the hart before */
static void detach_work(CPUState *cs, run_on_cpu_data data)
{
    riscv_trace_hart_detach_now(cs);
}

void riscv_trace_hart_detach(CPUState *cs)
{
    riscv_trace_stall_end(riscv_trace_hart(cs));
    run_on_cpu(cs, detach_work, RUN_ON_CPU_NULL);
}
#endif
