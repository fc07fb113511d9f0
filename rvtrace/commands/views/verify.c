/*
 * rvtrace: verify: compare with a record of what retired
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "commands/views/verify.h"
#include "views/questions/sheet.h"

/* How a hart that @truth knows compares */
typedef struct Verdict {
    const TruthHart *truth;
    TruthCheck *check;      /* NULL: it is not in the trace */
    bool whole;             /* not only as far as it was decoded */
    uint64_t losses;
    bool ok;
} Verdict;

static Verdict judge(const Results *r, const TruthHart *truth)
{
    const HartResult *h = truth->hart < r->t->nr_harts ?
                          r->harts[truth->hart] : NULL;
    Verdict v = { .truth = truth };

    if (h) {
        v.check = hart_check(h);
        v.whole = h->d.left;
        v.losses = trace_stats_losses(&h->d.stats);
        v.ok = (v.whole ? truth_check_finish(v.check) :
                          !v.check->differing) && !v.losses;
    }
    return v;
}

/* So many instructions are right, in front of a checkpoint that differs. */
static uint64_t insns_right(const TruthCheck *c)
{
    return c->first_bad ? g_array_index(c->truth->points, TruthPoint,
                                        c->first_bad - 1).count : 0;
}

static void print_difference(const TruthCheck *c, FILE *f)
{
    const TruthPoint *bad = &g_array_index(c->truth->points, TruthPoint,
                                           c->first_bad);
    uint64_t from = insns_right(c);

    if (bad->count > c->count) {
        fprintf(f, "hart %u: the first %" PRIu64 " instructions are right; "
               "the decoded ones end at %" PRIu64 ", before the "
               "checkpoint at %" PRIu64 "\n", c->truth->hart, from,
               c->count, bad->count);
    } else {
        fprintf(f, "hart %u: first difference between instructions %" PRIu64
               " and %" PRIu64 "\n", c->truth->hart, from + 1, bad->count);
    }
}

static void print_verdict(const Verdict *v, FILE *f)
{
    const TruthCheck *c = v->check;
    unsigned hart = v->truth->hart;
    uint64_t end = truth_hart_end(v->truth);

    if (!c) {
        fprintf(f, "hart %u: not in the trace: DIFFERENT\n", hart);
        return;
    }
    if (!v->whole) {
        fprintf(f, "hart %u: only the first %" PRIu64 " instructions are "
               "compared\n", hart, c->count);
    }
    fprintf(f, "hart %u: %" PRIu64 " instructions decoded, %" PRIu64
           " retired, %u of %u checkpoints differ, %" PRIu64 " losses: %s\n",
           hart, c->count, end, c->differing, v->truth->points->len,
           v->losses, v->ok ? "identical" : "DIFFERENT");
    if (c->differing) {
        print_difference(c, f);
    } else if (c->count > end) {
        fprintf(f, "hart %u: at least %" PRIu64 " instructions more than "
               "retired\n", hart, c->count - end);
    }
}

static void add_row(Sheet *sheet, const Verdict *v)
{
    const TruthCheck *c = v->check;

    sheet_number(sheet, v->truth->hart);
    if (c) {
        sheet_number(sheet, c->count);
    } else {
        sheet_none(sheet);
    }
    sheet_number(sheet, truth_hart_end(v->truth));
    sheet_number(sheet, v->truth->points->len);
    if (c) {
        sheet_number(sheet, c->differing);
        sheet_number(sheet, v->losses);
    } else {
        sheet_none(sheet);
        sheet_none(sheet);
    }
    if (c && c->differing) {
        sheet_number(sheet, insns_right(c));
    } else {
        sheet_none(sheet);
    }
    sheet_text(sheet, v->ok ? "identical" : "different");
}

static bool is_wanted(const Results *r, const TruthHart *h)
{
    return r->job->hart < 0 || (unsigned)r->job->hart == h->hart;
}

/* The same for scripts: a row for each hart */
static void write_table(const Results *r, TableFormat format, FILE *f)
{
    static const char *const columns[] = {
        "hart", "instructions", "retired", "checkpoints",
        "checkpoints_differing", "losses", "instructions_right",
    };
    g_autoptr(Sheet) sheet = sheet_new(format);

    for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
        sheet_column(sheet, columns[i], true);
    }
    sheet_column(sheet, "verdict", false);
    for (guint i = 0; i < r->truth->harts->len; i++) {
        const TruthHart *h = &g_array_index(r->truth->harts, TruthHart, i);
        Verdict v = judge(r, h);

        if (is_wanted(r, h)) {
            add_row(sheet, &v);
        }
    }
    sheet_write_alone(sheet, "verify", f);
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

        if (is_wanted(r, h)) {
            Verdict v = judge(r, h);

            any = true;
            ok &= v.ok;
            print_verdict(&v, f);
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
    if (format_choice() == TABLE_TEXT || p->verify_status == CLI_ERROR) {
        fputs(p->verdict, o->f);
    } else {
        write_table(p->r, format_choice(), o->f);
    }
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
    .groups = { &truth_group, &format_group },
    .write = write_view,
};
