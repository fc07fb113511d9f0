/*
 * The clock of a trace's timestamps
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TRACE_CLOCK_H
#define ETRACE_TRACE_CLOCK_H

#include "trace/trace.h"

/*
 * Ticks a second of what @hart's packets report, timestamps or else time
 * fields: as the sideband says, or what QEMU has unless it is told otherwise.
 */
uint64_t trace_tick_rate(const Trace *t, unsigned hart, bool timestamp);

/* How many bits of the time they have */
unsigned trace_clock_bits(const Trace *t, unsigned hart, bool timestamp);

/* The later ones are worse. */
typedef enum TraceClockState {
    TRACE_CLOCK_FINE,
    TRACE_CLOCK_UNKNOWN,    /* nothing says how often timestamps wrapped */
    TRACE_CLOCK_WRAPPED,    /* they did so unseen */
} TraceClockState;

/*
 * Can the timestamps (or else time fields) of @hart in all parts of @t, of @hz
 * ticks a second, be put together? That is so while less than half of what they
 * have bits for passes between two of them. *@seen: ticks that passed as it
 * appears, *@passed: those that did, both only if they wrapped unseen. May read
 * all of the trace.
 */
TraceClockState trace_look_at_clock(const Trace *t, unsigned hart,
                                    bool timestamp, uint64_t hz,
                                    uint64_t *seen, uint64_t *passed);

#endif /* ETRACE_TRACE_CLOCK_H */
