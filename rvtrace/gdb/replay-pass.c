/*
 * Replay: one pass over a piece of the trace
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/replay-private.h"

/*
 * More points make nothing faster that somebody waits for. When there are as
 * many, every other one is dropped, and new ones are twice as far apart.
 */
#define MAX_POINTS      4096

/* Instructions from one call of the poll function to the next */
#define POLL_INSNS      (1u << 22)

/* Losses that are kept for messages */
#define MAX_LOSSES      64

static void poll_caller(ReplayPass *p)
{
    if (p->poll && p->pos - p->polled >= POLL_INSNS) {
        p->polled = p->pos;
        if (p->poll(p->opaque)) {
            p->stopped = true;
            p->d.stop = true;
        }
    }
}

/* PASS_FILL: where the instructions to come are, if that is news */
static void put_moment(ReplayPass *p)
{
    ReplayWindow *w = &p->r->window;
    ReplayMoment now = {
        .index = p->pos,
        .part = p->d.part,
        .advanced = p->d.advanced,
        .time_known = p->clock.known,
        .ns = p->clock.known ? virtual_clock_ns(&p->clock) : 0,
    };
    const ReplayMoment *last;

    now.task_known = trace_decoder_task(&p->d, &now.task);
    last = w->moments->len ? &g_array_index(w->moments, ReplayMoment,
                                            w->moments->len - 1) : NULL;
    if (!last || last->part != now.part || last->advanced != now.advanced ||
        last->ns != now.ns || last->task_known != now.task_known ||
        last->task.serial != now.task.serial) {
        g_array_append_val(w->moments, now);
    }
}

/* PASS_FILL: what stands in front of instruction @i; returns its flags. */
static uint8_t put_events(ReplayPass *p, uint64_t i)
{
    ReplayEvent event = {
        .index = i, .gap = p->gap, .lost = p->lost, .why = p->why,
        .trap = p->trap,
    };
    uint8_t flags = (p->gap ? REPLAY_GAP : 0) |
                    (p->trapped ? REPLAY_TRAP : 0);

    if (flags && i >= p->lo) {
        g_array_append_val(p->r->window.events, event);
    }
    p->gap = p->lost = p->trapped = false;
    return flags;
}

static void fill_run(ReplayPass *p, const FlowRun *run)
{
    ReplayWindow *w = &p->r->window;
    const uint8_t *code = run->code;
    uint64_t pc = run->pc, i = p->pos, end = MIN(i + run->count, p->hi);
    uint8_t flags = put_events(p, i);

    for (; i < end; i++) {
        unsigned len = flow_insn_length(code);

        if (i >= p->lo) {
            w->insns[w->count++] = (ReplayInsn) {
                .pc = pc, .len = len, .priv = run->priv, .flags = flags,
            };
        }
        flags = 0;
        pc += len;
        code += len;
    }
}

