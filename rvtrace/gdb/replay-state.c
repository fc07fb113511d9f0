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
 * here; what it may write to memory depends on which one it is.
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
        .insns = insns, .cpu_since = p->cpu_since,
        .memory_since = p->memory_since, .marks_since = p->marks_since,
        .cpu = p->cpu,
        .memory = memory_copy(p->memory), .marks = marks_copy(&p->marks),
        .has_last = p->has_last, .last = p->last,
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
    state_clear(&s->now);
    state_clear(&s->near);
    zone_clear(&s->zone);
    g_array_unref(s->zone.stores);
    replay_lines_free(s->lines);
    g_clear_pointer(&s->words, g_hash_table_unref);
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

/* When the hart has accessed what, of which marks are, is not forgotten. */
static void forget_pages(StatePass *p)
{
    memory_forget_all(p->memory);
    p->forgets++;
    p->memory_since = 0;
}

/* Anything may have been stored, at instruction @index or in front of it. */
static void forget_memory(StatePass *p, uint64_t index)
{
    forget_pages(p);
    marks_wild(p, index);
}

static void forget(StatePass *p, uint64_t index)
{
    cpu_forget(&p->cpu);
    p->cpu_since = 0;
    forget_memory(p, index);
}

/* An access may have been any of these bytes'. */
static void forget_bytes(StatePass *p, unsigned space, uint64_t addr,
                         uint64_t len)
{
    memory_forget(p->memory, space, addr, len);
    p->forgets++;
}

/* Memory has the code of @insn, which ran. */
static void put_code(StatePass *p, const Pending *insn)
{
    PlacedCode *placed = &p->placed[(insn->pc >> 1) % NR_PLACED];

    if (placed->pc != insn->pc || placed->raw != insn->raw ||
        placed->space != insn->space || placed->forgets != p->forgets) {
        memory_put(p->memory, insn->space, insn->pc, insn->raw,
                   insn_length(insn->raw));
        *placed = (PlacedCode) {
            insn->pc, insn->raw, insn->space, p->forgets,
        };
    }
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
        forget_bytes(p, insn->space, a->address, len);
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
        forget_bytes(p, insn->space, addr, size);
        marks_store(p, insn, addr, size, NULL);
    } else {
        forget_memory(p, insn->index);
    }
}

/* ... for the program, whose system call was the last thing it did */
static void forget_what_kernel_wrote(StatePass *p, const Pending *insn)
{
    ReplayRange ranges[REPLAY_CALL_RANGES];
    unsigned n;

    if (!replay_call_ranges(&p->cpu, ranges, &n)) {
        forget_memory(p, insn->index);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        forget_bytes(p, insn->space, ranges[i].addr, ranges[i].len);
    }
}

/* What may have happened in front of instruction @insn */
static void cross_border(StatePass *p, const Pending *insn)
{
    bool has_registers = replay_has_registers(p, insn);

    if (has_registers && insn->border == BORDER_BEGIN) {
        forget_pages(p);
        marks_session(p, insn);
    } else if (has_registers && insn->border < BORDER_GAP && !insn->trapped) {
        /* They were put amid the trace. */
    } else if (replay_is_behind_call(p, insn)) {
        forget_what_kernel_wrote(p, insn);
        p->cpu.known_x &= ~(1u << REG_A0);
    } else if (!replay_is_seamless(p, insn)) {
        forget(p, insn->index);
    }
    if (has_registers) {
        cpu_set(&p->cpu, &p->regs);
        p->cpu_since = 0;
    }
    if (p->has_last && (insn->space || p->last.space) &&
        priv_is_user(p->last.priv) != priv_is_user(insn->priv)) {
        forget_pages(p);
    }
}

/* The last state that is kept at instruction @i or before */
static guint last_saved(const ReplayStates *s, uint64_t i)
{
    const SavedState *all = (const SavedState *)s->saved->data;
    guint k = s->saved->len - 1;

    while (all[k].insns > i) {
        k--;
    }
    return k;
}

/*
 * Keep the state before instruction @insns, if those that are kept are far
 * enough away.
 */
