/*
 * What is missing of a trace, for people
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/loss-report.h"
#include "base/say.h"

void loss_report_add(LossReport *r, const TraceLoss *loss)
{
    g_autoptr(GString) text = g_string_new(NULL);

    r->gave_up |= loss->flow.kind == FLOW_LOST_WORK;
    if (r->losses++ >= LOSS_REPORT_SHOWN &&
        loss->flow.kind != FLOW_LOST_WORK) {
        return;
    }
    g_string_append(text, flow_loss_text(loss->flow.kind));
    if (loss->flow.kind == FLOW_LOST_CODE) {
        g_string_append_printf(text, " 0x%" PRIx64, loss->flow.address);
    }
    if (loss->flow.packets) {
        g_string_append_printf(text, ": %" PRIu64 " packets of hart %u are "
                               "missing", loss->flow.packets, loss->hart);
    }
    if (loss->flow.kind == FLOW_LOST_WORK) {
        g_string_append_printf(text, ": more than %u instructions for each "
                               "byte of the trace; --limit -1 goes on",
                               TRACE_WORK_PER_BYTE);
    }
    if (loss->bytes) {
        g_string_append_printf(text, " (%zu bytes skipped)", loss->bytes);
    }
    if (loss->flow.pc_known) {
        g_string_append_printf(text, "; last instruction 0x%" PRIx64,
                               loss->flow.pc);
    }
    say_warn("%s%shart %u: packet %" PRIu64 " at byte %zu: %s",
             r->several ? loss->part->path : "", r->several ? ": " : "",
             loss->hart, loss->packet, loss->offset, text->str);
}

static void count(LossReport *r, const TraceStats *stats, uint64_t insns)
{
    r->insns += insns;
    r->skipped_bytes += stats->skipped_bytes;
    for (int i = 0; i < TRACE_PKT_NR_KINDS; i++) {
        r->packets += i == TRACE_PKT_F3_SUPPORT ? 0 : stats->packets[i];
    }
    r->traps += stats->packets[TRACE_PKT_F3_TRAP];
    r->syncs += stats->packets[TRACE_PKT_F3_START] +
                stats->packets[TRACE_PKT_F3_TRAP] +
                stats->packets[TRACE_PKT_F3_CONTEXT];
}

bool loss_report_is_all(const LossReport *r)
{
    if (r->insns || r->trap_loop || (!r->packets && !r->skipped_bytes)) {
        return false;
    }
    if (r->packets == r->traps && !r->losses && !r->skipped_bytes) {
        return false;           /* A filter may leave no more than these. */
    }
    if (r->looks_like) {
        say_error("nothing was decoded: this looks like %s, which cannot be "
                  "read here; E-Trace in other bytes: see --unit and --param",
                  r->looks_like);
    } else if (!r->syncs && !r->skipped_bytes) {
        say_error("nothing was decoded: none of the %" PRIu64 " packets is a "
                  "synchronisation packet, with which decoding could begin; "
                  "have them more often (trTeInstSyncMax), or larger rings or "
                  "pieces",
                  r->packets);
    } else {
        say_error("nothing was decoded: are these packets of E-Trace, with "
                  "these parameters (--sideband or --param), and is that the "
                  "program that ran (--sideband or --elf)?");
    }
    return true;
}

void loss_report_end(LossReport *r, const TraceStats *stats, uint64_t insns)
{
    count(r, stats, insns);
    if (r->noted_end) {
        return;
    }
    if (stats->unknown_ends) {
        say_note("the sideband does not say where the trace ends (QEMU was "
                 "killed, its disk was full, or it is older): if something is "
                 "missing there, it cannot be seen");
    }
    if (stats->late_packets) {
        say_note("the RAM sink had stopped: %" PRIu64 " packets came later",
                 stats->late_packets);
    }
    if (stats->filled || stats->open) {
        say_note("this encoder reports where a block ends instead of where it "
                 "begins: behind %" PRIu64 " returns the beginning was filled "
                 "in, behind %" PRIu64 " other jumps it may be missing",
                 stats->filled, stats->open);
    }
    r->noted_end = stats->unknown_ends || stats->late_packets;
}

void loss_report_finish(const LossReport *r)
{
    if (r->losses > LOSS_REPORT_SHOWN) {
        say_warn("... and %" PRIu64 " more losses",
                 r->losses - LOSS_REPORT_SHOWN);
    }
}
