/*
 * Replay: registers and memory, of a trace with data
 *
 * One pass executes the instructions again (replay/cpu.c). It keeps the state
 * now and then, and later ones begin there. The decoder begins before that,
 * because which access is whose is only known from one synchronization to the
 * next (data-flow.h).
 *
 * Nothing may be wrong, so all is forgotten where the hart may have done
 * something that is not traced, and memory where it may have been changed by
 * others: where paging is on, two addresses can be the same memory, and a
 * kernel gives a program other pages. There, what is known is what was seen
 * since the hart came from or went to U-mode.
 *
 * Of programs of QEMU's user mode, the kernel is not traced. A system call
 * changes no register but a0, as Linux promises for those that are executed
 * here; memory may be another one.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/replay-state-private.h"

/* States that are kept, and instructions between them, at first */
#define MAX_STATES  64
#define SPACING     (1u << 14)

/*
 * Most steps back are short: a state is kept this many instructions before the
 * present.
 */
#define NEAR        (1u << 15)

/* Bytes that cbo.zero clears, at most */
#define MAX_BLOCK   4096

/* Instructions from one call of the poll function to the next */
#define POLL_INSNS      (1u << 20)

/* Entries of the queue that are done before it is made shorter */
#define COMPACT_AT      4096

#define CAUSE_USER_ECALL    8
#define ECALL_SIZE          4
#define REG_A0              10

/* The state before instruction @insns */
static SavedState state_now(const StatePass *p, uint64_t insns)
{
    return (SavedState) {
        .insns = insns, .cpu = p->cpu, .memory = memory_copy(p->memory),
        .has_last = p->has_last, .last = p->last,
    };
}

static void state_clear(gpointer opaque)
{
    memory_free(((SavedState *)opaque)->memory);
}

ReplayStates *replay_states_new(Replay *r)
{
    const TraceHart *hart = &r->t->harts[r->hart];
    SavedState first = { .insns = 0 };
    ReplayStates *s;

    if (!hart->params.data_width) {
        return NULL;
    }
    s = g_new0(ReplayStates, 1);
    s->r = r;
    s->spacing = SPACING;
    s->saved = g_array_new(false, false, sizeof(SavedState));
    g_array_set_clear_func(s->saved, state_clear);
    cpu_init(&first.cpu, &(InsnIsa) { .xlen = 64 });
    first.memory = memory_new();
    g_array_append_val(s->saved, first);
    return s;
}

void replay_states_free(ReplayStates *s)
{
    g_array_unref(s->saved);
    g_clear_pointer(&s->memory, memory_free);
    g_clear_pointer(&s->near.memory, memory_free);
    g_free(s);
}

/* Every other one goes; the first one stays. */
static void thin_out(ReplayStates *s)
{
    for (guint i = 1; i < s->saved->len; i++) {
        g_array_remove_index(s->saved, i);
    }
    s->spacing *= 2;
}

static void forget(StatePass *p)
{
    cpu_forget(&p->cpu);
    memory_forget_all(p->memory);
}

/* May instruction @b be the next one behind @a? Both are known. */
static bool may_follow(const StatePass *p, const Pending *a, const Pending *b)
{
    uint64_t mask = p->d.flow.mask, target;
    unsigned rd;
    Insn insn;

    insn_classify(&p->cpu.isa, a->raw, &insn);
    target = (a->pc + insn.offset) & mask;
    switch (insn.kind) {
    case INSN_SEQUENTIAL:
        return b->pc == ((a->pc + insn.size) & mask);
    case INSN_BRANCH:
        return b->pc == ((a->pc + insn.size) & mask) || b->pc == target;
    case INSN_JUMP:
        return b->pc == target;
    case INSN_XRET:
        return b->priv < a->priv;
    default:
        /* It may have changed rs1. */
        rd = insn.size == 4 ? a->raw >> 7 & 31 : a->raw >> 12 & 1;
        return insn.rs1 && insn.rs1 != rd &&
               (p->cpu.known_x >> insn.rs1 & 1) &&
               b->pc == ((p->cpu.x[insn.rs1] + insn.offset) & mask & ~1ull);
    }
}

/*
 * Has the program done nothing but a system call before @b? What led to it is
 * known, which with a filter it need not be.
 */
static bool is_behind_call(const StatePass *p, const Pending *b)
{
    Pending ecall = *b;

    ecall.pc = (b->pc - ECALL_SIZE) & p->d.flow.mask;
    return b->called && p->has_last && p->last.readable &&
           may_follow(p, &p->last, &ecall);
}

