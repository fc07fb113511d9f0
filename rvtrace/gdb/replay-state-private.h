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
#include "replay/stamps.h"

/* Where memory of M-mode is: behind the numbers of address spaces */
#define MACHINE     UINT_MAX

#define ECALL_SIZE  4

/* What stands between an instruction and the one before */
typedef enum Border {
    BORDER_NONE,
    BORDER_SEAM,                /* a window ended for the sideband's sake, */
    BORDER_FENCE,               /* ... or may have ended for a filter's, too */
    BORDER_GAP,
    BORDER_BEGIN,               /* ... and the trace begins, with registers */
} Border;

/* An instruction */
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
    bool first;                 /* of a run */
} Pending;

/* Instructions one behind the other, whose accesses are not known yet */
typedef struct PendingRun {
    Pending first;              /* without raw */
    unsigned count;
} PendingRun;

/*
 * When the hart has accessed memory last, if other harts are asked about it, too.
 * Stamps are epochs (replay_epoch()) + 1.
 */
typedef struct Marks {
    Memory *seen;               /* by any access; NULL: others are not asked */
    /* ... by a store; of addresses that are as replay_stores_space() says */
    Memory *stores;
    uint64_t wild;              /* it may have stored anywhere until then; ns */
} Marks;

typedef struct SavedState {
    uint64_t insns;             /* before the next one */
    /*
     * What was executed from there on has been looked at, and nothing before
     * is known. 0: or nothing before matters.
     */
    uint64_t cpu_since, memory_since;
    uint64_t marks_since;       /* ... and may have stored anywhere; likewise */
    Cpu cpu;
    Memory *memory;
    Marks marks;
    bool has_last;              /* the instruction before */
    Pending last;
} SavedState;

/* What an instruction has stored */
typedef struct ReplayStore {
    uint64_t index;             /* of the instruction */
    uint64_t addr, len, value;
    unsigned space;             /* see replay_stores_space() */
    bool known;                 /* the value */
    bool wild;                  /* it may be anywhere: @addr means nothing */
} ReplayStore;

/*
 * What the hart has done at another hart's place: for certain what is before
 * instruction @from, and perhaps what is before @to.
 */
typedef struct ReplayZone {
    uint64_t since, begin, from, to;
    SavedState certain;         /* before @from; memory NULL: there is none */
    GArray *stores;             /* ReplayStore, from @begin on */
    /* Before @to, if there are more stores than are listed; else seen is NULL */
    Marks all;
} ReplayZone;

/* Words of which replay-threads.c remembers something */
#define THREADS_WORDS_MAX (1u << 20)

/*
 * What is asked for has mostly been accessed not long before: a pass begins this
 * many instructions before it; then further back, as long as more may be known.
 */
#define BACK_MIN    (1u << 16)
#define BACK_MORE   4

/* Stores of a zone that are listed: 1 MiB */
#define ZONE_STORES_MAX 16384

/* replay-lines.c */
typedef struct ReplayLines ReplayLines;

struct ReplayStates {
    Replay *r;
    ReplayLines *lines;         /* or NULL: nobody has asked */
    /* Is a word ever accessed? By its address; or NULL, see replay-threads.c */
    GHashTable *words;
    bool shared;                /* other harts are asked, too */
    ReplayZone zone;            /* that was asked for last */
    GArray *saved;              /* SavedState, ascending; since 0, first of 0 */
    uint64_t spacing;
    const ReplayWait *wait;     /* or NULL */
    bool stopped;               /* by wait, and nobody has been told */
    /* A little before what was asked for last, for steps; memory NULL: none */
    SavedState near;
    SavedState now;             /* that was asked for last; likewise */
};

/* Instructions whose code has been put into memory, by address */
#define NR_PLACED   1024

typedef struct PlacedCode {
    uint64_t pc;
    uint32_t raw;
    unsigned space;
    uint64_t forgets;           /* of the pass, until then; 0: no code */
} PlacedCode;

typedef struct StatePass StatePass;

struct StatePass {
    ReplayStates *s;
    TraceDecoder d;
    /* @look at instructions of [from, to), with all that is known of each */
    void (*look)(StatePass *p);
    uint64_t from, to;
    bool is_process;
    uint64_t cpu_since, memory_since, marks_since;  /* see SavedState */
    uint64_t save_at;           /* the next state that is kept, at the latest */
    Cpu cpu;
    Memory *memory;
    PlacedCode placed[NR_PLACED];
    uint64_t forgets;           /* of memory, from 1 on */
    Marks marks;
    /* The epoch of instructions from epoch_begin on, and before epoch_end */
    unsigned epoch;
    uint64_t epoch_begin, epoch_end;
    ReplayZone *zone;           /* to be found; or NULL */
    /* Instructions that have run: those handed over with accesses ... */
    GArray *queue;              /* PendingRun */
    guint next;                 /* ... are of those before this one */
    unsigned left;              /* ... but for so many, the last ones */
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
    bool has_regs;
    ETraceSbRegs regs;          /* before instruction regs_at */
    uint64_t regs_at;
    /*
     * Instead of executing: to @look for accesses to @watches, the last one if
     * @back. @memory and @cpu mean nothing then.
     */
    /* ... and @stray at accesses of which nobody knows whose they are */
    void (*stray)(StatePass *p, const ETraceDataAccess *access);
    const ReplayWatch *watches;
    unsigned nr_watches;
    unsigned space;             /* of the addresses of programs */
    bool back, found, stopped;
    bool strays;                /* of @watches, before @at was reached */
    uint64_t at;
    unsigned which;
    ReplayPollFn *poll;
    void *opaque;
};

