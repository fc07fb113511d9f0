/*
 * rvtrace stat: count instructions, packets, bytes and losses
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "cli.h"

typedef struct StatState {
    CliTrace *ct;
    TraceDecoder d;
    uint64_t insns, insns_at_mark;
    uint64_t exceptions, interrupts, windows;
} StatState;

static void stat_runs(void *opaque, const FlowRun *runs, unsigned n,
                      uint64_t insns)
{
    StatState *s = opaque;

    s->insns += insns;
}

static void stat_mark(void *opaque)
{
    StatState *s = opaque;

    s->insns_at_mark = s->insns;
}

static bool stat_repeat(void *opaque, uint64_t times)
{
    StatState *s = opaque;

    s->insns += (s->insns - s->insns_at_mark) * times;
    return true;
}

static void stat_trap(void *opaque, const FlowTrap *trap)
{
    StatState *s = opaque;

    s->interrupts += trap->interrupt;
    s->exceptions += !trap->interrupt;
}

static void stat_window(void *opaque, uint64_t pc)
{
    StatState *s = opaque;

    s->windows++;
}

static void stat_loss(void *opaque, const TraceLoss *loss)
{
    StatState *s = opaque;

    cli_report_loss(s->ct, loss);
}

static const TraceConsumer stat_consumer = {
    .flow = {
        .runs = stat_runs,
        .mark = stat_mark,
        .repeat = stat_repeat,
        .trap = stat_trap,
        .window_start = stat_window,
    },
    .loss = stat_loss,
};

static void add_up(StatState *sum, const StatState *s)
{
    TraceStats *a = &sum->d.stats;
    const TraceStats *b = &s->d.stats;

    sum->insns += s->insns;
    sum->exceptions += s->exceptions;
    sum->interrupts += s->interrupts;
    sum->windows += s->windows;
    for (int i = 0; i < TRACE_PKT_NR_KINDS; i++) {
        a->packets[i] += b->packets[i];
    }
    for (int i = 0; i < FLOW_LOST_NR_KINDS; i++) {
        a->losses[i] += b->losses[i];
    }
    a->payload_bytes += b->payload_bytes;
    a->wire_bytes += b->wire_bytes;
    a->data_packets += b->data_packets;
    a->data_payload_bytes += b->data_payload_bytes;
    a->data_wire_bytes += b->data_wire_bytes;
    a->skipped_packets += b->skipped_packets;
    /* Every hart's pass over the stream skips the same bytes. */
    a->skipped_bytes = MAX(a->skipped_bytes, b->skipped_bytes);
}

static void print_bytes(const char *what, uint64_t bytes, uint64_t insns)
{
    printf("  %-24s %14" PRIu64, what, bytes);
    if (insns) {
        printf("   %.3f bits per instruction", bytes * 8.0 / insns);
    }
    printf("\n");
}

static void print_data(const TraceStats *st)
{
    if (st->data_packets) {
        printf("  %-24s %14" PRIu64 "\n", "data packets", st->data_packets);
        printf("  %-24s %14" PRIu64 "   %.2f bytes per packet\n",
               "data payload bytes", st->data_payload_bytes,
               (double)st->data_payload_bytes / st->data_packets);
        printf("  %-24s %14" PRIu64 "   %.2f bytes per packet\n",
               "data encapsulated bytes", st->data_wire_bytes,
               (double)st->data_wire_bytes / st->data_packets);
    }
}

static void print_stats(const StatState *s)
{
    const TraceStats *st = &s->d.stats;
    uint64_t packets = 0;

    printf("  %-24s %14" PRIu64 "\n", "instructions", s->insns);
    printf("  %-24s %14" PRIu64 "\n", "exceptions", s->exceptions);
    printf("  %-24s %14" PRIu64 "\n", "interrupts", s->interrupts);
    printf("  %-24s %14" PRIu64 "\n", "windows", s->windows);
    for (int i = 0; i < TRACE_PKT_NR_KINDS; i++) {
        packets += st->packets[i];
    }
    printf("  %-24s %14" PRIu64 "\n", "packets", packets);
    for (int i = 0; i < TRACE_PKT_NR_KINDS; i++) {
        if (st->packets[i]) {
            printf("    %-22s %14" PRIu64 "   %5.1f %%\n",
                   trace_packet_kind_text(i), st->packets[i],
                   st->packets[i] * 100.0 / packets);
        }
    }
    print_bytes("payload bytes", st->payload_bytes, s->insns);
    print_bytes("encapsulated bytes", st->wire_bytes, s->insns);
    print_data(st);
    printf("  %-24s %14" PRIu64 "\n", "losses", trace_stats_losses(st));
    for (int i = 0; i < FLOW_LOST_NR_KINDS; i++) {
        if (st->losses[i]) {
            printf("    %-22s %14" PRIu64 "\n", flow_loss_text(i),
                   st->losses[i]);
        }
    }
    if (st->skipped_packets || st->skipped_bytes) {
        printf("    %-22s %14" PRIu64 "\n", "packets skipped",
               st->skipped_packets);
        printf("    %-22s %14" PRIu64 "\n", "bytes skipped",
               st->skipped_bytes);
    }
}

int cmd_stat(int argc, char **argv)
{
    g_auto(CliTrace) ct = { 0 };
    g_autoptr(Trace) t = NULL;
    g_autofree StatState *sum = g_new0(StatState, 1);
    unsigned harts = 0;

    if (!cli_parse(&ct, NULL, "Count instructions, packets by format, bytes "
                   "and losses, for each hart and in total.", argc, argv)) {
        return CLI_ERROR;
    }
    t = cli_open(&ct);
    if (!t) {
        return CLI_ERROR;
    }
    for (unsigned i = 0; i < t->nr_harts; i++) {
        g_autofree StatState *s = g_new0(StatState, 1);

        if (!cli_hart_selected(&ct, t, i)) {
            continue;
        }
        s->ct = &ct;
        trace_decode(&s->d, t, i, &stat_consumer, s);
        cli_note_end(&ct, &s->d.stats);
        printf("hart %u\n", i);
        print_stats(s);
        add_up(sum, s);
        harts++;
    }
    if (harts > 1) {
        printf("total\n");
        print_stats(sum);
    }
    if (ct.hart < 0) {
        uint64_t bytes = 0;

        for (Trace *p = t; p; p = p->next) {
            bytes += p->end - p->begin;
        }
        printf("stream\n");
        print_bytes("all bytes", bytes, sum->insns);
        print_bytes("idle and alignment", bytes -
                    sum->d.stats.wire_bytes -
                    sum->d.stats.data_wire_bytes -
                    sum->d.stats.skipped_bytes,
                    sum->insns);
    }
    if (!cli_flush(stdout, "standard output")) {
        return CLI_ERROR;
    }
    return cli_finish_losses(&ct);
}
