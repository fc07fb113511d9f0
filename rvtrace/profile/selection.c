/*
 * Selection: which of the executed instructions views look at
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/selection-private.h"

struct SelectionHart {
    const Selection *s;
    const Border *border[2];    /* --from and --to of this hart */
    uint64_t from, to;      /* by numbers of instructions, ... */
    uint64_t from_ns, to_ns;    /* ... or by time */
    bool early, late;       /* not yet, no longer between other borders */
    uint64_t insns;         /* that retired, and when it became late */
    uint64_t insns_when_late;
    uint64_t entered[2];    /* --from and --to: how often the function was */
    bool open[MAX_REGIONS]; /* regions that began and have not ended */
    unsigned nr_open;
    /* What was found for the task before; asked: there was one */
    bool asked, task_covered;
    const Task *task;
    bool covered;           /* the last answer */
    /* selection_mark(); steady: all answers since then were the same */
    bool steady;
    uint64_t insns_at_mark;
};

bool selection_has_times(const Selection *s)
{
    return s->from.kind == BORDER_TIME || s->to.kind == BORDER_TIME;
}

bool selection_has_end(const Selection *s)
{
    return s->from.from_end || s->to.from_end;
}

const char *selection_function(const Selection *s, unsigned border)
{
    const Border *b = border ? &s->to : &s->from;

    return b->kind == BORDER_FUNCTION ? b->name : NULL;
}

bool selection_has_functions(const Selection *s)
{
    return selection_function(s, 0) || selection_function(s, 1);
}

static void set_borders(SelectionHart *h, uint64_t insns, uint64_t ns)
{
    const Border *from = h->border[0], *to = h->border[1];
    uint64_t first = from->number, last = to->number;

    if (from->from_end) {
        uint64_t end = from->kind == BORDER_TIME ? ns : insns;

        first = end - MIN(end, first);
    }
    if (to->from_end) {
        uint64_t end = to->kind == BORDER_TIME ? ns : insns;

        last = end - MIN(end, last);
    }
    h->from = from->kind == BORDER_INSNS ? first : 0;
    h->from_ns = from->kind == BORDER_TIME ? first : 0;
    h->to = to->kind == BORDER_INSNS ? last : UINT64_MAX;
    h->to_ns = to->kind == BORDER_TIME ? last : UINT64_MAX;
}

void selection_pin(Selection *s, unsigned hart, uint64_t from, uint64_t to)
{
    HartBorders *own = g_new0(HartBorders, 1);

    own->from.kind = own->to.kind = BORDER_INSNS;
    own->from.number = from;
    own->to.number = to;
    g_hash_table_insert(s->pinned, GUINT_TO_POINTER(hart), own);
}

SelectionHart *selection_hart_new(const Selection *s, unsigned hart)
{
    SelectionHart *h = g_new0(SelectionHart, 1);
    const HartBorders *own = g_hash_table_lookup(s->pinned,
                                                 GUINT_TO_POINTER(hart));

    h->s = s;
    h->border[0] = own ? &own->from : &s->from;
    h->border[1] = own ? &own->to : &s->to;
    h->early = h->border[0]->kind != BORDER_INSNS;
    set_borders(h, UINT64_MAX, UINT64_MAX);
    return h;
}

void selection_hart_end(SelectionHart *h, uint64_t insns, uint64_t ns)
{
    set_borders(h, insns, ns);
}

void selection_hart_narrow(SelectionHart *h, uint64_t from, uint64_t to)
{
    h->from = MAX(h->from, from);
    h->to = MIN(h->to, to);
}

void selection_hart_range(const SelectionHart *h, uint64_t *from,
                          uint64_t *to)
{
    *from = h->from;
    *to = h->to;
}

uint64_t selection_hart_since(const SelectionHart *h)
{
    return h->from_ns;
}

bool selection_hart_ends(const SelectionHart *h, uint64_t insns)
{
    return h->to < insns || h->border[1]->kind != BORDER_INSNS;
}

void selection_hart_start(SelectionHart *h, uint64_t insns)
{
    h->insns = insns;
}

bool selection_over(const SelectionHart *h)
{
    return h->insns > h->to || (h->late && h->insns > h->insns_when_late);
}

void selection_hart_free(SelectionHart *h)
{
    g_free(h);
}

static bool is_process(const Process *p, const Task *task)
{
    if (p->numeric) {
        return task_is_known(task) &&
               (task->tid == p->number || task->tgid == p->number);
    }
    return g_pattern_match_simple(p->name, task->name);
}

static bool covers_task(const Selection *s, const Task *task)
{
    for (guint i = 0; task && i < s->processes->len; i++) {
        if (is_process(&g_array_index(s->processes, Process, i), task)) {
            return true;
        }
    }
    return !s->processes->len;
}

static void set_task(SelectionHart *h, const Task *task)
{
    if (!h->asked || task != h->task) {
        h->asked = true;
        h->task = task;
        h->task_covered = covers_task(h->s, task);
    }
}

bool selection_has_task(const Selection *s, const Task *task)
{
    return covers_task(s, task);
}

