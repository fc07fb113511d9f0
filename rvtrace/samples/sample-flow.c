/*
 * The instructions that a sample's branch stack says were executed
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "samples/sample-flow.h"
#include "base/perf-format.h"

#define PIECE_MAX   (1u << 20)  /* bytes without a branch: not to believe */
#define TYPE(flags) ((flags) >> PERF_BRANCH_TYPE_SHIFT & 15)
#define PRIV(flags) ((flags) >> PERF_BRANCH_PRIV_SHIFT & 7)

/* How a piece ends */
typedef struct End {
    uint64_t pc;
    bool retired;           /* the instruction at pc; else the one before */
    uint8_t itype;
} End;

typedef struct Walk {
    const PerfSample *s;
    const InsnIsa *isa;
    const SampleFlowOps *ops;
    void *opaque;
    SampleFlowStats *stats;
    bool follows;           /* what was handed over leads to what comes */
} Walk;

uint8_t sample_priv(const PerfSample *s, uint64_t pc, uint64_t flags)
{
    switch (PRIV(flags)) {
    case PERF_BR_PRIV_USER:
        return ETRACE_PRIV_U;
    case PERF_BR_PRIV_KERNEL:
        return ETRACE_PRIV_S;
    case PERF_BR_PRIV_HV:
        return ETRACE_PRIV_M;
    }
    /* Linux has the upper half. */
    if (pc >> 63 == s->ip >> 63) {
        return s->priv;
    }
    return pc >> 63 ? ETRACE_PRIV_S : ETRACE_PRIV_U;
}

/* The bytes at @pc that follow each other: how many, 0 if they are unknown */
static size_t find_code(const PerfSample *s, uint64_t pc, size_t most,
                        const uint8_t **code)
{
    NamePlace place;

    names_find(s->maps->names, NULL, ETRACE_PRIV_U, pc, &place);
    return object_bytes(place.object, pc - place.bias, most, code);
}

static bool classify(const InsnIsa *isa, const uint8_t *code, size_t size,
                     Insn *insn)
{
    unsigned len = size < 2 ? 0 : flow_insn_length(code);

    if (!len || len > size) {
        return false;
    }
    insn_classify(isa, code[0] | code[1] << 8 |
                  (len == 4 ? (uint32_t)code[2] << 16 |
                              (uint32_t)code[3] << 24 : 0), insn);
    return true;
}

/* Could @insn at @pc lead to @to? Where it cannot be known, yes */
static bool leads_to(const Insn *insn, uint64_t pc, uint64_t to)
{
    switch (insn->kind) {
    case INSN_BRANCH:
        return to == pc + insn->offset || to == pc + insn->size;
    case INSN_JUMP:
        return to == pc + insn->offset;
    default:
        return insn->kind != INSN_SEQUENTIAL;
    }
}

uint8_t sample_branch_itype(const PerfSample *s, const PerfBranch *b,
                            const InsnIsa *isa, bool *trap)
{
    static const uint8_t itypes[16] = {
        [PERF_BR_COND] = ETRACE_ITYPE_TAKEN_BRANCH,
        [PERF_BR_UNCOND] = ETRACE_ITYPE_INFERABLE_JUMP,
        [PERF_BR_IND] = ETRACE_ITYPE_UNINFERABLE_JUMP,
        [PERF_BR_CALL] = ETRACE_ITYPE_INFERABLE_CALL,
        [PERF_BR_IND_CALL] = ETRACE_ITYPE_UNINFERABLE_CALL,
        [PERF_BR_RET] = ETRACE_ITYPE_RETURN,
        [PERF_BR_SYSCALL] = ETRACE_ITYPE_EXCEPTION,
        [PERF_BR_ERET] = ETRACE_ITYPE_TRAP_RETURN,
        [PERF_BR_IRQ] = ETRACE_ITYPE_INTERRUPT,
        [PERF_BR_EXTEND_ABI] = ETRACE_ITYPE_EXCEPTION,
    };
    uint8_t said = itypes[TYPE(b->flags)];
    const uint8_t *code;
    size_t size = find_code(s, b->from, 4, &code);
    Insn insn;

    *trap = said == ETRACE_ITYPE_EXCEPTION || said == ETRACE_ITYPE_INTERRUPT;
    if (*trap || !classify(isa, code, size, &insn)) {
        return said;
    }
    if (leads_to(&insn, b->from, b->to)) {
        return insn.kind == INSN_BRANCH && b->to == b->from + insn.size &&
               insn.offset != insn.size ? ETRACE_ITYPE_NONTAKEN_BRANCH :
               insn.itype;
    }
    *trap = true;
    return insn.flags & INSN_ENV ? ETRACE_ITYPE_EXCEPTION :
                                   ETRACE_ITYPE_INTERRUPT;
}

