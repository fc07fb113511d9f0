/*
 * Replay: go to any place of what a hart executed
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/replay-private.h"
#include "trace/trace-clock.h"

/*
 * A time with fewer bits may have wrapped, once or more, while a hart was
 * asleep. These are 300 days of 10 MHz.
 */
#define TIME_BITS_MIN   48

/* Instructions between points, at least, until there are too many points */
#define SPACING         (1u << 16)

/* Of the window, what is behind the instruction that was asked for */
#define WINDOW_AHEAD    (REPLAY_WINDOW / 4)

/* A search backwards takes pieces of this many instructions, then of more. */
#define PIECE_MIN       (1u << 20)
#define PIECE_MAX       (1u << 28)

Replay *replay_new(Trace *t, unsigned hart, uint64_t tick_rate)
{
    Replay *r = g_new0(Replay, 1);

    r->t = t;
    r->hart = hart;
    r->limit = t->limit;
    r->spacing = SPACING;
    r->points = g_array_new(FALSE, FALSE, sizeof(ReplayPoint));
    r->advanced = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    r->window.insns = g_new(ReplayInsn, REPLAY_WINDOW);
    r->window.moments = g_array_new(FALSE, FALSE, sizeof(ReplayMoment));
    r->window.events = g_array_new(FALSE, FALSE, sizeof(ReplayEvent));
    if (trace_reports_time(t, hart, &r->by_timestamps)) {
        r->clock.hz = tick_rate ?: trace_tick_rate(t, hart, r->by_timestamps);
        r->in_order = !r->by_timestamps &&
                      t->harts[hart].params.time_width >= TIME_BITS_MIN;
    }
    return r;
}

void replay_free(Replay *r)
{
    g_clear_pointer(&r->image, image_free);
    g_clear_pointer(&r->reports, g_array_unref);
    g_array_unref(r->points);
    g_array_unref(r->advanced);
    g_array_unref(r->window.moments);
    g_array_unref(r->window.events);
    g_free(r->window.insns);
    g_free(r);
}

/*
 * The last element of @array that is at instruction @i or before, or NULL.
 * Elements are in order of the number that each has at @offset.
 */
