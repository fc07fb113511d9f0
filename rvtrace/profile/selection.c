/*
 * Selection: which of the executed instructions views look at
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <math.h>
#include <gio/gio.h>
#include "base/option-error.h"
#include "profile/selection.h"

/* More than anyone gives; each note is compared with all of them. */
#define MAX_REGIONS 64

/* From one note to another one */
typedef struct Region {
    ETraceSbNoteKind begin_kind, end_kind;
    char *begin, *end;
} Region;

/* How one says where a border is */
typedef enum BorderKind {
    BORDER_INSNS,
    BORDER_TIME,
    BORDER_MARK,
    BORDER_FUNCTION,
} BorderKind;

typedef struct Border {
    BorderKind kind;
    bool from_end;          /* @number is counted back from there */
    uint64_t number;        /* instructions, or ns */
    char *name;             /* of a mark or function */
    uint64_t nth;           /* time that the function is entered; 0: the next */
} Border;

typedef struct Process {
    char *name;                 /* a glob pattern */
    bool numeric;
    uint64_t number;
} Process;

struct Selection {
    GArray *processes;      /* Process */
    GArray *regions;        /* Region */
    Border from, to;
};

struct SelectionHart {
    const Selection *s;
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

bool selection_parse_count(const char *text, uint64_t *count)
{
    static const struct {
        char suffix;
        uint64_t scale;
    } scales[] = { { 'k', 1000 }, { 'M', 1000000 }, { 'G', 1000000000 } };
    size_t len = strlen(text);
    g_autofree char *digits = g_strdup(text);
    uint64_t scale = 1;
    guint64 n;

    for (size_t i = 0; i < ARRAY_SIZE(scales); i++) {
        if (len && text[len - 1] == scales[i].suffix) {
            scale = scales[i].scale;
            digits[len - 1] = '\0';
        }
    }
    if (!g_ascii_isdigit(digits[0]) ||
        !g_ascii_string_to_unsigned(digits, 10, 0, UINT64_MAX / scale, &n,
                                    NULL)) {
        return false;
    }
    *count = n * scale;
    return true;
}

static bool wrong(GError **errp, OptionError option, const char *text,
                  const char *what)
{
    g_set_error(errp, OPTION_ERROR, option, "%s: %s", text, what);
    return false;
}

/* A decimal fraction and its unit, in ns; returns false if it is none. */
bool selection_parse_time(const char *text, uint64_t *ns)
{
    static const struct {
        const char *unit;
        double scale;
    } units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 } };
    char *end;
    double value = g_ascii_strtod(text, &end);

    /* Neither signs nor blanks, hexadecimal digits, or infinity */
    if (!g_ascii_isdigit(*text) ||
        strspn(text, "0123456789.e") != (size_t)(end - text)) {
        return false;
    }
    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        if (g_str_equal(end, units[i].unit)) {
            value *= units[i].scale;
            if (value >= 0x1p63) {
                return false;
            }
            *ns = llround(value);
            return true;
        }
    }
    return false;
}

/* FUNCTION#N, where N may be missing: a C++ function may have a # itself. */
static bool parse_function(Border *border, const char *text)
{
    const char *hash = strrchr(text, '#');
    guint64 n;

    if (hash && g_ascii_string_to_unsigned(hash + 1, 10, 0, UINT64_MAX, &n,
                                           NULL)) {
        border->name = g_strndup(text, hash - text);
        border->nth = n;
        return *border->name && n;
    }
    border->name = g_strdup(text);
    return *text;
}

static bool parse_border(Border *border, OptionError option, const char *text,
                         GError **errp)
{
    const char *number;

    if (!text) {
        return true;
    }
    if (g_str_has_prefix(text, "mark:")) {
        border->kind = BORDER_MARK;
        border->name = g_strdup(text + strlen("mark:"));
        return *border->name || wrong(errp, option, text, "has no name");
    }
    if (g_str_has_prefix(text, "sym:")) {
        border->kind = BORDER_FUNCTION;
        return parse_function(border, text + strlen("sym:")) ||
               wrong(errp, option, text,
                     "must be sym:FUNCTION or sym:FUNCTION#N, N from 1 on");
    }
    border->from_end = *text == '-';
    number = text + border->from_end;
    border->kind = BORDER_INSNS;
    if (selection_parse_count(number, &border->number)) {
        return true;
    }
    border->kind = BORDER_TIME;
    return selection_parse_time(number, &border->number) ||
           wrong(errp, option, text, "must be a number of instructions, with "
                 "k, M or G behind it or not; a time, with s, ms, us or ns "
                 "behind it; mark:NOTE; sym:FUNCTION; or "
                 "sym:FUNCTION#N");
}

