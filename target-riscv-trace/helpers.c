/*
 * RISC-V hart side of the hart to encoder interface: what translated code calls
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "hooks.h"
#include "internal.h"
#include "accel/tcg/getpc.h"
#include "exec/helper-proto.h"

/*
 * A TB begins that must not be interrupted, so that what other harts have
 * announced was not noticed, and its own look-up or translation may have
 * changed the key that it was made for.
 */
void helper_trace_start(CPURISCVState *env, uint64_t cs_base, uint32_t cflags)
{
    RISCVTraceHart *hart = env->trace.hart;

    riscv_trace_reader_place(hart);
    if (env->trace.key != (cs_base & RISCV_TRACE_KEY_MASK)) {
        hart->cs->cflags_next_tb = cflags;
        cpu_loop_exit_restore(hart->cs, GETPC());
    }
}

/*
 * The TB that begins is qualified by a filter by address, and what led to it
 * is not, or the other way round. @next_cflags: what CPUState.cflags_next_tb
 * has to be, so that the next one is such a TB again.
 */
void helper_trace_ranges(CPURISCVState *env, uint32_t next_cflags)
{
    RISCVTraceHart *hart = env->trace.hart;

    riscv_trace_to_blocks(hart, env->pc, riscv_trace_priv_now(env));
    /* It was logged when it was entered; as QEMU has it, it did not run. */
    qemu_log_mask(CPU_LOG_EXEC,
                  "Stopped execution of TB chain before [" TARGET_FMT_lx "]\n",
                  env->pc);
    hart->cs->cflags_next_tb = next_cflags;
    cpu_loop_exit_restore(hart->cs, GETPC());
}

void helper_trace_drain(CPURISCVState *env)
{
    riscv_trace_drain(env->trace.hart);
}

