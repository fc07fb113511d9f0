/*
 * Profiles for gcc -fauto-profile
 *
 * GCC matches them by function and by line, counted from the function's own:
 * for each function, and within it for each call that was inlined, how often
 * each line ran. Lines of functions that ran are there with a count of 0 if
 * they did not run, because for GCC a line that is missing is one that nobody
 * knows of.
 *
 * The file (gcc/auto-profile.cc describes it): numbers of 32 bits, and counts
 * of 64, least significant byte first; strings as their length in bytes,
 * the zero byte at their end included, and the bytes (from GCC 12 on).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "elf/debug-info.h"
#include "base/input.h"
#include "views/pgo/pgo.h"

#define GCOV_DATA_MAGIC             0x67636461
#define AUTO_PROFILE_VERSION        2
#define GCOV_TAG_AFDO_FILE_NAMES    0xaa000000
#define GCOV_TAG_AFDO_FUNCTION      0xac000000
#define GCOV_TAG_MODULE_GROUPING    0xae000000
#define HIST_TYPE_INDIR_CALL_TOPN   7

/* From this version on GCC knows discriminators of lines. */
#define GCC_DISCRIMINATORS          13

/* Calls that were inlined into each other; what is deeper is left out. */
#define MAX_DEPTH   256

/* A line of a function, and a discriminator, as GCC encodes them */
typedef struct Position {
    uint32_t offset;
    uint64_t count;
    GTree *targets;         /* name -> uint64_t, of indirect calls; or NULL */
} Position;

/* A function, or what was inlined of one at a place */
typedef struct Instance {
    const char *name;       /* owned by Gcov.names */
    uint32_t offset;        /* of the call, in the caller */
    uint64_t head;
    GTree *positions;       /* uint32_t * -> Position */
    GTree *callees;         /* Instance -> itself */
} Instance;

/* One DebugFunction: code is counted there before copies are added up */
typedef struct Copy {
    Instance *instance;
    GTree *positions;
} Copy;

typedef struct Gcov {
    const ObjectCounts *oc;
    const ObjectText *text;
    DebugInfo *debug;
    bool discriminators;
    GHashTable *entries;    /* address -> name of the function */
    GHashTable *jumps;      /* address -> GArray of ObjectJump * */
    GHashTable *copies;     /* DebugFunction -> Copy, of one function */
    GTree *names;           /* the strings; -> index */
    Instance *top;          /* its callees are the functions */
} Gcov;

static int compare_offsets(gconstpointer a, gconstpointer b, gpointer opaque)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static int compare_names(gconstpointer a, gconstpointer b, gpointer opaque)
{
    return strcmp(a, b);
}

static int compare_instances(gconstpointer a, gconstpointer b, gpointer opaque)
{
    const Instance *x = a, *y = b;

    return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) :
                                    strcmp(x->name, y->name);
}

static void position_free(gpointer opaque)
{
    Position *p = opaque;

    g_clear_pointer(&p->targets, g_tree_unref);
    g_free(p);
}

static GTree *positions_new(void)
{
    return g_tree_new_full(compare_offsets, NULL, NULL, position_free);
}

static Position *position_at(GTree *positions, uint32_t offset)
{
    Position *p = g_tree_lookup(positions, &offset);

    if (!p) {
        p = g_new0(Position, 1);
        p->offset = offset;
        g_tree_insert(positions, &p->offset, p);
    }
    return p;
}

static void add_target(Position *p, const char *name, uint64_t count)
{
    uint64_t *sum;

    if (!p->targets) {
        p->targets = g_tree_new_full(compare_names, NULL, NULL, g_free);
    }
    sum = g_tree_lookup(p->targets, name);
    if (!sum) {
        sum = g_new0(uint64_t, 1);
        g_tree_insert(p->targets, (gpointer)name, sum);
    }
    *sum += count;
}

static void instance_free(gpointer opaque)
{
    Instance *i = opaque;

    g_tree_unref(i->positions);
    g_tree_unref(i->callees);
    g_free(i);
}