/* Is all known that was executed before @b? */
static bool is_seamless(const StatePass *p, const Pending *b)
{
    if (b->border >= BORDER_GAP || (b->trapped && p->is_process)) {
        return false;
    }
    if (b->border == BORDER_NONE ||
        (b->border == BORDER_SEAM && !p->is_process)) {
        return true;
    }
    return p->has_last && p->last.readable &&
           (b->trapped ? b->priv >= p->last.priv && !priv_is_user(b->priv) :
                         may_follow(p, &p->last, b));
}

static void put_memory(StatePass *p, const Pending *insn,
                       const ETraceDataAccess *a)
{
    uint64_t value;

    if (a->dtype >= ETRACE_DTYPE_CSR_RW && a->dtype <= ETRACE_DTYPE_CSR_RC) {
        return;
    }
    if (cpu_memory_after(insn->raw, a, &value)) {
        memory_put(p->memory, insn->space, a->address, value, 1u << a->size);
    } else {
        memory_forget(p->memory, insn->space, a->address, 1u << a->size);
    }
}

/* May it store? Then its accesses have to be known, or memory is not. */
static bool may_store(uint32_t raw)
{
    if (insn_length(raw) == 4) {
        return (raw & 0x7f) == 0x23 || (raw & 0x7f) == 0x27 ||
               (raw & 0x7f) == 0x2f || (raw & 0x707f) == 0x4073;
    }
    /* c.fsd, c.sw, c.sd and so on, Zcb's and Zcmp's */
    return ((raw & 3) != 1 && (raw & 0xe000) >= 0xa000) ||
           (raw & 0xe003) == 0x8000 || (raw & 0xf8ff) == 0x6081;
}

/*
 * cbo.zero stores, but has no access. Nor has an sc that fails; after an lr of
 * another size, QEMU 10.0 lets it store and fail.
 */
static void forget_block(StatePass *p, const Pending *insn)
{
    unsigned rs1 = insn->raw >> 15 & 31, size;

    if ((insn->raw & 0xfff07fff) == 0x0040200f) {
        size = MAX_BLOCK;
    } else if (p->sc_failed) {
        size = 8;
    } else {
        return;
    }
    if (p->cpu.known_x >> rs1 & 1) {
        memory_forget(p->memory, insn->space,
                      p->cpu.x[rs1] & ~(uint64_t)(size - 1), size);
    } else {
        memory_forget_all(p->memory);
    }
}

/* Are the registers before @insn in the sideband? */
static bool has_registers(const StatePass *p, const Pending *insn)
{
    return insn->border == BORDER_REGS && insn->index == p->regs_at &&
           insn->pc == (p->regs.pc & p->d.flow.mask) &&
           insn->priv == p->regs.priv;
}

/* What may have happened in front of instruction @insn */
static void cross_border(StatePass *p, const Pending *insn)
{
    if (has_registers(p, insn)) {
        memory_forget_all(p->memory);
        cpu_set(&p->cpu, &p->regs);
    } else if (is_behind_call(p, insn)) {
        p->cpu.known_x &= ~(1u << REG_A0);
        memory_forget_all(p->memory);
    } else if (!is_seamless(p, insn)) {
        forget(p);
    }
    if (p->has_last && (insn->space || p->last.space) &&
        priv_is_user(p->last.priv) != priv_is_user(insn->priv)) {
        memory_forget_all(p->memory);
    }
}

static void keep_state(StatePass *p, uint64_t insns)
{
    ReplayStates *s = p->s;
    SavedState state;

    if (insns + NEAR == p->to) {
        state = state_now(p, insns);
        g_clear_pointer(&s->near.memory, memory_free);
        s->near = state;
    }
    if (insns < g_array_index(s->saved, SavedState,
                              s->saved->len - 1).insns + s->spacing) {
        return;
    }
    state = state_now(p, insns);
    g_array_append_val(s->saved, state);
    while (s->saved->len == MAX_STATES ||
           (s->saved->len > 1 && memory_is_crowded(p->memory))) {
        thin_out(s);
    }
}

/* All is known of the instruction: execute it. */
static void execute_now(StatePass *p)
{
    const Pending *insn = &p->now;
    CpuAccesses all = {
        .all = (const ETraceDataAccess *)p->accesses->data,
        .n = p->unknown ? 0 : p->accesses->len,
        .sc_failed = p->sc_failed,
    };

    if (p->look) {
        p->look(p);
        return;
    }
    if (!p->has_now) {
        return;
    }
    p->has_now = false;
    if (insn->index < p->from || insn->index > p->to) {
        return;
    }
    keep_state(p, insn->index);
    cross_border(p, insn);
    if (insn->index == p->to) {
        return;
    }
    if (!insn->readable) {
        forget(p);
    } else {
        if (may_store(insn->raw) && !all.n && !all.sc_failed) {
            memory_forget_all(p->memory);
        }
        forget_block(p, insn);
        cpu_execute(&p->cpu, insn->pc, insn->raw, &all);
        memory_put(p->memory, insn->space, insn->pc, insn->raw,
                   insn_length(insn->raw));
        for (unsigned i = 0; i < all.n; i++) {
            put_memory(p, insn, &all.all[i]);
        }
    }
    p->last = *insn;
    p->has_last = true;
}

