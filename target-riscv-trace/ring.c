/*
 * RISC-V hart side of the hart to encoder interface: the ring of slots
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "hooks.h"
#include "internal.h"

void riscv_trace_flush(RISCVTraceHart *hart)
{
    CPURISCVState *env = cpu_env(hart->cs);
    RISCVTracePort *port = &env->trace;
    size_t n;

    riscv_trace_history_end(hart, env->pc, riscv_trace_priv_now(env));
    n = port->head - hart->ring;
    port->head = hart->ring;
    port->limit = hart->ring;
    if (!hart->recheck_mode) {
        port->limit += RISCV_TRACE_RING_SLOTS;
    }
    if (n && hart->active) {
        bool can_do_io = riscv_trace_clock_begin(hart);

        hart->time_due |= n >= RISCV_TRACE_RING_SLOTS;
        hart->ops->retire(hart->opaque, hart->ring, n);
        riscv_trace_clock_end(hart, can_do_io);
    }
}

static void drain_work(CPUState *cs, run_on_cpu_data data)
{
    RISCVTraceHart *hart = riscv_trace_hart(cs);

    riscv_trace_work_begin(cs);
    if (hart && hart->active) {
        hart->drain(hart);
    }
    riscv_trace_work_end(cs);
}

void riscv_trace_ask_drain(RISCVTraceHart *hart)
{
    RISCVTracePort *port = &cpu_env(hart->cs)->trace;

    port->limit = hart->ring;
    if (riscv_trace_key_is_sparse(port->key)) {
        /* The TB may end without a look at the limit. */
        async_run_on_cpu(hart->cs, drain_work, RUN_ON_CPU_NULL);
    }
}

void riscv_trace_append(RISCVTraceHart *hart, const ETraceSlot *slot)
{
    RISCVTracePort *port = &cpu_env(hart->cs)->trace;

    if (port->head >= hart->ring + RISCV_TRACE_RING_SLOTS) {
        ETraceSlot *limit = port->limit;

        riscv_trace_flush(hart);
        if (limit == hart->ring || hart->config.time) {
            /* The drain that was asked for, or the time, is still to come. */
            port->limit = hart->ring;
        }
    }
    *port->head++ = *slot;
}
