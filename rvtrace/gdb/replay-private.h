/*
 * Replay: what its files share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_GDB_REPLAY_PRIVATE_H
#define ETRACE_GDB_REPLAY_PRIVATE_H

#include "gdb/replay.h"
#include "base/virtual-clock.h"

typedef struct ReplayPoint {
    TracePoint at;
    uint64_t insns;             /* before it */
    bool time_known;
    uint64_t ticks;
} ReplayPoint;

/* A packet reports @ns in front of instruction @at: later than those before. */
typedef struct ReplayReport {
    uint64_t at;
    uint64_t ns;
} ReplayReport;

/* Instructions that were decoded last */
typedef struct ReplayWindow {
    uint64_t base;              /* the first one */
    unsigned count;
    ReplayInsn *insns;          /* REPLAY_WINDOW of them */
    GArray *moments;            /* ReplayMoment; the first: of base */
    GArray *events;             /* ReplayEvent */
} ReplayWindow;

struct Replay {
    Trace *t;
    unsigned hart;
    uint64_t limit;             /* instructions */
    uint64_t length;
    VirtualClock clock;         /* hz: 0 if the trace does not report times */
    bool by_timestamps;
    GArray *reports;            /* ReplayReport; or NULL: not known yet */
    bool in_order;              /* may reports order what harts do? */
    GArray *points;             /* ReplayPoint, ascending */
    uint64_t spacing;           /* instructions between points, at least */
    GArray *advanced;           /* uint64_t, by part: see TraceStart */
    TraceStats stats;
    bool has_stats, gave_up;
    ReplayWindow window;

    Image *image;               /* for replay_read(); or NULL */
    unsigned image_part;
    uint64_t image_advanced;
};

/* The last point with at most @insns instructions before, or NULL */
const ReplayPoint *replay_last_point(const Replay *r, uint64_t insns);

/*
 * The code as the sideband has it at instruction @i; NULL without a sideband
 * (pages of ELF files are the decoder's), or see replay_insn(). It is @r's.
 */
Image *replay_image(Replay *r, uint64_t i);

/* What a pass over a piece of the trace is for */
typedef enum PassKind {
    PASS_SCAN,                  /* points and length, and reports */
    PASS_REPORTS,
    PASS_FILL,                  /* the window: [lo, hi) */
    PASS_FIND,                  /* addresses: in [lo, hi) */
    PASS_FIND_TIME,
} PassKind;

typedef struct ReplayPass {
    PassKind kind;
    Replay *r;
    uint64_t lo, hi;            /* instructions; as far as they go */
    /* PASS_FIND: the first one, or the last one */
    const uint64_t *pcs;
    unsigned nr_pcs;
    bool last;
    uint64_t ns;                /* PASS_FIND_TIME: the first time from it on */
    GArray *losses;             /* PASS_SCAN: TraceLoss */
    ReplayPollFn *poll;         /* or NULL */
    void *opaque;

    /* The result */
    bool found, stopped;
    uint64_t at;
    /* PASS_FIND_TIME: where the time before that was reported, and which */
    bool has_before;
    uint64_t before_at, before_ns;

    /* While it runs */
    TraceDecoder d;
    const ReplayPoint *from;    /* or NULL: the beginning */
    uint64_t pos;               /* instructions before the next one */
    uint64_t polled;            /* pos when poll was called last */
    VirtualClock clock;
    uint64_t marked;            /* pos at the mark */
    bool hit;                   /* behind the mark there is one of pcs: ... */
    uint64_t hit_at;            /* ... the last one */
    uint64_t next_point;
    /* PASS_FILL: the instruction before; size 0: not known */
    uint64_t last_pc;
    Insn last_insn;
    bool gap, lost, trapped;    /* in front of the next instruction */
    FlowLossKind why;
    FlowTrap trap;
} ReplayPass;

/*
 * Decode from @p->from to the end of the range. Returns false if that is not
 * possible.
 */
bool replay_pass(ReplayPass *p);

#endif /* ETRACE_GDB_REPLAY_PRIVATE_H */
