/*
 * Replay: where memory may have been accessed
 *
 * To put accesses to the instructions that have made them takes long; to see
 * which addresses are in the packets does not. So the trace is cut into segments,
 * and each has a filter that says of a line of memory that nothing in the segment
 * has accessed it, or that something may have. A segment's filter is made when
 * somebody asks for it.
 *
 * Accesses between two synchronisation packets are of the instructions between
 * them, and those of the instruction that the first one reports follow it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/replay-state-private.h"

#define LINE_BITS       3

/* Bits of a filter, 32 KiB */
#define FILTER_BITS     18
#define FILTER_WORDS    (1u << (FILTER_BITS - 6))

/* Instructions of a segment, at least; segments, at most: 64 MiB */
#define SEGMENT_MIN     (1u << 20)
#define MAX_SEGMENTS    2048

/* Filters that are made at once */
#define BATCH           8

/* Instructions from one call of the poll function to the next */
#define POLL_INSNS      (1u << 22)

struct ReplayLines {
    uint64_t segment;           /* instructions of one */
    uint64_t count;
    uint64_t **filters;         /* by segment; NULL: not made yet */
};

typedef struct LinesPass {
    ReplayStates *s;
    TraceDecoder d;
    uint64_t first, behind;     /* segments */
    uint64_t hi;                /* instructions: the end of those */
    uint64_t stretch;           /* its first instruction */
    uint64_t pos, polled;
    bool any;                   /* accesses in the stretch: */
    uint64_t filter[FILTER_WORDS];
    bool stopped;
    ReplayPollFn *poll;
    void *opaque;
} LinesPass;

static ReplayLines *lines_new(uint64_t length)
{
    ReplayLines *l = g_new0(ReplayLines, 1);

    l->segment = SEGMENT_MIN;
    while (length / l->segment >= MAX_SEGMENTS) {
        l->segment *= 2;
    }
    l->count = length / l->segment + 1;
    l->filters = g_new0(uint64_t *, l->count);
    return l;
}

void replay_lines_free(ReplayLines *l)
{
    for (uint64_t i = 0; l && i < l->count; i++) {
        g_free(l->filters[i]);
    }
    if (l) {
        g_free(l->filters);
    }
    g_free(l);
}

static unsigned filter_bit(uint64_t line)
{
    return line * 0x9e3779b97f4a7c15ull >> (64 - FILTER_BITS);
}

/* The stretch up to here has ended: it is in these segments. */
static void end_stretch(LinesPass *p)
{
    const ReplayLines *l = p->s->lines;
    uint64_t first = p->stretch / l->segment, last = p->pos / l->segment;

    for (uint64_t k = MAX(first, p->first);
         p->any && k <= last && k < p->behind; k++) {
        for (unsigned i = 0; i < FILTER_WORDS; i++) {
            l->filters[k][i] |= p->filter[i];
        }
    }
    if (p->any) {
        memset(p->filter, 0, sizeof(p->filter));
        p->any = false;
    }
    p->stretch = p->pos - MIN(p->pos, 1);
}

static void on_access(void *opaque, const ETraceDataAccess *a)
{
    LinesPass *p = opaque;
    uint64_t first = a->address >> LINE_BITS;
    uint64_t last = (a->address + (1u << a->size) - 1) >> LINE_BITS;
    unsigned bit = filter_bit(first);

    p->any = true;
    p->filter[bit / 64] |= 1ull << bit % 64;
    if (last != first) {
        bit = filter_bit(last);
        p->filter[bit / 64] |= 1ull << bit % 64;
    }
}

static void on_runs(void *opaque, const FlowRun *runs, unsigned n,
                    uint64_t insns)
{
    LinesPass *p = opaque;

    p->pos += insns;
    if (p->poll && p->pos - p->polled >= POLL_INSNS) {
        p->polled = p->pos;
        if (p->poll(p->opaque)) {
            p->stopped = p->d.stop = true;
        }
    }
}

static void on_synced(void *opaque)
{
    LinesPass *p = opaque;

    end_stretch(p);
    p->d.stop |= p->stretch >= p->hi;
}

