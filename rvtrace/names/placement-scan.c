/*
 * Placement: look for objects' bytes in what ran
 *
 * What ran is little, objects may be many and large. So windows of eight
 * bytes of what ran are put into a table, and objects are run through it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/element-index.h"
#include "names/placement-private.h"

#define WINDOW      8

/* Of so many bits of the filter one is set, at most: few windows pass it. */
#define FILTER_SPARSE   16
#define MIN_FILTER_BITS 12
#define MAX_FILTER_BITS 28

/*
 * Windows that so many pages have in the same place say nothing, or where any
 * place will do, anywhere.
 */
#define MAX_SAME    32

/* A window of what ran */
typedef struct Needle {
    uint64_t key;               /* its bytes, and maybe its place in the page */
    SeenPage *page;
    unsigned piece;             /* index */
    unsigned next;              /* index of one with the same key, or 0 */
    uint16_t off;               /* in the page */
} Needle;

struct NeedleTable {
    bool anywhere;              /* objects may lie anywhere in a page */
    GArray *needles;            /* Needle; 0 is none */
    ElementIndex first;         /* of those with the same key */
    unsigned filter_bits;
    uint64_t *filter;
};

static uint64_t load(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static uint64_t mix(uint64_t key)
{
    return key * 0x9e3779b97f4a7c15ull;
}

/* The key of @bytes at @off in a page. Some bytes are all over the place. */
static uint64_t key_of(const NeedleTable *t, const uint8_t *bytes,
                       uint64_t off)
{
    return t->anywhere ? load(bytes) :
           load(bytes) ^ (off & CODE_PAGE_MASK) * 0xc2b2ae3d27d4eb4full;
}

static uint64_t filter_bit(const NeedleTable *t, uint64_t key)
{
    return mix(key) >> (64 - t->filter_bits);
}

/* The index takes other bits than the filter, which all have in common. */
static uint32_t index_hash(uint64_t key)
{
    return mix(mix(key) >> 32 ^ key) >> 32;
}

static bool needle_equal(const void *a, const void *b)
{
    const Needle *x = a, *y = b;

    return x->key == y->key;
}

static Needle *get_needle(const NeedleTable *t, unsigned i)
{
    return &g_array_index(t->needles, Needle, i);
}

static void add_needle(NeedleTable *t, SeenPage *page, unsigned piece,
                       uint16_t off, const uint8_t *bytes)
{
    Needle n = {
        .key = key_of(t, bytes, off),
        .page = page,
        .piece = piece,
        .off = off,
    };
    uint64_t bit = filter_bit(t, n.key);
    unsigned number = t->needles->len, same = 0;
    unsigned first = element_index_intern(&t->first, t->needles,
                                          index_hash(n.key), needle_equal,
                                          &n);

    if (first == number) {
        t->filter[bit / 64] |= 1ull << (bit % 64);
        return;
    }
    for (unsigned i = first; i; i = get_needle(t, i)->next) {
        const Needle *other = get_needle(t, i);

        if (other->off == off && other->page == page) {
            return;
        }
        same += t->anywhere || other->off == off;
        if (same >= MAX_SAME) {
            return;
        }
    }
    n.next = get_needle(t, first)->next;
    g_array_append_val(t->needles, n);
    get_needle(t, first)->next = number;
}

/* An empty table; its filter suits @bytes bytes of code. */
static NeedleTable *table_new(uint64_t bytes, bool anywhere)
{
    NeedleTable *t = g_new0(NeedleTable, 1);
    Needle none = { 0 };

    t->anywhere = anywhere;
    t->needles = g_array_new(false, false, sizeof(Needle));
    g_array_append_val(t->needles, none);
    t->filter_bits = CLAMP(g_bit_storage(bytes / WINDOW * FILTER_SPARSE),
                           MIN_FILTER_BITS, MAX_FILTER_BITS);
    t->filter = g_new0(uint64_t, (1ull << t->filter_bits) / 64);
    return t;
}

static void add_piece(NeedleTable *t, SeenPage *page, unsigned piece)
{
    const SeenPiece *s = &g_array_index(page->pieces, SeenPiece, piece);
    unsigned off = ROUND_UP(s->off, WINDOW);

    for (; off + WINDOW <= s->off + s->len; off += WINDOW) {
        add_needle(t, page, piece, off, s->bytes + (off - s->off));
    }
}

/* Is the piece one that files are to be searched for? */
typedef bool NeedleWanted(const SeenPage *page, const SeenPiece *piece);

/* Add what is wanted to @t, or if that is NULL count it: returns bytes. */
static uint64_t for_wanted(const Placement *p, NeedleWanted *wanted,
                           NeedleTable *t)
{
    uint64_t bytes = 0;

    for (guint i = 0; i < p->pages->len; i++) {
        SeenPage *page = p->pages->pdata[i];

        placement_next_page(p, i);
        for (guint k = 0; k < page->pieces->len; k++) {
            const SeenPiece *s = &g_array_index(page->pieces, SeenPiece, k);

            if (wanted && !wanted(page, s)) {
                continue;
            }
            bytes += s->len;
            if (t) {
                add_piece(t, page, k);
            }
        }
    }
    return bytes;
}

static NeedleTable *needles_make(const Placement *p, NeedleWanted *wanted,
                                 bool anywhere)
{
    NeedleTable *t = table_new(for_wanted(p, wanted, NULL), anywhere);

    for_wanted(p, wanted, t);
    return t;
}

NeedleTable *needles_new(const Placement *p)
{
    return needles_make(p, NULL, false);
}

void needles_free(NeedleTable *t)
{
    g_array_unref(t->needles);
    element_index_clear(&t->first);
    g_free(t->filter);
    g_free(t);
}

/* Has it been mapped where kernels are: a 64-bit one's, or a 32-bit one's? */
static bool is_kernels(const SeenPage *page)
{
    for (guint i = 0; i < page->maps->len; i++) {
        uint64_t vaddr = g_array_index(page->maps, SeenMap, i).vpage <<
                         CODE_PAGE_BITS;

        if (vaddr >> 63 || vaddr >> 31 == 1) {
            return true;
        }
    }
    return false;
}

static bool is_unexplained(const SeenPage *page, const SeenPiece *piece)
{
    return !placement_which_match(page, piece);
}

static bool is_kernels_unexplained(const SeenPage *page,
                                   const SeenPiece *piece)
{
    return is_kernels(page) && is_unexplained(page, piece);
}

/* Instructions of the kernel itself that it has changed are no module's. */
static bool has_kernel(const SeenPage *page)
{
    for (guint i = 0; i < page->candidates->len; i++) {
        const Candidate *c = &g_array_index(page->candidates, Candidate, i);

        if (c->object->kind == OBJECT_KERNEL) {
            return true;
        }
    }
    return false;
}

/* Did enough of it run to be looked for in modules, in no file so far? */
static bool may_be_module(const SeenPage *page)
{
    unsigned bytes = 0;

    if (has_kernel(page)) {
        return false;
    }
    for (guint i = 0; i < page->pieces->len; i++) {
        const SeenPiece *s = &g_array_index(page->pieces, SeenPiece, i);

        bytes += is_unexplained(page, s) ? s->len : 0;
    }
    return bytes >= MODULE_BYTES;
}

bool placement_begin_modules(Placement *p)
{
    bool mapped = false, wanted = false;

    for (guint i = 0; i < p->pages->len; i++) {
        const SeenPage *page = p->pages->pdata[i];

        placement_next_page(p, i);
        mapped |= page->maps->len != 0;
        wanted |= is_kernels(page) && may_be_module(page);
    }
    placement_end_modules(p);
    if (wanted) {
        p->module_needles = needles_make(p, is_kernels_unexplained, true);
    }
    return wanted || !mapped;
}

void placement_end_modules(Placement *p)
{
    g_clear_pointer(&p->module_needles, needles_free);
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

/* @object has a needle's bytes at @addr. If that is news, add to @pages. */
static void try_needle(const Needle *n, const Object *object, uint64_t addr,
                       GPtrArray *pages)
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
        return;
    }
    g_array_append_val(n->page->candidates, c);
    g_ptr_array_add(pages, n->page);
}

