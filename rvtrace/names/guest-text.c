/*
 * What the guest said of itself: texts of the sideband that name things
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "names/guest-text-private.h"
#include "names/object-elf.h"
#include "code/sideband-private.h"

static bool is_text(const Sideband *sb, const SidebandRecord *rec)
{
    return rec->type == ETRACE_SB_NOTE && sideband_record_valid(sb, rec) &&
           etrace_sb_get(rec->payload, 8) == ETRACE_SB_NOTE_TEXT;
}

bool guest_text_in(const Sideband *sb)
{
    size_t pos = sb->begin;
    SidebandRecord rec;

    while (pos < sb->end && sideband_next(sb->data, sb->end, &pos, &rec)) {
        if (is_text(sb, &rec)) {
            return true;
        }
    }
    return false;
}

/*
 * A task is reported behind the address space that it runs in. Those of the
 * kernel borrow one.
 */
static void add_epoch(GuestText *g, size_t pos, const SidebandRecord *rec,
                      const SidebandSpace *space)
{
    GuestEpoch epoch = { .pos = pos, .space = *space };
    ETraceSbTask task;
    GuestProcess *p;

    etrace_sb_unpack_task(rec->payload, rec->len, &task);
    if (!task.tgid) {
        return;
    }
    p = guest_text_process(g, task.tgid);
    if (!p->epochs->len ||
        !guest_text_same_space(&g_array_index(p->epochs, GuestEpoch,
                                              p->epochs->len - 1).space,
                               space)) {
        g_array_append_val(p->epochs, epoch);
    }
}

static void set_space(const SidebandRecord *rec, SidebandSpace *space)
{
    ETraceSbSpace from;

    etrace_sb_unpack_space(rec->payload, rec->len, &from);
    if (!from.virt) {
        *space = (SidebandSpace) { .atp = from.atp, .gatp = from.gatp };
    }
}

static void read_text(GuestText *g, const SidebandRecord *rec)
{
    const char *text;
    uint64_t kind;
    size_t len;

    etrace_sb_unpack_note(rec->payload, rec->len, &kind, &text, &len);
    if (!guest_text_line(g, rec->pos, text, len)) {
        g->malformed++;
    }
}

static void collect(GuestText *g)
{
    const Sideband *sb = g->sb;
    unsigned harts = sideband_nr_harts(sb);
    g_autofree SidebandSpace *spaces = g_new0(SidebandSpace, harts);
    size_t pos = sb->begin;
    SidebandRecord rec;

    while (pos < sb->end && sideband_next(sb->data, sb->end, &pos, &rec)) {
        if (!sideband_record_valid(sb, &rec)) {
            continue;
        }
        switch (rec.type) {
        case ETRACE_SB_SPACE:
            set_space(&rec, &spaces[rec.hart]);
            break;
        case ETRACE_SB_RESET:
            if (rec.hart < harts) {
                spaces[rec.hart] = (SidebandSpace) { 0 };
            }
            break;
        case ETRACE_SB_TASK:
            add_epoch(g, rec.pos, &rec, &spaces[rec.hart]);
            break;
        case ETRACE_SB_NOTE:
            if (is_text(sb, &rec)) {
                read_text(g, &rec);
            }
            break;
        default:
            break;
        }
    }
}

static void process_free(gpointer opaque)
{
    GuestProcess *p = opaque;

    g_array_unref(p->epochs);
    g_ptr_array_unref(p->maps);
    g_ptr_array_unref(p->jits);
    g_free(p);
}

GuestText *guest_text_new(const Sideband *sb)
{
    GuestText *g = g_new0(GuestText, 1);

    g->sb = sb;
    g->strings = g_string_chunk_new(65536);
    g->processes = g_hash_table_new_full(NULL, NULL, NULL, process_free);
    g->ksyms = g_array_new(false, false, sizeof(GuestKsym));
    g->modules = g_array_new(false, false, sizeof(GuestModule));
    g->module_names = g_hash_table_new(g_str_hash, g_str_equal);
    g->files = g_hash_table_new(g_str_hash, g_str_equal);
    g->paths = g_hash_table_new(g_str_hash, g_str_equal);
    g->kernel = g_ptr_array_new();
    collect(g);
    return g;
}

