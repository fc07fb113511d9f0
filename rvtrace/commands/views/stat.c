/*
 * rvtrace: stat: instructions, packets, bytes and losses
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/questions/sheet.h"

static void add_up(HartResult *sum, const HartResult *s)
{
    /* Every hart's pass over the stream skips the same bytes. */
    uint64_t skipped = MAX(sum->d.stats.skipped_bytes,
                           s->d.stats.skipped_bytes);

    sum->counts.insns += s->counts.insns;
    sum->counts.exceptions += s->counts.exceptions;
    sum->counts.interrupts += s->counts.interrupts;
    sum->counts.windows += s->counts.windows;
    trace_stats_add(&sum->d.stats, &s->d.stats);
    sum->d.stats.skipped_bytes = skipped;
}

static void print_bytes(const char *what, uint64_t bytes, uint64_t insns,
                        FILE *f)
{
    fprintf(f, "  %-24s %14" PRIu64, what, bytes);
    if (insns) {
        fprintf(f, "   %.3f bits per instruction", bytes * 8.0 / insns);
    }
    fprintf(f, "\n");
}

static void print_data(const TraceStats *st, FILE *f)
{
    if (st->data_packets) {
        fprintf(f, "  %-24s %14" PRIu64 "\n", "data packets", st->data_packets);
        fprintf(f, "  %-24s %14" PRIu64 "   %.2f bytes per packet\n",
               "data payload bytes", st->data_payload_bytes,
               (double)st->data_payload_bytes / st->data_packets);
        fprintf(f, "  %-24s %14" PRIu64 "   %.2f bytes per packet\n",
               "data encapsulated bytes", st->data_wire_bytes,
               (double)st->data_wire_bytes / st->data_packets);
    }
}

static uint64_t all_packets(const TraceStats *st)
{
    uint64_t packets = 0;

    for (int i = 0; i < TRACE_PKT_NR_KINDS; i++) {
        packets += st->packets[i];
    }
    return packets;
}

static void print_stats(const HartResult *s, FILE *f)
{
    const TraceStats *st = &s->d.stats;
    uint64_t packets = all_packets(st);

    fprintf(f, "  %-24s %14" PRIu64 "\n", "instructions", s->counts.insns);
    fprintf(f, "  %-24s %14" PRIu64 "\n", "exceptions", s->counts.exceptions);
    fprintf(f, "  %-24s %14" PRIu64 "\n", "interrupts", s->counts.interrupts);
    fprintf(f, "  %-24s %14" PRIu64 "\n", "windows", s->counts.windows);
    fprintf(f, "  %-24s %14" PRIu64 "\n", "packets", packets);
    for (int i = 0; i < TRACE_PKT_NR_KINDS; i++) {
        if (st->packets[i]) {
            fprintf(f, "    %-22s %14" PRIu64 "   %5.1f %%\n",
                   trace_packet_kind_text(i), st->packets[i],
                   st->packets[i] * 100.0 / packets);
        }
    }
    print_bytes("payload bytes", st->payload_bytes, s->counts.insns, f);
    print_bytes("encapsulated bytes", st->wire_bytes, s->counts.insns, f);
    print_data(st, f);
    fprintf(f, "  %-24s %14" PRIu64 "\n", "losses", trace_stats_losses(st));
    for (int i = 0; i < FLOW_LOST_NR_KINDS; i++) {
        if (st->losses[i]) {
            fprintf(f, "    %-22s %14" PRIu64 "\n", flow_loss_text(i),
                   st->losses[i]);
        }
    }
    if (st->skipped_packets || st->skipped_bytes) {
        fprintf(f, "    %-22s %14" PRIu64 "\n", "packets skipped",
               st->skipped_packets);
        fprintf(f, "    %-22s %14" PRIu64 "\n", "bytes skipped",
               st->skipped_bytes);
    }
}

static void add_hart(Sheet *sheet, const HartResult *h)
{
    const TraceStats *st = &h->d.stats;
    const uint64_t figures[] = {
        h->hart, h->counts.insns, h->counts.exceptions, h->counts.interrupts,
        h->counts.windows, all_packets(st), st->payload_bytes, st->wire_bytes,
        st->data_packets, st->data_payload_bytes, st->data_wire_bytes,
        trace_stats_losses(st), st->skipped_packets, st->skipped_bytes,
    };

    for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
        sheet_number(sheet, figures[i]);
    }
}

