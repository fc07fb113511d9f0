/*
 * What a pass over the trace of a hart has counted
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "trace/trace.h"

void trace_stats_add(TraceStats *stats, const TraceStats *more)
{
    for (int i = 0; i < TRACE_PKT_NR_KINDS; i++) {
        stats->packets[i] += more->packets[i];
    }
    for (int i = 0; i < FLOW_LOST_NR_KINDS; i++) {
        stats->losses[i] += more->losses[i];
    }
    stats->payload_bytes += more->payload_bytes;
    stats->wire_bytes += more->wire_bytes;
    stats->data_packets += more->data_packets;
    stats->data_payload_bytes += more->data_payload_bytes;
    stats->data_wire_bytes += more->data_wire_bytes;
    stats->skipped_packets += more->skipped_packets;
    stats->skipped_bytes += more->skipped_bytes;
    stats->unknown_ends += more->unknown_ends;
    stats->late_packets += more->late_packets;
    stats->filled += more->filled;
    stats->open += more->open;
}

uint64_t trace_stats_losses(const TraceStats *stats)
{
    uint64_t sum = 0;

    for (int i = 0; i < FLOW_LOST_NR_KINDS; i++) {
        sum += stats->losses[i];
    }
    return sum;
}

const char *trace_packet_kind_text(TracePacketKind kind)
{
    static const char *const texts[] = {
        [TRACE_PKT_F0] = "format 0",
        [TRACE_PKT_F1] = "format 1, address",
        [TRACE_PKT_F1_NO_ADDR] = "format 1, full map",
        [TRACE_PKT_F2] = "format 2",
        [TRACE_PKT_F3_START] = "format 3, start",
        [TRACE_PKT_F3_TRAP] = "format 3, trap",
        [TRACE_PKT_F3_CONTEXT] = "format 3, context",
        [TRACE_PKT_F3_SUPPORT] = "format 3, support",
        [TRACE_PKT_MALFORMED] = "malformed",
    };

    return texts[kind];
}