/* @insn is handed over: its accesses follow. */
static void begin_insn(StatePass *p, const Pending *insn)
{
    execute_now(p);
    p->now = *insn;
    p->has_now = true;
    g_array_set_size(p->accesses, 0);
    p->unknown = false;
    p->sc_failed = false;
    if (insn->index >= p->to) {
        p->d.stop = true;
    }
}

static void on_insn(void *opaque, uint64_t pc)
{
    StatePass *p = opaque;
    Pending insn;

    if (p->next == p->queue->len) {
        /* A stretch that is too long ends before its last run is said. */
        p->ahead++;
        return;
    }
    insn = g_array_index(p->queue, Pending, p->next);
    p->failed |= insn.pc != pc;
    p->next++;
    if (p->next == p->queue->len) {
        g_array_set_size(p->queue, 0);
        p->next = 0;
    } else if (p->next >= COMPACT_AT && p->next >= p->queue->len / 2) {
        g_array_remove_range(p->queue, 0, p->next);
        p->next = 0;
    }
    begin_insn(p, &insn);
}

static void on_access(void *opaque, const DataFlowAccess *access)
{
    StatePass *p = opaque;
    uint8_t doptions = p->d.data.params.doptions;

    if (access->pc_known && p->has_now && access->pc == p->now.pc) {
        if (access->inferred) {
            p->sc_failed = true;
        } else if (doptions & ETRACE_DOPT_NO_ADDRESS) {
            p->unknown = true;
        } else if (p->accesses->len < DATA_INSN_MANY) {
            p->unknown |= doptions & ETRACE_DOPT_NO_DATA;
            g_array_append_val(p->accesses, access->access);
        } else {
            p->unknown = true;
        }
        return;
    }
    /* Of one that trapped, or nobody knows whose: when was that? */
    if (p->memory) {
        memory_forget_all(p->memory);
    }
    if (p->stray) {
        p->stray(p, &access->access);
    }
}

static const DataFlowOps data_ops = {
    .insn = on_insn,
    .access = on_access,
};

static void add_run(StatePass *p, const FlowRun *run)
{
    unsigned space = priv_is_machine(run->priv) ? MACHINE :
                     trace_decoder_space(&p->d, run->priv);
    const uint8_t *code = run->code;
    uint64_t pc = run->pc;

    for (unsigned i = 0; i < run->count; i++) {
        Pending insn = {
            .pc = pc, .index = p->pos++, .space = space, .priv = run->priv,
            .border = p->border, .trapped = p->trapped,
            .called = p->in_call &&
                      pc == ((p->call + ECALL_SIZE) & p->d.flow.mask),
        };

        insn.readable = image_raw(p->d.image, run->priv, pc, p->d.flow.mask,
                                  &insn.raw);
        p->cpu.isa = p->d.image->isa;
        if (p->ahead) {
            p->ahead--;
            begin_insn(p, &insn);
        } else {
            g_array_append_val(p->queue, insn);
        }
        p->border = BORDER_NONE;
        p->trapped = p->in_call = false;
        pc = (pc + flow_insn_length(code)) & p->d.flow.mask;
        code += flow_insn_length(code);
    }
}

static void on_runs(void *opaque, const FlowRun *runs, unsigned n,
                    uint64_t insns)
{
    StatePass *p = opaque;

    if (p->d.part != p->part) {
        p->part = p->d.part;
        p->border = BORDER_GAP;
        p->in_call = false;
    }
    for (unsigned i = 0; i < n; i++) {
        add_run(p, &runs[i]);
    }
    if (p->poll && p->pos - p->polled >= POLL_INSNS) {
        p->polled = p->pos;
        if (p->poll(p->opaque)) {
            p->stopped = p->d.stop = true;
        }
    }
}

static void on_trap(void *opaque, const FlowTrap *trap)
{
    StatePass *p = opaque;

    p->trapped = true;
    p->in_call = p->is_process && trap->epc_known && !trap->interrupt &&
                 trap->cause == CAUSE_USER_ECALL;
    p->call = trap->epc;
}

static void on_window_end(void *opaque, FlowWindowEnd why)
{
    StatePass *p = opaque;

    if (why == FLOW_WINDOW_QUAL && trace_decoder_fenced(&p->d)) {
        p->border = MAX(p->border, trace_decoder_knows_gaps(&p->d) ?
                                   BORDER_SEAM : BORDER_FENCE);
    } else {
        p->border = BORDER_GAP;
    }
}