/* The number of the first address that is not below @pc */
static unsigned first_pc(const ReplayPass *p, uint64_t pc)
{
    unsigned lo = 0, hi = p->nr_pcs;

    while (lo < hi) {
        unsigned mid = lo + (hi - lo) / 2;

        if (p->pcs[mid] < pc) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static void find_in_run(ReplayPass *p, const FlowRun *run)
{
    const uint8_t *code = run->code;
    unsigned k = first_pc(p, run->pc);
    uint64_t pc = run->pc, i = p->pos, end = i + run->count;

    /* No instruction has more than 4 bytes. */
    if (k == p->nr_pcs || p->pcs[k] - run->pc >= 4 * (uint64_t)run->count) {
        return;
    }
    for (; i < end; i++) {
        while (k < p->nr_pcs && p->pcs[k] < pc) {
            k++;
        }
        if (k == p->nr_pcs) {
            return;
        }
        if (p->pcs[k] == pc) {
            p->hit = true;
            p->hit_at = i;
            if (i >= p->lo && i < p->hi && (p->last || !p->found)) {
                p->found = true;
                p->at = i;
            }
        }
        pc += flow_insn_length(code);
        code += flow_insn_length(code);
    }
}

static void look_at_run(ReplayPass *p, const FlowRun *run)
{
    if (p->kind == PASS_FIND) {
        find_in_run(p, run);
    } else if (p->kind == PASS_FILL) {
        if (p->pos + run->count > p->lo) {
            fill_run(p, run);
        } else {
            p->gap = p->lost = p->trapped = false;
        }
    }
}

/* How far the sideband of each part goes: of those before that of a point */
static void note_parts(ReplayPass *p)
{
    GArray *advanced = p->r->advanced;

    if (G_UNLIKELY(p->d.ended->len > advanced->len)) {
        g_array_set_size(advanced, 0);
        g_array_append_vals(advanced, p->d.ended->data, p->d.ended->len);
    }
}

/* PASS_FILL: what @run ended with */
static void keep_last(ReplayPass *p, const FlowRun *run)
{
    const uint8_t *code = run->code;

    p->last_pc = run->pc;
    for (unsigned i = 1; i < run->count; i++) {
        p->last_pc += flow_insn_length(code);
        code += flow_insn_length(code);
    }
    if (!image_insn(p->d.image, run->priv, p->last_pc, p->d.flow.mask,
                    &p->last_insn)) {
        p->last_insn.size = 0;
    }
}

static void on_runs(void *opaque, const FlowRun *runs, unsigned n,
                    uint64_t insns)
{
    ReplayPass *p = opaque;

    note_parts(p);
    for (unsigned i = n; p->kind == PASS_FILL && i-- > 0;) {
        if (runs[i].count) {
            keep_last(p, &runs[i]);
            break;
        }
    }
    if (p->kind == PASS_FILL && p->pos + insns > p->lo) {
        put_moment(p);
    }
    if (p->kind == PASS_FILL || p->kind == PASS_FIND) {
        for (unsigned i = 0; i < n && p->pos < p->hi; i++) {
            if (runs[i].count) {
                look_at_run(p, &runs[i]);
                p->pos += runs[i].count;
            }
        }
    } else {
        p->pos += insns;
    }
    if (p->pos >= p->hi || (p->found && !p->last)) {
        p->d.stop = true;
    }
    poll_caller(p);
}

static void on_trap(void *opaque, const FlowTrap *trap)
{
    ReplayPass *p = opaque;

    p->trapped = true;
    p->trap = *trap;
}

/*
 * May the instruction before lead to @pc? Encoders end a window, and begin the
 * next one at once, where the sideband has something to say: then nothing is
 * missing.
 */
static bool may_lead_to(const ReplayPass *p, uint64_t pc)
{
    const Insn *insn = &p->last_insn;
    uint64_t behind = (p->last_pc + insn->size) & p->d.flow.mask;
    uint64_t target = (p->last_pc + insn->offset) & p->d.flow.mask;

    switch (insn->kind) {
    case INSN_SEQUENTIAL:
        return pc == behind;
    case INSN_BRANCH:
        return pc == behind || pc == target;
    case INSN_JUMP:
        return pc == target;
    default:
        /* What was called has returned, if it goes on behind. */
        return pc != behind;
    }
}

static void on_window_start(void *opaque, uint64_t pc)
{
    ReplayPass *p = opaque;

    p->gap = p->lost || (p->last_insn.size && !p->trapped &&
                         !may_lead_to(p, pc));
}

static void on_loss(void *opaque, const TraceLoss *loss)
{
    ReplayPass *p = opaque;

    p->lost = true;
    p->why = loss->flow.kind;
    if (p->kind == PASS_SCAN && p->losses->len < MAX_LOSSES) {
        g_array_append_val(p->losses, *loss);
    }
}

static void on_mark(void *opaque)
{
    ReplayPass *p = opaque;

    p->marked = p->pos;
    p->hit = false;
}

static bool on_repeat(void *opaque, uint64_t times)
{
    ReplayPass *p = opaque;
    uint64_t insns, end;

    if (!g_uint64_checked_mul(&insns, p->pos - p->marked, times) ||
        !g_uint64_checked_add(&end, p->pos, insns) ||
        end > (p->kind == PASS_FILL ? p->lo : p->hi)) {
        return false;
    }
    if (p->kind == PASS_FIND && p->hit) {
        /* Each round has one; the first one of all may be in any round. */
        if (!p->last && end > p->lo) {
            return false;
        }
        p->hit_at += insns;
        if (p->last && p->hit_at >= p->lo) {
            p->found = true;
            p->at = p->hit_at;
        }
    }
    p->pos = end;
    poll_caller(p);
    return true;
}

static void thin_out(ReplayPass *p)
{
    GArray *points = p->r->points;
    guint n = 0;

    for (guint i = 1; i < points->len; i += 2) {
        g_array_index(points, ReplayPoint, n++) =
            g_array_index(points, ReplayPoint, i);
    }
    g_array_set_size(points, n);
    p->r->spacing *= 2;
}

/* PASS_SCAN: can one begin here? */
static void on_synced(void *opaque)
{
    ReplayPass *p = opaque;
    ReplayPoint point = {
        .insns = p->pos,
        .time_known = p->clock.known,
        .ticks = p->clock.ticks,
    };

    if (p->kind != PASS_SCAN || p->pos < p->next_point ||
        !trace_decoder_point(&p->d, &point.at)) {
        return;
    }
    g_array_append_val(p->r->points, point);
    if (p->r->points->len == MAX_POINTS) {
        thin_out(p);
    }
    p->next_point = p->pos + p->r->spacing;
}

/* The trace reports @ns in front of the next instruction. */
static void find_time(ReplayPass *p, uint64_t ns)
{
    if (ns >= p->ns) {
        p->found = true;
        p->at = p->pos;
        p->d.stop = true;
    } else if (!p->has_before || ns != p->before_ns) {
        p->has_before = true;
        p->before_at = p->pos;
        p->before_ns = ns;
    }
}

/* @ns has been reported; @back: the time reported is before the last one. */
static void add_report(ReplayPass *p, uint64_t ns, bool back)
{
    ReplayReport report = { .at = p->pos, .ns = ns };
    Replay *r = p->r;

    if (!r->reports) {
        r->reports = g_array_new(FALSE, FALSE, sizeof(ReplayReport));
    }
    r->in_order &= !back;
    if (!r->in_order) {
        g_array_set_size(r->reports, 0);
    } else if (!r->reports->len ||
               g_array_index(r->reports, ReplayReport,
                             r->reports->len - 1).ns < ns) {
        g_array_append_val(r->reports, report);
    }
}

static void on_time(void *opaque, uint64_t ticks, unsigned bits,
                    bool timestamp)
{
    ReplayPass *p = opaque;
    bool back;

    /* One of the two: they are not the same clock. */
    if (!p->clock.hz || timestamp != p->r->by_timestamps) {
        return;
    }
    back = !virtual_clock_put(&p->clock, ticks, bits);
    if (p->kind == PASS_SCAN || p->kind == PASS_REPORTS) {
        add_report(p, virtual_clock_ns(&p->clock), back);
    }
    if (back) {
        return;
    }
    if (p->kind == PASS_FIND_TIME) {
        find_time(p, virtual_clock_ns(&p->clock));
    }
}

static const TraceConsumer pass_consumer = {
    .flow = {
        .runs = on_runs,
        .trap = on_trap,
        .window_start = on_window_start,
        .mark = on_mark,
        .repeat = on_repeat,
    },
    .loss = on_loss,
    .time = on_time,
};

static const TraceConsumer scan_consumer = {
    .flow = {
        .runs = on_runs,
        .mark = on_mark,
        .repeat = on_repeat,
    },
    .loss = on_loss,
    .synced = on_synced,
    .time = on_time,
};

bool replay_pass(ReplayPass *p)
{
    Replay *r = p->r;
    TraceStart start = {
        .advanced = (const uint64_t *)r->advanced->data,
    };

    p->clock = r->clock;
    p->next_point = r->spacing;
    if (p->from) {
        start.point = &p->from->at;
        p->pos = p->marked = p->polled = p->from->insns;
        p->clock.known = p->from->time_known;
        p->clock.ticks = p->from->ticks;
        p->has_before = p->from->time_known;
        p->before_at = p->from->insns;
        p->before_ns = p->clock.known ? virtual_clock_ns(&p->clock) : 0;
    }
    return trace_decode_from(&p->d, r->t, r->hart, p->from ? &start : NULL,
                             p->kind == PASS_SCAN ||
                             p->kind == PASS_REPORTS ? &scan_consumer :
                             &pass_consumer, p);
}
