/*
 * What the guest said of itself: code that was made at run time
 *
 * Lines of perf-PID.map come some time before or behind the code that they
 * name, and the file only grows: when a function has gone and another one is
 * at its address, there are lines of both. What ran there says when that was:
 * bytes that replace others begin a new version of the address. A version is
 * what the last file from before it has behind the line that the version
 * before was called after; if there is none, the file was too old, and it is
 * what the first one has that was sent while the version lasted. Where that is
 * not one function, it is not known which one it is.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "code/code-page.h"
#include "names/guest-text-private.h"
#include "code/sideband-private.h"

/* Functions that begin before an address are asked whether they have it. */
#define MAX_BACK    64

/* So many functions that were at an address are asked whether they are now. */
#define MAX_TRIES   16

/* Stands for all pages of a space. */
#define NO_PAGE     UINT64_MAX

/* Where an address space has a page */
typedef struct PageKey {
    SidebandSpace space;
    uint64_t vpage;
} PageKey;

static guint page_hash(gconstpointer key)
{
    const PageKey *k = key;
    uint64_t h = (k->space.atp ^ k->space.gatp) * 0x9e3779b97f4a7c15ull;

    h = (h ^ k->vpage) * 0x9e3779b97f4a7c15ull;
    return h >> 32;
}

static gboolean page_equal(gconstpointer a, gconstpointer b)
{
    const PageKey *x = a, *y = b;

    return x->vpage == y->vpage && x->space.virt == y->space.virt &&
           x->space.atp == y->space.atp && x->space.gatp == y->space.gatp;
}

static void free_array(gpointer array)
{
    g_array_unref(array);
}

static gint compare_jits(gconstpointer a, gconstpointer b)
{
    const GuestJit *x = a, *y = b;

    return x->lo != y->lo ? (x->lo < y->lo ? -1 : 1) :
           x->pos < y->pos ? -1 : x->pos > y->pos;
}

/*
 * The process' address space is of interest: all of its pages, since lines may
 * name any number of them.
 */
static void want_space(GuestText *g, const GuestProcess *p, unsigned epoch)
{
    PageKey key = { .vpage = NO_PAGE };

    if (epoch < p->epochs->len) {
        key.space = g_array_index(p->epochs, GuestEpoch, epoch).space;
        g_hash_table_replace(g->pages, g_memdup2(&key, sizeof(key)),
                             g_array_new(false, false, sizeof(GuestPage)));
    }
}

/* Addresses in an object for all functions of the process, each other's */
static void name_process(GuestText *g, ObjectTable *table, GuestProcess *p)
{
    g_autoptr(GHashTable) known = g_hash_table_new_full(
        g_str_hash, g_str_equal, g_free, g_free);
    g_autofree char *path = g_strdup_printf("/tmp/perf-%u.map", p->tgid);
    uint64_t next = CODE_PAGE_SIZE;

    for (guint i = 0; i < p->jits->len; i++) {
        GuestDump *d = p->jits->pdata[i];

        for (guint k = 0; k < d->lines->len; k++) {
            GuestJit *j = &g_array_index(d->lines, GuestJit, k);
            g_autofree char *key = g_strdup_printf(
                "%" PRIx64 " %" PRIx64 " %s", j->lo, j->hi, j->name);
            uint64_t *addr = g_hash_table_lookup(known, key);

            p->jit = p->jit ?: object_new(table, OBJECT_LIBRARY, path, NULL);
            if (!addr) {
                addr = g_new(uint64_t, 1);
                *addr = next;
                next = ROUND_UP(next + (j->hi - j->lo), 16);
                symbols_add(p->jit->symbols, *addr, j->hi - j->lo, j->name);
                g_hash_table_insert(known, g_steal_pointer(&key), addr);
            }
            j->addr = *addr;
        }
        want_space(g, p, d->epoch);
        g_array_sort(d->lines, compare_jits);
    }
    if (p->jit) {
        symbols_sort(p->jit->symbols);
    }
}