static Instance *instance_new(const char *name, uint32_t offset)
{
    Instance *i = g_new0(Instance, 1);

    i->name = name;
    i->offset = offset;
    i->positions = positions_new();
    i->callees = g_tree_new_full(compare_instances, NULL, NULL, instance_free);
    return i;
}

static Instance *callee_of(Instance *caller, const char *name, uint32_t offset)
{
    Instance key = { .name = name, .offset = offset };
    Instance *i = g_tree_lookup(caller->callees, &key);

    if (!i) {
        i = instance_new(name, offset);
        g_tree_insert(caller->callees, i, i);
    }
    return i;
}

static void copy_free(gpointer opaque)
{
    Copy *c = opaque;

    g_tree_unref(c->positions);
    g_free(c);
}

/*
 * The name that GCC looks for: a clone's (.constprop.0, .isra.0, .part.0) is
 * the function's. The string is the tree's.
 */
static const char *intern(Gcov *g, const char *name)
{
    size_t len = strcspn(name, ".");
    g_autofree char *stem = g_strndup(name, len ? len : strlen(name));
    gpointer key, value;

    if (g_tree_lookup_extended(g->names, stem, &key, &value)) {
        return key;
    }
    key = g_steal_pointer(&stem);
    g_tree_insert(g->names, key, NULL);
    return key;
}

static uint32_t offset_of(const Gcov *g, unsigned line,
                          unsigned discriminator,
                          const DebugFunction *function)
{
    uint32_t disc = g->discriminators ? discriminator & 0xffff : 0;

    return (line - function->line) << 16 | disc;
}

static Copy *copy_of(Gcov *g, const DebugFrame *frames, unsigned n)
{
    Copy *c = g_hash_table_lookup(g->copies, frames[0].function);

    if (c) {
        return c;
    }
    c = g_new0(Copy, 1);
    c->positions = positions_new();
    c->instance = callee_of(g->top, intern(g, frames[n - 1].function->name),
                            0);
    for (unsigned i = n - 1; i > 0; i--) {
        uint32_t offset = offset_of(g, frames[i].line,
                                    frames[i].discriminator,
                                    frames[i].function);

        c->instance = callee_of(c->instance,
                                intern(g, frames[i - 1].function->name),
                                offset);
    }
    g_hash_table_insert(g->copies, (gpointer)frames[0].function, c);
    return c;
}

static void add_calls(Gcov *g, uint64_t addr, Position *p)
{
    const GPtrArray *jumps = g_hash_table_lookup(g->jumps, &addr);

    for (guint i = 0; jumps && i < jumps->len; i++) {
        const ObjectJump *j = g_ptr_array_index(jumps, i);
        const char *name = g_hash_table_lookup(g->entries, &j->to);

        if (name) {
            add_target(p, name, j->count);
        }
    }
}

static void add_insn(Gcov *g, uint64_t addr)
{
    DebugFrame frames[MAX_DEPTH];
    unsigned n = debug_info_frames(g->debug, addr, frames, MAX_DEPTH);
    Position *p;

    if (!n || n > MAX_DEPTH || !frames[0].line) {
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        if (!frames[i].function || !frames[i].function->name) {
            return;
        }
    }
    p = position_at(copy_of(g, frames, n)->positions,
                    offset_of(g, frames[0].line, frames[0].discriminator,
                              frames[0].function));
    p->count = MAX(p->count, object_counts_at(g->oc, addr));
    add_calls(g, addr, p);
}

static gboolean fold_target(gpointer key, gpointer value, gpointer opaque)
{
    add_target(opaque, key, *(uint64_t *)value);
    return false;
}

static gboolean fold_position(gpointer key, gpointer value, gpointer opaque)
{
    const Instance *to = opaque;
    const Position *from = value;
    Position *p = position_at(to->positions, from->offset);

    p->count += from->count;
    if (from->targets) {
        g_tree_foreach(from->targets, fold_target, p);
    }
    return false;
}

