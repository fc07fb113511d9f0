/*
 * rvtrace index: find the places of a trace where decoding can begin
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "callstack-save.h"
#include "results.h"
#include "trap-text.h"

/*
 * More points than this do not make anything faster. When there are as many,
 * every other one is dropped, and new ones are twice as far apart.
 */
#define MAX_POINTS  2048

/* Instructions between points, at least */
#define SPACING     1000000

typedef struct IndexMaker {
    IndexHart *hart;
    uint64_t spacing, next;     /* instructions */
} IndexMaker;

static IndexCounts counts_so_far(const HartResult *h)
{
    IndexCounts counts = {
        .insns = h->counts.insns,
        .exceptions = h->counts.exceptions,
        .interrupts = h->counts.interrupts,
        .windows = h->counts.windows,
        .losses = h->losses->len + h->more_losses,
        .stats = h->d.stats,
    };

    return counts;
}

static void thin_out(IndexMaker *m)
{
    GArray *points = m->hart->points;

    guint n = 0;

    for (guint i = 1; i < points->len; i += 2) {
        IndexPoint *a = &g_array_index(points, IndexPoint, n++);
        IndexPoint *b = &g_array_index(points, IndexPoint, i), swap = *a;

        *a = *b;
        *b = swap;
    }
    g_array_set_size(points, n);
    m->spacing *= 2;
}

void index_maker_synced(HartResult *h)
{
    IndexMaker *m = h->maker;
    IndexPoint p = { 0 };

    if (h->counts.insns < m->next) {
        return;
    }
    p.bytes = g_byte_array_new();
    if (!trace_decoder_point(&h->d, &p.at) ||
        !callstack_save(h->stack, m->hart->tree_writer, m->hart->pool,
                        p.bytes)) {
        g_byte_array_unref(p.bytes);
        return;
    }
    g_array_set_size(m->hart->advanced, 0);
    g_array_append_vals(m->hart->advanced, h->d.ended->data,
                        h->d.ended->len);
    p.before = counts_so_far(h);
    p.before.stats.skipped_packets += h->d.flow.skipped;
    p.ticks = h->time.ticks;
    p.task = tree_writer_task(m->hart->tree_writer, h->who.task);
    if (h->who.space_task && h->who.generation == h->d.image->generation) {
        p.space_task = tree_writer_task(m->hart->tree_writer,
                                        h->who.space_task);
        p.space = h->who.space;
    }
    g_array_append_val(m->hart->points, p);
    if (m->hart->points->len == MAX_POINTS) {
        thin_out(m);
    }
    m->next = h->counts.insns + m->spacing;
}

/* When the hart has been decoded */
static void finish_hart(const HartResult *h)
{
    IndexHart *hart = h->maker->hart;

    hart->all = counts_so_far(h);
    hart->last_ticks = h->time.ticks;
    hart->sideband_end = h->d.sideband_end;
    g_array_append_vals(hart->losses, h->losses->data, h->losses->len);
}

bool index_maker_begin(Results *r, uint64_t spacing)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *setup = results_index_setup(r->ct, &err);
    g_autofree char *names = results_index_names(r);

    if (!setup) {
        cli_error("%s", err->message);
        return false;
    }
    r->index = trace_index_new(r->t, setup, names);
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        IndexHart *hart = &r->index->harts[i];

        if (!r->harts[i]) {
            continue;
        }
        hart->present = true;
        hart->tree_writer = tree_writer_new(r->harts[i]->profile);
        hart->pool = stack_pool_new();
        r->harts[i]->maker = g_new0(IndexMaker, 1);
        *r->harts[i]->maker = (IndexMaker) {
            .hart = hart,
            .spacing = spacing,
            .next = spacing,
        };
    }
    return true;
}

/* Prints what is wrong and returns false. */
static bool write_index(Results *r, const char *path)
{
    g_autoptr(GError) err = NULL;

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            finish_hart(r->harts[i]);
        }
    }
    if (!trace_index_write(r->index, r->t, path, &err)) {
        cli_error("%s", err->message);
        return false;
    }
    return true;
}