static void hand_over(Walk *w, FlowRun *run, uint64_t next)
{
    if (run->count) {
        w->stats->insns += run->count;
        w->ops->run(w->opaque, run);
    }
    run->pc = next;
    run->wide = 0;
    run->count = 0;
    run->itype = ETRACE_ITYPE_NONE;
}

/* Would walk() get to the end? *@unknown: there is no code on the way */
static bool can_walk(Walk *w, uint64_t begin, const End *end,
                     const uint8_t **code, bool *unknown)
{
    size_t size, off = 0, to = end->pc - begin;
    Insn insn;

    *unknown = false;
    if ((begin & 1) || to > PIECE_MAX) {
        return false;
    }
    size = find_code(w->s, begin, to + 4, code);
    *unknown = size < to + (end->retired ? 2 : 0);
    while (!*unknown && off < to) {
        *unknown = !classify(w->isa, *code + off, size - off, &insn);
        if (*unknown || (insn.kind != INSN_SEQUENTIAL &&
                         insn.kind != INSN_BRANCH)) {
            return false;
        }
        off += insn.size;
    }
    return !*unknown && off == to;
}

/* From @begin to @end, of which can_walk() found the code */
static void walk(Walk *w, uint64_t begin, const End *end, const uint8_t *code,
                 uint8_t priv)
{
    FlowRun run = { .pc = begin, .code = code, .priv = priv };
    uint64_t pc = begin;
    unsigned shift = 0;

    while (pc != end->pc || end->retired) {
        const uint8_t *at = code + (pc - begin);
        bool last = pc == end->pc;
        Insn insn = { 0 };
        unsigned len = flow_insn_length(at);

        if (!last) {
            classify(w->isa, at, 4, &insn);
        }
        if (run.count < FLOW_WIDE_INSNS && len == 4) {
            run.wide |= 1ull << shift;
        }
        shift += len / 2;
        run.count++;
        pc += len;
        if (last || insn.kind == INSN_BRANCH) {
            run.itype = last ? end->itype : ETRACE_ITYPE_NONTAKEN_BRANCH;
            run.end = pc;
            hand_over(w, &run, pc);
            run.code = code + (pc - begin);
            shift = 0;
        }
        if (last) {
            break;
        }
    }
    run.end = pc;
    hand_over(w, &run, pc);
}

static void gap(Walk *w)
{
    if (w->follows) {
        w->ops->lost(w->opaque);
    }
    w->follows = false;
}

static void piece(Walk *w, uint64_t begin, const End *end, uint8_t priv)
{
    const uint8_t *code = NULL;
    bool unknown;

    w->stats->pieces++;
    if (!can_walk(w, begin, end, &code, &unknown)) {
        *(unknown ? &w->stats->unknown : &w->stats->wrong) += 1;
        gap(w);
        return;
    }
    walk(w, begin, end, code, priv);
    w->follows = true;
}

/* Causes that the kind of branch implies */
static uint8_t cause_of(const PerfBranch *b, uint8_t priv)
{
    return TYPE(b->flags) == PERF_BR_SYSCALL ? 8 + (priv & 3) :
           FLOW_CAUSE_UNKNOWN;
}

void sample_flow(const PerfSample *s, const InsnIsa *isa,
                 const SampleFlowOps *ops, void *opaque,
                 SampleFlowStats *stats)
{
    Walk w = { s, isa, ops, opaque, stats, true };
    uint64_t begin = 0;
    uint8_t priv = s->priv;

    gap(&w);
    for (unsigned i = s->nr_branches; i-- > 0;) {
        PerfBranch b = perf_sample_branch(s, i);
        End end = { .pc = b.from };
        bool trap;
        uint8_t itype = sample_branch_itype(s, &b, isa, &trap);

        end.retired = !trap;
        end.itype = trap ? ETRACE_ITYPE_NONE : itype;
        if (begin && b.from) {
            piece(&w, begin, &end, priv);
        }
        if (trap && b.from && w.follows) {
            ops->trap(opaque, &(FlowTrap) {
                .interrupt = itype == ETRACE_ITYPE_INTERRUPT,
                .cause = cause_of(&b, priv),
                .priv = priv,
                .epc_known = true,
                .epc = b.from,
            });
        }
        if (!b.from || !b.to) {
            gap(&w);
        }
        begin = b.to;
        priv = sample_priv(s, b.to, b.flags);
    }
    if (begin) {
        piece(&w, begin, &(End) { .pc = s->ip }, s->priv);
    }
}
