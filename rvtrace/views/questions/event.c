/*
 * Events: places of a run that one finds by what happens there
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/trap-text.h"
#include "views/questions/event.h"

/* Of a frame: not looked at, or whether the event is about it */
#define FRAME_UNKNOWN   0
#define FRAME_OTHER     1
#define FRAME_LIKE      2

struct EventHart {
    const EventSearch *search;
    unsigned hart;
    const Profile *profile;
    Follower *follower;
    GByteArray *frames;         /* FRAME_*, by number */
    const Task *task;           /* of the last moment; NULL: not known */
    GArray *places;             /* EventPlace: the first ones, or slowest */
    uint64_t count;             /* of all of them */
    GArray *clock;              /* Place: since when it was where */
    Place last;
    uint64_t step;              /* ns between two of them, at least */
};

struct EventSearch {
    const Event *event;
    const Selection *processes;
    bool virtual_time;
    GPtrArray *harts;           /* EventHart */
};

bool duration_parse(Duration *d, const char *text)
{
    d->timed = !selection_parse_count(text, &d->amount);
    return (!d->timed || selection_parse_time(text, &d->amount)) && d->amount;
}

/* FUNCTION>DURATION: operators of C++ have a > themselves. */
static bool parse_limit(Event *e)
{
    char *sign = e->kind == EVENT_SLOWER ? strrchr(e->name, '>') : NULL;

    if (sign) {
        *sign = '\0';
        return duration_parse(&e->limit, sign + 1);
    }
    return e->kind != EVENT_SLOWER;
}

bool event_parse(Event *e, const char *text)
{
    static const char *const words[] = {
        [EVENT_ENTERED] = "sym:",
        [EVENT_NOTE] = "mark:",
        [EVENT_TRAP] = "trap:",
        [EVENT_SLOWER] = "slower:",
        [EVENT_SLOWEST] = "slowest:",
    };
    unsigned kind = 0;
    const char *name;

    *e = (Event) { 0 };
    while (kind < ARRAY_SIZE(words) && !g_str_has_prefix(text, words[kind])) {
        kind++;
    }
    if (kind == ARRAY_SIZE(words)) {
        return false;
    }
    e->kind = kind;
    name = text + strlen(words[kind]);
    e->name = kind == EVENT_NOTE ? g_strdup(name) :
                                   selection_split_nth(name, &e->nth);
    e->nth = e->nth ?: 1;
    return e->name && parse_limit(e) && *e->name &&
           e->nth <= (kind == EVENT_SLOWEST ? EVENT_MAX_SLOWEST :
                                              EVENT_MAX_NTH);
}

void event_clear(Event *e)
{
    g_clear_pointer(&e->name, g_free);
}

static uint64_t length(const EventPlace *p, bool timed)
{
    return timed ? p->to.time - p->from.time : p->to.insns - p->from.insns;
}

/* A slow one, if it is one of the slowest; of equals, the first ones */
static void add_slowest(GArray *places, const EventPlace *p, bool timed,
                        uint64_t max)
{
    guint i = places->len;

    while (i && length(&g_array_index(places, EventPlace, i - 1), timed) <
                length(p, timed)) {
        i--;
    }
    if (i < max) {
        g_array_insert_val(places, i, *p);
        g_array_set_size(places, MIN(places->len, max));
    }
}

static void add(EventHart *h, const Task *task, const Place *from,
                const Place *to)
{
    const EventSearch *s = h->search;
    const Event *e = s->event;
    EventPlace p = { h->hart, *from, *to };

    if (s->processes && !selection_has_task(s->processes, task)) {
        return;
    }
    h->count++;
    if (e->kind == EVENT_SLOWEST) {
        add_slowest(h->places, &p, s->virtual_time, e->nth);
    } else if (h->places->len < e->nth) {
        g_array_append_val(h->places, p);
    }
}

/* Traps are meant if they are named as on call stacks, in []. */
static bool is_like(EventHart *h, unsigned frame)
{
    const ProfileFrame *f = profile_frame(h->profile, frame);
    const char *name = h->search->event->name;
    guint known = h->frames->len;

    if (frame >= known) {
        g_byte_array_set_size(h->frames, frame + 1);
        memset(h->frames->data + known, FRAME_UNKNOWN, frame + 1 - known);
    }
    if (h->frames->data[frame] == FRAME_UNKNOWN) {
        h->frames->data[frame] = frame_is_like(f, name, NULL) &&
            (f->kind == FRAME_TRAP) == (*name == '[') ? FRAME_LIKE :
                                                        FRAME_OTHER;
    }
    return h->frames->data[frame] == FRAME_LIKE;
}

static void on_begin(void *opaque, OpenCall *calls, unsigned n,
                     const Task *task)
{
    EventHart *h = opaque;
    const OpenCall *call = &calls[n - 1];

    if (h->search->event->kind == EVENT_ENTERED && is_like(h, call->frame)) {
        add(h, task, &call->from, &call->from);
    }
}

static void on_end(void *opaque, const EndedCall *ended)
{
    EventHart *h = opaque;
    const Event *e = h->search->event;
    EventPlace p = { h->hart, ended->call->from, ended->to };

    if (e->kind < EVENT_SLOWER || ended->end == CALL_UNSEEN ||
        !is_like(h, ended->call->frame) ||
        (e->kind == EVENT_SLOWER &&
         length(&p, e->limit.timed) <= e->limit.amount)) {
        return;
    }
    add(h, ended->task, &p.from, &p.to);
}

static const FollowOps follow_ops = { .begin = on_begin, .end = on_end };

static void hart_free(gpointer opaque)
{
    EventHart *h = opaque;

    follow_free(h->follower);
    g_byte_array_unref(h->frames);
    g_array_unref(h->places);
    g_array_unref(h->clock);
    g_free(h);
}