static int make(CliTrace *ct, const ProfileOptions *po, const char *path,
                uint64_t spacing)
{
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(Names) names = NULL;
    g_autoptr(Trace) t = NULL;
    g_auto(Results) r = {
        .ct = ct, .tasks = tasks, .what = RESULT_PROFILE, .spacing = spacing,
    };

    t = r.t = cli_open(ct);
    if (!t) {
        return CLI_ERROR;
    }
    if (t->ram) {
        cli_error("there is no index of a RAM sink's ring: it is small, and "
                  "what is in it changes");
        return CLI_ERROR;
    }
    r.names = names = profile_load_names(ct, po, t, objects);
    if (!names) {
        return CLI_ERROR;
    }
    stack_tree_layers(&r.layers);
    r.layers.names = names;
    if (!results_decode(&r) || !write_index(&r, path)) {
        return CLI_ERROR;
    }
    return cli_finish_losses(ct);
}

static void list_point(unsigned hart, const IndexPoint *p,
                       const TreeReader *tree)
{
    const Task *task = NULL;
    g_autofree char *name = NULL;

    tree_reader_task(tree, p->task, &task);
    name = task ? g_strdup_printf("%s (%u/%u)", task->name, task->tgid,
                                  task->tid) : g_strdup("-");
    printf("%4u  %16" PRIu64 "  %16" PRIu64 "  %12" PRIu64 "  %-10s  %s\n",
           hart, p->before.insns, p->ticks, p->at.pos,
           priv_text(p->at.flow.priv), name);
}

/* Print what an index has. */
static int list(CliTrace *ct, const char *path)
{
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(TraceIndex) index = NULL;
    g_autoptr(GError) err = NULL;
    g_autoptr(Trace) t = cli_open(ct);
    TraceMatch match;

    index = t ? trace_index_read(path, t, &match, &err) : NULL;
    if (!index) {
        if (t) {
            cli_error("%s", err->message);
        }
        return CLI_ERROR;
    }
    if (match == TRACE_GROWN) {
        cli_warn("%s: the trace has grown since it was made", path);
    }
    printf("hart      instructions             ticks          byte  "
           "privilege   task\n");
    for (unsigned i = 0; i < index->nr_harts; i++) {
        const IndexHart *h = &index->harts[i];
        ByteReader tasks_only = h->tree;
        g_autoptr(TreeReader) tree = NULL;

        if (!h->present || !cli_hart_selected(ct, t, i)) {
            continue;
        }
        tree = tree_reader_new(&tasks_only, NULL, tasks);
        if (!tree) {
            cli_error("%s: the index makes no sense; make it again with "
                      "'rvtrace index'", path);
            return CLI_ERROR;
        }
        for (guint k = 0; k < h->points->len; k++) {
            list_point(i, &g_array_index(h->points, IndexPoint, k), tree);
        }
        printf("%4u  %16" PRIu64 "  in all\n", i, h->all.insns);
    }
    return cli_flush(stdout, "standard output") ? CLI_OK : CLI_ERROR;
}

int cmd_index(int argc, char **argv)
{
    g_auto(CliTrace) ct = { 0 };
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;
    g_autofree char *every = NULL, *path = NULL;
    gboolean only_list = false;
    uint64_t spacing = SPACING;
    GOptionEntry entries[] = {
        { "kallsyms", 'k', 0, G_OPTION_ARG_FILENAME_ARRAY, &o.kallsyms,
          "Symbols of the kernel: a copy of its /proc/kallsyms, or a "
          "System.map; can be repeated", "FILE" },
        { "sysroot", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o.sysroots,
          "Find what ran in the files below this folder, by its bytes: "
          "programs, libraries, modules, kernel; can be repeated", "DIR" },
        { "every", 0, 0, G_OPTION_ARG_STRING, &every,
          "Instructions of a hart between two places, at least; N can end in "
          "k, M or G (default: 1M)", "N" },
        { "list", 0, 0, G_OPTION_ARG_NONE, &only_list,
          "Write the places of an index that is there", NULL },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &path,
          "Where to write to, or what to list (default: TRACE.rvidx)",
          "FILE" },
        G_OPTION_ENTRY_NULL
    };

    if (!cli_parse(&ct, entries, "Find the places of a trace where decoding "
                   "can begin, with what is known there,\nso that other "
                   "commands need not decode what is before --from, or\n"
                   "decode but a piece of it.", argc, argv)) {
        return CLI_ERROR;
    }
    if (every && (!selection_parse_count(every, &spacing) || !spacing)) {
        cli_error("--every %s: must be a number of instructions, with k, M or "
                  "G behind it or not", every);
        return CLI_ERROR;
    }
    if (ct.limit != CLI_LIMIT_DEFAULT) {
        cli_error("--limit: an index is of the whole trace");
        return CLI_ERROR;
    }
    path = path ?: results_index_path(&ct);
    return only_list ? list(&ct, path) : make(&ct, &o, path, spacing);
}