static void add_map(GuestText *g, const SidebandRecord *rec,
                    const SidebandSpace spaces[2])
{
    GuestPage page = { .pos = rec->pos };
    ETraceSbMap map;
    PageKey key;
    GArray *list;

    etrace_sb_unpack_map(rec->payload, rec->len, &map);
    key.space = spaces[map.virt];
    key.vpage = NO_PAGE;
    if (!g_hash_table_contains(g->pages, &key)) {
        return;
    }
    key.vpage = map.va >> CODE_PAGE_BITS;
    page.ppage = map.pa >> CODE_PAGE_BITS;
    list = g_hash_table_lookup(g->pages, &key);
    if (!list) {
        list = g_array_new(false, false, sizeof(page));
        g_hash_table_insert(g->pages, g_memdup2(&key, sizeof(key)), list);
    }
    if (!list->len || g_array_index(list, GuestPage, list->len - 1).ppage !=
                      page.ppage) {
        g_array_append_val(list, page);
        if (!g_hash_table_contains(g->code, &page.ppage)) {
            g_hash_table_insert(g->code,
                                g_memdup2(&page.ppage, sizeof(page.ppage)),
                                g_array_new(false, false, sizeof(GuestCode)));
        }
    }
}

static void add_code(GuestText *g, const SidebandRecord *rec)
{
    GuestCode code = { .pos = rec->pos };
    uint64_t addr, ppage;
    GArray *list;
    size_t len;

    etrace_sb_unpack_code(rec->payload, rec->len, &addr, &code.bytes, &len);
    ppage = addr >> CODE_PAGE_BITS;
    list = g_hash_table_lookup(g->code, &ppage);
    if (list) {
        code.off = addr & CODE_PAGE_MASK;
        code.len = len;
        g_array_append_val(list, code);
    }
}

/* First where the pages are, then what of them ran, before that, too */
static void find_code(GuestText *g)
{
    const Sideband *sb = g->sb;
    unsigned harts = sideband_nr_harts(sb);
    g_autofree SidebandSpace (*spaces)[2] = g_malloc0_n(harts,
                                                        sizeof(*spaces));

    for (unsigned round = 0; round < 2; round++) {
        size_t pos = sb->begin;
        SidebandRecord rec;

        while (pos < sb->end &&
               sideband_next(sb->data, sb->end, &pos, &rec)) {
            ETraceSbSpace space;

            if (!sideband_record_valid(sb, &rec)) {
                continue;
            }
            if (round) {
                if (rec.type == ETRACE_SB_CODE) {
                    add_code(g, &rec);
                }
            } else if (rec.type == ETRACE_SB_SPACE) {
                etrace_sb_unpack_space(rec.payload, rec.len, &space);
                spaces[rec.hart][space.virt] = (SidebandSpace) {
                    .virt = space.virt, .atp = space.atp, .gatp = space.gatp,
                };
            } else if (rec.type == ETRACE_SB_MAP) {
                add_map(g, &rec, spaces[rec.hart]);
            } else if (rec.type == ETRACE_SB_RESET && rec.hart < harts) {
                memset(spaces[rec.hart], 0, sizeof(spaces[0]));
            }
        }
    }
}

void guest_text_name_jits(GuestText *g, ObjectTable *table)
{
    GHashTableIter iter;
    gpointer p;

    g->pages = g_hash_table_new_full(page_hash, page_equal, g_free,
                                     free_array);
    g->code = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                    free_array);
    g_hash_table_iter_init(&iter, g->processes);
    while (g_hash_table_iter_next(&iter, NULL, &p)) {
        name_process(g, table, p);
    }
    if (g_hash_table_size(g->pages)) {
        find_code(g);
    }
}

/* The first line of @d that begins behind @vaddr */
static guint lines_from(const GuestDump *d, uint64_t vaddr)
{
    guint first = 0, last = d->lines->len;

    while (first < last) {
        guint mid = first + (last - first) / 2;

        if (g_array_index(d->lines, GuestJit, mid).lo <= vaddr) {
            first = mid + 1;
        } else {
            last = mid;
        }
    }
    return first;
}

/* What @d says of @vaddr: what it says last of those that have the address */
static const GuestJit *find_line(const GuestDump *d, uint64_t vaddr)
{
    guint first = lines_from(d, vaddr);
    const GuestJit *best = NULL;

    for (guint i = first; i > 0 && first - i < MAX_BACK; i--) {
        const GuestJit *j = &g_array_index(d->lines, GuestJit, i - 1);

        if (vaddr < j->hi && (!best || j->pos > best->pos)) {
            best = j;
        }
    }
    return best;
}

