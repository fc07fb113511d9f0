/*
 * Placement: look for objects' bytes in what ran
 *
 * What ran is little, objects may be many and large. So windows of eight
 * bytes of what ran are put into a table, and objects are run through it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "names/placement-private.h"

#define WINDOW      8
#define FILTER_BITS 22

/* Windows that so many pages have in the same place say nothing. */
#define MAX_SAME    32

/* A window of what ran */
typedef struct Needle {
    uint64_t bytes;
    SeenPage *page;
    unsigned piece;             /* index */
    uint16_t off;               /* in the page */
    unsigned next;              /* index of one with the same bytes, + 1 */
} Needle;

struct NeedleTable {
    GArray *needles;            /* Needle */
    GHashTable *first;          /* bytes -> index + 1 */
    uint64_t filter[(1u << FILTER_BITS) / 64];
};

static uint64_t load(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static unsigned filter_bit(uint64_t bytes)
{
    return bytes * 0x9e3779b97f4a7c15ull >> (64 - FILTER_BITS);
}

static void add_needle(NeedleTable *t, SeenPage *page, unsigned piece,
                       uint16_t off, const uint8_t *bytes)
{
    Needle n = {
        .bytes = load(bytes),
        .page = page,
        .piece = piece,
        .off = off,
    };
    unsigned bit = filter_bit(n.bytes), same = 0;
    gint64 key = n.bytes;
    gint64 *kept;

    n.next = GPOINTER_TO_UINT(g_hash_table_lookup(t->first, &key));
    for (unsigned i = n.next; i; ) {
        const Needle *other = &g_array_index(t->needles, Needle, i - 1);

        if (other->off == off && (other->page == page ||
                                  ++same >= MAX_SAME)) {
            return;
        }
        i = other->next;
    }
    t->filter[bit / 64] |= 1ull << (bit % 64);
    g_array_append_val(t->needles, n);
    kept = g_new(gint64, 1);
    *kept = key;
    g_hash_table_replace(t->first, kept, GUINT_TO_POINTER(t->needles->len));
}

NeedleTable *needles_new(const Placement *p)
{
    NeedleTable *t = g_new0(NeedleTable, 1);

    t->needles = g_array_new(false, false, sizeof(Needle));
    t->first = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                     NULL);
    for (guint i = 0; i < p->pages->len; i++) {
        SeenPage *page = p->pages->pdata[i];

        for (guint k = 0; k < page->pieces->len; k++) {
            const SeenPiece *s = &g_array_index(page->pieces, SeenPiece, k);
            unsigned off = ROUND_UP(s->off, WINDOW);

            for (; off + WINDOW <= s->off + s->len; off += WINDOW) {
                add_needle(t, page, k, off, s->bytes + (off - s->off));
            }
        }
    }
    return t;
}

void needles_free(NeedleTable *t)
{
    g_array_unref(t->needles);
    g_hash_table_unref(t->first);
    g_free(t);
}

/* Is the page of @object at @addr one of those that may be in @page? */
static bool is_candidate(const SeenPage *page, const Object *object,
                         uint64_t addr)
{
    for (guint i = 0; i < page->candidates->len; i++) {
        const Candidate *c = &g_array_index(page->candidates, Candidate, i);

        if (c->object == object && c->addr == addr) {
            return true;
        }
    }
    return false;
}

/*
 * Candidates that a page may have before another one like @c. Thousands of
 * modules must not take the room of what is tried later, nor those that are
 * unlikely, as they do not begin where the loader puts them, that of others.
 */
static unsigned room(const Candidate *c)
{
    return c->object->kind != OBJECT_MODULE ? MAX_CANDIDATES :
           c->addr % CODE_PAGE_SIZE ? MAX_CANDIDATES / 4 :
           MAX_CANDIDATES * 3 / 4;
}

/* @object has a needle's bytes at @addr. Returns true if that is news. */
static bool try_needle(const Needle *n, const Object *object, uint64_t addr)
{
    const SeenPiece *s = &g_array_index(n->page->pieces, SeenPiece, n->piece);
    Candidate c = { .object = object, .addr = addr - n->off };
    size_t compared;

    /* Only modules lie elsewhere in their pages than in their file. */
    if ((c.addr % CODE_PAGE_SIZE && object->kind != OBJECT_MODULE) ||
        n->page->candidates->len >= room(&c) ||
        is_candidate(n->page, object, c.addr) ||
        !object_matches(object, c.addr + s->off, s->bytes, s->len,
                        &compared) ||
        compared < (object->kind == OBJECT_MODULE ? MODULE_BYTES : 1)) {
        return false;
    }
    g_array_append_val(n->page->candidates, c);
    return true;
}

static unsigned try_window(const NeedleTable *t, const Object *object,
                           uint64_t addr, const uint8_t *bytes)
{
    uint64_t window = load(bytes);
    unsigned bit = filter_bit(window), found = 0, i;
    gint64 key = window;

    if (!(t->filter[bit / 64] >> (bit % 64) & 1)) {
        return 0;
    }
    i = GPOINTER_TO_UINT(g_hash_table_lookup(t->first, &key));
    while (i) {
        const Needle *n = &g_array_index(t->needles, Needle, i - 1);

        found += try_needle(n, object, addr);
        i = n->next;
    }
    return found;
}

unsigned placement_try(Placement *p, const Object *object)
{
    bool module = object->kind == OBJECT_MODULE;
    unsigned step = module ? 2 : WINDOW, found = 0;

    p->nr_modules += module;
    for (guint i = 0; i < object->code->len; i++) {
        const ObjectCode *c = &g_array_index(object->code, ObjectCode, i);
        uint64_t off = -c->addr % step;

        for (; off + WINDOW <= c->size; off += step) {
            found += try_window(p->needles, object, c->addr + off,
                                c->bytes + off);
        }
    }
    return found;
}
