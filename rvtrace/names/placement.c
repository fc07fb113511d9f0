/*
 * Placement: which object lies where, found by its bytes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "names/guest-text.h"
#include "names/placement-private.h"
#include "code/sideband-private.h"

static guint vote_hash(gconstpointer key)
{
    const Vote *v = key;

    uint64_t h = placement_space_hash(&v->space);

    return placement_mix(placement_mix(h, v->object->id), v->bias) >> 32;
}

static gboolean vote_equal(gconstpointer a, gconstpointer b)
{
    const Vote *x = a, *y = b;

    return x->object == y->object && x->bias == y->bias &&
           placement_space_equal(&x->space, &y->space);
}

static void page_free(gpointer opaque)
{
    SeenPage *page = opaque;

    g_array_unref(page->pieces);
    g_array_unref(page->maps);
    g_array_unref(page->candidates);
    g_array_unref(page->holdings);
    g_free(page);
}

static SeenPage *get_page(Placement *p, uint64_t ppage)
{
    SeenPage *page = g_hash_table_lookup(p->by_page, &ppage);

    if (!page) {
        page = g_new0(SeenPage, 1);
        page->ppage = ppage;
        page->pieces = g_array_new(false, false, sizeof(SeenPiece));
        page->maps = g_array_new(false, false, sizeof(SeenMap));
        page->candidates = g_array_new(false, false, sizeof(Candidate));
        page->holdings = g_array_new(false, false, sizeof(Holding));
        g_hash_table_insert(p->by_page, &page->ppage, page);
        g_ptr_array_add(p->pages, page);
    }
    return page;
}

static void add_piece(Placement *p, const SidebandRecord *rec)
{
    SeenPiece piece = { .pos = rec->pos };
    uint64_t addr;
    size_t len;

    etrace_sb_unpack_code(rec->payload, rec->len, &addr, &piece.bytes, &len);
    piece.off = addr & CODE_PAGE_MASK;
    piece.len = len;
    g_array_append_val(get_page(p, addr >> CODE_PAGE_BITS)->pieces, piece);
}

static void add_map(Placement *p, const SidebandRecord *rec,
                    const SidebandSpace spaces[2])
{
    SeenMap map = { .pos = rec->pos };
    ETraceSbMap from;

    etrace_sb_unpack_map(rec->payload, rec->len, &from);
    map.space = spaces[from.virt];
    map.vpage = from.va >> CODE_PAGE_BITS;
    g_array_append_val(get_page(p, from.pa >> CODE_PAGE_BITS)->maps, map);
}

static void set_space(const SidebandRecord *rec, SidebandSpace spaces[2])
{
    ETraceSbSpace from;

    etrace_sb_unpack_space(rec->payload, rec->len, &from);
    spaces[from.virt] = (SidebandSpace) {
        .virt = from.virt,
        .atp = from.atp,
        .gatp = from.gatp,
    };
}

/* Tasks of a space are named after its program, as long as they like. */
static void add_comm(Placement *p, const SidebandRecord *rec,
                     const SidebandSpace *space)
{
    GArray *list = g_hash_table_lookup(p->comms, space);
    char comm[ETRACE_SB_COMM_SIZE + 1] = "";
    CommFrom from = { .pos = rec->pos };
    ETraceSbTask task;

    etrace_sb_unpack_task(rec->payload, rec->len, &task);
    memcpy(comm, task.comm, ETRACE_SB_COMM_SIZE);
    from.comm = g_intern_string(comm);
    if (!list) {
        list = g_array_new(false, false, sizeof(from));
        g_hash_table_insert(p->comms, g_memdup2(space, sizeof(*space)), list);
    }
    if (!list->len ||
        g_array_index(list, CommFrom, list->len - 1).comm != from.comm) {
        g_array_append_val(list, from);
    }
}

static void collect(Placement *p)
{
    unsigned harts = sideband_nr_harts(p->sb);
    g_autofree SidebandSpace (*spaces)[2] = g_malloc0_n(harts,
                                                        sizeof(*spaces));
    size_t pos = p->sb->begin;
    SidebandRecord rec;

    while (pos < p->sb->end &&
           sideband_next(p->sb->data, p->sb->end, &pos, &rec)) {
        if (!sideband_record_valid(p->sb, &rec)) {
            continue;
        }
        switch (rec.type) {
        case ETRACE_SB_CODE:
            add_piece(p, &rec);
            break;
        case ETRACE_SB_SPACE:
            set_space(&rec, spaces[rec.hart]);
            break;
        case ETRACE_SB_MAP:
            add_map(p, &rec, spaces[rec.hart]);
            break;
        case ETRACE_SB_TASK:
            add_comm(p, &rec, &spaces[rec.hart][0]);
            break;
        case ETRACE_SB_RESET:
            if (rec.hart < harts) {
                memset(spaces[rec.hart], 0, sizeof(spaces[0]));
            }
            break;
        default:
            break;
        }
    }
}