/*
 * replay-border.c. Has the program done nothing but a system call before @b?
 * What led to it is known, which with a filter it need not be.
 */
bool replay_is_behind_call(const StatePass *p, const Pending *b);

/* Is all known that was executed before @b? */
bool replay_is_seamless(const StatePass *p, const Pending *b);

/* Are the registers before @insn in the sideband? */
bool replay_has_registers(const StatePass *p, const Pending *insn);

/*
 * replay-calls.c. What the system call that @cpu is about to make may write to:
 * *@n @ranges, for which there is room. False: it may be anything.
 */
typedef struct ReplayRange {
    uint64_t addr, len;
} ReplayRange;

#define REPLAY_CALL_RANGES  2

bool replay_call_ranges(const Cpu *cpu, ReplayRange *ranges, unsigned *n);

/*
 * replay-marks.c. All functions but those of the first group do nothing if other
 * harts are not asked.
 */
Marks marks_new(void);
Marks marks_copy(const Marks *marks);
void marks_clear(Marks *marks);

/* Are there too many copies? See memory_is_crowded(). */
bool marks_are_crowded(const Marks *marks);

/* @insn has loaded @len bytes at @addr, or stored them. */
void marks_load(StatePass *p, const Pending *insn, uint64_t addr, unsigned len);

/* ... @value; NULL: it is not known which. */
void marks_store(StatePass *p, const Pending *insn, uint64_t addr, unsigned len,
                 const uint64_t *value);

/* It may have stored anywhere, at instruction @index or in front of it; */
void marks_wild(StatePass *p, uint64_t index);

/* ... in front of @insn, whose registers are in the sideband. */
void marks_session(StatePass *p, const Pending *insn);

/*
 * The number of the address space of @stores: physical memory has one, with
 * paging or without, and upper addresses are the kernel's in every process.
 */
unsigned replay_stores_space(unsigned space, uint64_t addr, unsigned xlen);

/* replay-state.c: see replay_find_epochs() */
bool replay_states_find_epochs(ReplayStates *s);

/*
 * Finds the state before instruction @i, s->now, with all that is known since
 * instruction @since at least. Returns false if the trace cannot be decoded
 * there, or the user interrupts.
 */
bool replay_find_state(ReplayStates *s, uint64_t i, uint64_t since);

/*
 * replay-watch.c. replay_find_access(), of any access to @len bytes at @addr; the
 * user may end it, as replay_states_set_wait() says.
 */
ReplayFound replay_find_any(ReplayStates *s, uint64_t from, uint64_t end,
                            bool back, uint64_t addr, uint64_t len,
                            unsigned space, uint64_t *at, bool *strays);

/*
 * A pass from instruction *@since to @i, whose result is s->now, has not found the
 * byte at @addr in address space @space. Sets *@since to an earlier instruction, if
 * a pass from there may find it. Returns false if none can, or the user has
 * interrupted the search.
 */
bool replay_look_back(ReplayStates *s, uint64_t i, uint64_t addr,
                      unsigned space, uint64_t *since);

/* s->zone, in ascending order; likewise. @to may be the length. */
bool replay_find_zone(ReplayStates *s, uint64_t since, uint64_t begin,
                      uint64_t from, uint64_t to);

/*
 * replay-watch.c. The address space of memory as instruction @i sees it, less than
 * the length
 */
bool replay_space(ReplayStates *s, uint64_t i, unsigned *space);

/*
 * replay-lines.c. The next instructions from @from on and before @end, or the
 * last ones before @from, from @end on, if @back, that may have accessed what
 * one of the @n @watches says, loads and stores alike: sets *@lo and *@hi, of
 * which the second is not among them.
 */
ReplayFound replay_lines_find(ReplayStates *s, uint64_t from, uint64_t end,
                              bool back, const ReplayWatch *watches, unsigned n,
                              ReplayPollFn *poll, void *opaque, uint64_t *lo,
                              uint64_t *hi);
void replay_lines_free(ReplayLines *l);

/*
 * replay-collect.c. Decode [from, to) of @p, a new one with those and @s.
 * Returns false if that is not possible.
 */
bool replay_state_pass(StatePass *p);

#endif /* ETRACE_GDB_REPLAY_STATE_PRIVATE_H */
