/*
 * rvtrace: what one pass over a trace gives
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <unistd.h>
#include "analysis/results-private.h"
#include "analysis/shards.h"

/* How often the progress is shown, microseconds */
#define PROGRESS_PERIOD (G_USEC_PER_SEC / 4)

/* Harts that are being decoded, and who waits for them */
typedef struct Crew {
    GMutex lock;
    GCond done;
    unsigned left;
} Crew;

static void count_runs(void *opaque, const FlowRun *runs, unsigned n,
                       uint64_t insns)
{
    HartResult *h = opaque;

    h->counts.insns += insns;
    h->counts.selected += h->selection ? 0 : insns;
}

static void compare_runs(HartResult *h, const FlowRun *runs, unsigned n)
{
    if (!h->compared) {
        return;
    }
    for (unsigned i = 0; i < n && h->check.count <= h->end; i++) {
        truth_check_run(&h->check, &runs[i]);
    }
    if (h->check.count > h->end && h->all->what == RESULT_VERIFY) {
        h->d.stop = true;       /* Nothing can make it right again. */
    }
}

static void ignore(HartResult *h, bool ignored)
{
    h->ignored = ignored;
    if (h->sampler) {
        sampler_select(h->sampler, !ignored);
    } else if (h->stack) {
        callstack_select(h->stack, !ignored);
    }
}

static uint64_t count_insns(const FlowRun *runs, unsigned n)
{
    uint64_t insns = 0;

    for (unsigned i = 0; i < n; i++) {
        insns += runs[i].count;
    }
    return insns;
}

/* Are these selected? They are all of one task, and no border is in them. */
static void look_at_selection(HartResult *h, const FlowRun *runs, unsigned n,
                              const CallStackSite *site)
{
    uint64_t insns = count_insns(runs, n);

    /* How the instruction before was left is no news of those to come. */
    if (h->selection && insns) {
        bool covered = selection_covers(h->selection, site->task);

        if (covered == h->ignored) {
            ignore(h, !covered);
        }
        if (covered && h->clock && !h->counts.selected) {
            moment_clock_restart(h->clock);
        }
        selection_ran(h->selection, insns);
        h->counts.selected += covered ? insns : 0;
    }
}

/* Does anybody want to know what functions are executed? */
static bool has_names(const HartResult *h)
{
    return h->stack || h->counter || h->maker;
}

/* Runs of one privilege level at a time */
static void name_runs(HartResult *h, const FlowRun *runs, unsigned n)
{
    for (unsigned from = 0, i = 1; i <= n; i++) {
        if (i == n || runs[i].priv != runs[from].priv) {
            CallStackSite site = who_site(&h->who, &h->d, runs[from].priv);

            look_at_selection(h, runs + from, i - from, &site);
            if (h->sampler) {
                sampler_runs(h->sampler, runs + from, i - from, &site);
            } else if (h->stack) {
                callstack_runs(h->stack, runs + from, i - from, &site);
            }
            index_maker_runs(h->maker, runs + from, i - from, &site);
            if (h->counter && h->ignored) {
                counter_skip(h->counter, runs + from, i - from, &site);
            } else if (h->counter) {
                counter_runs(h->counter, runs + from, i - from, &site);
            }
            from = i;
        }
    }
}

/* The same, where the selection may begin or end by number within a run */
static void name_numbered(HartResult *h, const FlowRun *run)
{
    FlowRun rest = *run;
    uint64_t room = selection_room(h->selection);

    while (rest.count > room) {
        FlowRun head = selection_split(&rest, room);

        name_runs(h, &head, 1);
        room = selection_room(h->selection);
    }
    name_runs(h, &rest, 1);
}

/* ... or where a function begins */
static void name_pieces(HartResult *h, const FlowRun *runs, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        FlowRun rest = runs[i];

        while (rest.count && selection_awaits(h->selection)) {
            CallStackSite site = who_site(&h->who, &h->d, rest.priv);
            const char *name;
            unsigned before = hart_find_border(h, &rest, &site, &name);

            if (before == rest.count) {
                break;
            }
            if (before) {
                FlowRun head = selection_split(&rest, before);

                name_numbered(h, &head);
            }
            selection_enter(h->selection, site.task, name);
            if (selection_awaits(h->selection) && rest.count > 1) {
                /* Functions that begin here or behind it are others. */
                FlowRun head = selection_split(&rest, 1);

                name_numbered(h, &head);
            } else {
                break;
            }
        }
        name_numbered(h, &rest);
    }
}

