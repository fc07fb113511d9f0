/*
 * Replay: registers and memory, of a trace with data
 *
 * One pass executes the instructions again (replay/cpu.c). It keeps the state
 * now and then, and later ones begin there.
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

#define REG_A0              10

/* The state before instruction @insns */
static SavedState state_now(const StatePass *p, uint64_t insns)
{
    return (SavedState) {
        .insns = insns, .cpu = p->cpu, .memory = memory_copy(p->memory),
        .marks = marks_copy(&p->marks), .has_last = p->has_last, .last = p->last,
    };
}

static void state_clear(gpointer opaque)
{
    SavedState *state = opaque;

    g_clear_pointer(&state->memory, memory_free);
    marks_clear(&state->marks);
}

static void zone_clear(ReplayZone *zone)
{
    state_clear(&zone->certain);
    marks_clear(&zone->all);
    g_array_set_size(zone->stores, 0);
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
    s->zone.stores = g_array_new(false, false, sizeof(ReplayStore));
    return s;
}

void replay_states_share(ReplayStates *s)
{
    s->shared = true;
    g_array_index(s->saved, SavedState, 0).marks = marks_new();
}

void replay_states_free(ReplayStates *s)
{
    g_array_unref(s->saved);
    g_clear_pointer(&s->memory, memory_free);
    marks_clear(&s->marks);
    state_clear(&s->near);
    zone_clear(&s->zone);
    g_array_unref(s->zone.stores);
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

/* Anything may have been stored, at instruction @index or in front of it. */
static void forget_memory(StatePass *p, uint64_t index)
{
    memory_forget_all(p->memory);
    marks_wild(p, index);
}

static void forget(StatePass *p, uint64_t index)
{
    cpu_forget(&p->cpu);
    forget_memory(p, index);
}

static void put_memory(StatePass *p, const Pending *insn,
                       const ETraceDataAccess *a)
{
    unsigned len = 1u << a->size;
    uint64_t value;
    bool known;

    if (a->dtype >= ETRACE_DTYPE_CSR_RW && a->dtype <= ETRACE_DTYPE_CSR_RC) {
        return;
    }
    known = cpu_memory_after(insn->raw, a, &value);
    if (known) {
        memory_put(p->memory, insn->space, a->address, value, len);
    } else {
        memory_forget(p->memory, insn->space, a->address, len);
    }
    if (a->dtype != ETRACE_DTYPE_LOAD) {
        marks_store(p, insn, a->address, len, known ? &value : NULL);
    } else if (known) {
        marks_load(p, insn, a->address, len);
    }
}

/*
 * cbo.zero stores, but has no access. Nor has an sc that fails; after an lr of
 * another size, QEMU 10.0 lets it store and fail.
 */
static void forget_block(StatePass *p, const Pending *insn)
{
    unsigned rs1 = insn->raw >> 15 & 31, size;
    uint64_t addr;

    if ((insn->raw & 0xfff07fff) == 0x0040200f) {
        size = MAX_BLOCK;
    } else if (p->sc_failed) {
        size = 8;
    } else {
        return;
    }
    if (p->cpu.known_x >> rs1 & 1) {
        addr = p->cpu.x[rs1] & ~(uint64_t)(size - 1);
        memory_forget(p->memory, insn->space, addr, size);
        marks_store(p, insn, addr, size, NULL);
    } else {
        forget_memory(p, insn->index);
    }
}

/* What may have happened in front of instruction @insn */
static void cross_border(StatePass *p, const Pending *insn)
{
    if (replay_has_registers(p, insn)) {
        memory_forget_all(p->memory);
        marks_session(p, insn);
        cpu_set(&p->cpu, &p->regs);
    } else if (replay_is_behind_call(p, insn)) {
        p->cpu.known_x &= ~(1u << REG_A0);
        forget_memory(p, insn->index);
    } else if (!replay_is_seamless(p, insn)) {
        forget(p, insn->index);
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
        state_clear(&s->near);
        s->near = state;
    }
    if (insns < g_array_index(s->saved, SavedState,
                              s->saved->len - 1).insns + s->spacing) {
        return;
    }
    state = state_now(p, insns);
    g_array_append_val(s->saved, state);
    while (s->saved->len == MAX_STATES ||
           (s->saved->len > 1 && (memory_is_crowded(p->memory) ||
                                  marks_are_crowded(&p->marks)))) {
        thin_out(s);
    }
}

/* From here on, the other hart may not have been there yet. */
static void begin_zone(StatePass *p, uint64_t insns)
{
    if (p->zone && !p->zone->certain.memory) {
        p->zone->certain = state_now(p, insns);
    }
}

/* StatePass.look: all is known of the instruction: execute it. */
static void execute_now(StatePass *p)
{
    const Pending *insn = &p->now;
    CpuAccesses all = {
        .all = (const ETraceDataAccess *)p->accesses->data,
        .n = p->unknown ? 0 : p->accesses->len,
        .sc_failed = p->sc_failed,
    };

    if (!p->has_now) {
        return;
    }
    p->has_now = false;
    if (insn->index < p->from || insn->index > p->to) {
        return;
    }
    keep_state(p, insn->index);
    if (p->zone && insn->index >= p->zone->from) {
        begin_zone(p, insn->index);
    }
    cross_border(p, insn);
    if (insn->index == p->to) {
        return;
    }
    if (!insn->readable) {
        forget(p, insn->index);
    } else {
        if (cpu_may_store(insn->raw) && !all.n && !all.sc_failed) {
            forget_memory(p, insn->index);
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

    /* Decoding goes ahead: accesses follow their instructions. */
    wait->progress(wait->opaque, p->s->r->hart, MIN(p->pos, p->to) - p->began,
                   p->to - p->began);
    return wait->poll && wait->poll(wait->opaque);
}

bool replay_states_find_epochs(ReplayStates *s)
{
    bool ok = replay_find_epochs(s->r, s->wait ? s->wait->poll : NULL,
                                 s->wait ? s->wait->opaque : NULL);

    s->stopped |= !ok;
    return ok;
}

/* The last state that is kept at instruction @i or before; it stays @s's. */
static const SavedState *saved_before(const ReplayStates *s, uint64_t i)
{
    const SavedState *all = (const SavedState *)s->saved->data;
    guint k = s->saved->len - 1;

    while (all[k].insns > i) {
        k--;
    }
    return s->near.memory && s->near.insns <= i &&
           s->near.insns > all[k].insns ? &s->near : &all[k];
}

/*
 * A pass from the last state before instruction @begin to instruction @to.
 * Returns false if that cannot be decoded.
 */
static bool run_pass(StatePass *p, uint64_t begin, uint64_t to)
{
    ReplayStates *s = p->s;
    uint64_t length = replay_length(s->r);
    SavedState from;

    if (s->shared && !replay_states_find_epochs(s)) {
        return false;
    }
    /* A pass may drop this one: not its memory. */
    from = *saved_before(s, begin);
    p->look = execute_now;
    p->from = from.insns;
    p->to = to;
    p->cpu = from.cpu;
    p->memory = memory_copy(from.memory);
    p->marks = marks_copy(&from.marks);
    p->has_last = from.has_last;
    p->last = from.last;
    if (s->wait) {
        p->poll = wait_for_state;
        p->opaque = p;
    }
    if (replay_state_pass(p) && !p->stopped &&
        p->pos >= MIN(to + 1, length)) {
        return true;
    }
    s->stopped |= p->stopped;
    return false;
}

bool replay_find_state(ReplayStates *s, uint64_t i)
{
    g_autofree StatePass *p = g_new0(StatePass, 1);

    if (s->memory && s->at == i) {
        return true;
    }
    g_clear_pointer(&s->memory, memory_free);
    marks_clear(&s->marks);
    p->s = s;
    if (!run_pass(p, i, i)) {
        g_clear_pointer(&p->memory, memory_free);
        marks_clear(&p->marks);
        return false;
    }
    s->at = i;
    s->cpu = p->cpu;
    s->memory = p->memory;
    s->marks = p->marks;
    return true;
}

/*
 * Behind all that was traced of the hart, has it perhaps executed more? A trace
 * that was ended, and a sink of a machine that stands still, have all.
 */
static bool is_cut(const StatePass *p)
{
    const Flow *flow = &p->d.flow;

    return p->to == replay_length(p->s->r) &&
           (flow->waiting || (flow->started && !p->s->r->t->ram));
}

bool replay_find_zone(ReplayStates *s, uint64_t begin, uint64_t from,
                      uint64_t to)
{
    g_autofree StatePass *p = g_new0(StatePass, 1);
    ReplayZone *zone = &s->zone;
    ReplayStore wild = { .index = to, .wild = true };
    bool ok;

    if (zone->certain.memory && zone->begin == begin && zone->from == from &&
        zone->to == to) {
        return true;
    }
    zone_clear(zone);
    zone->begin = begin;
    zone->from = from;
    zone->to = to;
    p->s = s;
    p->zone = zone;
    ok = run_pass(p, begin, to);
    if (ok) {
        /* Behind all there is, if all of it is certain */
        begin_zone(p, to);
        if (zone->stores->len == ZONE_STORES_MAX) {
            zone->all = marks_copy(&p->marks);
        }
        if (is_cut(p) || (to && !(p->has_last && p->last.index + 1 == to))) {
            g_array_append_val(zone->stores, wild);
        }
    } else {
        zone_clear(zone);
    }
    g_clear_pointer(&p->memory, memory_free);
    marks_clear(&p->marks);
    return ok;
}

const Cpu *replay_registers(ReplayStates *s, uint64_t i)
{
    return replay_find_state(s, i) ? &s->cpu : NULL;
}

bool replay_space(ReplayStates *s, uint64_t i, unsigned *space)
{
    const ReplayInsn *insn = replay_insn(s->r, i);
    Image *image = replay_image(s->r, i);

    if (insn) {
        *space = priv_is_machine(insn->priv) ? MACHINE :
                 image ? image_space(image, insn->priv) : 0;
    }
    return insn;
}

size_t replay_memory(ReplayStates *s, uint64_t i, uint64_t addr, uint8_t *buf,
                     size_t len)
{
    unsigned space;

    return replay_space(s, i, &space) && replay_find_state(s, i) ?
           memory_read(s->memory, space, addr, buf, len) : 0;
}
