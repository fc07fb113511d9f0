/*
 * Placement: which modules of the kernel are believed to be loaded
 *
 * A distribution has thousands of modules, made of the same headers by the same
 * compiler: any few instructions that ran may be in one of them that was never
 * loaded. But the loader puts code of a module at the beginning of a page,
 * where others have theirs by chance only, a few bytes at a time. Bytes that
 * another file has as well, which has more of what ran, do not count, nor does a
 * page of which the module contradicts more than it has.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "code/code-page.h"
#include "names/placement-private.h"

/* Evidence that each doubling of the number of modules asks for, bytes */
#define BYTES_PER_BIT   3

/* What a module has of what ran, bytes */
typedef struct Evidence {
    uint64_t aligned;           /* in pages where the loader puts it */
    uint64_t other;             /* in the other page that has most */
} Evidence;

static bool is_module(const Candidate *c)
{
    return c->object->kind == OBJECT_MODULE;
}

static GHashTable *evidence_new(void)
{
    return g_hash_table_new_full(NULL, NULL, NULL, g_free);
}

static Evidence *evidence_of(GHashTable *all, const Object *object)
{
    Evidence *e = g_hash_table_lookup(all, object);

    if (!e) {
        e = g_new0(Evidence, 1);
        g_hash_table_insert(all, (gpointer)object, e);
    }
    return e;
}

/* Is @other more likely than @c, by evidence that may be NULL? */
static bool is_likelier(const Candidate *other, const Candidate *c,
                        GHashTable *all)
{
    return !is_module(other) ||
           (all && evidence_of(all, other->object)->aligned >
                   evidence_of(all, c->object)->aligned);
}

/* Fewer bytes in a row are in a page by chance. */
static unsigned least_evidence(unsigned nr_modules)
{
    return MAX(BYTES_PER_BIT * g_bit_storage(nr_modules), MODULE_BYTES);
}

/* The pieces of a page that ran while an object was there, it seems */
typedef struct Stay {
    guint from, to;             /* the first one, and the one behind the last */
} Stay;

/* What keeps bytes of a candidate from being evidence */
typedef struct Others {
    const SeenPage *page;
    GHashTable *evidence;       /* that there is for modules, or NULL */
    GArray *stays;              /* Stay, of what is no module */
} Others;

/* Has something that is more likely than @c piece number @i of the page? */
static bool is_explained(const Others *others, guint i, const Candidate *c)
{
    const SeenPage *page = others->page;
    const SeenPiece *piece = &g_array_index(page->pieces, SeenPiece, i);

    /* The kernel patches itself: a patch is in no file. */
    for (guint k = 0; k < others->stays->len; k++) {
        const Stay *s = &g_array_index(others->stays, Stay, k);

        if (i >= s->from && i < s->to) {
            return true;
        }
    }
    for (guint k = 0; k < page->candidates->len; k++) {
        const Candidate *other = &g_array_index(page->candidates, Candidate,
                                                k);
        size_t compared;

        if (is_likelier(other, c, others->evidence) &&
            object_matches(other->object, other->addr + piece->off,
                           piece->bytes, piece->len, &compared)) {
            return true;
        }
    }
    return false;
}

/*
 * What @c has of @page, but for what @others explain, unless NULL, if it has
 * more than it has not, and where (unless NULL): from its first row of @least
 * bytes to its last one. Before and behind, other things may have been there.
 */
static uint64_t weigh_rows(const SeenPage *page, const Candidate *c,
                           const Others *others, unsigned least, Stay *stay)
{
    uint64_t has = 0, lacks = 0, since = 0, row = 0, seen = 0;
    Stay at = { 0 };
    guint from = 0;

    for (guint i = 0; i < page->pieces->len; i++) {
        const SeenPiece *s = &g_array_index(page->pieces, SeenPiece, i);
        const uint8_t *bytes;
        size_t compared;

        if (object_matches(c->object, c->addr + s->off, s->bytes, s->len,
                           &compared)) {
            from = row ? from : i;
            row += others && is_explained(others, i, c) ? 0 : compared;
            if (row >= least) {
                lacks += has ? since : 0;
                at = (Stay) { has ? at.from : from, i + 1 };
                has += row - seen;
                seen = row;
                since = 0;
            }
        } else if (object_bytes(c->object, c->addr + s->off, s->len, &bytes)) {
            since += s->len;
            row = seen = 0;
        }
    }
    if (stay) {
        *stay = at;
    }
    return has > lacks ? has : 0;
}