static void name_trap(HartResult *h, const FlowTrap *trap)
{
    CallStackSite site = who_site(&h->who, &h->d, trap->priv);

    if (h->sampler) {
        sampler_trap(h->sampler, trap, &site);
    } else if (h->stack) {
        callstack_trap(h->stack, trap, &site);
    }
    index_maker_trap(h->maker, trap, &site);
    if (h->counter) {
        counter_trap(h->counter, trap, &site);
    }
}

static void on_runs(void *opaque, const FlowRun *runs, unsigned n,
                    uint64_t insns)
{
    HartResult *h = opaque;

    count_runs(h, runs, n, insns);
    compare_runs(h, runs, n);
    if (h->selection && (insns > selection_room(h->selection) ||
                         selection_awaits(h->selection))) {
        name_pieces(h, runs, n);
    } else if (has_names(h)) {
        name_runs(h, runs, n);
    }
    if (h->selection && selection_over(h->selection)) {
        h->d.stop |= hart_moments_over(h) && h->over;
    }
}

static void on_mark(void *opaque)
{
    HartResult *h = opaque;

    h->counts.insns_at_mark = h->counts.insns;
    h->counts.selected_at_mark = h->counts.selected;
    if (h->selection) {
        selection_mark(h->selection);
    }
    if (h->sampler) {
        sampler_mark(h->sampler);
    } else if (h->stack) {
        callstack_mark(h->stack);
    }
    index_maker_mark(h->maker);
    if (h->counter) {
        counter_mark(h->counter);
    }
}

static bool on_repeat(void *opaque, uint64_t times)
{
    HartResult *h = opaque;

    bool counted = h->counter && !h->ignored;

    if ((h->selection && !selection_can_repeat(h->selection, times)) ||
        (counted && !counter_can_repeat(h->counter)) ||
        !index_maker_can_repeat(h->maker) ||
        (h->sampler ? !sampler_repeat(h->sampler, times) :
         h->stack && !callstack_repeat(h->stack, times))) {
        return false;
    }
    index_maker_repeat(h->maker, times);
    if (counted) {
        counter_repeat(h->counter, times);
    }
    if (h->selection) {
        selection_repeat(h->selection, times);
    }
    h->counts.selected += times * (h->counts.selected -
                                   h->counts.selected_at_mark);
    h->counts.insns += (h->counts.insns - h->counts.insns_at_mark) * times;
    return true;
}

static void on_trap(void *opaque, const FlowTrap *trap)
{
    HartResult *h = opaque;

    h->counts.interrupts += trap->interrupt;
    h->counts.exceptions += !trap->interrupt;
    if (has_names(h)) {
        name_trap(h, trap);
    }
}

static void on_window(void *opaque, uint64_t pc)
{
    HartResult *h = opaque;

    h->counts.windows++;
}

static void on_note(void *opaque, const SidebandNote *note)
{
    HartResult *h = opaque;

    if (h->selection) {
        selection_note(h->selection, note);
    }
}

/* Said when all harts are done: cli_report_loss() shows no more than these. */
static void on_loss(void *opaque, const TraceLoss *loss)
{
    HartResult *h = opaque;

    if (h->sampler) {
        sampler_lost(h->sampler);
    } else if (h->stack) {
        callstack_lost(h->stack);
    }
    index_maker_lost(h->maker);
    if (h->counter) {
        counter_lost(h->counter);
    }
    hart_moment_lost(h, loss->flow.kind);
    if (h->losses->len < CLI_MAX_LOSSES_SHOWN ||
        loss->flow.kind == FLOW_LOST_WORK) {
        g_array_append_val(h->losses, *loss);
    } else {
        h->more_losses++;
    }
}

static const TraceConsumer count_consumer = {
    .flow = {
        .runs = count_runs,
        .mark = on_mark,
        .repeat = on_repeat,
        .trap = on_trap,
        .window_start = on_window,
    },
    .loss = on_loss,
};

static const TraceConsumer repeating_consumer = {
    .flow = {
        .runs = on_runs,
        .mark = on_mark,
        .repeat = on_repeat,
        .trap = on_trap,
        .window_start = on_window,
    },
    .loss = on_loss,
    .note = on_note,
    .synced = index_maker_synced,
};

/* To compare, to watch and to weigh, every round of a loop is needed. */
static const TraceConsumer consumer = {
    .flow = {
        .runs = on_runs,
        .trap = on_trap,
        .window_start = on_window,
    },
    .loss = on_loss,
    .note = on_note,
    .synced = index_maker_synced,
};