/*
 * The only function with @vaddr that @d has behind @used, which may be NULL;
 * NULL if there is none, or several. *@several is set to whether it is that.
 */
static const GuestJit *find_new(const GuestDump *d, uint64_t vaddr,
                                const GuestJit *used, bool *several)
{
    guint first = lines_from(d, vaddr);
    size_t since = 0;
    const GuestJit *found = NULL;

    *several = false;
    for (guint i = first; used && i > 0 && first - i < MAX_BACK; i--) {
        const GuestJit *j = &g_array_index(d->lines, GuestJit, i - 1);

        if (j->addr == used->addr) {
            since = MAX(since, j->pos);
        }
    }
    for (guint i = first; i > 0 && first - i < MAX_BACK; i--) {
        const GuestJit *j = &g_array_index(d->lines, GuestJit, i - 1);

        if (vaddr < j->hi && j->pos > since) {
            *several |= found && found->addr != j->addr;
            found = j;
        }
    }
    return *several ? NULL : found;
}

/* An address, and which version of it one has come to */
typedef struct Versions {
    const GuestProcess *p;
    unsigned epoch;
    uint64_t vaddr;
    /* of the page: what is watched, and what is known of that */
    unsigned from, to;
    uint8_t bytes[CODE_PAGE_SIZE];
    bool known[CODE_PAGE_SIZE];
    bool begun;
    size_t begin;               /* of this version */
    const GuestJit *name;       /* of this version, when it is over; or NULL */
    const GuestJit *used;       /* the last one that had a name */
} Versions;

/* What the process' files say of the version that ends at @end */
static void end_version(Versions *v, size_t end)
{
    const GuestDump *before = NULL, *behind = NULL;
    bool several = false;

    v->name = NULL;
    for (guint i = 0; i < v->p->jits->len; i++) {
        const GuestDump *d = v->p->jits->pdata[i];

        if (d->epoch != v->epoch || d->pos >= end) {
            continue;
        }
        if (d->pos < v->begin) {
            before = d;
        } else {
            behind = behind ?: d;
        }
    }
    if (before) {
        v->name = find_new(before, v->vaddr, v->used, &several);
    }
    if (behind && !v->name && !several) {
        v->name = find_new(behind, v->vaddr, v->used, &several);
    }
    v->used = v->name ?: v->used;
}

static void begin_version(Versions *v, size_t pos)
{
    if (v->begun) {
        end_version(v, pos);
    }
    v->begun = true;
    v->begin = pos;
}

/* Does @c replace bytes that are watched and known? They are from now on. */
static bool replaces(Versions *v, const GuestCode *c)
{
    unsigned from = MAX(v->from, c->off), to = MIN(v->to, c->off + c->len);
    bool replaced = false;

    for (unsigned i = from; i < to; i++) {
        replaced |= v->known[i] && v->bytes[i] != c->bytes[i - c->off];
    }
    if (replaced) {
        memset(v->known, 0, sizeof(v->known));
    }
    for (unsigned i = from; i < to; i++) {
        v->known[i] = true;
        v->bytes[i] = c->bytes[i - c->off];
    }
    return replaced;
}

/*
 * Go through what the page at @ppage held from @pos to @end; returns where the
 * version ends that @where is in, if that is known by then, or 0.
 */
static size_t walk_page(const GuestText *g, Versions *v, uint64_t ppage,
                        size_t pos, size_t end, size_t where)
{
    const GArray *list = g_hash_table_lookup(g->code, &ppage);

    memset(v->known, 0, sizeof(v->known));
    if (pos >= where) {
        return pos;
    }
    begin_version(v, pos);
    for (guint i = 0; list && i < list->len; i++) {
        const GuestCode *c = &g_array_index(list, GuestCode, i);

        if (c->pos >= end) {
            break;
        }
        if (replaces(v, c) && c->pos > pos) {
            if (c->pos >= where) {
                return c->pos;
            }
            begin_version(v, c->pos);
        }
    }
    return 0;
}

