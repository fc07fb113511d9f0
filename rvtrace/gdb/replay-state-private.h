/*
 * Replay: passes over a trace with data
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_GDB_REPLAY_STATE_PRIVATE_H
#define ETRACE_GDB_REPLAY_STATE_PRIVATE_H

#include "code/data-insn.h"
#include "gdb/replay-private.h"
#include "gdb/replay-state.h"

/* Where memory of M-mode is: behind the numbers of address spaces */
#define MACHINE     UINT_MAX

/* What stands between an instruction and the one before */
typedef enum Border {
    BORDER_NONE,
    BORDER_SEAM,                /* a window ended for the sideband's sake, */
    BORDER_FENCE,               /* ... or may have ended for a filter's, too */
    BORDER_GAP,
    BORDER_REGS,                /* the sideband has registers */
} Border;

/* An instruction whose accesses are not known yet */
typedef struct Pending {
    uint64_t pc;
    uint64_t index;
    uint32_t raw;
    unsigned space;             /* of memory */
    uint8_t priv;
    uint8_t border;             /* in front of it */
    bool trapped;               /* ... and a trap */
    bool called;                /* ... a system call of user mode, done */
    bool readable;              /* raw is known */
} Pending;

typedef struct SavedState {
    uint64_t insns;             /* before the next one */
    Cpu cpu;
    Memory *memory;
    bool has_last;              /* the instruction before */
    Pending last;
} SavedState;

struct ReplayStates {
    Replay *r;
    GArray *saved;              /* SavedState, ascending; the first: of 0 */
    uint64_t spacing;
    const ReplayWait *wait;     /* or NULL */
    bool stopped;               /* by wait, and nobody has been told */
    /* A little before what was asked for last, for steps; memory NULL: none */
    SavedState near;
    /* That was asked for last; memory NULL: none */
    uint64_t at;
    Cpu cpu;
    Memory *memory;
};

typedef struct StatePass StatePass;

struct StatePass {
    ReplayStates *s;
    TraceDecoder d;
    uint64_t from, to;          /* execute instructions of [from, to) */
    bool is_process;
    Cpu cpu;
    Memory *memory;
    /* Instructions that have run, and those handed over with accesses */
    GArray *queue;              /* Pending */
    guint next;
    uint64_t ahead;             /* handed over before they came */
    uint64_t pos;               /* index of the next one to come */
    uint64_t began;             /* ... at first */
    uint64_t polled;            /* pos when poll was called last */
    unsigned part;
    Border border;              /* in front of that */
    bool trapped, failed;
    bool in_call;               /* that was a system call of user mode */
    uint64_t call;              /* ... by the ecall there */
    /* Being collected: its accesses follow. */
    Pending now;
    bool has_now;
    GArray *accesses;           /* ETraceDataAccess, DATA_INSN_MANY at most */
    bool unknown;               /* accesses, or their values, are not known */
    bool sc_failed;
    /* The one before */
    Pending last;
    bool has_last;
    ETraceSbRegs regs;          /* before instruction regs_at */
    uint64_t regs_at;
    /*
     * Instead of executing: @look at each, for accesses to @watches, the last
     * one if @back. @memory and @cpu mean nothing then.
     */
    void (*look)(StatePass *p);
    /* ... and @stray at accesses of which nobody knows whose they are */
    void (*stray)(StatePass *p, const ETraceDataAccess *access);
    const ReplayWatch *watches;
    unsigned nr_watches;
    unsigned space;             /* of the addresses of programs */
    bool back, found, stopped;
    bool strays;                /* of @watches, on the way to what was found */
    uint64_t at;
    unsigned which;
    ReplayPollFn *poll;
    void *opaque;
};

/*
 * Decode [from, to) of @p, a new one with those and @s. Returns false if that
 * is not possible.
 */
bool replay_state_pass(StatePass *p);

#endif /* ETRACE_GDB_REPLAY_STATE_PRIVATE_H */
