/*
 * rvtrace: html: a report to look at in a browser
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/html/html-code.h"
#include "views/html/html-report.h"
#include "views/report/flamegraph.h"

/* Functions with less of all instructions are not shown, per cent. */
#define HTML_MIN_CODE   0.2

static void free_activity(gpointer activity)
{
    activity_free(activity);
}

static void *begin_hart(void *opaque, const HartResult *h)
{
    Activity *a = activity_new(h->hart, hart_profile(h), h->all->virtual_time);

    g_ptr_array_add(opaque, a);
    return a;
}

static void mark(void *hart, const CallStackMoment *when,
                 const MomentMark *mark)
{
    activity_mark(hart, when->time, mark);
}

static void end_hart(void *hart, const CallStackMoment *when)
{
    activity_end(hart, when->insns, when->time);
}

static bool begin(ViewOutput *o, Results *r)
{
    o->state = g_ptr_array_new_with_free_func(free_activity);
    results_watch(r, &(Watcher) {
        .begin = begin_hart,
        .moment = activity_moment,
        .mark = mark,
        .end = end_hart,
        .opaque = o->state,
        .forgets = true,
    });
    return true;
}

static void free_harts(void *state)
{
    g_ptr_array_unref(state);
}

/* Of all harts */
typedef struct Sum {
    uint64_t insns, selected, exceptions, interrupts, bytes, losses;
    uint64_t packets[TRACE_PKT_NR_KINDS], all_packets;
    unsigned harts;
} Sum;

static uint64_t nr_packets(const TraceStats *st)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < TRACE_PKT_NR_KINDS; i++) {
        n += st->packets[i];
    }
    return n;
}

static Sum sum_up(const Results *r)
{
    Sum sum = { 0 };

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        const HartResult *h = r->harts[i];

        if (!h) {
            continue;
        }
        sum.harts++;
        sum.insns += h->counts.insns;
        sum.selected += h->counts.selected;
        sum.exceptions += h->counts.exceptions;
        sum.interrupts += h->counts.interrupts;
        sum.bytes += h->d.stats.wire_bytes;
        sum.losses += trace_stats_losses(&h->d.stats);
        for (unsigned j = 0; j < TRACE_PKT_NR_KINDS; j++) {
            sum.packets[j] += h->d.stats.packets[j];
        }
        sum.all_packets += nr_packets(&h->d.stats);
    }
    return sum;
}

/* Numbers with a decimal point, whatever the locale */
static char *ratio(double a, double b, const char *format)
{
    char buf[G_ASCII_DTOSTR_BUF_SIZE];

    return b > 0 ? g_strdup(g_ascii_formatd(buf, sizeof(buf), format, a / b)) :
                   g_strdup("-");
}

static GPtrArray *new_rows(void)
{
    return g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
}

static GPtrArray *hart_rows(const Results *r)
{
    GPtrArray *rows = new_rows();

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        const HartResult *h = r->harts[i];
        GPtrArray *row;
        uint64_t numbers[5];

        if (!h) {
            continue;
        }
        row = g_ptr_array_new();
        numbers[0] = h->counts.insns;
        numbers[1] = h->counts.exceptions;
        numbers[2] = h->counts.interrupts;
        numbers[3] = nr_packets(&h->d.stats);
        numbers[4] = h->d.stats.wire_bytes;
        g_ptr_array_add(row, g_strdup_printf("hart %u", i));
        for (size_t j = 0; j < ARRAY_SIZE(numbers); j++) {
            g_ptr_array_add(row, flamegraph_commas(numbers[j]));
        }
        g_ptr_array_add(row, ratio(h->d.stats.wire_bytes * 8.0,
                                   h->counts.insns, "%.3f"));
        g_ptr_array_add(row, flamegraph_commas(
            trace_stats_losses(&h->d.stats)));
        g_ptr_array_add(row, NULL);
        g_ptr_array_add(rows, g_ptr_array_free(row, false));
    }
    return rows;
}

static GPtrArray *packet_rows(const Sum *sum)
{
    GPtrArray *rows = new_rows();

    for (unsigned i = 0; i < TRACE_PKT_NR_KINDS; i++) {
        if (sum->packets[i]) {
            char **row = g_new0(char *, 4);

            row[0] = g_strdup(trace_packet_kind_text(i));
            row[1] = flamegraph_commas(sum->packets[i]);
            row[2] = ratio(sum->packets[i] * 100.0, sum->all_packets, "%.1f");
            g_ptr_array_add(rows, row);
        }
    }
    return rows;
}