static const TruthHart *truth_of(const Results *r, unsigned hart)
{
    for (guint i = 0; r->truth && i < r->truth->harts->len; i++) {
        const TruthHart *h = &g_array_index(r->truth->harts, TruthHart, i);

        if (h->hart == hart) {
            return h;
        }
    }
    return NULL;
}

static void hart_free(HartResult *h)
{
    g_clear_pointer(&h->selection, selection_hart_free);
    g_clear_pointer(&h->tree, tree_reader_free);
    g_clear_pointer(&h->maker, index_maker_free);
    g_clear_pointer(&h->borders, g_free);
    g_clear_pointer(&h->sampler, sampler_free);
    g_clear_pointer(&h->samples, spool_free);
    g_clear_pointer(&h->moments, moments_free);
    g_clear_pointer(&h->clock, moment_clock_free);
    g_clear_pointer(&h->weights, weights_free);
    g_clear_pointer(&h->range_weights, weights_free);
    g_clear_pointer(&h->stack, callstack_free);
    g_clear_pointer(&h->profile, profile_free);
    g_clear_pointer(&h->counter, counter_free);
    g_clear_pointer(&h->ranges, counts_free);
    g_array_unref(h->losses);
    g_free(h->watching);
    g_free(h);
}

/* Returns NULL and sets @errp if there is no room for temporary files. */
static HartResult *hart_new(const Results *r, unsigned hart, GError **errp)
{
    const TruthHart *truth = truth_of(r, hart);
    HartResult *h = g_new0(HartResult, 1);

    h->all = r;
    h->hart = hart;
    h->who = (Who) { .names = r->names, .tasks = r->tasks };
    h->losses = g_array_new(false, false, sizeof(TraceLoss));
    if (truth) {
        h->compared = true;
        h->end = g_array_index(truth->points, TruthPoint,
                               truth->points->len - 1).count;
        truth_check_init(&h->check, truth);
    }
    if (wants(h, RESULT_PROFILE)) {
        CallStackOptions options = r->layers;

        if (!hart_moments_begin(h, errp)) {
            hart_free(h);
            return NULL;
        }
        if (h->moments || r->watchers || r->by_time) {
            options.moment = hart_moment;
            options.opaque = h;
        }
        h->profile = profile_new();
        h->stack = callstack_new(h->profile, PROFILE_ROOT, &options);
    }
    if (wants(h, RESULT_COUNTS)) {
        h->ranges = counts_new(names_objects(r->names), r->tasks);
        h->counter = counter_new(h->ranges, r->names, hart);
    }
    if (wants(h, RESULT_SAMPLES)) {
        SamplerOptions options = r->sampler;

        options.names = r->names;
        options.hart = hart;
        options.sample = spool_put;
        options.opaque = h->samples = spool_new(errp);
        if (!h->samples) {
            hart_free(h);
            return NULL;
        }
        h->sampler = sampler_new(h->stack, &options);
    }
    hart_weights_begin(h);
    if (r->ct->selection && (h->stack || h->counter)) {
        h->selection = selection_hart_new(r->ct->selection);
    }
    return h;
}

static void decode_hart(gpointer data, gpointer opaque)
{
    HartResult *h = data;
    Crew *crew = opaque;
    TraceConsumer how =
        h->compared || h->all->watchers || h->weights || h->range_weights ?
        consumer :
        has_names(h) ? repeating_consumer : count_consumer;

    how.time = h->time.hz ? hart_time : NULL;
    results_index_decode(h, &how);
    hart_moments_end(h);
    g_clear_pointer(&h->counter, counter_free);
    g_mutex_lock(&crew->lock);
    crew->left--;
    g_cond_signal(&crew->done);
    g_mutex_unlock(&crew->lock);
}

/* How much of the trace all harts have seen, per cent */
static unsigned progress(const Results *r)
{
    uint64_t done = 0, all = 0;

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            done += trace_decoder_progress(&r->harts[i]->d);
            for (const Trace *p = r->t; p; p = p->next) {
                all += p->end - p->begin;
            }
        }
    }
    return all ? 100.0 * done / all : 100;
}

static void wait_for(const Results *r, Crew *crew)
{
    bool show = isatty(STDERR_FILENO), shown = false;

    g_mutex_lock(&crew->lock);
    while (crew->left) {
        gint64 until = g_get_monotonic_time() + PROGRESS_PERIOD;

        if (!show) {
            g_cond_wait(&crew->done, &crew->lock);
        } else if (!g_cond_wait_until(&crew->done, &crew->lock, until)) {
            fprintf(stderr, "\r%3u %% decoded", progress(r));
            shown = true;
        }
    }
    g_mutex_unlock(&crew->lock);
    if (shown) {
        fprintf(stderr, "\r\033[K");
    }
}

