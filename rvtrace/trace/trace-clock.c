/*
 * The clock of a trace's timestamps
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/virtual-clock.h"
#include "trace/trace-clock.h"

/* Of traces that do not say it: what QEMU's units count, unless programmed */
#define TIMESTAMP_HZ    1000000000
#define MTIME_HZ        10000000

/* Timestamps that wrap less often than this are taken for what they are. */
#define SECONDS_SAFE    60

uint64_t trace_tick_rate(const Trace *t, unsigned hart, bool timestamp)
{
    return !timestamp ? MTIME_HZ : t->harts[hart].params.ts_hz ?: TIMESTAMP_HZ;
}

unsigned trace_clock_bits(const Trace *t, unsigned hart, bool timestamp)
{
    const ETraceParams *params = &t->harts[hart].params;

    return timestamp ? 8 * params->ts_bytes : params->time_width;
}

/*
 * Ticks from the first timestamp of the hart to the last one, as they appear.
 * @packets: how many the hart has.
 */
static uint64_t apparent_ticks(const Trace *t, unsigned hart,
                               uint64_t *packets)
{
    const ETraceParams *params = &t->harts[hart].params;
    StreamSources sources = { .params = *params, .known = t->known_ids };
    VirtualClock clock = { .hz = 1 };
    uint64_t first = 0;
    StreamEvent event;
    Stream stream;
    StreamItem item;

    *packets = 0;
    stream_init(&stream, t->data, t->begin, t->end, &sources);
    while ((event = stream_next(&stream, &item)) != STREAM_END) {
        if (event != STREAM_PACKET) {
            continue;
        }
        ++*packets;
        if (!item.quick && item.pkt.extend) {
            bool known = clock.known;

            virtual_clock_put(&clock, item.pkt.timestamp,
                              8 * params->ts_bytes);
            first = known ? first : clock.ticks;
        }
    }
    return clock.ticks - first;
}

/* What is to be said of one part */
static TraceClockState look_at(const Trace *t, unsigned hart, bool timestamp,
                               uint64_t hz, uint64_t *seen, uint64_t *passed)
{
    unsigned bits = trace_clock_bits(t, hart, timestamp);
    TraceClockState unknown;
    uint64_t packets, ticks;
    SidebandEnd end;

    if (bits == 0 || bits >= 64) {
        return TRACE_CLOCK_FINE;
    }
    unknown = (UINT64_C(1) << bits) / hz < SECONDS_SAFE ? TRACE_CLOCK_UNKNOWN
                                                        : TRACE_CLOCK_FINE;
    if (!timestamp || !t->sideband || t->ram || t->pieces.runs ||
        !sideband_end(t->sideband, hart, &end) ||
        end.ticks == ETRACE_SB_TICKS_UNKNOWN) {
        return unknown;
    }
    if (!(end.ticks >> bits)) {
        return TRACE_CLOCK_FINE;
    }
    ticks = apparent_ticks(t, hart, &packets);
    if (packets != end.packets) {
        return unknown;         /* there is more, or less, than the end of it */
    }
    *seen += ticks;
    *passed += end.ticks;
    return (end.ticks - ticks) >> (bits - 1) ? TRACE_CLOCK_WRAPPED
                                             : TRACE_CLOCK_FINE;
}

TraceClockState trace_look_at_clock(const Trace *t, unsigned hart,
                                    bool timestamp, uint64_t hz,
                                    uint64_t *seen, uint64_t *passed)
{
    TraceClockState worst = TRACE_CLOCK_FINE;

    *seen = *passed = 0;
    for (; t; t = t->next) {
        TraceClockState state = look_at(t, hart, timestamp, hz, seen, passed);

        worst = MAX(worst, state);
    }
    return worst;
}
