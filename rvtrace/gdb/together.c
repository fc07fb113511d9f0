/*
 * gdb's target: harts that go on together
 *
 * A search for breakpoints is about one hart. If the others go on meanwhile, they
 * are put where they were when it stopped, as far as the times in the trace say:
 * only when somebody asks, because gdb takes many steps that nobody looks at.
 * Memory that is watched may be accessed by any of them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/target-private.h"

/* Where hart @h was when others stopped, if it went on until then */
static void catch_up(GdbHart *h)
{
    uint64_t there;

    if (h->follows == GDB_FOLLOWS_NOT) {
        return;
    }
    there = replay_place_at(h->replay, h->until_ns);
    /* Times are estimates: a hart never goes the other way. */
    h->at = h->follows == GDB_FOLLOWS_BACK ?
            MIN(h->at, MAX(there, h->bound)) :
            MAX(h->at, MIN(there, h->bound));
    h->follows = GDB_FOLLOWS_NOT;
}

GdbHart *gdb_hart_at(GdbTarget *g, unsigned hart)
{
    catch_up(&g->harts[hart]);
    return &g->harts[hart];
}

void gdb_others_go_on(GdbTarget *g, unsigned hart, bool back,
                      const uint64_t *bounds)
{
    GdbFollows way = back ? GDB_FOLLOWS_BACK : GDB_FOLLOWS_FORTH;
    const GdbHart *leader = &g->harts[hart];
    uint64_t ns;

    if (!replay_has_time(leader->replay) ||
        !replay_time(leader->replay, leader->at, &ns)) {
        return;
    }
    for (unsigned i = 0; i < g->nr_harts; i++) {
        GdbHart *h = &g->harts[i];

        if (i == hart || !h->replay || !replay_has_time(h->replay)) {
            continue;
        }
        if (h->follows != way) {
            catch_up(h);
        }
        h->follows = way;
        h->until_ns = ns;
        h->bound = bounds ? bounds[i] : back ? 0 : UINT64_MAX;
    }
}

/*
 * A search for accesses takes pieces, of so many instructions of the hart that
 * leads at first, and then of more: what another one does may be near.
 */
#define PIECE_MIN       (1u << 20)
#define PIECE_MAX       (1u << 28)

/* A search; the places that harts have come to are in the bounds. */
typedef struct Search {
    GdbTarget *g;
    bool back;
    unsigned space;
    uint64_t *bounds;
    bool *strays;           /* accesses of the hart were passed over */
} Search;

/* Of hart @hart from its bound to @end: does the access come before @best? */
static ReplayFound search_hart(const Search *s, unsigned hart, uint64_t end,
                               GdbPlace *best)
{
    GdbTarget *g = s->g;
    GdbHart *h = &g->harts[hart];
    GdbPlace place = { .hart = hart, .found = true };
    uint64_t access, ns, best_ns;
    ReplayFound found;
    bool strays;

    if (s->back ? end >= s->bounds[hart] : end <= s->bounds[hart]) {
        return REPLAY_NOT_FOUND;
    }
    found = replay_find_access(h->states, s->bounds[hart], end, s->back,
                               (const ReplayWatch *)g->watches->data,
                               g->watches->len, s->space, g->ops->poll,
                               g->opaque, &access, &place.watched, &strays);
    s->strays[hart] |= strays;
    s->bounds[hart] = end;
    if (found != REPLAY_FOUND) {
        return found;
    }
    place.at = s->bounds[hart] = s->back ? access + 1 : access;
    if (!best->found) {
        *best = place;
    } else if (replay_time(h->replay, access, &ns) &&
               replay_time(g->harts[best->hart].replay,
                           s->back ? best->at - 1 : best->at, &best_ns) &&
               (s->back ? ns > best_ns : ns < best_ns)) {
        *best = place;
    }
    return found;
}

/* Where hart @hart is when the leader is at @at; @end: that is its end */
static uint64_t place_beside(const Search *s, unsigned hart, unsigned leader,
                             uint64_t at, bool end)
{
    const GdbHart *h = &s->g->harts[hart];
    uint64_t ns;

    if (end) {
        return s->back ? 0 : replay_length(h->replay);
    }
    return replay_time(s->g->harts[leader].replay, at, &ns) ?
           replay_place_at(h->replay, ns) : s->bounds[hart];
}

static bool takes_part(const GdbTarget *g, unsigned hart, unsigned leader,
                       bool all)
{
    const GdbHart *h = &g->harts[hart];

    return hart != leader && all && h->states && replay_has_time(h->replay) &&
           replay_has_time(g->harts[leader].replay);
}

/* Search all that take part up to where the leader is at @at, @last: its end. */
static ReplayFound search_all(const Search *s, unsigned leader, bool all,
                              uint64_t at, bool last, GdbPlace *best)
{
    GdbTarget *g = s->g;
    ReplayFound found = REPLAY_NOT_FOUND;

    for (unsigned i = 0; i < g->nr_harts; i++) {
        bool other = takes_part(g, i, leader, all);

        if (other || (i == leader && g->harts[i].states)) {
            found = search_hart(s, i, other ?
                                place_beside(s, i, leader, at, last) : at,
                                best);
        }
        if (found != REPLAY_FOUND && found != REPLAY_NOT_FOUND) {
            return found;
        }
    }
    return best->found ? REPLAY_FOUND : REPLAY_NOT_FOUND;
}

static void say_strays(const Search *s)
{
    for (unsigned i = 0; i < s->g->nr_harts; i++) {
        g_autofree char *text = NULL;

        if (!s->strays[i]) {
            continue;
        }
        text = g_strdup_printf(
            "[hart %u: accesses to what is watched are passed over: it is not "
            "known which instructions made them]\n",
            replay_hart(s->g->harts[i].replay));
        gdb_say(s->g, text);
    }
}

ReplayFound gdb_find_access(GdbTarget *g, GdbPlace *stop, bool back, bool all,
                            uint64_t *bounds)
{
    unsigned leader = stop->hart;
    const GdbHart *h = &g->harts[leader];
    uint64_t at = h->at, end = stop->at;
    bool at_end = end == (back ? 0 : replay_length(h->replay) - 1), last;
    g_autofree bool *strays = g_new0(bool, g->nr_harts);
    Search s = {
        .g = g, .back = back, .bounds = bounds, .strays = strays,
    };
    GdbPlace best = { .found = false };
    ReplayFound found;

    for (unsigned i = 0; i < g->nr_harts; i++) {
        bounds[i] = i == leader ? at :
                    g->watches->len && takes_part(g, i, leader, all) ?
                    gdb_hart_at(g, i)->at : back ? 0 : UINT64_MAX;
    }
    if (!g->watches->len) {
        return REPLAY_NOT_FOUND;
    }
    if (h->states) {
        s.space = replay_watch_space(h->states, at);
    }
    for (uint64_t size = PIECE_MIN;; size = MIN(size * 2, PIECE_MAX)) {
        uint64_t left = back ? at - end : end - at;

        last = left <= size;
        at = last ? end : back ? at - size : at + size;
        found = search_all(&s, leader, all, at, last && at_end, &best);
        if (last || found != REPLAY_NOT_FOUND) {
            break;
        }
    }
    say_strays(&s);
    if (found == REPLAY_FOUND) {
        *stop = best;
    }
    if (found == REPLAY_FOUND && best.hart != leader &&
        bounds[leader] == end && end != h->at) {
        /* The leader comes to a breakpoint there later, not now. */
        bounds[leader] = back ? end + 1 : end - 1;
    }
    return found;
}
