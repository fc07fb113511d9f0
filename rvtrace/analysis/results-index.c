/*
 * rvtrace: a pass over a piece of a trace, by its index
 *
 * The piece that is decoded begins at a point of the index and ends behind
 * what is selected. Whatever does not depend upon a selection - how much there
 * is of everything, and what was lost - is in the index, so that nothing is
 * another than without it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/virtual-clock.h"
#include "profile/callstack-save.h"
#include "elf/elf-file.h"
#include "base/input.h"
#include "analysis/results-private.h"

char *results_index_path(const CliTrace *ct)
{
    return ct->index ? g_strdup(ct->index) :
                       g_strconcat(ct->traces[0], ".rvidx", NULL);
}

static void add_words(GString *text, const char *option, char **words)
{
    for (; words && *words; words++) {
        g_string_append_printf(text, "%s=%s\n", option, *words);
    }
}

/* The program itself, where there is no sideband to have it from */
static bool add_program(GString *text, const char *arg, GError **errp)
{
    g_autofree char *digest = NULL;
    g_autoptr(GBytes) file = NULL;
    uint64_t bias;
    g_autofree char *path = elf_file_split(arg, &bias, errp);

    file = path ? input_open(path, errp) : NULL;
    if (!file) {
        return false;
    }
    digest = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, file);
    g_string_append_printf(text, "elf=%s@%" PRIx64 "\n", digest, bias);
    return true;
}

char *results_index_setup(const CliTrace *ct, GError **errp)
{
    g_autoptr(GString) text = g_string_new(NULL);

    g_string_append_printf(text, "isa=%s\n", ct->isa ?: "");
    add_words(text, "param", ct->params);
    add_words(text, "tvec", ct->tvecs);
    for (char **elf = ct->elfs; elf && *elf && !ct->sidebands; elf++) {
        if (!add_program(text, *elf, errp)) {
            return NULL;
        }
    }
    return g_strdup(text->str);
}

char *results_index_names(const Results *r)
{
    return names_digest(names_objects(r->names), r->ct->elfs);
}

/* Would an index make less work? */
static bool is_of_use(const Results *r)
{
    const CliTrace *ct = r->ct;
    bool ranged = ct->selection && (ct->select.from || ct->select.to);

    return (ranged || ct->shards) && !ct->shard_files && r->names &&
           r->what & (RESULT_PROFILE | RESULT_COUNTS) &&
           !(r->what & RESULT_VERIFY) &&
           /* Intervals from the beginning on say how long each takes. */
           !r->by_time &&
           ct->limit == CLI_LIMIT_DEFAULT;
}

/* Does it say what is needed? Returns NULL if it does, or else why not. */
static char *find_difference(const Results *r, const TraceIndex *index,
                             TraceMatch match)
{
    g_autofree char *names = results_index_names(r);
    g_autofree char *setup = results_index_setup(r->ct, NULL);

    if (g_strcmp0(setup, index->setup)) {
        return g_strdup("it was made with other --isa, --param, --tvec or "
                        "programs");
    }
    if (strcmp(names, index->names)) {
        return g_strdup("its call stacks have other names: it was made with "
                        "other --sysroot, --elf or --kallsyms");
    }
    if (r->ct->shards && match == TRACE_GROWN) {
        return g_strdup("the trace has grown since it was made");
    }
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i] && !index->harts[i].present) {
            return g_strdup_printf("it was made without hart %u", i);
        }
    }
    return NULL;
}

/*
 * Read the index, if there is one. What is wrong is an error if it was asked
 * for, else a warning.
 */