/* All that any file says of the address is watched, within its page. */
static bool watch(Versions *v)
{
    uint64_t page = v->vaddr & ~(uint64_t)CODE_PAGE_MASK;

    v->from = CODE_PAGE_SIZE;
    for (guint i = 0; i < v->p->jits->len; i++) {
        const GuestDump *d = v->p->jits->pdata[i];
        const GuestJit *j = d->epoch == v->epoch ? find_line(d, v->vaddr) :
                                                   NULL;

        if (j) {
            uint64_t from = MAX(j->lo, page);
            uint64_t to = MIN(j->hi, page + CODE_PAGE_SIZE);

            v->from = MIN(v->from, from - page);
            v->to = MAX(v->to, to - page);
        }
    }
    return v->to;
}

/* What the files say of @vaddr in the version that @where is in; or NULL */
static const GuestJit *line_at(const GuestText *g, const GuestProcess *p,
                               unsigned epoch, const SidebandWhere *where,
                               uint64_t vaddr)
{
    Versions v = { .p = p, .epoch = epoch, .vaddr = vaddr };
    PageKey key = { .space = where->space, .vpage = vaddr >> CODE_PAGE_BITS };
    const GArray *pages = g_hash_table_lookup(g->pages, &key);
    size_t end = 0;

    if (!pages || !watch(&v)) {
        return NULL;
    }
    for (guint i = 0; i < pages->len && !end; i++) {
        const GuestPage *page = &g_array_index(pages, GuestPage, i);
        size_t next = i + 1 < pages->len ?
                      g_array_index(pages, GuestPage, i + 1).pos : SIZE_MAX;

        /* What the space was before is another process' concern. */
        if (next > g_array_index(p->epochs, GuestEpoch, epoch).pos) {
            end = walk_page(g, &v, page->ppage, page->pos, next, where->pos);
        }
    }
    if (v.begun) {
        end_version(&v, end ?: SIZE_MAX);
    }
    return v.begun ? v.name : NULL;
}

/* No line of @d begins or ends between @mapping->lo and hi, around @vaddr. */
static void narrow_between(const GuestDump *d, uint64_t vaddr,
                           GuestMapping *mapping)
{
    guint first = lines_from(d, vaddr);

    if (first < d->lines->len) {
        mapping->hi = MIN(mapping->hi,
                          g_array_index(d->lines, GuestJit, first).lo);
    }
    for (guint i = first; i > 0 && first - i < MAX_BACK; i--) {
        const GuestJit *j = &g_array_index(d->lines, GuestJit, i - 1);

        mapping->lo = MAX(mapping->lo, j->hi <= vaddr ? j->hi : j->lo);
        if (j->hi > vaddr) {
            mapping->hi = MIN(mapping->hi, j->hi);
        }
    }
}

/*
 * A function is there, at any of its addresses, if it is at its first one: the
 * others may not have belonged to the one that was there before.
 */
bool guest_text_jit(const GuestText *g, const SidebandWhere *where,
                    uint32_t tgid, uint64_t vaddr, GuestMapping *mapping)
{
    const GuestProcess *p = g_hash_table_lookup(g->processes,
                                                GUINT_TO_POINTER(tgid));
    int epoch = p && p->jit ? guest_text_epoch(p, where) : -1;
    const GuestJit *tried = NULL, *found = NULL;
    unsigned tries = 0;

    if (epoch >= 0) {
        *mapping = (GuestMapping) { .hi = UINT64_MAX };
    }
    for (guint i = epoch < 0 ? 0 : p->jits->len; i > 0 && !found &&
         tries < MAX_TRIES; i--) {
        const GuestDump *d = p->jits->pdata[i - 1];
        const GuestJit *j = d->epoch == (unsigned)epoch ?
                            find_line(d, vaddr) : NULL;

        if (d->epoch == (unsigned)epoch) {
            narrow_between(d, vaddr, mapping);
        }
        if (j && (!tried || tried->addr != j->addr)) {
            tried = j;
            tries++;
            found = line_at(g, p, epoch, where, j->lo);
            found = found && found->addr == j->addr ? found : NULL;
        }
    }
    if (!found) {
        return false;
    }
    *mapping = (GuestMapping) {
        .object = p->jit,
        .bias = found->lo - found->addr,
        .lo = found->lo,
        .hi = found->hi,
    };
    return true;
}
