/*
 * Tasks that go on at another hart, as the sideband stream says
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "code/sideband-private.h"

/* Where a task was last */
typedef struct Place {
    unsigned hart;
    unsigned resets;        /* of the hart, until then */
    uint64_t left;          /* SidebandMove.left; 0: it is still there */
} Place;

typedef struct Scan {
    GArray *moves;          /* SidebandMove */
    GHashTable *places;     /* tid -> Place */
    uint32_t *now;          /* by hart: the tid of the task there; or 0 */
    unsigned *resets;       /* by hart: how many there were */
} Scan;

/* What a hart ran before it was reset is gone. */
static bool is_gone(const Scan *s, const Place *p)
{
    return p->resets != s->resets[p->hart];
}

/* @at: @hart goes on with another task. */
static void switch_task(Scan *s, unsigned hart, uint32_t tid, uint64_t at)
{
    Place *old = g_hash_table_lookup(s->places,
                                     GUINT_TO_POINTER(s->now[hart]));
    Place *p = g_hash_table_lookup(s->places, GUINT_TO_POINTER(tid));

    if (old && old->hart == hart) {
        old->left = at;
    }
    s->now[hart] = tid;
    if (!tid) {
        return;
    }
    if (!p) {
        p = g_new0(Place, 1);
        g_hash_table_insert(s->places, GUINT_TO_POINTER(tid), p);
    } else if (p->hart != hart && !is_gone(s, p)) {
        SidebandMove move = {
            .from = p->hart,
            .to = hart,
            .tid = tid,
            .left = p->left,
            .came = at,
        };

        g_array_append_val(s->moves, move);
    }
    *p = (Place) { .hart = hart, .resets = s->resets[hart] };
}

static void scan(Scan *s, const Sideband *sb, unsigned part, unsigned nr_harts)
{
    size_t pos = sb->begin;
    SidebandRecord rec;

    while (sideband_next(sb->data, sb->end, &pos, &rec)) {
        ETraceSbTask task;

        if (rec.hart >= nr_harts || !sideband_record_valid(sb, &rec)) {
            continue;
        }
        if (rec.type == ETRACE_SB_RESET) {
            s->resets[rec.hart]++;
            s->now[rec.hart] = 0;
        } else if (rec.type == ETRACE_SB_TASK) {
            etrace_sb_unpack_task(rec.payload, rec.len, &task);
            if (task.tid != s->now[rec.hart]) {
                switch_task(s, rec.hart, task.tid,
                            sideband_in_part(part, rec.pos));
            }
        }
    }
}

GArray *sideband_moves(const Sideband *const *parts, unsigned n,
                       unsigned nr_harts)
{
    g_autofree uint32_t *now = g_new0(uint32_t, nr_harts);
    g_autofree unsigned *resets = g_new0(unsigned, nr_harts);
    Scan s = {
        .moves = g_array_new(false, false, sizeof(SidebandMove)),
        .places = g_hash_table_new_full(NULL, NULL, NULL, g_free),
        .now = now,
        .resets = resets,
    };

    for (unsigned i = 0; i < n; i++) {
        if (parts[i]) {
            scan(&s, parts[i], i, nr_harts);
        }
    }
    g_hash_table_unref(s.places);
    return s.moves;
}