static void add_function(void *opaque, const DebugFunction *f)
{
    Gcov *g = opaque;
    GHashTableIter iter;
    gpointer value;
    bool ran = false;

    for (unsigned i = 0; i < f->nr_ranges; i++) {
        ran |= object_counts_most(g->oc, f->ranges[i].lo, f->ranges[i].hi);
    }
    if (!ran || !f->name) {
        return;
    }
    for (unsigned i = 0; i < f->nr_ranges; i++) {
        uint64_t addr = f->ranges[i].lo;
        Insn insn;

        while (addr < f->ranges[i].hi &&
               object_text_insn(g->text, addr, &insn)) {
            add_insn(g, addr);
            addr += insn.size;
        }
    }
    callee_of(g->top, intern(g, f->name), 0)->head +=
        object_counts_at(g->oc, f->entry);
    g_hash_table_iter_init(&iter, g->copies);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Copy *c = value;

        g_tree_foreach(c->positions, fold_position, c->instance);
    }
    g_hash_table_remove_all(g->copies);
}

static void add_entry(void *opaque, const DebugFunction *f)
{
    Gcov *g = opaque;

    if (f->name) {
        g_hash_table_insert(g->entries, g_memdup2(&f->entry, sizeof(f->entry)),
                            (gpointer)intern(g, f->name));
    }
}

/* Of calls whose target the code does not say */
static void index_jumps(Gcov *g)
{
    for (guint i = 0; i < g->oc->jumps->len; i++) {
        const ObjectJump *j = object_jump(g->oc, i);
        GPtrArray *jumps;

        if (!j->from_here || !j->to_here ||
            (j->itype != ETRACE_ITYPE_UNINFERABLE_CALL &&
             j->itype != ETRACE_ITYPE_UNINFERABLE_JUMP)) {
            continue;
        }
        jumps = g_hash_table_lookup(g->jumps, &j->from);
        if (!jumps) {
            jumps = g_ptr_array_new();
            g_hash_table_insert(g->jumps, (gpointer)&j->from, jumps);
        }
        g_ptr_array_add(jumps, (gpointer)j);
    }
}

/*
 * The newest GCC that made some of the file, by its .comment: "GCC: (what)
 * 12.2.0"; 0 if that says nothing
 */
static unsigned gcc_version(const ObjectText *text)
{
    unsigned newest = 0;
    Elf_Scn *scn = NULL;
    size_t names;

    if (!text->file || elf_getshdrstrndx(text->file->elf, &names)) {
        return 0;
    }
    while ((scn = elf_nextscn(text->file->elf, scn))) {
        GElf_Shdr shdr;
        const char *name = gelf_getshdr(scn, &shdr) ?
            elf_strptr(text->file->elf, names, shdr.sh_name) : NULL;
        Elf_Data *data = name && g_str_equal(name, ".comment") ?
            elf_getdata(scn, NULL) : NULL;

        for (size_t at = 0; data && at < data->d_size; ) {
            g_autofree char *s = g_strndup((char *)data->d_buf + at,
                                           data->d_size - at);
            const char *p = g_str_has_prefix(s, "GCC: (") ?
                            strstr(s, ") ") : NULL;

            if (p) {
                newest = MAX(newest, g_ascii_strtoull(p + 2, NULL, 10));
            }
            at += strlen(s) + 1;
        }
    }
    return newest;
}

/* --- the file --- */

static void put32(FILE *f, uint32_t v)
{
    uint32_t le = GUINT32_TO_LE(v);

    fwrite(&le, sizeof(le), 1, f);
}

static void put64(FILE *f, uint64_t v)
{
    put32(f, v);
    put32(f, v >> 32);
}

typedef struct Writer {
    const Gcov *g;
    FILE *f;
} Writer;

static uint32_t index_of(const Gcov *g, const char *name)
{
    return GPOINTER_TO_UINT(g_tree_lookup(g->names, name));
}

static gboolean write_target(gpointer key, gpointer value, gpointer opaque)
{
    const Writer *w = opaque;

    put32(w->f, HIST_TYPE_INDIR_CALL_TOPN);
    put64(w->f, index_of(w->g, key));
    put64(w->f, *(uint64_t *)value);
    return false;
}