static void on_window_start(void *opaque, uint64_t pc)
{
    StatePass *p = opaque;
    const ETraceSbRegs *regs = trace_decoder_registers(&p->d);

    if (regs) {
        p->regs = *regs;
        p->border = BORDER_REGS;
        p->regs_at = p->pos;
    } else if (p->border == BORDER_NONE) {
        p->border = BORDER_GAP;
    }
}

static void on_loss(void *opaque, const TraceLoss *loss)
{
    StatePass *p = opaque;

    p->border = BORDER_GAP;
    p->in_call = false;
}

static const TraceConsumer state_consumer = {
    .flow = {
        .runs = on_runs,
        .trap = on_trap,
        .window_start = on_window_start,
        .window_end = on_window_end,
    },
    .data = &data_ops,
    .loss = on_loss,
};

/* Where to begin decoding for what follows @insns; NULL: the beginning */
static const ReplayPoint *point_before(const Replay *r, uint64_t insns)
{
    const ReplayPoint *first = (const ReplayPoint *)r->points->data;
    const ReplayPoint *point = replay_last_point(r, insns);

    return point && point > first ? point - 1 : NULL;
}

bool replay_state_pass(StatePass *p)
{
    ReplayStates *s = p->s;
    const ReplayPoint *point = point_before(s->r, p->from);
    TraceStart start = {
        .point = point ? &point->at : NULL,
        .advanced = (const uint64_t *)s->r->advanced->data,
    };
    bool ok;

    p->is_process = s->r->t->sideband &&
                    sideband_is_process(s->r->t->sideband);
    p->pos = p->began = p->polled = point ? point->insns : 0;
    p->part = point ? point->at.part : 0;
    p->queue = g_array_new(false, false, sizeof(Pending));
    p->accesses = g_array_new(false, false, sizeof(ETraceDataAccess));
    ok = trace_decode_from(&p->d, s->r->t, s->r->hart,
                           point ? &start : NULL, &state_consumer, p);
    execute_now(p);
    g_array_unref(p->queue);
    g_array_unref(p->accesses);
    return ok && !p->failed;
}

void replay_states_set_wait(ReplayStates *s, const ReplayWait *wait)
{
    s->wait = wait;
}

bool replay_states_take_stop(ReplayStates *s)
{
    bool stopped = s->stopped;

    s->stopped = false;
    return stopped;
}

/* While a state is looked for */
static bool wait_for_state(void *opaque)
{
    const StatePass *p = opaque;
    const ReplayWait *wait = p->s->wait;

    /* Decoding goes ahead: what follows may say what an instruction accessed. */
    wait->progress(wait->opaque, p->s->r->hart, MIN(p->pos, p->to) - p->began,
                   p->to - p->began);
    return wait->poll && wait->poll(wait->opaque);
}

/* From @saved to instruction @to; returns false if that cannot be decoded. */
static bool run_pass(StatePass *p, const SavedState *saved)
{
    p->from = saved->insns;
    p->cpu = saved->cpu;
    p->memory = memory_copy(saved->memory);
    p->has_last = saved->has_last;
    p->last = saved->last;
    if (p->s->wait) {
        p->poll = wait_for_state;
        p->opaque = p;
    }
    return replay_state_pass(p) && !p->stopped && p->pos > p->to;
}

static bool find_state(ReplayStates *s, uint64_t i)
{
    g_autofree StatePass *p = g_new0(StatePass, 1);
    guint k = s->saved->len - 1;
    SavedState from;

    if (s->memory && s->at == i) {
        return true;
    }
    g_clear_pointer(&s->memory, memory_free);
    while (g_array_index(s->saved, SavedState, k).insns > i) {
        k--;
    }
    p->s = s;
    p->to = i;
    /* A pass may thin out the states, and drop this one: not its memory. */
    from = g_array_index(s->saved, SavedState, k);
    if (s->near.memory && s->near.insns <= i && s->near.insns > from.insns) {
        from = s->near;
    }
    if (!run_pass(p, &from)) {
        s->stopped |= p->stopped;
        memory_free(p->memory);
        return false;
    }
    s->at = i;
    s->cpu = p->cpu;
    s->memory = p->memory;
    return true;
}

const Cpu *replay_registers(ReplayStates *s, uint64_t i)
{
    return find_state(s, i) ? &s->cpu : NULL;
}

size_t replay_memory(ReplayStates *s, uint64_t i, uint64_t addr, uint8_t *buf,
                     size_t len)
{
    const ReplayInsn *insn = replay_insn(s->r, i);
    Image *image = replay_image(s->r, i);
    unsigned space;

    if (!insn || !find_state(s, i)) {
        return 0;
    }
    space = priv_is_machine(insn->priv) ? MACHINE :
            image ? image_space(image, insn->priv) : 0;
    return memory_read(s->memory, space, addr, buf, len);
}
