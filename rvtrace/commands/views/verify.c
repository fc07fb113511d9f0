/*
 * rvtrace: verify: compare with a record of what retired
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "commands/views/verify.h"

static void print_result(const HartResult *s, bool ok, FILE *f)
{
    const TruthCheck *c = hart_check(s);
    const GArray *points = c->truth->points;
    uint64_t end = truth_hart_end(c->truth);
    uint64_t losses = trace_stats_losses(&s->d.stats);

    fprintf(f, "hart %u: %" PRIu64 " instructions decoded, %" PRIu64
           " retired, %u of %u checkpoints differ, %" PRIu64 " losses: %s\n",
           c->truth->hart, c->count, end, c->differing, points->len, losses,
           ok ? "identical" : "DIFFERENT");
    if (c->differing) {
        const TruthPoint *bad = &g_array_index(points, TruthPoint,
                                               c->first_bad);
        uint64_t from = c->first_bad ?
            g_array_index(points, TruthPoint, c->first_bad - 1).count : 0;

        if (bad->count > c->count) {
            fprintf(f, "hart %u: the first %" PRIu64 " instructions are right; "
                   "the decoded ones end at %" PRIu64 ", before the "
                   "checkpoint at %" PRIu64 "\n", c->truth->hart, from,
                   c->count, bad->count);
        } else {
            fprintf(f, "hart %u: first difference between instructions %" PRIu64
                   " and %" PRIu64 "\n", c->truth->hart, from + 1,
                   bad->count);
        }
    } else if (c->count > end) {
        fprintf(f, "hart %u: at least %" PRIu64 " instructions more than "
               "retired\n", c->truth->hart, c->count - end);
    }
}

static bool verify_hart(const Results *r, const TruthHart *truth, FILE *f)
{
    const HartResult *h = truth->hart < r->t->nr_harts ?
                          r->harts[truth->hart] : NULL;
    TruthCheck *check;
    bool ok;

    if (!h) {
        fprintf(f, "hart %u: not in the trace: DIFFERENT\n", truth->hart);
        return false;
    }
    check = hart_check(h);
    if (h->d.left) {
        ok = truth_check_finish(check);
    } else {
        fprintf(f, "hart %u: only the first %" PRIu64 " instructions are "
               "compared\n", truth->hart, check->count);
        ok = !check->differing;
    }
    ok &= !trace_stats_losses(&h->d.stats);
    print_result(h, ok, f);
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

Truth *verify_load(char **paths)
{
    g_autoptr(GError) err = NULL;
    Truth *truth;

    if (!paths) {
        say_error("compare with what? give --truth FILE");
        return NULL;
    }
    truth = load_truths(paths, &err);
    if (!truth) {
        say_error("%s", err->message);
    }
    return truth;
}

int verify_write(const Results *r, char **paths, FILE *f)
{
    bool ok = true, any = false;

    for (guint i = 0; i < r->truth->harts->len; i++) {
        const TruthHart *h = &g_array_index(r->truth->harts, TruthHart, i);

        if (r->job->hart < 0 || (unsigned)r->job->hart == h->hart) {
            any = true;
            ok &= verify_hart(r, h, f);
        }
    }
    if (!any) {
        say_error("%s: nothing about hart %d", *paths, r->job->hart);
        return CLI_ERROR;
    }
    return ok ? CLI_OK : CLI_DIFFERS;
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    fputs(p->verdict, o->f);
    return p->verify_status;
}

const View view_verify = {
    .name = "verify",
    .summary = "compare with a record of retired instructions",
    .about = "Decode every hart of a truth file and compare: count and hash "
             "of the\nretired instructions at every checkpoint and at the "
             "end. Succeeds only if\neverything is equal and nothing was "
             "lost.",
    .needs = RESULT_VERIFY,
    .groups = { &truth_group },
    .write = write_view,
};
