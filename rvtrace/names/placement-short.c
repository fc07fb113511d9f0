/*
 * Placement: pages of which only a few bytes ran
 *
 * Files are searched for eight bytes and more; fewer are in too many of them.
 * But where the rest of a program lies is known then, and so what should be in
 * such a page: if those are its bytes, it is the program's.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "names/placement-private.h"

/* Objects of a space that are tried, at most */
#define MAX_NEAR    64

/* SidebandSpace -> GPtrArray of the Votes of it */
static GHashTable *votes_by_space(const Placement *p)
{
    GHashTable *spaces = g_hash_table_new_full(
        placement_space_hash, placement_space_equal, NULL,
        (GDestroyNotify)g_ptr_array_unref);
    GHashTableIter iter;
    gpointer key;

    g_hash_table_iter_init(&iter, p->votes);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        Vote *v = key;
        GPtrArray *votes = g_hash_table_lookup(spaces, &v->space);

        if (!votes) {
            votes = g_ptr_array_new();
            g_hash_table_insert(spaces, &v->space, votes);
        }
        g_ptr_array_add(votes, v);
    }
    return spaces;
}

/* Most pages first, then in an order that is always the same */
static gint compare_votes(gconstpointer a, gconstpointer b)
{
    const Vote *x = *(Vote *const *)a, *y = *(Vote *const *)b;

    return x->pages != y->pages ? (x->pages > y->pages ? -1 : 1) :
           x->object->id != y->object->id ?
           (x->object->id < y->object->id ? -1 : 1) :
           x->bias < y->bias ? -1 : x->bias > y->bias;
}

/* Has the object all that ran of the page? */
static bool has_all(const SeenPage *page, const Candidate *c)
{
    size_t all = 0;

    for (guint i = 0; i < page->pieces->len; i++) {
        const SeenPiece *s = &g_array_index(page->pieces, SeenPiece, i);
        size_t compared;

        if (!object_matches(c->object, c->addr + s->off, s->bytes, s->len,
                            &compared)) {
            return false;
        }
        all += compared;
    }
    return all;
}

static bool is_candidate(const SeenPage *page, const Candidate *c)
{
    for (guint i = 0; i < page->candidates->len; i++) {
        const Candidate *other = &g_array_index(page->candidates, Candidate,
                                                i);

        if (other->object == c->object && other->addr == c->addr) {
            return true;
        }
    }
    return false;
}

static void try_map(SeenPage *page, const SeenMap *map, GPtrArray *votes)
{
    for (guint i = 0; i < MIN(votes->len, MAX_NEAR); i++) {
        const Vote *v = votes->pdata[i];
        Candidate c = {
            .object = v->object,
            .addr = (map->vpage << CODE_PAGE_BITS) - v->bias,
        };

        if (page->candidates->len < MAX_CANDIDATES &&
            !is_candidate(page, &c) && has_all(page, &c)) {
            g_array_append_val(page->candidates, c);
        }
    }
}

void placement_short_pages(Placement *p)
{
    g_autoptr(GHashTable) spaces = votes_by_space(p);
    GHashTableIter iter;
    gpointer votes;

    g_hash_table_iter_init(&iter, spaces);
    while (g_hash_table_iter_next(&iter, NULL, &votes)) {
        g_ptr_array_sort(votes, compare_votes);
    }
    for (guint i = 0; i < p->pages->len; i++) {
        SeenPage *page = p->pages->pdata[i];

        if (page->candidates->len || !page->pieces->len) {
            continue;
        }
        for (guint k = 0; k < page->maps->len; k++) {
            const SeenMap *map = &g_array_index(page->maps, SeenMap, k);
            GPtrArray *near = g_hash_table_lookup(spaces, &map->space);

            if (near) {
                try_map(page, map, near);
            }
        }
        placement_decide_page(page);
    }
}
