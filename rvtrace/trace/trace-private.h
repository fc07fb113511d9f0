/*
 * The decoding of one hart: what its parts share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TRACE_PRIVATE_H
#define ETRACE_TRACE_PRIVATE_H

#include "trace/trace.h"

/*
 * trace-ram.c: what a RAM sink had stored. Takes the files of @opts, of which
 * @t has the first, and sets the trace's data and range. Returns false and sets
 * @errp if they make no sense.
 */
bool trace_take_ram(Trace *t, const TraceOptions *opts, const Trace *later,
                    GError **errp);

/*
 * trace-identity.c: is the trace of the session that its sideband is of? The
 * files' range is known; @framing: of any hart. True as well if nothing tells:
 * older files get a warning. Returns false and sets @errp if it is not.
 */
bool trace_check_identity(Trace *t, const ETraceParams *framing,
                          GError **errp);

/*
 * Go to the next bytes of the part's pieces that may have packets of the hart.
 * Returns false if there are none.
 */
bool trace_next_run(TraceDecoder *d);

/* The hart's code, of the trace that begins with part @t */
Image *trace_image_new(const Trace *t, unsigned hart);

/* Hand over the notes that the image has come by. */
void trace_take_notes(TraceDecoder *d);

/* Does the consumer want data packets? */
static inline bool trace_has_data(const TraceDecoder *d)
{
    return d->consumer->data || d->consumer->access;
}

/*
 * What the flow calls, with @d, instead of the consumer's own: if that has
 * data, or if there is a limit.
 */
const FlowOps *trace_between_ops(const TraceDecoder *d);

/* How far the sideband of the part was read; 0 without one */
uint64_t trace_sideband_pos(const TraceDecoder *d);

/*
 * Go to the part where @start is, and bring the sideband there, before the
 * part is started. Returns false if there is no such place.
 */
bool trace_resume_image(TraceDecoder *d, const TraceStart *start);

/* When the part is started: the same of stream and flow. */
bool trace_resume_part(TraceDecoder *d, const TracePoint *p);

#endif /* ETRACE_TRACE_PRIVATE_H */
