/*
 * Placement: what its files share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PLACEMENT_PRIVATE_H
#define ETRACE_PLACEMENT_PRIVATE_H

#include "names/placement.h"

/* A CODE record */
typedef struct SeenPiece {
    size_t pos;                 /* of the record in the file; the first field */
    const uint8_t *bytes;       /* the file's */
    uint16_t off, len;          /* in the page */
} SeenPiece;

/* A MAP record, of the page */
typedef struct SeenMap {
    size_t pos;                 /* the first field, too */
    SidebandSpace space;
    uint64_t vpage;
} SeenMap;

/* A page of an object that may be in a physical page */
typedef struct Candidate {
    const Object *object;
    uint64_t addr;              /* of the page's first byte, in the object */
} Candidate;

/* So many are distinguished in each page */
#define MAX_CANDIDATES  64

/* Modules may lie anywhere in a page: fewer bytes are no evidence. */
#define MODULE_BYTES    16

/* What a physical page holds from a place of the stream on */
typedef struct Holding {
    size_t pos;
    uint64_t candidates;        /* a bit for each of the page's */
} Holding;

typedef struct SeenPage {
    uint64_t ppage;
    GArray *pieces;             /* SeenPiece, by pos */
    GArray *maps;               /* SeenMap, by pos */
    GArray *candidates;         /* Candidate */
    GArray *holdings;           /* Holding, by pos; placement_decide() */
} SeenPage;

/* A MAP record, to be found by what it maps */
typedef struct MapOfPage {
    uint64_t key;               /* of the space and the virtual page */
    size_t pos;
    const SeenPage *page;
    guint number;               /* of the page's maps */
} MapOfPage;

/*
 * What speaks for an object being in a space with a bias; with no space: in
 * that which has most
 */
typedef struct Vote {
    SidebandSpace space;
    const Object *object;
    uint64_t bias;
    uint64_t pages;
} Vote;

/* The program of a space from a place of the stream on */
typedef struct ProgramFrom {
    size_t pos;
    const Object *object;
} ProgramFrom;

/* The name of a space's task from a place of the stream on */
typedef struct CommFrom {
    size_t pos;
    const char *comm;           /* interned */
} CommFrom;

/* For hash tables */
static inline uint64_t placement_mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

static inline guint placement_space_hash(gconstpointer key)
{
    const SidebandSpace *s = key;

    return placement_mix(placement_mix(s->virt, s->atp), s->gatp) >> 32;
}

static inline gboolean placement_space_equal(gconstpointer a, gconstpointer b)
{
    const SidebandSpace *x = a, *y = b;

    return x->virt == y->virt && x->atp == y->atp && x->gatp == y->gatp;
}

typedef struct NeedleTable NeedleTable;

struct Placement {
    const Sideband *sb;
    GHashTable *by_page;        /* ppage -> SeenPage */
    GPtrArray *pages;           /* SeenPage */
    NeedleTable *needles;       /* until placement_decide() */
    NeedleTable *module_needles;    /* of those that modules may have, or NULL */
    unsigned nr_modules;        /* that have been tried */
    GPtrArray *objects;         /* Object: those that may be in some page */
    GHashTable *votes;          /* Vote */
    GHashTable *most;           /* Vote, without its space */
    GHashTable *programs;       /* SidebandSpace -> GArray of ProgramFrom */
    GHashTable *comms;          /* SidebandSpace -> GArray of CommFrom */
    GHashTable *found;          /* Object */
    GArray *maps;               /* MapOfPage; placement_decide() */
};

/* placement-page.c */

/*
 * Page number @i is going to be compared with files: from time to time, what
 * was looked at of them before is let go.
 */
void placement_next_page(const Placement *p, guint i);

/* The page's candidates that have these bytes, a bit for each */
uint64_t placement_which_match(const SeenPage *page, const SeenPiece *piece);

/* What the page held, by its candidates, and since when */
void placement_decide_page(SeenPage *page);

/* The last one from before @pos, or the first one; NULL: there is none */
const Holding *placement_holding(const SeenPage *page, size_t pos);

/* What was mapped by the page's map number @i; NULL: that is not known */
const Holding *placement_mapped(const SeenPage *page, guint i);

/*
 * What the page has at @where, where it is mapped at @vaddr; NULL: that is not
 * known. *@ahead is set if nothing of that has run yet since it was mapped.
 */
const Holding *placement_at(const SeenPage *page, const SidebandWhere *where,
                            uint64_t vaddr, bool *ahead);

/*
 * When all pages have been decided: sorts their maps, for placement_next(),
 * which finds the page that is going to be mapped next at @vaddr in @where's
 * space, and what it has then; NULL: none that is known.
 */
void placement_sort_maps(Placement *p);
const Holding *placement_next(const Placement *p, const SidebandWhere *where,
                              uint64_t vaddr, const SeenPage **page);

/* placement-module.c */

/*
 * When all objects have been tried: modules of which too little ran are no
 * candidates any more.
 */
void placement_choose_modules(Placement *p);

/*
 * A module has been tried, and is a candidate of @pages. If it has too little
 * of them even without those that are to come, it is none any more, and true
 * is returned.
 */
bool placement_forget_module(const Placement *p, const Object *module,
                             const GPtrArray *pages);

/* placement-short.c */

/*
 * When all other pages have been decided: those of which too little ran to be
 * looked for in all files have the bytes of what lies around them.
 */
void placement_short_pages(Placement *p);

/* placement-scan.c */

NeedleTable *needles_new(const Placement *p);
void needles_free(NeedleTable *needles);

#endif /* ETRACE_PLACEMENT_PRIVATE_H */