/* What @c, a module, alone has of @page */
static uint64_t weigh(const Placement *p, const SeenPage *page,
                      const Candidate *c, GHashTable *before)
{
    unsigned least = least_evidence(p->nr_modules);
    g_autoptr(GArray) stays = g_array_new(false, false, sizeof(Stay));
    Others others = { .page = page, .evidence = before, .stays = stays };

    for (guint i = 0; i < page->candidates->len; i++) {
        const Candidate *other = &g_array_index(page->candidates, Candidate,
                                                i);
        Stay stay;

        if (!is_module(other) &&
            weigh_rows(page, other, NULL, least, &stay)) {
            g_array_append_val(stays, stay);
        }
    }
    return weigh_rows(page, c, &others, least, NULL);
}

static void count(Evidence *e, const Candidate *c, uint64_t has)
{
    if (c->addr % CODE_PAGE_SIZE == 0) {
        e->aligned += has;
    } else {
        e->other = MAX(e->other, has);
    }
}

/*
 * The evidence for each module; @before: what was found without asking whether
 * other modules have more, or NULL. The caller frees it.
 */
static GHashTable *weigh_pages(const Placement *p, GHashTable *before)
{
    GHashTable *all = evidence_new();

    for (guint i = 0; i < p->pages->len; i++) {
        const SeenPage *page = p->pages->pdata[i];

        placement_next_page(p, i);
        for (guint k = 0; k < page->candidates->len; k++) {
            const Candidate *c = &g_array_index(page->candidates, Candidate,
                                                k);
            Evidence *e = is_module(c) ? evidence_of(all, c->object) : NULL;

            if (e) {
                count(e, c, weigh(p, page, c, before));
            }
        }
    }
    return all;
}

/* With few modules at hand, there is little that chance could choose from. */
static bool is_believed(const Evidence *e, unsigned nr_modules)
{
    return e->aligned >= least_evidence(nr_modules) ||
           e->other >= (uint64_t)MODULE_BYTES * nr_modules;
}

bool placement_forget_module(const Placement *p, const Object *module,
                             const GPtrArray *pages)
{
    Evidence e = { 0 };

    /* A page is there as often as the module is one of its candidates. */
    for (guint i = 0; i < pages->len; i++) {
        const SeenPage *page = pages->pdata[i];

        for (guint k = page->candidates->len; k > 0; k--) {
            const Candidate *c = &g_array_index(page->candidates, Candidate,
                                                k - 1);

            if (c->object != module) {
                break;
            }
            count(&e, c, weigh(p, page, c, NULL));
        }
    }
    if (is_believed(&e, p->nr_modules)) {
        return false;
    }
    for (guint i = 0; i < pages->len; i++) {
        const SeenPage *page = pages->pdata[i];

        g_array_set_size(page->candidates, page->candidates->len - 1);
    }
    return true;
}

void placement_choose_modules(Placement *p)
{
    g_autoptr(GHashTable) before = weigh_pages(p, NULL);
    g_autoptr(GHashTable) all = weigh_pages(p, before);

    for (guint i = 0; i < p->pages->len; i++) {
        const SeenPage *page = p->pages->pdata[i];

        placement_next_page(p, i);
        for (guint k = page->candidates->len; k > 0; k--) {
            const Candidate *c = &g_array_index(page->candidates, Candidate,
                                                k - 1);

            /* One that was loaded has bytes of other pages by chance, too. */
            if (is_module(c) &&
                (!is_believed(evidence_of(all, c->object), p->nr_modules) ||
                 (c->addr % CODE_PAGE_SIZE && !weigh(p, page, c, before)))) {
                g_array_remove_index(page->candidates, k - 1);
            }
        }
    }
}
