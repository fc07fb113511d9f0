/*
 * What is missing of a trace, for people
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_LOSS_REPORT_H
#define ETRACE_LOSS_REPORT_H

#include "trace/trace.h"

/* So many losses are shown of each run. */
#define LOSS_REPORT_SHOWN   20

typedef struct LossReport {
    bool several;               /* the trace has several files: say which */
    const char *looks_like;     /* unit_guess() of the trace, or NULL */
    uint64_t losses;
    bool gave_up;               /* and one of them was that */
    bool noted_end;
    uint64_t insns;             /* decoded, of harts that are done */
    uint64_t packets, syncs;    /* ... but support packets */
    uint64_t traps;             /* of them */
    uint64_t skipped_bytes;
    bool trap_loop;             /* of a hart that may have run nothing else */
} LossReport;

/* A loss, on stderr. Only the first ones of each run. */
void loss_report_add(LossReport *r, const TraceLoss *loss);

/*
 * Where nobody says whether something is missing at the end of the trace, or a
 * RAM sink had stopped before it, say so; once. @insns of the hart have been
 * decoded.
 */
void loss_report_end(LossReport *r, const TraceStats *stats, uint64_t insns);

/*
 * Was there something to decode, and nothing of it could be? Prints why. Not to
 * be asked where nothing was to be decoded.
 */
bool loss_report_is_all(const LossReport *r);

/* How many more there were */
void loss_report_finish(const LossReport *r);

#endif /* ETRACE_LOSS_REPORT_H */
