/*
 * RISC-V hart side of the hart to encoder interface: debug triggers
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "hooks.h"
#include "internal.h"

/* An untraced hart has no ring: its encoder gets it at once. */
void riscv_trace_trigger(CPURISCVState *env, ETraceTrigger action,
                         target_ulong pc)
{
    RISCVTraceHart *hart = env->trace.hart;

    if (!hart) {
        return;
    }
    if (env->trace.key) {
        riscv_trace_append(hart, &(ETraceSlot) {
            .event = {
                .value = pc,
                .type = ETRACE_EVENT_TRIGGER,
                .sub = action,
            },
        });
    } else if (hart->ops->trigger) {
        hart->ops->trigger(hart->opaque, action);
    }
}

static void drain_work(CPUState *cs, run_on_cpu_data data)
{
    riscv_trace_hart_drain(cs);
}

void riscv_trace_triggers_changed(CPURISCVState *env)
{
    RISCVTraceHart *hart = env->trace.hart;

    if (riscv_trace_key_is_sparse(env->trace.key)) {
        async_run_on_cpu(hart->cs, drain_work, RUN_ON_CPU_NULL);
    }
}