static void try_window(const NeedleTable *t, const Object *object,
                       uint64_t addr, const uint8_t *bytes,
                       GPtrArray *pages)
{
    Needle like = { .key = key_of(t, bytes, addr) };
    uint64_t bit = filter_bit(t, like.key);
    int64_t i;

    if (!(t->filter[bit / 64] >> (bit % 64) & 1)) {
        return;
    }
    i = element_index_find(&t->first, t->needles, index_hash(like.key),
                           needle_equal, &like);
    for (i = MAX(i, 0); i; i = get_needle(t, i)->next) {
        try_needle(get_needle(t, i), object, addr, pages);
    }
}

unsigned placement_try(Placement *p, const Object *object)
{
    bool module = object->kind == OBJECT_MODULE;
    g_autoptr(GPtrArray) pages = g_ptr_array_new();
    unsigned step = module ? 2 : WINDOW;
    const NeedleTable *t;

    if (module && !p->module_needles) {
        p->module_needles = needles_make(p, NULL, true);
    }
    t = module ? p->module_needles : p->needles;
    p->nr_modules += module;
    for (guint i = 0; i < object->code->len; i++) {
        const ObjectCode *c = &g_array_index(object->code, ObjectCode, i);
        uint64_t off = -c->addr % step;

        for (; off + WINDOW <= c->size; off += step) {
            try_window(t, object, c->addr + off, c->bytes + off, pages);
        }
    }
    if (module && placement_forget_module(p, object, pages)) {
        return 0;
    }
    if (pages->len) {
        g_ptr_array_add(p->objects, (gpointer)object);
    }
    return pages->len;
}
