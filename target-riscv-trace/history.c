/*
 * RISC-V hart side of the hart to encoder interface: branch history
 *
 * Where an encoder only has to know which way branches went, a TB that ends in
 * one shifts a bit into a word of env, and what ends in an inferable jump or
 * in none leaves no more than its place. Each notes how far back its last
 * instruction is from the next one, for then that is known wherever something
 * else happens. Updiscons end the history with a slot.
 *
 * Jumps that may lead back are kept until the next branch: if something other
 * than an updiscon ends the history, each becomes a slot, and the encoder sees
 * whether an address was passed twice.
 *
 * What modes know of the past lives in env: the branch predictor, with two
 * bits for each branch in the history; and the return stack, where a return
 * that goes as the newest call said is a jump that the decoder infers.
 *
 * A window, a trap handler and a new privilege begin with a block, since their
 * first packet says whether their first instruction is a branch. So everything
 * that ends a window goes back to blocks, and the end of the next TB goes on
 * with branch history if the encoder takes it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "hooks.h"
#include "internal.h"

void riscv_trace_history_slot(CPURISCVState *env, target_ulong last,
                              target_ulong next, ETraceItype itype,
                              ETracePriv priv, uint8_t flags)
{
    RISCVTracePort *port = &env->trace;

    if (riscv_cpu_mxl(env) == MXL_RV32) {
        last = (int32_t)last;
    }
    port->head->history = (ETraceHistory) {
        .last = last,
        .type = ETRACE_SLOT_HISTORY,
        .itype = itype,
        .priv = priv,
        .flags = flags | ETRACE_HISTORY_SETTLED |
                 (port->irets ? ETRACE_HISTORY_IRETS : 0),
        .next = next,
        .branches = port->branches,
    };
    port->head++;
    port->branches = ETRACE_HISTORY_EMPTY;
    port->irets = 0;
}

/* What led to the jumps is in branches. */
void riscv_trace_history_jumps(CPURISCVState *env, ETracePriv priv)
{
    RISCVTracePort *port = &env->trace;
    unsigned n = port->jumps & RISCV_TRACE_JUMPS_NUMBER;
    /* With a stack, sequentially inferable jumps may count as returns. */
    ETraceItype inferred = riscv_trace_key_stack(port->key)
                           ? ETRACE_ITYPE_RETURN
                           : ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP;

    for (unsigned i = 0; i < n; i++) {
        uint64_t last = port->jump[i].last;

        if (last & 1) {
            riscv_trace_history_slot(env, last & ~1ull, port->jump[i].next,
                                     inferred, priv, ETRACE_HISTORY_INFERRED);
        } else {
            riscv_trace_history_slot(env, last, port->jump[i].next,
                                     ETRACE_ITYPE_OTHER_INFERABLE_JUMP, priv,
                                     0);
        }
    }
    port->jumps = RISCV_TRACE_JUMPS_UNKNOWN;
}

/* No history since the last slot */
static bool nothing_kept(const RISCVTracePort *port)
{
    return port->back == RISCV_TRACE_BACK_UPDISCON ||
           (port->back & ~RISCV_TRACE_BACK_UPPER) == RISCV_TRACE_BACK_NONE;
}

void riscv_trace_history_end(RISCVTraceHart *hart, target_ulong pc,
                             ETracePriv priv)
{
    CPURISCVState *env = cpu_env(hart->cs);
    RISCVTracePort *port = &env->trace;
    uint32_t back = port->back, upper = 0;

    if (nothing_kept(port)) {
        return;
    }
    if (back != RISCV_TRACE_BACK_JUMP && (back & RISCV_TRACE_BACK_BRANCH)) {
        /* The newest one is the last instruction. */
        unsigned bits = riscv_trace_key_bits(port->key);
        bool not_taken = port->branches >> 63;
        bool taken_predicted = (port->branches >> 62) & 1;
        bool missed = bits == 2 && taken_predicted == not_taken;

        port->branches <<= bits;
        riscv_trace_history_slot(env, pc - ((int32_t)back >> 2) * 2, pc,
                                 not_taken ? ETRACE_ITYPE_NONTAKEN_BRANCH
                                           : ETRACE_ITYPE_TAKEN_BRANCH, priv,
                                 missed ? ETRACE_HISTORY_MISSED : 0);
    } else {
        riscv_trace_history_jumps(env, priv);
        if (back != RISCV_TRACE_BACK_JUMP) {
            upper = back & RISCV_TRACE_BACK_UPPER;
            riscv_trace_history_slot(env, pc - ((back & ~upper) >> 2) * 2, pc,
                                     ETRACE_ITYPE_NONE, priv, 0);
            /* What comes next may be a block: let the encoder see it. */
            port->head[-1].history.irdepth =
                upper >> RISCV_TRACE_BACK_UPPER_SHIFT;
        }
    }
    port->back = RISCV_TRACE_BACK_NONE | upper;
    port->jumps = RISCV_TRACE_JUMPS_UNKNOWN;
}