static void save_state(StatePass *p, uint64_t insns)
{
    ReplayStates *s = p->s;
    guint k = last_saved(s, insns);
    const SavedState *before = &g_array_index(s->saved, SavedState, k);
    SavedState state;

    p->save_at = before->insns + s->spacing;
    if (k + 1 < s->saved->len && p->save_at + s->spacing > before[1].insns) {
        p->save_at = before[1].insns + s->spacing;
    }
    if (insns < p->save_at) {
        return;
    }
    state = state_now(p, insns);
    g_array_insert_val(s->saved, k + 1, state);
    while (s->saved->len == MAX_STATES ||
           (s->saved->len > 1 && (memory_is_crowded(p->memory) ||
                                  marks_are_crowded(&p->marks)))) {
        thin_out(s);
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
    if (insns >= p->save_at && !p->cpu_since && !p->memory_since &&
        !p->marks_since) {
        save_state(p, insns);
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
    if (insn->first) {
        cross_border(p, insn);
    }
    if (insn->index == p->to) {
        return;
    }
    if (!insn->readable) {
        forget(p, insn->index);
    } else {
        if (!all.n && !all.sc_failed && cpu_may_store(insn->raw)) {
            forget_memory(p, insn->index);
        }
        forget_block(p, insn);
        cpu_execute(&p->cpu, insn->pc, insn->raw, &all);
        put_code(p, insn);
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

static bool knows_since(const SavedState *state, uint64_t since)
{
    return state->cpu_since <= since && state->memory_since <= since &&
           state->marks_since <= since;
}

/*
 * Where a pass begins, at instruction @begin or before, so that all is known
 * since @since: at a state that is kept, which stays @s's, or with nothing.
 */
static SavedState start_of(const ReplayStates *s, uint64_t begin,
                           uint64_t since)
{
    const SavedState *all = (const SavedState *)s->saved->data;
    const SavedState *near = &s->near, *best = &all[last_saved(s, begin)];
    SavedState nothing = all[0];

    if (near->memory && near->insns <= begin && near->insns > best->insns &&
        knows_since(near, since)) {
        best = near;
    }
    if (best->insns >= since) {
        return *best;
    }
    nothing.insns = nothing.cpu_since = nothing.memory_since = since;
    if (s->shared) {
        nothing.marks_since = since;
        nothing.marks.wild = replay_not_after(s->r, replay_epoch(s->r, since));
    }
    return nothing;
}

/*
 * A pass from instruction @begin or before to instruction @to, with all that is
 * known since @since, not behind @begin. Returns false if that cannot be decoded.
 */
static bool run_pass(StatePass *p, uint64_t begin, uint64_t to, uint64_t since)
{
    ReplayStates *s = p->s;
    uint64_t length = replay_length(s->r);
    SavedState from;

    if (s->shared && !replay_states_find_epochs(s)) {
        return false;
    }
    /* A pass may drop this one: not its memory. */
    from = start_of(s, begin, since);
    p->look = execute_now;
    p->forgets = 1;
    p->from = from.insns;
    p->to = to;
    p->cpu_since = from.cpu_since;
    p->memory_since = from.memory_since;
    p->marks_since = from.marks_since;
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

bool replay_find_state(ReplayStates *s, uint64_t i, uint64_t since)
{
    g_autofree StatePass *p = NULL;
    bool ok;

    if (s->now.memory && s->now.insns == i && knows_since(&s->now, since)) {
        return true;
    }
    state_clear(&s->now);
    p = g_new0(StatePass, 1);
    p->s = s;
    ok = run_pass(p, i, i, since);
    if (ok) {
        s->now = state_now(p, i);
    }
    g_clear_pointer(&p->memory, memory_free);
    marks_clear(&p->marks);
    return ok;
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

bool replay_find_zone(ReplayStates *s, uint64_t since, uint64_t begin,
                      uint64_t from, uint64_t to)
{
    g_autofree StatePass *p = g_new0(StatePass, 1);
    ReplayZone *zone = &s->zone;
    ReplayStore wild = { .index = to, .wild = true };
    bool ok;

    if (zone->certain.memory && zone->since <= since && zone->begin == begin &&
        zone->from == from && zone->to == to) {
        return true;
    }
    zone_clear(zone);
    zone->since = since;
    zone->begin = begin;
    zone->from = from;
    zone->to = to;
    p->s = s;
    p->zone = zone;
    ok = run_pass(p, begin, to, since);
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

static bool all_known(const Cpu *cpu)
{
    return cpu->known_x == UINT32_MAX && cpu->known_f == UINT32_MAX;
}

const Cpu *replay_registers(ReplayStates *s, uint64_t i)
{
    for (uint64_t back = BACK_MIN;; back *= BACK_MORE) {
        if (!replay_find_state(s, i, i - MIN(i, back))) {
            return NULL;
        }
        if (!s->now.cpu_since || all_known(&s->now.cpu)) {
            return &s->now.cpu;
        }
    }
}

bool replay_look_back(ReplayStates *s, uint64_t i, uint64_t addr,
                      unsigned space, uint64_t *since)
{
    uint64_t at;
    bool strays;

    if (!s->now.memory_since ||
        replay_find_any(s, s->now.memory_since, 0, true, addr, 1, space, &at,
                        &strays) != REPLAY_FOUND) {
        return false;
    }
    *since = MIN(at, i - MIN(i, BACK_MORE * (i - *since)));
    /* Near the beginning, begin there: then all that follows is kept. */
    *since -= MIN(*since, (i - *since) / BACK_MORE);
    return true;
}

size_t replay_memory(ReplayStates *s, uint64_t i, uint64_t addr, uint8_t *buf,
                     size_t len)
{
    unsigned space;
    uint64_t since = i - MIN(i, BACK_MIN);
    size_t known;

    if (!replay_space(s, i, &space)) {
        return 0;
    }
    for (;;) {
        if (!replay_find_state(s, i, since)) {
            return 0;
        }
        known = memory_read(s->now.memory, space, addr, buf, len);
        if (known == len ||
            !replay_look_back(s, i, addr + known, space, &since)) {
            return known;
        }
    }
}