static void free_array(gpointer array)
{
    g_array_unref(array);
}

Placement *placement_new(const Sideband *sb)
{
    Placement *p = g_new0(Placement, 1);

    p->sb = sb;
    p->by_page = g_hash_table_new(g_int64_hash, g_int64_equal);
    p->pages = g_ptr_array_new_with_free_func(page_free);
    p->votes = g_hash_table_new_full(vote_hash, vote_equal, g_free, NULL);
    p->most = g_hash_table_new_full(vote_hash, vote_equal, g_free, NULL);
    p->programs = g_hash_table_new_full(placement_space_hash,
                                        placement_space_equal, g_free,
                                        free_array);
    p->comms = g_hash_table_new_full(placement_space_hash,
                                     placement_space_equal, g_free,
                                     free_array);
    p->found = g_hash_table_new(NULL, NULL);
    p->objects = g_ptr_array_new();
    p->maps = g_array_new(false, false, sizeof(MapOfPage));
    collect(p);
    p->needles = needles_new(p);
    return p;
}

void placement_free(Placement *p)
{
    g_clear_pointer(&p->needles, needles_free);
    placement_end_modules(p);
    g_hash_table_unref(p->by_page);
    g_hash_table_unref(p->votes);
    g_hash_table_unref(p->most);
    g_hash_table_unref(p->programs);
    g_hash_table_unref(p->comms);
    g_hash_table_unref(p->found);
    g_array_unref(p->maps);
    g_ptr_array_unref(p->objects);
    g_ptr_array_unref(p->pages);
    g_free(p);
}

const Sideband *placement_sideband(const Placement *p)
{
    return p->sb;
}

/* The one that is like @key; an empty one if there is none */
static const Vote *find_vote(GHashTable *votes, const Vote *key)
{
    static const Vote none;

    return g_hash_table_lookup(votes, key) ?: &none;
}

/* The same, which is made if there is none */
static Vote *get_vote(GHashTable *votes, const Vote *key)
{
    Vote *v = g_hash_table_lookup(votes, key);

    if (!v) {
        v = g_memdup2(key, sizeof(*key));
        g_hash_table_add(votes, v);
    }
    return v;
}

static void vote(Placement *p, const SeenMap *map, const Candidate *c)
{
    Vote key = {
        .space = map->space,
        .object = c->object,
        .bias = (map->vpage << CODE_PAGE_BITS) - c->addr,
    };
    uint64_t pages = ++get_vote(p->votes, &key)->pages;
    Vote *most;

    key.space = (SidebandSpace) { 0 };
    most = get_vote(p->most, &key);
    most->pages = MAX(most->pages, pages);
}

static bool is_single(uint64_t set)
{
    return set && !(set & (set - 1));
}

static void add_program(Placement *p, const SeenMap *map,
                        const Object *object)
{
    GArray *list = g_hash_table_lookup(p->programs, &map->space);
    ProgramFrom from = { .pos = map->pos, .object = object };

    if (!list) {
        list = g_array_new(false, false, sizeof(from));
        g_hash_table_insert(p->programs,
                            g_memdup2(&map->space, sizeof(map->space)), list);
    }
    g_array_append_val(list, from);
}

/* What each mapping of the page says of the space that it is in */
static void vote_for_page(Placement *p, const SeenPage *page)
{
    for (guint i = 0; i < page->maps->len; i++) {
        const SeenMap *map = &g_array_index(page->maps, SeenMap, i);
        const Holding *h = placement_mapped(page, i);

        for (guint k = 0; h && k < page->candidates->len; k++) {
            const Candidate *c = &g_array_index(page->candidates, Candidate,
                                                k);

            if (h->candidates >> k & 1) {
                vote(p, map, c);
                if (is_single(h->candidates) &&
                    c->object->kind == OBJECT_PROGRAM) {
                    add_program(p, map, c->object);
                }
            }
        }
    }
}