void guest_text_free(GuestText *g)
{
    g_string_chunk_free(g->strings);
    g_hash_table_unref(g->processes);
    g_array_unref(g->ksyms);
    g_array_unref(g->modules);
    g_hash_table_unref(g->module_names);
    g_hash_table_unref(g->files);
    g_hash_table_unref(g->paths);
    g_ptr_array_unref(g->kernel);
    g_clear_pointer(&g->pages, g_hash_table_unref);
    g_clear_pointer(&g->code, g_hash_table_unref);
    g_free(g);
}

unsigned guest_text_malformed(const GuestText *g)
{
    return g->malformed;
}

static void name_file(GuestText *g, ObjectTable *table, char **roots,
                      unsigned before, const char *path)
{
    Object *o = NULL, *name = NULL;

    if (g_hash_table_contains(g->paths, path)) {
        return;
    }
    for (unsigned i = 1; i < before && !(o && name); i++) {
        Object *known = object_get(table, i);

        if (!g_str_equal(known->path, path)) {
            continue;
        }
        if (known->code->len) {
            o = o ?: known;
        } else if (!known->file && known->kind == OBJECT_LIBRARY) {
            name = known;
        }
    }
    if (!o && sideband_is_process(g->sb)) {
        o = object_elf_find_copy(table, roots, path);
    } else if (!o) {
        o = object_elf_find(table, roots, path, false);
    }
    if (o) {
        g_hash_table_insert(g->files, (gpointer)path, o);
    }
    /* Of several traces, the one before may have made it. */
    name = name ?: object_new(table, OBJECT_LIBRARY, path, NULL);
    g_hash_table_insert(g->paths, (gpointer)path, name);
}

static void name_files(GuestText *g, ObjectTable *table, char **roots)
{
    unsigned before = object_table_size(table);
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, g->processes);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const GuestProcess *p = value;

        for (guint i = 0; i < p->maps->len; i++) {
            const GuestDump *d = p->maps->pdata[i];

            for (guint k = 0; k < d->lines->len; k++) {
                const char *path = g_array_index(d->lines, GuestMap, k).path;

                if (path) {
                    name_file(g, table, roots, before, path);
                }
            }
        }
    }
}

static Object *kernel_part(GuestText *g, ObjectTable *table,
                           GHashTable *parts, const char *module)
{
    const char *key = module ?: "";
    Object *o = g_hash_table_lookup(parts, key);

    if (!o) {
        g_autofree char *path = g_strdup_printf("[%s]", module ?: "kernel");

        o = object_new(table, module ? OBJECT_MODULE : OBJECT_KERNEL, path,
                       NULL);
        if (module) {
            object_rename(o, module);
        }
        g_hash_table_insert(parts, (gpointer)key, o);
        g_ptr_array_add(g->kernel, o);
    }
    return o;
}

/* What nothing names lies in a module all the same. */
static void add_module(Object *o, const GuestModule *m)
{
    uint64_t lo, hi;
    g_autofree char *name = g_strdup_printf("%s+0x0", m->name);

    if (!symbols_find(o->symbols, m->lo, &lo, &hi)) {
        symbols_add(o->symbols, m->lo, MIN(m->hi, hi) - m->lo, name);
        symbols_sort(o->symbols);
    }
}

static void name_kernel(GuestText *g, ObjectTable *table)
{
    g_autoptr(GHashTable) parts = g_hash_table_new(g_str_hash, g_str_equal);

    for (guint i = 0; i < g->ksyms->len; i++) {
        const GuestKsym *s = &g_array_index(g->ksyms, GuestKsym, i);

        symbols_add(kernel_part(g, table, parts, s->module)->symbols, s->addr,
                    0, s->name);
    }
    for (guint i = 0; i < g->kernel->len; i++) {
        symbols_sort(((Object *)g->kernel->pdata[i])->symbols);
    }
    for (guint i = 0; i < g->modules->len; i++) {
        const GuestModule *m = &g_array_index(g->modules, GuestModule, i);

        add_module(kernel_part(g, table, parts, m->name), m);
    }
}