/* A row for each hart of what all have */
static Sheet *hart_sheet(const Results *r, TableFormat format)
{
    static const char *const columns[] = {
        "hart", "instructions", "exceptions", "interrupts", "windows",
        "packets", "payload_bytes", "encapsulated_bytes", "data_packets",
        "data_payload_bytes", "data_encapsulated_bytes", "losses",
        "packets_skipped", "bytes_skipped",
    };
    Sheet *sheet = sheet_new(format);

    for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
        sheet_column(sheet, columns[i], true);
    }
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            add_hart(sheet, r->harts[i]);
        }
    }
    return sheet;
}

/* A row for each kind of which a hart has @count() some, named by @text() */
static Sheet *kind_sheet(const Results *r, int kinds,
                         uint64_t (*count)(const TraceStats *st, int kind),
                         const char *(*text)(int kind))
{
    Sheet *sheet = sheet_new(TABLE_JSON);

    sheet_column(sheet, "hart", true);
    sheet_column(sheet, "kind", false);
    sheet_column(sheet, "count", true);
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        for (int k = 0; r->harts[i] && k < kinds; k++) {
            uint64_t n = count(&r->harts[i]->d.stats, k);

            if (n) {
                sheet_number(sheet, i);
                sheet_text(sheet, text(k));
                sheet_number(sheet, n);
            }
        }
    }
    return sheet;
}

static uint64_t packets_of(const TraceStats *st, int kind)
{
    return st->packets[kind];
}

static const char *packet_text(int kind)
{
    return trace_packet_kind_text(kind);
}

static uint64_t losses_of(const TraceStats *st, int kind)
{
    return st->losses[kind];
}

static const char *loss_text(int kind)
{
    return flow_loss_text(kind);
}

static uint64_t all_bytes(const Trace *t)
{
    uint64_t bytes = 0;

    for (; t; t = t->next) {
        bytes += t->end - t->begin;
    }
    return bytes;
}

static void write_data(const Results *r, TableFormat format, FILE *f)
{
    g_autoptr(Sheet) harts = hart_sheet(r, format);
    g_autoptr(Sheet) packets = kind_sheet(r, TRACE_PKT_NR_KINDS, packets_of,
                                          packet_text);
    g_autoptr(Sheet) losses = kind_sheet(r, FLOW_LOST_NR_KINDS, losses_of,
                                         loss_text);

    if (format != TABLE_JSON) {
        sheet_write(harts, f);
        return;
    }
    table_begin_json("stat", f);
    fprintf(f, "\"stream_bytes\": %" PRIu64 ", \"rows\": ", all_bytes(r->t));
    sheet_write(harts, f);
    fputs(", \"packets\": ", f);
    sheet_write(packets, f);
    fputs(", \"losses\": ", f);
    sheet_write(losses, f);
    fputs("}\n", f);
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    const Results *r = p->r;
    FILE *f = o->f;
    g_autofree HartResult *sum = g_new0(HartResult, 1);
    const TraceStats *st = &sum->d.stats;
    uint64_t bytes = all_bytes(r->t);
    unsigned harts = 0;

    if (format_choice() != TABLE_TEXT) {
        write_data(r, format_choice(), f);
        return CLI_OK;
    }
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            fprintf(f, "hart %u\n", i);
            print_stats(r->harts[i], f);
            add_up(sum, r->harts[i]);
            harts++;
        }
    }
    if (harts > 1) {
        fprintf(f, "total\n");
        print_stats(sum, f);
    }
    if (r->job->hart >= 0) {
        return CLI_OK;
    }
    fprintf(f, "stream\n");
    print_bytes("all bytes", bytes, sum->counts.insns, f);
    print_bytes("idle and alignment", bytes - st->wire_bytes -
                st->data_wire_bytes - st->skipped_bytes, sum->counts.insns,
                f);
    return CLI_OK;
}

const View view_stat = {
    .name = "stat",
    .summary = "count instructions, packets, bytes and losses",
    .about = "Count instructions, packets by format, bytes and losses, for "
             "each hart and in total.",
    .needs = RESULT_STAT,
    .groups = { &format_group },
    .write = write_view,
};