static const void *last_until(const GArray *array, size_t offset, uint64_t i)
{
    size_t size = g_array_get_element_size((GArray *)array);
    guint lo = 0, hi = array->len;

    while (lo < hi) {
        guint mid = lo + (hi - lo) / 2;

        if (*(const uint64_t *)(array->data + mid * size + offset) <= i) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo ? array->data + (lo - 1) * size : NULL;
}

const ReplayPoint *replay_last_point(const Replay *r, uint64_t insns)
{
    return last_until(r->points, offsetof(ReplayPoint, insns), insns);
}

static ReplayPass *pass_new(Replay *r, PassKind kind, uint64_t lo, uint64_t hi)
{
    ReplayPass *p = g_new0(ReplayPass, 1);

    p->r = r;
    p->kind = kind;
    p->lo = lo;
    p->hi = hi;
    return p;
}

/* Decode what @p says, from the last point on that is before @from. */
static bool run_pass(ReplayPass *p, uint64_t from)
{
    p->from = replay_last_point(p->r, from);
    return replay_pass(p);
}

void replay_scan(Replay *r, GArray *losses)
{
    g_autofree ReplayPass *p = pass_new(r, PASS_SCAN, 0, r->limit);

    p->losses = losses;
    run_pass(p, 0);
    r->length = MIN(p->pos, r->limit);
    r->stats = p->d.stats;
    r->has_stats = true;
    r->gave_up = p->d.gave_up;
}

void replay_take_index(Replay *r, const IndexHart *index)
{
    for (guint i = 0; i < index->points->len; i++) {
        const IndexPoint *from = &g_array_index(index->points, IndexPoint, i);
        ReplayPoint point = {
            .at = from->at,
            .insns = from->before.insns,
            .time_known = from->ticks != 0,
            .ticks = from->ticks,
        };

        g_array_append_val(r->points, point);
    }
    g_array_append_vals(r->advanced, index->advanced->data,
                        index->advanced->len);
    r->length = MIN(index->all.insns, r->limit);
}

const TraceStats *replay_stats(const Replay *r)
{
    return r->has_stats ? &r->stats : NULL;
}

bool replay_gave_up(const Replay *r)
{
    return r->gave_up;
}

unsigned replay_hart(const Replay *r)
{
    return r->hart;
}

uint64_t replay_length(const Replay *r)
{
    return r->length;
}

bool replay_has_time(const Replay *r)
{
    return r->clock.hz;
}

static bool in_window(const Replay *r, uint64_t i)
{
    return i - r->window.base < r->window.count;
}

/* Decode the instructions from @base on that the window has room for. */
static bool fill_window(Replay *r, uint64_t base)
{
    uint64_t end = MIN(base + REPLAY_WINDOW, r->length);
    g_autofree ReplayPass *p = pass_new(r, PASS_FILL, base, end);
    ReplayWindow *w = &r->window;

    w->base = base;
    w->count = 0;
    g_array_set_size(w->moments, 0);
    g_array_set_size(w->events, 0);
    if (!run_pass(p, base) || w->count != end - base) {
        w->count = 0;
        return false;
    }
    return true;
}

static bool need_insn(Replay *r, uint64_t i)
{
    uint64_t behind = REPLAY_WINDOW - WINDOW_AHEAD;

    return i < r->length && (in_window(r, i) ||
                             fill_window(r, i > behind ? i - behind : 0));
}

const ReplayInsn *replay_insn(Replay *r, uint64_t i)
{
    return need_insn(r, i) ? &r->window.insns[i - r->window.base] : NULL;
}

void replay_expect_back(Replay *r, uint64_t i)
{
    uint64_t first = i >= REPLAY_WINDOW ? i - REPLAY_WINDOW + 1 : 0;

    if (i < r->length && !(in_window(r, i) && in_window(r, first))) {
        fill_window(r, first);
    }
}

const ReplayMoment *replay_moment(Replay *r, uint64_t i)
{
    return need_insn(r, i) ? last_until(r->window.moments,
                                        offsetof(ReplayMoment, index), i)
                           : NULL;
}

const ReplayEvent *replay_event(Replay *r, uint64_t i)
{
    const ReplayEvent *event = NULL;

    if (need_insn(r, i)) {
        event = last_until(r->window.events, offsetof(ReplayEvent, index), i);
    }
    return event && event->index == i ? event : NULL;
}

/* What @p, which has decoded from instruction @from on, has found */
static ReplayFound run_search(ReplayPass *p, uint64_t from, uint64_t *at)
{
    if (!run_pass(p, from)) {
        return REPLAY_FAILED;
    }
    if (p->stopped) {
        return REPLAY_STOPPED;
    }
    if (p->found && p->at < p->r->length) {
        *at = p->at;
        return REPLAY_FOUND;
    }
    return REPLAY_NOT_FOUND;
}

static ReplayFound find_ahead(Replay *r, uint64_t from, const ReplayPass *like,
                              uint64_t *at)
{
    g_autofree ReplayPass *p = g_memdup2(like, sizeof(*like));

    p->lo = from + 1;
    p->hi = r->length;
    return run_search(p, from, at);
}

static ReplayFound find_back(Replay *r, uint64_t end, const ReplayPass *like,
                             uint64_t *at)
{
    for (uint64_t size = PIECE_MIN; end; size = MIN(size * 2, PIECE_MAX)) {
        g_autofree ReplayPass *p = g_memdup2(like, sizeof(*like));
        const ReplayPoint *point = replay_last_point(r, end > size ?
                                                       end - size : 0);
        ReplayFound found;

        p->last = true;
        p->lo = point ? point->insns : 0;
        p->hi = end;
        found = run_search(p, p->lo, at);
        if (found != REPLAY_NOT_FOUND) {
            return found;
        }
        end = p->lo;
    }
    return REPLAY_NOT_FOUND;
}

/*
 * Within the window, without decoding: most searches do not go far. Sets *@from
 * to where it ends if nothing is found.
 */
static bool find_near(Replay *r, uint64_t *from, bool back,
                      const ReplayPass *p, uint64_t *at)
{
    const ReplayWindow *w = &r->window;

    if (!in_window(r, *from)) {
        return false;
    }
    for (uint64_t i = *from;;) {
        uint64_t pc;

        if (back ? i == w->base : i == w->base + w->count - 1) {
            *from = i;
            return false;
        }
        i = back ? i - 1 : i + 1;
        pc = w->insns[i - w->base].pc;
        for (unsigned k = 0; k < p->nr_pcs; k++) {
            if (p->pcs[k] == pc) {
                *at = i;
                return true;
            }
        }
    }
}

ReplayFound replay_find(Replay *r, uint64_t from, bool back,
                        const uint64_t *pcs, unsigned n, ReplayPollFn *poll,
                        void *opaque, uint64_t *at)
{
    g_autofree ReplayPass *p = pass_new(r, PASS_FIND, 0, 0);

    p->pcs = pcs;
    p->nr_pcs = n;
    p->poll = poll;
    p->opaque = opaque;
    if (!n) {
        return REPLAY_NOT_FOUND;
    }
    if (find_near(r, &from, back, p, at)) {
        return REPLAY_FOUND;
    }
    return back ? find_back(r, from, p, at) : find_ahead(r, from, p, at);
}

/* Have @p, a PASS_FIND_TIME, find the first time from @ns on. */
static ReplayFound find_time(ReplayPass *p, uint64_t ns, uint64_t *at)
{
    Replay *r = p->r;
    uint64_t from = 0;

    p->ns = ns;
    for (guint i = 0; i < r->points->len; i++) {
        const ReplayPoint *point = &g_array_index(r->points, ReplayPoint, i);
        VirtualClock clock = { .hz = r->clock.hz, .ticks = point->ticks };

        if (point->time_known && virtual_clock_ns(&clock) < ns) {
            from = point->insns;
        }
    }
    return run_search(p, from, at);
}

ReplayFound replay_find_time(Replay *r, uint64_t ns, ReplayPollFn *poll,
                             void *opaque, uint64_t *at)
{
    g_autofree ReplayPass *p = pass_new(r, PASS_FIND_TIME, 0, r->length);

    p->poll = poll;
    p->opaque = opaque;
    return find_time(p, ns, at);
}

bool replay_time(Replay *r, uint64_t i, uint64_t *ns)
{
    const ReplayMoment *m = replay_moment(r, i), *first, *next, *all;
    GArray *moments = r->window.moments;

    if (!m || !m->time_known) {
        return false;
    }
    all = (const ReplayMoment *)moments->data;
    for (first = m; first > all && first[-1].time_known &&
         first[-1].ns == m->ns; first--) {
        /* to where it was reported, if that is in the window */
    }
    for (next = m; next < all + moments->len && next->ns == m->ns; next++) {
        /* to where another one is */
    }
    *ns = m->ns;
    if (next < all + moments->len) {
        *ns += share_of(next->ns - m->ns, i - first->index,
                        next->index - first->index);
    }
    return true;
}

uint64_t replay_place_at(Replay *r, uint64_t ns)
{
    g_autofree ReplayPass *p = pass_new(r, PASS_FIND_TIME, 0, r->length);
    uint64_t at = 0, found_ns;

    if (find_time(p, ns, &at) != REPLAY_FOUND) {
        return r->length - 1;
    }
    found_ns = virtual_clock_ns(&p->clock);
    if (p->has_before && found_ns > ns) {
        at = p->before_at + share_of(at - p->before_at, ns - p->before_ns,
                                     found_ns - p->before_ns);
    }
    return at;
}

/* The image as it is at @m */
static Image *image_at(Replay *r, const ReplayMoment *m)
{
    SidebandNote note;

    if (r->image && (r->image_part != m->part ||
                     r->image_advanced > m->advanced)) {
        g_clear_pointer(&r->image, image_free);
    }
    if (!r->image) {
        r->image = trace_image_at(r->t, r->hart, m->part,
                                  (const uint64_t *)r->advanced->data,
                                  m->advanced);
    } else if (r->image_advanced < m->advanced) {
        image_advance(r->image, m->advanced);
    }
    r->image_part = m->part;
    r->image_advanced = m->advanced;
    while (image_next_note(r->image, &note)) {
        /* They are of no use here. */
    }
    image_trim(r->image);
    return r->image;
}

Image *replay_image(Replay *r, uint64_t i)
{
    const ReplayMoment *moment = replay_moment(r, i);

    return moment && r->t->sideband ? image_at(r, moment) : NULL;
}

/* Who may execute code there, if @priv does not */
static CodePage *page_at(Image *image, unsigned priv, uint64_t addr)
{
    static const ETracePriv others[] = {
        ETRACE_PRIV_S, ETRACE_PRIV_M, ETRACE_PRIV_VS,
    };
    CodePage *page = image_page(image, priv, addr);

    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        if (page && code_page_valid(page, addr & CODE_PAGE_MASK & ~1u)) {
            return page;
        }
        page = image_page(image, others[i], addr);
    }
    return page && code_page_valid(page, addr & CODE_PAGE_MASK & ~1u) ? page
                                                                      : NULL;
}

size_t replay_read(Replay *r, uint64_t i, uint64_t addr, uint8_t *buf,
                   size_t len)
{
    const ReplayInsn *insn = replay_insn(r, i);
    Image *image = replay_image(r, i);
    size_t n;

    if (!insn || !image) {
        return 0;
    }
    for (n = 0; n < len; n++) {
        CodePage *page = page_at(image, insn->priv, addr + n);

        if (!page) {
            break;
        }
        buf[n] = page->bytes[(addr + n) & CODE_PAGE_MASK];
    }
    return n;
}
