/*
 * gdb's target: harts that go on together
 *
 * A search is about one hart. If the others go on meanwhile, they are put where
 * they were when it stopped, as far as the times in the trace say: only when
 * somebody asks, because gdb takes many steps that nobody looks at.
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
    h->at = h->follows == GDB_FOLLOWS_BACK ? MIN(h->at, there)
                                           : MAX(h->at, there);
    h->follows = GDB_FOLLOWS_NOT;
}

GdbHart *gdb_hart_at(GdbTarget *g, unsigned hart)
{
    catch_up(&g->harts[hart]);
    return &g->harts[hart];
}

void gdb_others_go_on(GdbTarget *g, unsigned hart, bool back)
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
    }
}