/* Pages of code from ELF files are shared, so harts take turns with them. */
static unsigned threads(const Results *r)
{
    if (r->t->elf) {
        return 1;
    }
    return r->ct->jobs ? (unsigned)r->ct->jobs : g_get_num_processors();
}

static bool report(const Results *r, const HartResult *h)
{
    if (h->failed) {
        cli_error("hart %u: the index is not of this trace and sideband, or "
                  "is damaged; make it again with 'rvtrace index'", h->hart);
        return false;
    }
    for (guint i = 0; i < h->losses->len; i++) {
        cli_report_loss(r->ct, &g_array_index(h->losses, TraceLoss, i));
    }
    r->ct->losses += h->more_losses;
    cli_note_end(r->ct, &h->d.stats);
    return true;
}

static bool begin_watchers(HartResult *h)
{
    const GArray *watchers = h->all->watchers;

    h->watching = watchers ? g_new0(void *, watchers->len) : NULL;
    for (guint i = 0; watchers && i < watchers->len; i++) {
        const Watcher *w = &g_array_index(watchers, Watcher, i);

        h->watching[i] = w->begin(w->opaque, h);
        if (!h->watching[i]) {
            return false;
        }
    }
    return true;
}

/* The harts that were asked for; prints what is wrong and returns false. */
static bool make_harts(Results *r, Crew *crew)
{
    r->harts = g_new0(HartResult *, r->t->nr_harts);
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        g_autoptr(GError) err = NULL;

        if (!cli_hart_selected(r->ct, r->t, i) ||
            (r->what == RESULT_VERIFY && !truth_of(r, i))) {
            continue;
        }
        r->harts[i] = hart_new(r, i, &err);
        if (!r->harts[i]) {
            cli_error("%s", err->message);
            return false;
        }
        crew->left++;
        if (!hart_time_begin(r->harts[i]) || !begin_watchers(r->harts[i])) {
            return false;
        }
    }
    return true;
}

uint64_t results_insns(const Results *r, uint64_t *selected)
{
    uint64_t insns = 0;

    *selected = 0;
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            insns += r->harts[i]->counts.insns;
            *selected += r->harts[i]->counts.selected;
        }
    }
    return insns;
}

/* An empty view may be right, but is rather a name that is wrong. */
static void warn_of_nothing(const Results *r)
{
    uint64_t selected, insns = results_insns(r, &selected);

    if (insns && !selected && !r->ct->shards &&
        r->what & (RESULT_PROFILE | RESULT_COUNTS)) {
        cli_warn("none of %" PRIu64 " instructions is selected: see whether "
                 "--process, --region, --from and --to name what ran; "
                 "'rvtrace report --sort pid' lists processes", insns);
    }
}

bool results_decode(Results *r)
{
    Crew crew = { 0 };
    GThreadPool *pool;
    bool ok = true;

    if (r->t->samples) {
        return make_harts(r, &crew) && results_take_samples(r);
    }
    if (!make_harts(r, &crew) || !results_borders_exist(r) ||
        !results_index_begin(r)) {
        return false;
    }
    if (r->ct->shard_files) {
        return shards_load(r);
    }
    g_mutex_init(&crew.lock);
    g_cond_init(&crew.done);
    pool = g_thread_pool_new(decode_hart, &crew, threads(r), false, NULL);
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            g_thread_pool_push(pool, r->harts[i], NULL);
        }
    }
    wait_for(r, &crew);
    g_thread_pool_free(pool, false, true);
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i] && !r->only_ends) {
            ok &= report(r, r->harts[i]);
        }
    }
    if (ok) {
        warn_of_nothing(r);
    }
    g_mutex_clear(&crew.lock);
    g_cond_clear(&crew.done);
    return ok;
}

void results_watch(Results *r, const Watcher *watcher)
{
    if (!r->watchers) {
        r->watchers = g_array_new(false, false, sizeof(Watcher));
    }
    g_array_append_vals(r->watchers, watcher, 1);
}

void results_clear(Results *r)
{
    for (unsigned i = 0; r->harts && i < r->t->nr_harts; i++) {
        g_clear_pointer(&r->harts[i], hart_free);
    }
    g_clear_pointer(&r->harts, g_free);
    g_clear_pointer(&r->watchers, g_array_unref);
    g_clear_pointer(&r->made, trace_index_free);
    g_clear_pointer(&r->index, trace_index_free);
    g_clear_pointer(&r->everything, selection_free);
}