EventSearch *event_search_new(const Event *event, const Selection *processes)
{
    EventSearch *s = g_new0(EventSearch, 1);

    s->event = event;
    s->processes = processes;
    s->harts = g_ptr_array_new_with_free_func(hart_free);
    return s;
}

void event_search_clocks(EventSearch *s, bool virtual_time)
{
    s->virtual_time = virtual_time;
}

void event_search_free(EventSearch *s)
{
    g_ptr_array_unref(s->harts);
    g_free(s);
}

EventHart *event_search_hart(EventSearch *s, unsigned hart,
                             const Profile *profile, const TaskTable *tasks)
{
    EventHart *h = g_new0(EventHart, 1);

    h->search = s;
    h->hart = hart;
    h->profile = profile;
    h->follower = follow_new(profile, tasks, &follow_ops, h);
    h->frames = g_byte_array_new();
    h->places = g_array_new(false, false, sizeof(EventPlace));
    h->clock = g_array_new(false, false, sizeof(Place));
    g_ptr_array_add(s->harts, h);
    return h;
}

static Place *clock_point(const EventHart *h, guint i)
{
    return &g_array_index(h->clock, Place, i);
}

/* Every other one is left out when there are too many. */
static void keep_time(EventHart *h, const CallStackMoment *when)
{
    guint n = h->clock->len;

    h->last = (Place) { when->place, when->time };
    if (n && h->last.time - clock_point(h, n - 1)->time < h->step) {
        return;
    }
    if (n == EVENT_CLOCK_POINTS) {
        h->step = MAX(2 * h->step, (h->last.time - clock_point(h, 0)->time) /
                                   EVENT_CLOCK_POINTS);
        n /= 2;
        for (guint i = 0; i < n; i++) {
            *clock_point(h, i) = *clock_point(h, 2 * i);
        }
        g_array_set_size(h->clock, n);
    }
    g_array_append_val(h->clock, h->last);
}

/* Where the hart was at @time */
static uint64_t place_at(const EventHart *h, uint64_t time)
{
    guint low = 0, high = h->clock->len;
    const Place *from, *to;

    while (low < high) {
        guint middle = low + (high - low) / 2;

        if (clock_point(h, middle)->time <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    to = low < h->clock->len ? clock_point(h, low) : &h->last;
    if (!low || to->time <= time) {
        return low ? to->insns : 0;
    }
    from = clock_point(h, low - 1);
    return from->insns + (to->insns - from->insns) *
           ((double)(time - from->time) / (to->time - from->time));
}

void event_moment(void *hart, const CallStackMoment *moment)
{
    EventHart *h = hart;

    h->task = moment->task;
    keep_time(h, moment);
    follow_moment(h->follower, moment);
}

static bool is_note(const Event *e, const MomentMark *mark)
{
    return mark->kind == MOMENT_NOTE && mark->number == ETRACE_SB_NOTE_MARK &&
           mark->len == strlen(e->name) &&
           !memcmp(mark->text, e->name, mark->len);
}

static bool is_trap(const Event *e, const MomentMark *mark)
{
    g_autofree char *name = mark->kind == MOMENT_TRAP ?
        trap_text(mark->number & MOMENT_INTERRUPT,
                  mark->number & ~MOMENT_INTERRUPT) : NULL;

    return name && text_is_like(name, e->name);
}

void event_mark(void *hart, const CallStackMoment *when,
                const MomentMark *mark)
{
    EventHart *h = hart;
    const Event *e = h->search->event;
    Place at = { when->place, when->time };

    if ((e->kind == EVENT_NOTE && is_note(e, mark)) ||
        (e->kind == EVENT_TRAP && is_trap(e, mark))) {
        add(h, h->task, &at, &at);
    }
    follow_mark(h->follower, when, mark);
}

void event_end(void *hart, const CallStackMoment *when)
{
    keep_time(hart, when);
    follow_end(((EventHart *)hart)->follower, when);
}

static gint compare(gconstpointer a, gconstpointer b, gpointer opaque)
{
    const EventPlace *x = a, *y = b;
    const EventSearch *s = opaque;

    if (s->virtual_time && x->to.time != y->to.time) {
        return x->to.time < y->to.time ? -1 : 1;
    }
    if (x->hart != y->hart) {
        return x->hart < y->hart ? -1 : 1;
    }
    return (x->to.insns > y->to.insns) - (x->to.insns < y->to.insns);
}

uint64_t event_search_find(const EventSearch *s, EventPlace *place)
{
    g_autoptr(GArray) all = g_array_new(false, false, sizeof(EventPlace));
    const Event *e = s->event;
    uint64_t count = 0;

    for (guint i = 0; i < s->harts->len; i++) {
        const EventHart *h = s->harts->pdata[i];

        count += h->count;
        for (guint k = 0; k < h->places->len; k++) {
            const EventPlace *p = &g_array_index(h->places, EventPlace, k);

            if (e->kind == EVENT_SLOWEST) {
                add_slowest(all, p, s->virtual_time, e->nth);
            } else {
                g_array_append_val(all, *p);
            }
        }
    }
    if (e->kind != EVENT_SLOWEST) {
        g_array_sort_with_data(all, compare, (gpointer)s);
    }
    if (e->nth <= all->len) {
        *place = g_array_index(all, EventPlace, e->nth - 1);
    }
    return count;
}

bool event_search_clock(const EventSearch *s, unsigned i, uint64_t time,
                        unsigned *hart, uint64_t *insns)
{
    const EventHart *h = i < s->harts->len ? s->harts->pdata[i] : NULL;

    if (!h) {
        return false;
    }
    *hart = h->hart;
    *insns = place_at(h, time);
    return true;
}
