/*
 * Replay: go to any place of what a hart executed
 *
 * A place is the number of an instruction, from 0 on: the hart is about to
 * execute it. One pass over the trace counts the instructions and remembers
 * points where decoding can begin (trace_decoder_point()). The instructions
 * around a place are decoded from the point before it on, and kept: the window.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_GDB_REPLAY_H
#define ETRACE_GDB_REPLAY_H

#include "index/trace-index.h"

/* ReplayInsn.flags: what is between it and the instruction before */
#define REPLAY_GAP      0x1     /* it is not known what was executed there */
#define REPLAY_TRAP     0x2

typedef struct ReplayInsn {
    uint64_t pc;
    uint8_t len;                /* bytes */
    uint8_t priv;               /* ETracePriv */
    uint8_t flags;
} ReplayInsn;

/* What holds from an instruction on, up to that of the next moment */
typedef struct ReplayMoment {
    uint64_t index;
    unsigned part;              /* of the trace */
    uint64_t advanced;          /* see TracePoint */
    bool time_known;
    uint64_t ns;                /* of virtual time, reported last before */
    bool task_known;
    SidebandTask task;
} ReplayMoment;

/* REPLAY_GAP or REPLAY_TRAP in front of an instruction */
typedef struct ReplayEvent {
    uint64_t index;
    bool gap;
    bool lost;                  /* a gap, of which @why is the reason */
    FlowLossKind why;
    FlowTrap trap;              /* no gap */
} ReplayEvent;

/*
 * Is whoever waits for a search tired of it? Called every few million
 * instructions.
 */
typedef bool ReplayPollFn(void *opaque);

/*
 * Somebody waits for what takes long; both functions get @opaque, and are
 * called every few million instructions.
 */
typedef struct ReplayWait {
    ReplayPollFn *poll;         /* or NULL: it is never tired */
    /* @done of @all instructions of @hart have been decoded. */
    void (*progress)(void *opaque, unsigned hart, uint64_t done,
                     uint64_t all);
    void *opaque;
} ReplayWait;

typedef struct Replay Replay;

/*
 * Of hart @hart of @t, which must be present. @t must live as long, and its
 * limit becomes the replay's. @tick_rate of virtual time; 0: as QEMU has it.
 */
Replay *replay_new(Trace *t, unsigned hart, uint64_t tick_rate);
void replay_free(Replay *r);

/*
 * Decode all of it once, for its length and points. @losses gets those of the
 * trace, the first ones (TraceLoss). To be called before all below, unless
 * replay_take_index() is.
 */
void replay_scan(Replay *r, GArray *losses);

/* Take length and points from an index that is of this trace. */
void replay_take_index(Replay *r, const IndexHart *index);

/* Of the whole trace, as far as it was decoded; NULL after an index */
const TraceStats *replay_stats(const Replay *r);

/* Was it more work than a trace should be (TRACE_WORK_MIN)? */
bool replay_gave_up(const Replay *r);

unsigned replay_hart(const Replay *r);

/* Instructions; 0: the hart has executed nothing */
uint64_t replay_length(const Replay *r);

/*
 * Instruction @i, less than the length. Valid until another one is asked for.
 * NULL if it cannot be decoded (again): the files have changed, or an index is
 * not of this trace.
 */
const ReplayInsn *replay_insn(Replay *r, uint64_t i);

/* What holds at instruction @i, what is in front of it; as above, or NULL */
const ReplayMoment *replay_moment(Replay *r, uint64_t i);
const ReplayEvent *replay_event(Replay *r, uint64_t i);

/*
 * As many of the instructions before @i as are kept at once, at most @i, are
 * asked for next.
 */
void replay_expect_back(Replay *r, uint64_t i);

/* Instructions that are kept at once */
#define REPLAY_WINDOW   (1u << 18)

typedef enum ReplayFound {
    REPLAY_FOUND,
    REPLAY_NOT_FOUND,
    REPLAY_STOPPED,             /* by the poll function */
    REPLAY_FAILED,              /* see replay_insn() */
} ReplayFound;

/*
 * The next instruction behind @from, or the last one before it if @back, whose
 * address is one of @pcs, @n addresses in ascending order. Sets *@at.
 */
ReplayFound replay_find(Replay *r, uint64_t from, bool back,
                        const uint64_t *pcs, unsigned n, ReplayPollFn *poll,
                        void *opaque, uint64_t *at);

/*
 * The first instruction of which the trace reports that it is @ns or later;
 * NOT_FOUND if there is none.
 */
ReplayFound replay_find_time(Replay *r, uint64_t ns, ReplayPollFn *poll,
                             void *opaque, uint64_t *at);

/*
 * About when instruction @i, less than the length, was executed: the time that
 * the trace reports last before, and a share of what there is up to the next
 * one. Sets *@ns, of virtual time; false: it is not known.
 */
bool replay_time(Replay *r, uint64_t i, uint64_t *ns);

/*
 * About where the hart was at @ns, likewise: the number of the instruction. The
 * last one if the trace reports no time from @ns on. Only if there are times.
 */
uint64_t replay_place_at(Replay *r, uint64_t ns);

/* Does the trace report the time? */
bool replay_has_time(const Replay *r);

/*
 * What is certain of the time at which an instruction was executed, of virtual
 * time, which all harts have in common: each is of an epoch, and its time is
 * replay_not_before() it or later, and replay_not_after() it or earlier. In
 * harts @a and @b, an instruction of @a is before one of @b if that of @a is
 * not after a time that is less than the one that that of @b is not before.
 *
 * Nothing is certain, and all is of epoch 0, if the trace reports no times, or
 * only those at which packets were made (timestamps), or if they go back. The
 * first function finds out, which takes a pass if the trace was not scanned; it
 * returns false if @poll has ended that. It is to be called before those below.
 */
bool replay_find_epochs(Replay *r, ReplayPollFn *poll, void *opaque);

/* The epoch of instruction @i; of the end, if @i is the trace's length */
unsigned replay_epoch(const Replay *r, uint64_t i);

/* 0: nothing is known */
uint64_t replay_not_before(const Replay *r, unsigned epoch);

/* UINT64_MAX: nothing is known */
uint64_t replay_not_after(const Replay *r, unsigned epoch);

/* So many instructions were executed before @ns for certain, */
uint64_t replay_before(const Replay *r, uint64_t ns);

/* ... and those behind so many for certain later than @ns. */
uint64_t replay_until(const Replay *r, uint64_t ns);

/*
 * Read up to @len bytes of code at @addr, as the hart's sideband has it at
 * instruction @i: as seen by its privilege, or else by another one. Returns how
 * many are known, from the first one on.
 */
size_t replay_read(Replay *r, uint64_t i, uint64_t addr, uint8_t *buf,
                   size_t len);

#endif /* ETRACE_GDB_REPLAY_H */
