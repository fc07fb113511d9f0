/*
 * rvtrace: what one pass over a trace gives
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"
#include "analysis/shards.h"
#include "base/say.h"

static bool report(const Results *r, const HartResult *h)
{
    if (h->piece.failed) {
        say_error("hart %u: the index is not of this trace and sideband, or "
                  "is damaged; make it again with 'rvtrace index'", h->hart);
        return false;
    }
    for (guint i = 0; i < h->losses->len; i++) {
        loss_report_add(r->losses, &g_array_index(h->losses, TraceLoss, i));
    }
    r->losses->losses += h->more_losses;
    loss_report_end(r->losses, &h->d.stats, h->counts.insns);
    return true;
}

uint64_t results_insns(const Results *r, uint64_t *selected)
{
    uint64_t insns = r->more_insns;

    *selected = r->more_selected;
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            insns += r->harts[i]->counts.insns;
            *selected += r->harts[i]->counts.selected;
        }
    }
    return insns;
}

void results_warn_of_nothing(const Results *r)
{
    uint64_t selected, insns = results_insns(r, &selected);

    if (insns && !selected && !r->job->shards &&
        r->what & (RESULT_PROFILE | RESULT_COUNTS | RESULT_RUNS)) {
        say_warn("none of %" PRIu64 " instructions is selected: see whether "
                 "--process, --region, --from and --to name what ran; "
                 "'rvtrace report --sort pid' lists processes", insns);
    }
}

/* Say so first: a report of a hart that only took exceptions tells little. */
static void warn_of_loop(LossReport *losses, const HartResult *h)
{
    g_autofree char *text = trap_loop_text(&h->trap_loop, h->hart);

    if (text) {
        say_warn("%s", text);
        losses->trap_loop = true;
    }
}

bool results_decode(Results *r)
{
    bool ok = true;

    if (!results_make_harts(r)) {
        return false;
    }
    if (r->t->samples) {
        return results_take_samples(r);
    }
    if (!results_borders_exist(r) || !results_index_begin(r)) {
        return false;
    }
    if (r->job->shard_files) {
        return shards_load(r);
    }
    results_decode_harts(r);
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            ok &= report(r, r->harts[i]);
            warn_of_loop(r->losses, r->harts[i]);
        }
    }
    if (ok && !r->job->processes) {
        results_warn_of_nothing(r);
    }
    return ok;
}

bool results_scan(Results *r)
{
    if (!results_make_harts(r)) {
        return false;
    }
    results_decode_harts(r);
    return true;
}

void results_watch(Results *r, const Watcher *watcher)
{
    if (!r->watchers) {
        r->watchers = g_array_new(false, false, sizeof(Watcher));
    }
    g_array_append_vals(r->watchers, watcher, 1);
}