static gint compare_programs(gconstpointer a, gconstpointer b)
{
    const ProgramFrom *x = a, *y = b;

    return x->pos < y->pos ? -1 : x->pos > y->pos;
}

/* What speaks for a candidate, most important first */
typedef struct Rank {
    bool path;                  /* it is the file that the guest named */
    size_t named;               /* see named_at() */
    uint64_t pages;             /* of the space that are its, at this bias */
} Rank;

static int compare_ranks(const Rank *x, const Rank *y)
{
    if (x->path != y->path) {
        return x->path - y->path;
    }
    if (x->named != y->named) {
        return x->named > y->named ? 1 : -1;
    }
    return (x->pages > y->pages) - (x->pages < y->pages);
}

/*
 * Where a task of @space was last named after @object, before @pos: the space
 * may have been another program's earlier, and a task that has just begun a
 * program has its old name. 1: only later; 0: never.
 */
static size_t named_at(const Placement *p, const SidebandSpace *space,
                       size_t pos, const Object *object)
{
    const GArray *list = g_hash_table_lookup(p->comms, space);
    g_autofree char *name = NULL;
    const char *comm;
    size_t at = 0;

    if (!list || object->kind != OBJECT_PROGRAM) {
        return 0;
    }
    /* Linux keeps one byte for a NUL. */
    name = g_strndup(object->name, ETRACE_SB_COMM_SIZE - 1);
    comm = g_intern_string(name);
    for (guint i = list->len; i; i--) {
        const CommFrom *from = &g_array_index(list, CommFrom, i - 1);

        if (from->comm == comm) {
            at = 1;
            if (from->pos < pos) {
                return from->pos + 1;
            }
        }
    }
    return at;
}

uint64_t placement_most_pages(const Placement *p, const Object *object,
                              uint64_t bias)
{
    Vote key = { .object = object, .bias = bias };

    return find_vote(p->most, &key)->pages;
}

static Rank rank(const Placement *p, const SidebandWhere *where,
                 uint64_t vaddr, const char *path, const Candidate *c)
{
    Vote key = {
        .space = where->space,
        .object = c->object,
        .bias = (vaddr & ~(uint64_t)CODE_PAGE_MASK) - c->addr,
    };

    return (Rank) {
        .path = path && g_str_equal(c->object->path, path),
        .named = named_at(p, &where->space, where->pos, c->object),
        .pages = find_vote(p->votes, &key)->pages,
    };
}

/* The kernel has a copy of the vDSO, too, which does not run. */
static bool may_run(const Object *object, unsigned priv)
{
    return (!priv_is_user(priv) && !priv_is_machine(priv)) ||
           (object->kind != OBJECT_KERNEL && object->kind != OBJECT_MODULE);
}

static bool is_kernels(const Candidate *c)
{
    return c->object->kind == OBJECT_KERNEL ||
           c->object->kind == OBJECT_MODULE;
}

/* Can a task of @space have been named after the program? */
static bool may_be_named(const Placement *p, const SidebandSpace *space,
                         const Candidate *c)
{
    return c->object->kind == OBJECT_PROGRAM &&
           named_at(p, space, 0, c->object);
}

/*
 * Add to the objects found those of @set of the page's candidates that
 * placement_find() may choose where it is mapped by @map.
 */
static void find_of_map(Placement *p, const SeenPage *page, uint64_t set,
                        const SeenMap *map)
{
    const Candidate *best[2] = { NULL, NULL };
    uint64_t most[2] = { 0, 0 };

    for (; set; set &= set - 1) {
        const Candidate *c = &g_array_index(page->candidates, Candidate,
                                            __builtin_ctzll(set));
        Vote key = {
            .space = map->space,
            .object = c->object,
            .bias = (map->vpage << CODE_PAGE_BITS) - c->addr,
        };
        uint64_t pages = find_vote(p->votes, &key)->pages;
        unsigned kernels = is_kernels(c);

        if (!best[kernels] || pages > most[kernels]) {
            best[kernels] = c;
            most[kernels] = pages;
        }
        if (may_be_named(p, &map->space, c)) {
            g_hash_table_add(p->found, (gpointer)c->object);
        }
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(best); i++) {
        if (best[i]) {
            g_hash_table_add(p->found, (gpointer)best[i]->object);
        }
    }
}

bool placement_has(const Placement *p, const Object *object)
{
    return g_hash_table_contains(p->found, object);
}