/* What the comparison says, in a word */
static HtmlFact verdict_fact(const char *verdict, int status)
{
    return status == CLI_OK ?
        (HtmlFact) { "Compared", "identical",
                     "to the record of what retired", HTML_GOOD } :
        (HtmlFact) { "Compared", "different", verdict, HTML_BAD };
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    const Results *r = p->r;
    const GPtrArray *activities = o->state;
    static const char *const hart_columns[] = {
        "", "Instructions", "Exceptions", "Interrupts", "Packets", "Bytes",
        "Bits per instruction", "Losses", NULL,
    };
    static const char *const packet_columns[] = {
        "Packets of all harts", "Number", "%", NULL,
    };
    Sum sum = sum_up(r);
    g_autofree char *base = g_path_get_basename(*r->job->traces);
    g_autofree char *insns = flamegraph_commas(sum.insns);
    g_autofree char *selected = flamegraph_commas(sum.selected);
    g_autofree char *harts = g_strdup_printf("on %u hart%s", sum.harts,
                                             sum.harts == 1 ? "" : "s");
    g_autofree char *traps = flamegraph_commas(sum.exceptions +
                                               sum.interrupts);
    g_autofree char *irqs = flamegraph_commas(sum.interrupts);
    g_autofree char *trap_note = g_strconcat(irqs, " of them interrupts",
                                             NULL);
    g_autofree char *bytes = flamegraph_commas(sum.bytes);
    g_autofree char *bits = ratio(sum.bytes * 8.0, sum.insns, "%.3f");
    g_autofree char *bits_note = g_strconcat(bits, " bits per instruction",
                                             NULL);
    g_autofree char *losses = flamegraph_commas(sum.losses);
    g_autoptr(GPtrArray) rows = hart_rows(r), packets = packet_rows(&sum);
    g_autoptr(SourcePlaces) places =
        source_places_new(r->job->names.sysroots);
    g_autoptr(SourceTree) sources = source_options_tree(r->job);
    g_autoptr(HtmlCodes) codes = html_codes_new(p->counts, &(AnnotateOptions) {
        .min_percent = HTML_MIN_CODE,
        .isa = r->t->isa,
        .places = places,
        .sources = sources,
    });
    HtmlFact facts[6] = {
        { "Instructions", insns, harts, HTML_NEUTRAL },
        { "Losses", losses, sum.losses ? "something is missing" :
          "every instruction is there",
          sum.losses ? HTML_BAD : HTML_GOOD },
        { "Traps", traps, trap_note, HTML_NEUTRAL },
        { "Bytes of trace", bytes, bits_note, HTML_NEUTRAL },
    };
    unsigned nr_facts = 4;
    HtmlTable tables[] = {
        { "By hart", hart_columns, rows },
        { "By packet", packet_columns, packets },
    };

    /* What was not asked for is not there. */
    if (p->verdict) {
        facts[nr_facts++] = verdict_fact(p->verdict, p->verify_status);
    }
    if (r->job->selection) {
        facts[nr_facts++] = (HtmlFact) {
            "Selected", selected,
            "of them are shown; all, by hart and packet", HTML_NEUTRAL,
        };
    }
    html_report_write(&(HtmlReport) {
        .title = title_option ?: base,
        .unit = "instructions",
        .facts = facts,
        .nr_facts = nr_facts,
        .profile = p->profile,
        .layers = {
            .hart = r->hart_layer,
            .layers = r->layers.layers,
            .nr_layers = r->layers.nr_layers,
        },
        .harts = (Activity *const *)activities->pdata,
        .nr_harts = activities->len,
        .tasks = r->tasks,
        .selected = r->job->selection != NULL,
        /* Others may have run between those that were selected. */
        .times = !r->job->select.processes && !r->job->select.regions,
        .counts = p->counts,
        .code = (const HtmlCode *)codes->list->data,
        .nr_code = codes->list->len,
        .tables = tables,
        .nr_tables = ARRAY_SIZE(tables),
    }, o->f);
    return p->verdict ? p->verify_status : CLI_OK;
}

const View view_html = {
    .name = "html",
    .summary = "write one report of all that, for a browser",
    .about = "Write a report as one HTML file: who ran when, call stacks, "
             "hottest functions,\npackets. It needs no network.",
    .needs = RESULT_STAT | RESULT_COUNTS | RESULT_PROFILE,
    .compares = RESULT_VERIFY,
    .flags = VIEW_BINARY | VIEW_ALL_LAYERS | VIEW_WATCHES,
    .groups = { &truth_group, &sources_group, &layers_group, &title_group,
                &clock_group },
    .begin = begin,
    .write = write_view,
    .free = free_harts,
};
