/*
 * RISC-V hart side of the hart to encoder interface: stretches
 *
 * Where an encoder only has to know which way branches went, a TB that ends in
 * one shifts a bit into a word of env, and what ends in an inferable jump or
 * in none leaves no more than its place. Both note how far back their last
 * instruction is from the next one, for then it is known wherever something
 * else happens. Updiscons end the stretch. So does a jump back, if no branch
 * follows before the next one or before the stretch ends for another reason.
 *
 * A window, a trap handler and a new privilege begin with a block, since their
 * first packet says whether their first instruction is a branch. So everything
 * that ends a window goes back to blocks, and the end of the next TB goes on
 * with stretches if the encoder takes them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "hooks.h"
#include "internal.h"
#include "exec/helper-proto.h"
#include "exec/translation-block.h"

/* What retired last is @back from @next. */
static void append_stretch(CPURISCVState *env, target_ulong next,
                           uint32_t back, ETraceItype itype, ETracePriv priv,
                           uint64_t branches)
{
    RISCVTracePort *port = &env->trace;
    target_ulong iaddr = next - ((int32_t)back >> 2) * 2;

    if (riscv_cpu_mxl(env) == MXL_RV32) {
        iaddr = (int32_t)iaddr;
    }
    port->head[0] = (ETraceBlock) {
        .iaddr = iaddr,
        .iretire = 1,
        .itype = itype,
        .priv = priv,
        .flags = ETRACE_BLOCK_STRETCH,
    };
    port->head[1].iaddr = next;
    memcpy((char *)&port->head[1] + 8, &branches, sizeof(branches));
    port->head += 2;
    port->branches = ETRACE_STRETCH_EMPTY;
    port->jump_branches = 0;
}

/* The jump back, if no branch has come since. Returns whether it is so. */
static bool append_jump(CPURISCVState *env, ETracePriv priv)
{
    RISCVTracePort *port = &env->trace;

    if (port->jump_branches != port->branches) {
        return false;
    }
    append_stretch(env, port->jump_target, port->jump_back,
                   ETRACE_ITYPE_OTHER_INFERABLE_JUMP, priv, port->branches);
    return true;
}

void riscv_trace_stretch_end(RISCVTraceHart *hart, target_ulong pc,
                             ETracePriv priv)
{
    CPURISCVState *env = cpu_env(hart->cs);
    RISCVTracePort *port = &env->trace;
    ETraceItype itype = ETRACE_ITYPE_NONE;
    bool jump_is_last;

    if (!(port->back & RISCV_TRACE_BACK_SOME)) {
        return;
    }
    if (port->back & RISCV_TRACE_BACK_BRANCH) {
        /* The newest one is the last instruction. */
        itype = port->branches >> 31 ? ETRACE_ITYPE_NONTAKEN_BRANCH
                                     : ETRACE_ITYPE_TAKEN_BRANCH;
        port->branches <<= 1;
    }
    jump_is_last = port->back == port->jump_back && pc == port->jump_target;
    if (!append_jump(env, priv) || !jump_is_last) {
        append_stretch(env, pc, port->back, itype, priv, port->branches);
    }
    port->back = RISCV_TRACE_BACK_NONE;
}

void riscv_trace_stretches_off(RISCVTraceHart *hart)
{
    RISCVTracePort *port = &cpu_env(hart->cs)->trace;

    if (port->key & RISCV_TRACE_KEY_STRETCH) {
        assert(!(port->back & RISCV_TRACE_BACK_SOME));
        port->key &= ~(uint64_t)RISCV_TRACE_KEY_STRETCH;
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
        port->jump_branches = 0;
        /* of the block that ends here */
        port->back = RISCV_TRACE_BACK_UPDISCON;
        port->key |= RISCV_TRACE_KEY_STRETCH;
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

/*
 * A TB has ended that had appended slots. Returns whether the key may have
 * changed, so that the next TB has to be looked up.
 */
static bool exit_if_full(CPURISCVState *env)
{
    if (env->trace.head >= env->trace.limit) {
        helper_trace_exit(env);
        return true;
    }
    return false;
}

/* The branches fill their word, or the newest one is to be a stretch. */
uint32_t helper_trace_stretch(CPURISCVState *env)
{
    riscv_trace_stretch_end(env->trace.hart, env->pc,
                            riscv_trace_priv(env->priv, env->virt_enabled));
    return exit_if_full(env);
}

/* A second jump back without a branch in between */
uint32_t helper_trace_jump_again(CPURISCVState *env)
{
    ETracePriv priv = riscv_trace_priv(env->priv, env->virt_enabled);

    append_jump(env, priv);
    append_stretch(env, env->pc, env->trace.back,
                   ETRACE_ITYPE_OTHER_INFERABLE_JUMP, priv,
                   env->trace.branches);
    env->trace.back = RISCV_TRACE_BACK_NONE;
    return exit_if_full(env);
}

static void stop_work(CPUState *cs, run_on_cpu_data data)
{
    riscv_trace_hart_drain(cs);
}

void riscv_trace_triggers_changed(CPURISCVState *env)
{
    RISCVTraceHart *hart = env->trace.hart;

    if (env->trace.key & RISCV_TRACE_KEY_STRETCH) {
        async_run_on_cpu(hart->cs, stop_work, RUN_ON_CPU_NULL);
    }
}