/* Candidates of @set that are not among the objects found */
static uint64_t not_found(const Placement *p, const SeenPage *page,
                          uint64_t set)
{
    for (guint i = 0; i < page->candidates->len; i++) {
        const Candidate *c = &g_array_index(page->candidates, Candidate, i);

        if ((set >> i & 1) && placement_has(p, c->object)) {
            set &= ~(1ull << i);
        }
    }
    return set;
}

/* @all: what is said elsewhere decides about candidates of this page, too. */
static void find_objects(Placement *p, const SeenPage *page, bool all)
{
    for (guint i = 0; i < page->holdings->len; i++) {
        uint64_t set = g_array_index(page->holdings, Holding, i).candidates;

        if (all || is_single(set) || !page->maps->len) {
            for (guint k = 0; k < page->candidates->len; k++) {
                if (set >> k & 1) {
                    g_hash_table_add(p->found, (gpointer)g_array_index(
                        page->candidates, Candidate, k).object);
                }
            }
        } else if (not_found(p, page, set)) {
            for (guint k = 0; k < page->maps->len; k++) {
                find_of_map(p, page, set, &g_array_index(page->maps, SeenMap,
                                                         k));
            }
        }
    }
}

void placement_decide(Placement *p)
{
    bool said = guest_text_in(p->sb);
    GHashTableIter iter;
    gpointer list;

    g_clear_pointer(&p->needles, needles_free);
    placement_choose_modules(p);
    for (guint i = 0; i < p->pages->len; i++) {
        SeenPage *page = p->pages->pdata[i];

        placement_next_page(p, i);
        placement_decide_page(page);
        vote_for_page(p, page);
    }
    placement_short_pages(p);
    for (guint i = 0; i < p->pages->len; i++) {
        find_objects(p, p->pages->pdata[i], said);
    }
    placement_sort_maps(p);
    g_hash_table_iter_init(&iter, p->programs);
    while (g_hash_table_iter_next(&iter, NULL, &list)) {
        g_array_sort(list, compare_programs);
    }
}

const Object *placement_find(const Placement *p, const SidebandWhere *where,
                             unsigned priv, uint64_t vaddr, const char *path,
                             uint64_t *addr, bool *ahead)
{
    const SeenPage *page = where->mapped ?
        g_hash_table_lookup(p->by_page, &where->ppage) : NULL;
    const Holding *h = NULL;
    const Candidate *best = NULL;
    Rank most = { 0 };

    *ahead = !where->mapped;
    if (page) {
        h = placement_at(page, where, vaddr, ahead);
    } else if (*ahead) {
        h = placement_next(p, where, vaddr, &page);
    }
    for (guint i = 0; h && i < page->candidates->len; i++) {
        const Candidate *c = &g_array_index(page->candidates, Candidate, i);
        Rank r;

        if (!(h->candidates >> i & 1) || !may_run(c->object, priv)) {
            continue;
        }
        if (is_single(h->candidates)) {
            best = c;
            break;
        }
        r = rank(p, where, vaddr, path, c);
        if (!best || compare_ranks(&r, &most) > 0) {
            best = c;
            most = r;
        }
    }
    if (!best) {
        return NULL;
    }
    *addr = best->addr + (vaddr & CODE_PAGE_MASK);
    return best->object;
}

const Object *placement_program(const Placement *p,
                                const SidebandWhere *where)
{
    const GArray *list = g_hash_table_lookup(p->programs, &where->space);
    guint i = list ? list->len : 0;

    while (i > 1 && g_array_index(list, ProgramFrom, i - 1).pos >=
           where->pos) {
        i--;
    }
    return i ? g_array_index(list, ProgramFrom, i - 1).object : NULL;
}

void placement_stats(const Placement *p, PlacementStats *stats)
{
    *stats = (PlacementStats) { .pages = p->pages->len };
    for (guint i = 0; i < p->pages->len; i++) {
        const SeenPage *page = p->pages->pdata[i];

        stats->placed += page->candidates->len != 0;
        for (guint k = 0; k < page->holdings->len; k++) {
            if (!is_single(g_array_index(page->holdings, Holding,
                                         k).candidates)) {
                stats->ambiguous++;
                break;
            }
        }
        for (guint k = 0; k < page->pieces->len; k++) {
            const SeenPiece *s = &g_array_index(page->pieces, SeenPiece, k);

            stats->bytes += s->len;
            if (placement_which_match(page, s)) {
                stats->placed_bytes += s->len;
            }
        }
    }
}
