/*
 * rvtrace verify: compare with a record of retired instructions
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "cli.h"
#include "truth.h"

typedef struct VerifyState {
    CliTrace *ct;
    TraceDecoder d;
    TruthCheck check;
    uint64_t end;               /* instructions that retired */
} VerifyState;

static void verify_runs(void *opaque, const FlowRun *runs, unsigned n,
                        uint64_t insns)
{
    VerifyState *s = opaque;

    for (unsigned i = 0; i < n && s->check.count <= s->end; i++) {
        truth_check_run(&s->check, &runs[i]);
    }
    if (s->check.count > s->end) {
        s->d.stop = true;       /* Nothing can make it right again. */
    }
}

static void verify_loss(void *opaque, const TraceLoss *loss)
{
    VerifyState *s = opaque;

    cli_report_loss(s->ct, loss);
}

static const TraceConsumer verify_consumer = {
    .flow.runs = verify_runs,
    .loss = verify_loss,
};

static uint64_t last_count(const TruthHart *truth)
{
    return g_array_index(truth->points, TruthPoint,
                         truth->points->len - 1).count;
}

static void print_result(const VerifyState *s, bool ok)
{
    const TruthCheck *c = &s->check;
    const GArray *points = c->truth->points;
    uint64_t end = s->end;
    uint64_t losses = trace_stats_losses(&s->d.stats);

    printf("hart %u: %" PRIu64 " instructions decoded, %" PRIu64
           " retired, %u of %u checkpoints differ, %" PRIu64 " losses: %s\n",
           c->truth->hart, c->count, end, c->differing, points->len, losses,
           ok ? "identical" : "DIFFERENT");
    if (c->differing) {
        const TruthPoint *bad = &g_array_index(points, TruthPoint,
                                               c->first_bad);
        uint64_t from = c->first_bad ?
            g_array_index(points, TruthPoint, c->first_bad - 1).count : 0;

        if (bad->count > c->count) {
            printf("hart %u: the first %" PRIu64 " instructions are right; "
                   "the decoded ones end at %" PRIu64 ", before the "
                   "checkpoint at %" PRIu64 "\n", c->truth->hart, from,
                   c->count, bad->count);
        } else {
            printf("hart %u: first difference between instructions %" PRIu64
                   " and %" PRIu64 "\n", c->truth->hart, from + 1,
                   bad->count);
        }
    } else if (c->count > end) {
        printf("hart %u: at least %" PRIu64 " instructions more than "
               "retired\n", c->truth->hart, c->count - end);
    }
}

static bool verify_hart(CliTrace *ct, Trace *t, const TruthHart *truth)
{
    g_autofree VerifyState *s = g_new0(VerifyState, 1);
    bool ok;

    if (truth->hart >= t->nr_harts || !t->harts[truth->hart].present) {
        printf("hart %u: not in the trace: DIFFERENT\n", truth->hart);
        return false;
    }
    s->ct = ct;
    s->end = last_count(truth);
    truth_check_init(&s->check, truth);
    trace_decode(&s->d, t, truth->hart, &verify_consumer, s);
    cli_note_end(ct, &s->d.stats);
    if (s->d.left) {
        ok = truth_check_finish(&s->check);
    } else {
        printf("hart %u: only the first %" PRIu64 " instructions are "
               "compared\n", truth->hart, s->check.count);
        ok = !s->check.differing;
    }
    ok &= !trace_stats_losses(&s->d.stats);
    print_result(s, ok);
    return ok;
}

/* All that retired, one file after the other */
static Truth *load_truths(char **paths, GError **errp)
{
    g_autoptr(Truth) truth = truth_load(*paths, errp);

    while (truth && *++paths) {
        g_autoptr(Truth) more = truth_load(*paths, errp);

        if (!more) {
            return NULL;
        }
        truth_append(truth, more);
    }
    return g_steal_pointer(&truth);
}

int cmd_verify(int argc, char **argv)
{
    g_auto(CliTrace) ct = { 0 };
    g_autoptr(GError) err = NULL;
    g_auto(GStrv) truth_paths = NULL;
    g_autoptr(Truth) truth = NULL;
    g_autoptr(Trace) t = NULL;
    bool ok = true, any = false;
    GOptionEntry entries[] = {
        { "truth", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &truth_paths,
          "What really retired: counts and hashes; repeated, it goes on with "
          "what the next file says", "FILE" },
        G_OPTION_ENTRY_NULL
    };

    if (!cli_parse(&ct, entries, "Decode every hart of a truth file and "
                   "compare: count and hash of the\nretired instructions at "
                   "every checkpoint and at the end. Succeeds only if\n"
                   "everything is equal and nothing was lost.",
                   argc, argv)) {
        return CLI_ERROR;
    }
    if (!truth_paths) {
        cli_error("compare with what? give --truth FILE");
        return CLI_ERROR;
    }
    truth = load_truths(truth_paths, &err);
    if (!truth) {
        cli_error("%s", err->message);
        return CLI_ERROR;
    }
    t = cli_open(&ct);
    if (!t) {
        return CLI_ERROR;
    }
    for (guint i = 0; i < truth->harts->len; i++) {
        const TruthHart *h = &g_array_index(truth->harts, TruthHart, i);

        if (ct.hart < 0 || (unsigned)ct.hart == h->hart) {
            any = true;
            ok &= verify_hart(&ct, t, h);
        }
    }
    if (cli_finish_losses(&ct) == CLI_ERROR) {
        return CLI_ERROR;
    }
    if (!any) {
        cli_error("%s: nothing about hart %d", *truth_paths, ct.hart);
        return CLI_ERROR;
    }
    if (!cli_flush(stdout, "standard output")) {
        return CLI_ERROR;
    }
    return ok ? CLI_OK : CLI_DIFFERS;
}