bool selection_covers(SelectionHart *h, const Task *task)
{
    const Selection *s = h->s;
    bool covered;

    set_task(h, task);
    covered = h->task_covered && h->insns >= h->from && h->insns < h->to &&
              !h->early && !h->late && (!s->regions->len || h->nr_open);
    h->steady &= covered == h->covered;
    h->covered = covered;
    return covered;
}

uint64_t selection_room(const SelectionHart *h)
{
    if (h->insns < h->from) {
        return h->from - h->insns;
    }
    return h->insns < h->to && h->to != UINT64_MAX ?
           h->to - h->insns : UINT64_MAX;
}

void selection_ran(SelectionHart *h, uint64_t insns)
{
    h->insns += insns;
}

/* May the selection end here? It has to have begun. */
static bool may_end(const SelectionHart *h)
{
    return !h->early && !h->late && h->insns >= h->from;
}

static void begin(SelectionHart *h)
{
    h->early = false;
    h->steady = false;
}

static void end(SelectionHart *h)
{
    h->late = true;
    h->insns_when_late = h->insns;
    h->steady = false;
}

void selection_time(SelectionHart *h, uint64_t ns)
{
    if (h->early && h->border[0]->kind == BORDER_TIME && ns >= h->from_ns) {
        begin(h);
    }
    if (may_end(h) && h->border[1]->kind == BORDER_TIME && ns >= h->to_ns) {
        end(h);
    }
}

static bool says(const SidebandNote *note, ETraceSbNoteKind kind,
                 const char *text)
{
    return note->kind == kind && note->len == strlen(text) &&
           !memcmp(note->text, text, note->len);
}

/* The same mark may be both: what is from one to the next is selected then. */
static void come_to_mark(SelectionHart *h, const SidebandNote *note)
{
    const Border *b = h->border[!h->early];

    if (b->kind != BORDER_MARK ||
        !says(note, ETRACE_SB_NOTE_MARK, b->name)) {
        return;
    }
    if (h->early) {
        begin(h);
    } else if (may_end(h)) {
        end(h);
    }
}

bool selection_awaits(const SelectionHart *h)
{
    const Border *b = h->border[!h->early];

    /* What --to counts, it counts from the beginning on. */
    return (b->kind == BORDER_FUNCTION || h->border[1]->nth) && !h->late;
}

/* Does the selection begin, or end, where its function is entered now? */
static bool is_border(SelectionHart *h, const Border *b, uint64_t *entered,
                      const char *function)
{
    if (b->kind != BORDER_FUNCTION || strcmp(b->name, function)) {
        return false;
    }
    ++*entered;
    h->steady &= !b->nth;
    return !b->nth || *entered == b->nth;
}

void selection_enter(SelectionHart *h, const Task *task, const char *function)
{
    bool from, to;

    set_task(h, task);
    if (!h->task_covered) {
        return;
    }
    from = is_border(h, h->border[0], &h->entered[0], function);
    to = is_border(h, h->border[1], &h->entered[1], function);
    if (h->early) {
        /* The same name may be both, from one time to another. */
        if (from) {
            begin(h);
        }
    } else if (to && may_end(h)) {
        end(h);
    }
}

void selection_note(SelectionHart *h, const SidebandNote *note)
{
    const GArray *regions = h->s->regions;

    if (note->all_harts) {
        return;
    }
    h->steady = false;
    come_to_mark(h, note);
    for (guint i = 0; i < regions->len; i++) {
        const Region *r = &g_array_index(regions, Region, i);

        if (h->open[i] ? says(note, r->end_kind, r->end) :
                         says(note, r->begin_kind, r->begin)) {
            h->open[i] = !h->open[i];
            h->nr_open += h->open[i] ? 1 : -1;
        }
    }
}

void selection_mark(SelectionHart *h)
{
    h->steady = true;
    h->insns_at_mark = h->insns;
}

bool selection_can_repeat(const SelectionHart *h, uint64_t times)
{
    uint64_t round = h->insns - h->insns_at_mark;

    /* The next round is covered as this one only before a border. */
    return h->steady && (!round || times <= selection_room(h) / round) &&
           (h->insns != h->from || h->covered || !h->from) &&
           (h->insns != h->to || !h->covered);
}

void selection_repeat(SelectionHart *h, uint64_t times)
{
    h->insns += (h->insns - h->insns_at_mark) * times;
}

FlowRun selection_split(FlowRun *run, unsigned count)
{
    FlowRun head = *run;
    unsigned len = 0, known = 0;

    head.count = count;
    head.itype = ETRACE_ITYPE_NONE;
    head.end = 0;
    for (unsigned i = 0; i < count; i++) {
        len += flow_insn_length(run->code + len);
    }
    run->pc += len;
    run->code += len;
    run->count -= count;
    run->wide = 0;
    for (unsigned i = 0; i < MIN(run->count, FLOW_WIDE_INSNS); i++) {
        unsigned size = flow_insn_length(run->code + known);

        if (size == 4) {
            run->wide |= 1ull << (known / 2);
        }
        known += size;
    }
    return head;
}