void guest_text_objects(GuestText *g, ObjectTable *table, char **roots)
{
    name_files(g, table, roots);
    name_kernel(g, table);
    guest_text_name_jits(g, table);
}

bool guest_text_may_have_module(const GuestText *g, const char *name)
{
    return !g_hash_table_size(g->module_names) ||
           g_hash_table_contains(g->module_names, name);
}

const Object *guest_text_kernel(const GuestText *g, unsigned i)
{
    return i < g->kernel->len ? g->kernel->pdata[i] : NULL;
}

/* The line of @d that @vaddr is in, or NULL */
static const GuestMap *find_map(const GuestDump *d, uint64_t vaddr)
{
    guint first = 0, last = d->lines->len;

    while (first < last) {      /* first one that ends behind vaddr */
        guint mid = first + (last - first) / 2;

        if (g_array_index(d->lines, GuestMap, mid).hi <= vaddr) {
            first = mid + 1;
        } else {
            last = mid;
        }
    }
    if (first < d->lines->len) {
        const GuestMap *m = &g_array_index(d->lines, GuestMap, first);

        return vaddr >= m->lo ? m : NULL;
    }
    return NULL;
}

/* What is to be subtracted from addresses to get those of @object */
static bool find_bias(const Object *object, const GuestMap *map,
                      uint64_t vaddr, uint64_t *bias)
{
    uint64_t off = vaddr - map->lo + map->offset;
    const uint8_t *file = object->bytes ?
                          g_bytes_get_data(object->bytes, NULL) : NULL;

    for (guint i = 0; file && i < object->code->len; i++) {
        const ObjectCode *c = &g_array_index(object->code, ObjectCode, i);
        uint64_t from = c->bytes - file;

        if (off - from < c->size) {
            *bias = vaddr - (c->addr + off - from);
            return true;
        }
    }
    return false;
}

bool guest_text_mapping(const GuestText *g, const SidebandWhere *where,
                        uint32_t tgid, uint64_t vaddr, GuestMapping *mapping)
{
    const GuestProcess *p = g_hash_table_lookup(g->processes,
                                                GUINT_TO_POINTER(tgid));
    int epoch = p ? guest_text_epoch(p, where) : -1;
    const GuestDump *best = NULL;
    const GuestMap *map;

    /* The last one that was sent before; or else the first one after that */
    for (guint i = 0; epoch >= 0 && i < p->maps->len; i++) {
        const GuestDump *d = p->maps->pdata[i];

        if (d->epoch == (unsigned)epoch && (!best || d->pos < where->pos)) {
            best = d;
        }
    }
    map = best ? find_map(best, vaddr) : NULL;
    if (!map || (!map->path && !map->anonymous)) {
        return false;
    }
    *mapping = (GuestMapping) {
        .lo = map->lo,
        .hi = map->hi,
        .later = best->pos >= where->pos,
    };
    if (map->anonymous) {
        return true;
    }
    mapping->object = g_hash_table_lookup(g->files, map->path);
    mapping->path = g_hash_table_lookup(g->paths, map->path);
    if (mapping->object &&
        !find_bias(mapping->object, map, vaddr, &mapping->bias)) {
        mapping->object = NULL;
    }
    return true;
}

void guest_text_files(const GuestText *g, GuestFileFn *fn, void *opaque)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, g->processes);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const GuestProcess *p = value;

        for (guint i = 0; i < p->maps->len; i++) {
            const GArray *lines = ((GuestDump *)p->maps->pdata[i])->lines;

            for (guint k = 0; k < lines->len; k++) {
                const GuestMap *m = &g_array_index(lines, GuestMap, k);
                const Object *object = m->path ?
                    g_hash_table_lookup(g->files, m->path) : NULL;
                uint64_t bias = 0;

                if (m->path && !(object &&
                                 find_bias(object, m, m->lo, &bias))) {
                    object = g_hash_table_lookup(g->paths, m->path);
                }
                if (object) {
                    fn(opaque, object, bias);
                }
            }
        }
    }
}