/* Does --to come no later than --from, as far as numbers say? */
static bool is_backwards(const Border *from, const Border *to)
{
    if (from->nth && to->nth) {
        return from->nth >= to->nth && !strcmp(from->name, to->name);
    }
    return from->kind == to->kind && !from->name &&
           from->from_end == to->from_end &&
           (from->from_end ? from->number <= to->number :
                             from->number >= to->number);
}

static bool parse_borders(Selection *s, const SelectionOptions *o,
                          GError **errp)
{
    if (!parse_border(&s->from, OPTION_FROM, o->from, errp) ||
        !parse_border(&s->to, OPTION_TO, o->to, errp)) {
        return false;
    }
    if (is_backwards(&s->from, &s->to)) {
        g_set_error(errp, OPTION_ERROR, OPTION_FROM,
                    "%s: must be before %s, or nothing is left", o->from ?: "0",
                    o->to ?: "the end");
        return false;
    }
    return true;
}

static bool parse_processes(Selection *s, char **texts, GError **errp)
{
    for (; texts && *texts; texts++) {
        Process p = { 0 };
        guint64 number;

        if (!**texts) {
            return wrong(errp, OPTION_PROCESS, "''",
                         "must be a task's name or number");
        }
        p.numeric = g_ascii_string_to_unsigned(*texts, 10, 0, UINT32_MAX,
                                               &number, NULL);
        if (p.numeric) {
            p.number = number;
        } else {
            p.name = g_strdup(*texts);
        }
        g_array_append_val(s->processes, p);
    }
    return true;
}

static bool parse_regions(Selection *s, char **texts, GError **errp)
{
    for (; texts && *texts; texts++) {
        const char *dots = strstr(*texts, "..");
        Region r;

        if (!**texts || dots == *texts || (dots && !dots[2])) {
            return wrong(errp, OPTION_REGION, **texts ? *texts : "''",
                         "must be the name of a region, or two marks as A..B");
        }
        if (s->regions->len == MAX_REGIONS) {
            return wrong(errp, OPTION_REGION, *texts, "one too many");
        }
        if (dots) {
            r.begin_kind = r.end_kind = ETRACE_SB_NOTE_MARK;
            r.begin = g_strndup(*texts, dots - *texts);
            r.end = g_strdup(dots + 2);
        } else {
            r.begin_kind = ETRACE_SB_NOTE_BEGIN;
            r.end_kind = ETRACE_SB_NOTE_END;
            r.begin = g_strdup(*texts);
            r.end = g_strdup(*texts);
        }
        g_array_append_val(s->regions, r);
    }
    return true;
}

static void process_clear(gpointer opaque)
{
    Process *p = opaque;

    g_clear_pointer(&p->name, g_free);
}

static void region_clear(gpointer opaque)
{
    Region *r = opaque;

    g_free(r->begin);
    g_free(r->end);
}

Selection *selection_all(void)
{
    Selection *s = g_new0(Selection, 1);

    s->to.number = UINT64_MAX;
    s->processes = g_array_new(false, false, sizeof(Process));
    s->regions = g_array_new(false, false, sizeof(Region));
    g_array_set_clear_func(s->processes, process_clear);
    g_array_set_clear_func(s->regions, region_clear);
    return s;
}

Selection *selection_new(const SelectionOptions *o, GError **errp)
{
    g_autoptr(Selection) s = selection_all();

    if (!parse_borders(s, o, errp) ||
        !parse_processes(s, o->processes, errp) ||
        !parse_regions(s, o->regions, errp)) {
        return NULL;
    }
    if (!o->from && !o->to && !s->processes->len && !s->regions->len) {
        return NULL;
    }
    return g_steal_pointer(&s);
}

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

void selection_free(Selection *s)
{
    g_free(s->from.name);
    g_free(s->to.name);
    g_array_unref(s->processes);
    g_array_unref(s->regions);
    g_free(s);
}

static void set_borders(SelectionHart *h, uint64_t insns, uint64_t ns)
{
    const Border *from = &h->s->from, *to = &h->s->to;
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

SelectionHart *selection_hart_new(const Selection *s)
{
    SelectionHart *h = g_new0(SelectionHart, 1);

    h->s = s;
    h->early = s->from.kind != BORDER_INSNS;
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
    return h->to < insns || h->s->to.kind != BORDER_INSNS;
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
    if (h->early && h->s->from.kind == BORDER_TIME && ns >= h->from_ns) {
        begin(h);
    }
    if (may_end(h) && h->s->to.kind == BORDER_TIME && ns >= h->to_ns) {
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
    const Border *b = h->early ? &h->s->from : &h->s->to;

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
    const Border *b = h->early ? &h->s->from : &h->s->to;

    /* What --to counts, it counts from the beginning on. */
    return (b->kind == BORDER_FUNCTION || h->s->to.nth) && !h->late;
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
    from = is_border(h, &h->s->from, &h->entered[0], function);
    to = is_border(h, &h->s->to, &h->entered[1], function);
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