static void on_loss(void *opaque, const TraceLoss *loss)
{
}

static const TraceConsumer lines_consumer = {
    .flow = {
        .runs = on_runs,
    },
    .access = on_access,
    .loss = on_loss,
    .synced = on_synced,
};

/* Make the filters of segments [first, behind). */
static ReplayFound make_filters(ReplayStates *s, uint64_t first,
                                uint64_t behind, ReplayPollFn *poll,
                                void *opaque)
{
    g_autofree LinesPass *p = g_new0(LinesPass, 1);
    const ReplayPoint *point = replay_last_point(s->r,
                                                 first * s->lines->segment);
    TraceStart start = {
        .point = point ? &point->at : NULL,
        .advanced = (const uint64_t *)s->r->advanced->data,
    };
    bool ok;

    p->s = s;
    p->first = first;
    p->behind = behind;
    p->hi = MIN(behind * s->lines->segment, replay_length(s->r));
    p->poll = poll;
    p->opaque = opaque;
    p->pos = p->polled = point ? point->insns : 0;
    p->stretch = p->pos;
    for (uint64_t k = first; k < behind; k++) {
        s->lines->filters[k] = g_new0(uint64_t, FILTER_WORDS);
    }
    ok = trace_decode_from(&p->d, s->r->t, s->r->hart, point ? &start : NULL,
                           &lines_consumer, p);
    end_stretch(p);
    if (ok && !p->stopped && p->pos >= p->hi) {
        return REPLAY_FOUND;
    }
    for (uint64_t k = first; k < behind; k++) {
        g_clear_pointer(&s->lines->filters[k], g_free);
    }
    return p->stopped ? REPLAY_STOPPED : REPLAY_FAILED;
}

/* Make the filter of segment @k, and of others on the way. */
static ReplayFound need_filter(ReplayStates *s, uint64_t k, bool back,
                               ReplayPollFn *poll, void *opaque)
{
    const ReplayLines *l = s->lines;
    uint64_t first = k, behind = k + 1;

    if (l->filters[k]) {
        return REPLAY_FOUND;
    }
    while (back && first && !l->filters[first - 1] && behind - first < BATCH) {
        first--;
    }
    while (!back && behind < l->count && !l->filters[behind] &&
           behind - first < BATCH) {
        behind++;
    }
    return make_filters(s, first, behind, poll, opaque);
}

/* May something in a segment with this filter have accessed what is watched? */
static bool filter_hits(const uint64_t *filter, const ReplayWatch *watches,
                        unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t line = watches[i].addr >> LINE_BITS;
        uint64_t lines = ((watches[i].addr + watches[i].len - 1) >> LINE_BITS) -
                         line;

        for (uint64_t k = 0; watches[i].len && k <= lines; k++) {
            unsigned bit = filter_bit(line + k);

            if (k == 1u << FILTER_BITS || (filter[bit / 64] >> bit % 64 & 1)) {
                return true;
            }
        }
    }
    return false;
}

ReplayFound replay_lines_find(ReplayStates *s, uint64_t from, uint64_t end,
                              bool back, const ReplayWatch *watches, unsigned n,
                              ReplayPollFn *poll, void *opaque, uint64_t *lo,
                              uint64_t *hi)
{
    const ReplayLines *l;

    if (!s->lines) {
        s->lines = lines_new(replay_length(s->r));
    }
    l = s->lines;
    while (back ? from > end : from < end) {
        uint64_t k = (back ? from - 1 : from) / l->segment;
        ReplayFound found = need_filter(s, k, back, poll, opaque);

        if (found != REPLAY_FOUND) {
            return found;
        }
        *lo = MAX(k * l->segment, back ? end : from);
        *hi = MIN((k + 1) * l->segment, back ? from : end);
        if (filter_hits(l->filters[k], watches, n)) {
            return REPLAY_FOUND;
        }
        from = back ? *lo : *hi;
    }
    return REPLAY_NOT_FOUND;
}