/* The return stack, from the encoder's form to that of translated code ... */
static void take_stack(RISCVTracePort *port, const ETraceReturnStack *stack,
                       bool rv32)
{
    unsigned n = stack->depth;

    memset(port->link, 0xff, sizeof(port->link));
    for (unsigned i = 0; i < n; i++) {
        uint64_t link = stack->link[(stack->base + i) & (stack->max - 1)];

        port->link[i] = rv32 ? (int32_t)link : link;
    }
    port->top = ((n - 1) & (stack->max - 1)) * 8;
}

unsigned riscv_trace_history_depth(const RISCVTracePort *port, unsigned bytes)
{
    unsigned n = 0, i = port->top;

    while (n < bytes / 8 && port->link[i / 8] != RISCV_TRACE_NO_LINK) {
        i = (i - 8) & (bytes - 1);
        n++;
    }
    return n;
}

/* ... and back */
static void give_stack(const RISCVTracePort *port, ETraceReturnStack *stack)
{
    unsigned n = riscv_trace_history_depth(port, stack->max * 8);

    stack->base = 0;
    stack->depth = n;
    for (unsigned i = 0; i < n; i++) {
        stack->link[i] = port->link[(port->top / 8 + 1 - n + i) &
                                    (stack->max - 1)];
    }
}

void riscv_trace_history_off(RISCVTraceHart *hart)
{
    RISCVTracePort *port = &cpu_env(hart->cs)->trace;

    if (port->key & RISCV_TRACE_KEY_HISTORY) {
        assert(nothing_kept(port));
        if (hart->modes.stack) {
            give_stack(port, hart->modes.stack);
        }
        port->key &= ~(RISCV_TRACE_KEY_HISTORY | RISCV_TRACE_KEY_MODES);
    }
    if (port->key) {
        port->key |= RISCV_TRACE_KEY_ON;
        riscv_trace_key_changed(cpu_env(hart->cs));
    }
    hart->recheck_mode = true;
    port->limit = hart->ring;
}

static uint64_t modes_key(const ETraceHistoryModes *modes)
{
    uint64_t key = 0;

    if (modes->predictor) {
        key |= (uint64_t)ctz32(modes->predictor->mask + 1)
               << RISCV_TRACE_KEY_PREDICTOR_SHIFT;
    }
    if (modes->stack) {
        key |= (uint64_t)(ctz32(modes->stack->max) + 1)
               << RISCV_TRACE_KEY_STACK_SHIFT;
    }
    if (modes->sijump) {
        key |= RISCV_TRACE_KEY_SIJUMP;
    }
    if (modes->exact_run) {
        key |= RISCV_TRACE_KEY_EXACT_RUN;
    }
    return key;
}

void riscv_trace_history_on(RISCVTraceHart *hart,
                              const ETraceHistoryModes *modes)
{
    CPURISCVState *env = cpu_env(hart->cs);
    RISCVTracePort *port = &env->trace;

    port->head->event = (ETraceEvent) {
        .value = env->pc,
        .type = ETRACE_EVENT_NEXT,
    };
    port->head++;
    hart->modes = *modes;
    port->branches = ETRACE_HISTORY_EMPTY;
    port->irets = 0;
    /* of the block that ends here */
    port->back = RISCV_TRACE_BACK_UPDISCON;
    port->jumps = RISCV_TRACE_JUMPS_UNKNOWN;
    if (modes->predictor) {
        port->predictor = modes->predictor->state;
        modes->predictor->used = true;
    }
    if (modes->stack) {
        take_stack(port, modes->stack, riscv_cpu_mxl(env) == MXL_RV32);
    }
    port->key |= RISCV_TRACE_KEY_HISTORY | modes_key(modes);
}
