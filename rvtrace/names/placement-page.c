/*
 * Placement: what a page held, and since when
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "names/placement-private.h"

/* Pages that are compared before files are let go */
#define PAGES_AT_ONCE   1024

void placement_next_page(const Placement *p, guint i)
{
    for (guint k = 0; i % PAGES_AT_ONCE == 0 && k < p->objects->len; k++) {
        object_let_go(p->objects->pdata[k]);
    }
}

uint64_t placement_which_match(const SeenPage *page, const SeenPiece *piece)
{
    uint64_t match = 0;

    for (guint i = 0; i < page->candidates->len; i++) {
        const Candidate *c = &g_array_index(page->candidates, Candidate, i);
        size_t compared;

        if (object_matches(c->object, c->addr + piece->off, piece->bytes,
                           piece->len, &compared)) {
            match |= 1ull << i;
        }
    }
    return match;
}

/* Pieces that are looked at to see what comes after one */
#define AHEAD   64

/*
 * Bytes that one has more than the other, and that decide: what comes behind
 * them may be what the page was filled with later
 */
#define DECISIVE    64

/* Does one of @a have more of the pieces from @first on than each of @b? */
static bool has_more(const SeenPage *page, const uint64_t *matches,
                     guint first, uint64_t a, uint64_t b)
{
    guint last = MIN(page->pieces->len, first + AHEAD);
    unsigned bytes[MAX_CANDIDATES] = { 0 }, most_a = 0, most_b = 0;

    for (guint i = first; i < last; i++) {
        for (uint64_t set = matches[i] & (a | b); set; set &= set - 1) {
            unsigned c = __builtin_ctzll(set);
            unsigned *most = a >> c & 1 ? &most_a : &most_b;

            bytes[c] += g_array_index(page->pieces, SeenPiece, i).len;
            *most = MAX(*most, bytes[c]);
        }
        if (MAX(most_a, most_b) - MIN(most_a, most_b) >= DECISIVE) {
            break;
        }
    }
    return most_a > most_b;
}

/*
 * What the page held, and since when. A piece that no candidate has says
 * nothing: the kernel patches itself, and not every program is known. One that
 * only others have shows that the page was filled anew, if what follows agrees:
 * short pieces are in many files.
 */
void placement_decide_page(SeenPage *page)
{
    g_autofree uint64_t *matches = g_new(uint64_t, page->pieces->len);
    Holding now = { .candidates = UINT64_MAX };

    if (!page->candidates->len) {
        return;
    }
    if (page->candidates->len < MAX_CANDIDATES) {
        now.candidates = (1ull << page->candidates->len) - 1;
    }
    for (guint i = 0; i < page->pieces->len; i++) {
        matches[i] = placement_which_match(
            page, &g_array_index(page->pieces, SeenPiece, i));
    }
    for (guint i = 0; i < page->pieces->len; i++) {
        uint64_t both = now.candidates & matches[i];
        uint64_t lost = now.candidates & ~matches[i];

        if (!matches[i] || !lost ||
            has_more(page, matches, i, lost, both ? both : matches[i])) {
            continue;
        }
        if (!both) {
            g_array_append_val(page->holdings, now);
            now = (Holding) {
                .pos = g_array_index(page->pieces, SeenPiece, i).pos,
                .candidates = matches[i],
            };
        } else {
            now.candidates = both;
        }
    }
    g_array_append_val(page->holdings, now);
}

const Holding *placement_holding(const SeenPage *page, size_t pos)
{
    guint i = page->holdings->len;

    while (i > 1 && g_array_index(page->holdings, Holding, i - 1).pos >= pos) {
        i--;
    }
    return i ? &g_array_index(page->holdings, Holding, i - 1) : NULL;
}

/* How many elements of @array, which begin with their place, are up to @pos? */
static guint nr_up_to(const GArray *array, size_t pos)
{
    unsigned size = g_array_get_element_size((GArray *)array);
    guint lo = 0, hi = array->len;

    while (lo < hi) {
        guint mid = lo + (hi - lo) / 2;

        if (*(const size_t *)(array->data + (size_t)mid * size) <= pos) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

const Holding *placement_mapped(const SeenPage *page, guint i)
{
    size_t pos = g_array_index(page->maps, SeenMap, i).pos;
    size_t next = i + 1 < page->maps->len ?
                  g_array_index(page->maps, SeenMap, i + 1).pos : SIZE_MAX;
    guint piece = nr_up_to(page->pieces, pos);

    /* Pages are often mapped before anything of them runs. */
    if (piece < page->pieces->len) {
        size_t ran = g_array_index(page->pieces, SeenPiece, piece).pos;

        pos = ran < next ? ran : pos;
    }
    return placement_holding(page, pos + 1);
}

const Holding *placement_at(const SeenPage *page, const SidebandWhere *where,
                            uint64_t vaddr, bool *ahead)
{
    const Holding *now = placement_holding(page, where->pos), *next;
    guint i = where->pos ? nr_up_to(page->maps, where->pos - 1) : 0;
    const SeenMap *map;

    *ahead = false;
    if (!now || !i) {
        return now;
    }
    map = &g_array_index(page->maps, SeenMap, i - 1);
    if (map->vpage != vaddr >> CODE_PAGE_BITS ||
        !placement_space_equal(&map->space, &where->space)) {
        return now;
    }
    next = placement_mapped(page, i - 1);
    *ahead = next > now;
    return *ahead ? next : now;
}

static uint64_t map_key(const SidebandSpace *space, uint64_t vpage)
{
    uint64_t h = placement_mix(placement_mix(vpage, space->virt), space->atp);

    return placement_mix(h, space->gatp);
}

static gint compare_maps(gconstpointer a, gconstpointer b)
{
    const MapOfPage *x = a, *y = b;

    return x->key != y->key ? (x->key < y->key ? -1 : 1) :
           x->pos < y->pos ? -1 : x->pos > y->pos;
}

void placement_sort_maps(Placement *p)
{
    for (guint i = 0; i < p->pages->len; i++) {
        const SeenPage *page = p->pages->pdata[i];

        for (guint k = 0; k < page->maps->len; k++) {
            const SeenMap *map = &g_array_index(page->maps, SeenMap, k);
            MapOfPage m = {
                .key = map_key(&map->space, map->vpage),
                .pos = map->pos,
                .page = page,
                .number = k,
            };

            g_array_append_val(p->maps, m);
        }
    }
    g_array_sort(p->maps, compare_maps);
}

const Holding *placement_next(const Placement *p, const SidebandWhere *where,
                              uint64_t vaddr, const SeenPage **page)
{
    MapOfPage wanted = {
        .key = map_key(&where->space, vaddr >> CODE_PAGE_BITS),
        .pos = where->pos,
    };
    guint lo = 0, hi = p->maps->len;
    const MapOfPage *m;

    while (lo < hi) {
        guint mid = lo + (hi - lo) / 2;

        if (compare_maps(&g_array_index(p->maps, MapOfPage, mid),
                         &wanted) < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    m = &g_array_index(p->maps, MapOfPage, lo);
    if (lo == p->maps->len || m->key != wanted.key) {
        return NULL;
    }
    *page = m->page;
    return placement_mapped(m->page, m->number);
}