static gboolean write_position(gpointer key, gpointer value, gpointer opaque)
{
    const Writer *w = opaque;
    const Position *p = value;

    put32(w->f, p->offset);
    put32(w->f, p->targets ? g_tree_nnodes(p->targets) : 0);
    put64(w->f, p->count);
    if (p->targets) {
        g_tree_foreach(p->targets, write_target, opaque);
    }
    return false;
}

static gboolean write_callee(gpointer key, gpointer value, gpointer opaque);

static void write_instance(const Instance *i, Writer *w)
{
    put32(w->f, index_of(w->g, i->name));
    put32(w->f, g_tree_nnodes(i->positions));
    put32(w->f, g_tree_nnodes(i->callees));
    g_tree_foreach(i->positions, write_position, w);
    g_tree_foreach(i->callees, write_callee, w);
}

static gboolean write_callee(gpointer key, gpointer value, gpointer opaque)
{
    const Instance *i = value;
    Writer *w = opaque;

    put32(w->f, i->offset);
    write_instance(i, w);
    return false;
}

static gboolean write_function(gpointer key, gpointer value, gpointer opaque)
{
    const Instance *i = value;
    Writer *w = opaque;

    put64(w->f, i->head);
    write_instance(i, w);
    return false;
}

static gboolean list_name(gpointer key, gpointer value, gpointer opaque)
{
    g_ptr_array_add(opaque, key);
    return false;
}

static void write_names(const Gcov *g, FILE *f)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    g_tree_foreach(g->names, list_name, names);
    put32(f, GCOV_TAG_AFDO_FILE_NAMES);
    put32(f, 0);
    put32(f, names->len);
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);

        put32(f, strlen(name) + 1);
        fwrite(name, strlen(name) + 1, 1, f);
        g_tree_insert(g->names, g_strdup(name), GUINT_TO_POINTER(i));
    }
}

static void write_file(Gcov *g, FILE *f)
{
    Writer w = { .g = g, .f = f };

    put32(f, GCOV_DATA_MAGIC);
    put32(f, AUTO_PROFILE_VERSION);
    put32(f, 0);
    write_names(g, f);
    put32(f, GCOV_TAG_AFDO_FUNCTION);
    put32(f, 0);
    put32(f, g_tree_nnodes(g->top->callees));
    g_tree_foreach(g->top->callees, write_function, &w);
    put32(f, GCOV_TAG_MODULE_GROUPING);
    put32(f, 0);
    put32(f, 0);
}

bool pgo_write_gcov(const ObjectCounts *oc, const ObjectText *text,
                    char **sysroots, FILE *f, GError **errp)
{
    g_autoptr(DebugInfo) debug = debug_info_open(text->path, sysroots, errp);
    unsigned version = gcc_version(text);
    Gcov g = { .oc = oc, .text = text, .debug = debug };
    bool ok;

    if (!debug) {
        return false;
    }
    g.discriminators = !version || version >= GCC_DISCRIMINATORS;
    g.entries = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                      NULL);
    g.jumps = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL,
                                    (GDestroyNotify)g_ptr_array_unref);
    g.copies = g_hash_table_new_full(NULL, NULL, NULL, copy_free);
    g.names = g_tree_new_full(compare_names, NULL, g_free, NULL);
    /* Sorts first: GCC takes the string with index 0 for none. */
    g_tree_insert(g.names, g_strdup(""), NULL);
    g.top = instance_new("", 0);
    debug_info_functions(debug, add_entry, NULL, &g);
    index_jumps(&g);
    debug_info_functions(debug, add_function, NULL, &g);
    ok = g_tree_nnodes(g.top->callees);
    if (ok) {
        write_file(&g, f);
    } else {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                    "%s: no function that ran has debug information%s%s%s; "
                    "build with -g1 at least", text->path,
                    debug_info_note(debug) ? " (" : "",
                    debug_info_note(debug) ?: "",
                    debug_info_note(debug) ? ")" : "");
    }
    instance_free(g.top);
    g_hash_table_unref(g.copies);
    g_hash_table_unref(g.jumps);
    g_hash_table_unref(g.entries);
    g_tree_unref(g.names);
    return ok;
}