void helper_trace_exit(CPURISCVState *env)
{
    RISCVTraceHart *hart = env->trace.hart;
    bool history = env->trace.key & RISCV_TRACE_KEY_HISTORY;
    ETraceHistoryModes modes;
    ETraceDetail detail;

    hart->recheck_mode = false;
    riscv_trace_drain(hart);
    /* Context and time, too, so that the encoder knows all that came before */
    riscv_trace_flush(hart);
    riscv_trace_reader_ring(hart);
    detail = riscv_trace_detail(hart, &modes);
    if ((history && detail != ETRACE_DETAIL_HISTORY) ||
        detail == ETRACE_DETAIL_BLOCK) {
        riscv_trace_history_off(hart);
    } else if (!history && detail == ETRACE_DETAIL_HISTORY) {
        riscv_trace_history_on(hart, &modes);
    }
    if (detail == ETRACE_DETAIL_NOTHING) {
        /* TBs without trace code, until something else happens */
        env->trace.key &= ~RISCV_TRACE_KEY_ON;
        riscv_trace_key_changed(env);
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

/* The branches fill their word, or the newest one is to be a history. */
void helper_trace_branches(CPURISCVState *env)
{
    riscv_trace_history_end(env->trace.hart, env->pc,
                            riscv_trace_priv_now(env));
    exit_if_full(env);
}

/*
 * ... and env->pc is one of these, as the newest one went: 0 if it was not
 * taken, 1 if it was, 2 if the next TB has to be looked up.
 */
uint32_t helper_trace_branches_at(CPURISCVState *env, target_ulong not_taken,
                                  target_ulong taken)
{
    bool was_taken = !(env->trace.branches >> 63);

    env->pc = was_taken ? taken : not_taken;
    riscv_trace_history_end(env->trace.hart, env->pc,
                            riscv_trace_priv_now(env));
    return exit_if_full(env) ? 2 : was_taken;
}

/* The jumps without a branch in between fill their room. */
void helper_trace_jumps(CPURISCVState *env)
{
    riscv_trace_history_jumps(env, riscv_trace_priv_now(env));
    env->trace.back = RISCV_TRACE_BACK_NONE;
    exit_if_full(env);
}

/*
 * The updiscon at @last leads to @target: which of the two may be among what
 * ran behind the newest branch, but for @last as it is the last one? All of
 * that is known here.
 */
typedef struct Passed {
    bool last;
    bool target;
} Passed;

static Passed passed(const RISCVTracePort *port, uint64_t last,
                     uint64_t target)
{
    unsigned n = port->jumps & RISCV_TRACE_JUMPS_NUMBER;
    uint64_t first = n ? port->jump[0].last : last;
    Passed p = { };

    if (port->jumps & RISCV_TRACE_JUMPS_FAR) {
        return (Passed) { true, true };     /* they may be */
    }
    first -= (uint32_t)(first - port->run_start);
    for (unsigned i = 0; i < n; i++) {
        /*
         * If the target of an updiscon is a jump, the run begins behind it, but
         * it has been passed: then this is so for any address.
         */
        p.last |= last - first <= port->jump[i].last - first;
        p.target |= target - first <= port->jump[i].last - first;
        first = port->jump[i].next;
    }
    p.target |= target - first <= last - first;
    return p;
}

/*
 * An updiscon. If one of these addresses has been passed and jumps before it
 * were inferred, the encoder is to see the way; as where it has seen a part of
 * it.
 */
static void append_updiscon(CPURISCVState *env, uint64_t last,
                            ETraceItype itype, uint8_t flags)
{
    RISCVTracePort *port = &env->trace;
    ETracePriv priv = riscv_trace_priv_now(env);
    Passed p = passed(port, last, env->pc);

    if ((port->jumps & RISCV_TRACE_JUMPS_UNKNOWN) ||
        ((port->jumps & RISCV_TRACE_JUMPS_INFERRED) && (p.last | p.target))) {
        riscv_trace_history_jumps(env, priv);
    } else if (p.target) {
        flags |= ETRACE_HISTORY_CONTAINED;
    }
    riscv_trace_history_slot(env, last, env->pc, itype, priv, flags);
    port->back = RISCV_TRACE_BACK_UPDISCON;
    port->jumps = 0;
    port->run_start = env->pc + 2;
}

/*
 * The updiscon at @last is behind jumps that no branch has followed; or it is
 * in the ring, which is full.
 */
void helper_trace_updiscon(CPURISCVState *env, uint64_t last)
{
    if (env->trace.jumps) {
        append_updiscon(env, last, ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP, 0);
    }
    exit_if_full(env);
}

/*
 * The return at @last has gone elsewhere than the newest entry of the stack,
 * if there is one, says, which stays; or the jumps fill their room with it.
 */
void helper_trace_return(CPURISCVState *env, uint64_t last)
{
    RISCVTracePort *port = &env->trace;

    if (port->jumps & RISCV_TRACE_JUMPS) {
        helper_trace_jumps(env);
        return;
    }
    if (port->link[port->top / 8] == RISCV_TRACE_NO_LINK) {
        append_updiscon(env, last, ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP, 0);
    } else {
        append_updiscon(env, last, ETRACE_ITYPE_RETURN,
                        ETRACE_HISTORY_IRREPORT);
        port->head[-1].history.irdepth =
            riscv_trace_history_depth(port, riscv_trace_key_stack(port->key));
    }
    exit_if_full(env);
}

/*
 * The TB before ended in what loads the register that the jump at @last goes
 * through: it is sequentially inferable.
 */
void helper_trace_sijump(CPURISCVState *env, uint64_t last)
{
    RISCVTracePort *port = &env->trace;
    unsigned n = port->jumps & RISCV_TRACE_JUMPS_NUMBER;

    port->jump[n] = (RISCVTraceJump) { last | 1, env->pc };
    port->jumps = (port->jumps + 1) | RISCV_TRACE_JUMPS_INFERRED;
    port->irets = 1;
    port->back = RISCV_TRACE_BACK_JUMP;
    if (port->jumps & RISCV_TRACE_JUMPS) {
        helper_trace_jumps(env);
    }
}