static bool read_index(Results *r, TraceMatch *match)
{
    const CliTrace *ct = r->ct;
    g_autofree char *path = results_index_path(ct);
    g_autofree char *why = NULL;
    g_autoptr(TraceIndex) index = NULL;
    g_autoptr(GError) err = NULL;
    bool must = ct->index || ct->shards;

    if (!must && !g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        return true;
    }
    if (ct->shards && !g_file_test(path, G_FILE_TEST_EXISTS)) {
        cli_error("--shard: pieces are those of an index, but %s does not "
                  "exist; make it with 'rvtrace index', or name it with "
                  "--index", path);
        return false;
    }
    index = trace_index_read(path, r->t, match, &err);
    if (index) {
        why = find_difference(r, index, *match);
    }
    if (index && !why) {
        r->index = g_steal_pointer(&index);
        return true;
    }
    if (must) {
        if (why) {
            cli_error("%s: %s; make it again with 'rvtrace index' and these "
                      "options", path, why);
        } else {
            cli_error("%s", err->message);
        }
        return false;
    }
    cli_warn("%s%s%s; the trace is decoded from its beginning",
             why ? path : err->message, why ? ": " : "", why ?: "");
    return true;
}

/* The border in front of piece @k, from 0 on, of @n; NULL: the beginning */
static const IndexPoint *shard_border(const IndexHart *h, unsigned k,
                                      unsigned n)
{
    uint64_t share = share_of(h->all.insns, k, n);

    return k ? index_hart_find(h, share) : NULL;
}

static uint64_t insns_before(const IndexPoint *p)
{
    return p ? p->before.insns : 0;
}

/* Where the piece begins and ends */
static void choose_shard(HartResult *h)
{
    const CliTrace *ct = h->all->ct;
    uint64_t end = UINT64_MAX;

    h->from = shard_border(h->indexed, ct->shard - 1, ct->shards);
    if (ct->shard < ct->shards) {
        h->to = shard_border(h->indexed, ct->shard, ct->shards);
        end = insns_before(h->to);
    }
    if (!h->selection) {
        h->selection = selection_hart_new(h->all->everything);
    }
    selection_hart_narrow(h->selection, insns_before(h->from), end);
}

/*
 * A point where not all of the sideband was there, that has grown since, is not
 * to be believed.
 */
static const IndexPoint *find_point(const HartResult *hart, TraceMatch match)
{
    const IndexHart *h = hart->indexed;
    uint64_t from, to, since = selection_hart_since(hart->selection);
    const IndexPoint *p, *timed;

    selection_hart_range(hart->selection, &from, &to);
    p = index_hart_find(h, from);
    timed = since ? index_hart_find_time(
        h, virtual_clock_ticks(&hart->time, since)) : NULL;
    if (timed && (!p || timed > p)) {
        p = timed;
    }
    while (p && match == TRACE_GROWN && p->at.sideband_pos &&
           p->at.sideband_pos >= h->sideband_end) {
        p = p == &g_array_index(h->points, IndexPoint, 0) ? NULL : p - 1;
    }
    return p;
}

static bool load_stacks(HartResult *h)
{
    ByteReader tree = h->indexed->tree, stacks;

    h->tree = tree_reader_new(&tree, names_objects(h->all->names),
                              h->all->tasks);
    if (!h->tree) {
        return false;
    }
    if (!h->from || !h->stack) {
        return true;
    }
    stacks = h->from->stacks;
    tree_reader_bind(h->tree, h->profile, &h->all->layers);
    return callstack_load(h->stack, h->tree, h->indexed->pieces, &stacks);
}

/* Losses outside the piece: they are known, but not decoded again. */
static void add_losses(HartResult *h, uint64_t from, uint64_t to)
{
    const GArray *known = h->indexed->losses;

    for (uint64_t i = from; i < to; i++) {
        if (i >= known->len) {
            h->more_losses += to - i;
            break;
        }
        g_array_append_val(h->losses, g_array_index(known, TraceLoss, i));
    }
}

static void choose_piece(HartResult *h, TraceMatch match)
{
    h->indexed = &h->all->index->harts[h->hart];
    if (h->all->ct->shards) {
        choose_shard(h);
    }
    h->from = find_point(h, match);
    h->over = match == TRACE_SAME &&
              selection_hart_ends(h->selection, h->indexed->all.insns);
    if (!load_stacks(h)) {
        h->failed = true;
        return;
    }
    if (h->from) {
        const IndexCounts *before = &h->from->before;

        h->counts.insns = before->insns;
        h->counts.exceptions = before->exceptions;
        h->counts.interrupts = before->interrupts;
        h->counts.windows = before->windows;
        if (!h->all->ct->shards) {
            add_losses(h, 0, before->losses);
        }
    }
}

