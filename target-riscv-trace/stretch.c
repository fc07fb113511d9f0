/*
 * RISC-V hart side of the hart to encoder interface: stretches
 *
 * Where an encoder only has to know which way branches went, a TB that ends in
 * one shifts a bit into a word of env, and what ends in an inferable jump
 * forward or in none leaves no more than its place. Both note how far back
 * their last instruction is from the next one, for then it is known wherever
 * something else happens. Other jumps end the stretch: see translate.c.inc.
 *
 * A window, a trap handler and a new privilege begin with a block, since their
 * first packet says whether their first instruction is a branch. So everything
 * that ends a window goes back to blocks, and the end of the next TB goes on
 * with stretches if the encoder takes them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "hooks.h"
#include "internal.h"
#include "exec/helper-proto.h"
#include "exec/translation-block.h"

/* What the running TB is linked to has another key: do not go there. */
static void leave_chain(CPUState *cs)
{
    qatomic_set(&cs->neg.icount_decr.u16.high, -1);
}

static void append_slots(RISCVTraceHart *hart, const ETraceBlock *last,
                         uint64_t next, uint64_t branches)
{
    RISCVTracePort *port = &cpu_env(hart->cs)->trace;

    port->head[0] = *last;
    port->head[1].iaddr = next;
    memcpy((char *)&port->head[1] + 8, &branches, sizeof(branches));
    port->head += 2;
    port->branches = ETRACE_STRETCH_EMPTY;
    port->back = RISCV_TRACE_BACK_NONE;
}

void riscv_trace_stretch_end(RISCVTraceHart *hart, target_ulong pc,
                             ETracePriv priv)
{
    CPURISCVState *env = cpu_env(hart->cs);
    RISCVTracePort *port = &env->trace;
    uint32_t branches = port->branches;
    ETraceBlock last = {
        .iretire = 1,
        .priv = priv,
        .flags = ETRACE_BLOCK_STRETCH,
    };
    target_ulong iaddr;

    if (!(port->back & RISCV_TRACE_BACK_SOME)) {
        return;
    }
    iaddr = pc - ((int32_t)port->back >> 2) * 2;
    if (riscv_cpu_mxl(env) == MXL_RV32) {
        iaddr = (int32_t)iaddr;
    }
    last.iaddr = iaddr;
    if (port->back & RISCV_TRACE_BACK_BRANCH) {
        /* The newest one is the last instruction. */
        last.itype = branches >> 31 ? ETRACE_ITYPE_NONTAKEN_BRANCH
                                    : ETRACE_ITYPE_TAKEN_BRANCH;
        branches <<= 1;
    }
    append_slots(hart, &last, pc, branches);
}

void riscv_trace_stretches_off(RISCVTraceHart *hart)
{
    RISCVTracePort *port = &cpu_env(hart->cs)->trace;

    if (port->key & RISCV_TRACE_KEY_STRETCH) {
        assert(!(port->back & RISCV_TRACE_BACK_SOME));
        port->key &= ~(uint64_t)RISCV_TRACE_KEY_STRETCH;
        leave_chain(hart->cs);
    }
    hart->ask = true;
    port->limit = hart->ring;
}

static void stretches_on(RISCVTraceHart *hart)
{
    CPURISCVState *env = cpu_env(hart->cs);
    RISCVTracePort *port = &env->trace;

    if (!(port->key & RISCV_TRACE_KEY_STRETCH)) {
        riscv_trace_append(hart, &(ETraceBlock) {
            .iaddr = env->pc,
            .itype = ETRACE_EVENT_NEXT,
            .flags = ETRACE_BLOCK_EVENT,
        }, 1);
        port->branches = ETRACE_STRETCH_EMPTY;
        /* of the block that ends here */
        port->back = RISCV_TRACE_BACK_UPDISCON;
        port->key |= RISCV_TRACE_KEY_STRETCH;
        leave_chain(hart->cs);
    }
}

/*
 * A trigger fires between two instructions: which block it belongs to has to
 * be seen.
 */
static bool takes_stretches(RISCVTraceHart *hart)
{
    CPURISCVState *env = cpu_env(hart->cs);

    return hart->active && hart->ops->takes_stretches &&
           tcg_cflags_has(hart->cs, CF_PCREL) &&
           env->xl == riscv_cpu_mxl(env) && !riscv_has_trace_trigger(env) &&
           hart->ops->takes_stretches(hart->opaque);
}

void helper_trace_exit(CPURISCVState *env)
{
    RISCVTraceHart *hart = env->trace.hart;

    hart->ask = false;
    riscv_trace_drain(hart);
    if (takes_stretches(hart)) {
        stretches_on(hart);
    } else if (env->trace.key & RISCV_TRACE_KEY_STRETCH) {
        riscv_trace_stretches_off(hart);
    }
}

/* The branches fill their word, or the newest one is to be a stretch. */
void helper_trace_stretch(CPURISCVState *env)
{
    riscv_trace_stretch_end(env->trace.hart, env->pc,
                            riscv_trace_priv(env->priv, env->virt_enabled));
    if (env->trace.head >= env->trace.limit) {
        helper_trace_exit(env);
    }
}

static void stop_work(CPUState *cs, run_on_cpu_data data)
{
    RISCVTraceHart *hart = riscv_trace_hart(cs);

    if (hart->active) {
        riscv_trace_flush(hart);
        riscv_trace_stretches_off(hart);
    }
}

void riscv_trace_triggers_changed(CPURISCVState *env)
{
    RISCVTraceHart *hart = env->trace.hart;

    if (env->trace.key & RISCV_TRACE_KEY_STRETCH) {
        async_run_on_cpu(hart->cs, stop_work, RUN_ON_CPU_NULL);
    }
}
