/*
 * RISC-V hart side of the hart to encoder interface: stall
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "exec/icount.h"
#include "system/cpu-timers.h"
#include "system/runstate.h"
#include "hooks.h"
#include "internal.h"

/* How long readers take is nothing that a guest sees, as far as it can be. */
static void hold_time(bool hold)
{
    if (icount_enabled()) {
        icount_hold_warp(hold);
    }
}

bool riscv_trace_hart_stall(CPUState *cs, bool stalled)
{
    RISCVTraceHart *hart = riscv_trace_hart(cs);

    if (stalled) {
        if (qatomic_xchg(&hart->stall, RISCV_TRACE_STALLED) ==
            RISCV_TRACE_STALLED) {
            return false;
        }
        hold_time(true);
        cs->halted = 1;
        cpu_exit(cs);
        return true;
    }
    if (qatomic_cmpxchg(&hart->stall, RISCV_TRACE_STALLED,
                        RISCV_TRACE_RELEASED) != RISCV_TRACE_STALLED) {
        return false;
    }
    hold_time(false);
    qemu_cpu_kick(cs);
    return true;
}

/*
 * For QEMU, a hart that is stalled is halted. That is no state of the machine:
 * at the destination of a migration, or behind loadvm, nobody would end it.
 * So it is taken back while the VM is stopped.
 */
static void halt_while_running(void *opaque, bool running, RunState state)
{
    RISCVTraceHart *hart = opaque;

    if (qatomic_read(&hart->stall) == RISCV_TRACE_STALLED) {
        hart->cs->halted = running;
    }
}

int riscv_trace_stall_state(CPURISCVState *env)
{
    if (!env->trace.hart) {
        return 0;
    }
    switch (qatomic_read(&env->trace.hart->stall)) {
    case RISCV_TRACE_STALLED:
        return -1;
    case RISCV_TRACE_RELEASED:
        return 1;
    default:
        return 0;
    }
}

void riscv_trace_stall_init(RISCVTraceHart *hart)
{
    hart->vm_state = qemu_add_vm_change_state_handler(halt_while_running,
                                                      hart);
}

void riscv_trace_stall_end(RISCVTraceHart *hart)
{
    riscv_trace_hart_stall(hart->cs, false);
    qemu_del_vm_change_state_handler(hart->vm_state);
}
