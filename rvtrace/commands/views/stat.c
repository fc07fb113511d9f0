/*
 * rvtrace: stat: instructions, packets, bytes and losses
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/view.h"

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

static void print_stats(const HartResult *s, FILE *f)
{
    const TraceStats *st = &s->d.stats;
    uint64_t packets = 0;

    fprintf(f, "  %-24s %14" PRIu64 "\n", "instructions", s->counts.insns);
    fprintf(f, "  %-24s %14" PRIu64 "\n", "exceptions", s->counts.exceptions);
    fprintf(f, "  %-24s %14" PRIu64 "\n", "interrupts", s->counts.interrupts);
    fprintf(f, "  %-24s %14" PRIu64 "\n", "windows", s->counts.windows);
    for (int i = 0; i < TRACE_PKT_NR_KINDS; i++) {
        packets += st->packets[i];
    }
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

static int write_view(ViewOutput *o, const ViewPass *p)
{
    const Results *r = p->r;
    FILE *f = o->f;
    g_autofree HartResult *sum = g_new0(HartResult, 1);
    const TraceStats *st = &sum->d.stats;
    uint64_t bytes = 0;
    unsigned harts = 0;

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
    for (const Trace *part = r->t; part; part = part->next) {
        bytes += part->end - part->begin;
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
    .write = write_view,
};