/* An index of a trace that has grown does not have its end. */
static bool find_ends(Results *r, TraceMatch match)
{
    TraceIndex *index = r->index;
    bool ok;

    if (match == TRACE_GROWN) {
        r->index = NULL;
    }
    ok = results_find_ends(r);
    r->index = index;
    return ok;
}

bool results_index_begin(Results *r)
{
    bool needs_ends = !r->only_ends && r->ct->selection &&
                      selection_has_end(r->ct->selection);
    TraceMatch match = TRACE_SAME;

    if (r->spacing && !index_maker_begin(r)) {
        return false;
    }
    if (r->spacing || !is_of_use(r)) {
        return !needs_ends || results_find_ends(r);
    }
    if (!read_index(r, &match) ||
        (needs_ends && !find_ends(r, match))) {
        return false;
    }
    if (r->ct->shards && !r->ct->selection) {
        r->everything = selection_all();
    }
    for (unsigned i = 0; r->index && i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            choose_piece(r->harts[i], match);
        }
    }
    return true;
}

/* The decoder is at h->from: whose address space is it? */
static void on_begun(void *opaque)
{
    HartResult *h = opaque;

    /* By now the selection has seen the notes that stand before it. */
    selection_hart_start(h->selection, h->from->before.insns);
    if (h->from->ticks && h->time.hz) {
        h->time.ticks = h->from->ticks;
        h->time.known = true;
        selection_time(h->selection, virtual_clock_ns(&h->time));
        if (h->clock) {
            moment_clock_time(h->clock, 0, virtual_clock_ns(&h->time));
        }
    }
    if (h->from->space_task &&
        tree_reader_task(h->tree, h->from->space_task, &h->who.space_task)) {
        h->who.space = h->from->space;
        h->who.generation = h->d.image->generation;
    }
}

/* What the trace has behind the place where the decoder stopped */
static void add_rest(HartResult *h)
{
    const IndexCounts *all = &h->indexed->all;

    add_losses(h, h->losses->len + h->more_losses, all->losses);
    h->d.stats = all->stats;
    h->counts.insns = all->insns;
    h->counts.exceptions = all->exceptions;
    h->counts.interrupts = all->interrupts;
    h->counts.windows = all->windows;
}

/* Of a shard, those of its own piece; each is in one piece only. */
static void set_shard_losses(HartResult *h)
{
    const IndexCounts *all = &h->indexed->all;
    const CliTrace *ct = h->all->ct;
    const IndexPoint *from = shard_border(h->indexed, ct->shard - 1,
                                          ct->shards);

    g_array_set_size(h->losses, 0);
    h->more_losses = 0;
    add_losses(h, from ? from->before.losses : 0,
               ct->shard == ct->shards ? all->losses :
               h->to ? h->to->before.losses : 0);
}

void results_index_decode(HartResult *h, const TraceConsumer *consumer)
{
    bool has = h->indexed;
    uint64_t from, to;

    if (h->failed) {
        return;
    }
    if (!has) {
        trace_decode(&h->d, h->all->t, h->hart, consumer, h);
        return;
    }
    selection_hart_range(h->selection, &from, &to);
    h->start = (TraceStart) {
        .point = h->from ? &h->from->at : NULL,
        .advanced = (const uint64_t *)h->indexed->advanced->data,
        .begun = on_begun,
    };
    /* A piece without anything in it */
    h->d.stop = h->over && from >= to;
    if (!h->d.stop) {
        h->failed = !trace_decode_from(&h->d, h->all->t, h->hart,
                                       h->from ? &h->start : NULL, consumer,
                                       h);
    }
    if (h->from) {
        trace_stats_add(&h->d.stats, &h->from->before.stats);
    }
    if (h->over && h->d.stop && !h->d.gave_up) {
        add_rest(h);
    }
    if (h->all->ct->shards) {
        set_shard_losses(h);
    }
}
