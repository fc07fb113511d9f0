/*
 * gdb's target: what its files share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_GDB_TARGET_PRIVATE_H
#define ETRACE_GDB_TARGET_PRIVATE_H

#include "gdb/rsp.h"
#include "gdb/target.h"

/* Number of the pc, behind x0 to x31 */
#define GDB_REG_PC      32

/* f0 to f31 of 64 bits, and fflags, frm, fcsr of 32 are behind it. */
#define GDB_REG_F0      33
#define GDB_REG_FFLAGS  65

/*
 * Ours, for unwinder.py. Of those behind the first one gdb asks only when it
 * wants them: they have to be looked for.
 */
#define GDB_REG_PLACE   68
#define GDB_REG_DEPTH   69
#define GDB_REG_STACK   70
#define GDB_NR_STACKS   8
#define GDB_NR_REGS     (GDB_REG_STACK + GDB_NR_STACKS)

/* pcs in one of GDB_REG_STACK */
#define GDB_STACK_PART  (REPLAY_MAX_FRAMES / GDB_NR_STACKS)

/* Which way a hart has to go, because others did */
typedef enum GdbFollows {
    GDB_FOLLOWS_NOT,
    GDB_FOLLOWS_FORTH,
    GDB_FOLLOWS_BACK,
} GdbFollows;

typedef struct GdbHart {
    Replay *replay;             /* NULL: there is no such thread */
    ReplayStacks *stacks;       /* NULL: they are not known */
    ReplayStates *states;       /* NULL: the trace has no data */
    uint64_t at;                /* see gdb_hart_at() */
    GdbFollows follows;
    uint64_t until_ns;          /* ... up to this time */
    uint64_t bound;             /* ... and not beyond this instruction */
    /* record btrace bts: */
    bool btrace;
    char *given;                /* checksum of the last answer; or NULL */
} GdbHart;

struct GdbTarget {
    const Trace *t;
    unsigned xlen;
    GPtrArray *replays;
    ElfCode *files;
    SourcePlaces *places;       /* or NULL */
    unsigned nr_harts;
    GdbHart *harts;
    /* Each hart's states, or NULL, if several have some; else NULL */
    ReplayStates **shared;
    bool is_process;            /* ... and they are threads of a program */
    GArray *libraries;          /* see target-libraries.c */
    bool has_offset;            /* the program has been moved by that: */
    uint64_t offset;
    unsigned general;           /* hart that is asked about (Hg) */
    /*
     * The hart that the user has selected: gdb asks whether it is there (T), or
     * says that it goes on. Hg is also for others that gdb has questions about.
     */
    unsigned selected;
    int mover;                  /* hart that goes on (Hc); -1: that one */
    unsigned next_listed;       /* of qsThreadInfo */
    GArray *breakpoints;        /* uint64_t, ascending */
    GArray *removed;            /* uint64_t: those that were there */
    GArray *watches;            /* ReplayWatch */
    bool knows_swbreak;
    bool knows_errors;          /* E.TEXT is an answer to everything */
    bool is_lldb;               /* it has asked what gdb never does */
    uint64_t transfers;         /* of branch traces: so many */
    /* The branch trace that gdb fetches in pieces, and whose it is; or NULL */
    GString *history;
    unsigned history_hart;
    unsigned watched;           /* number of the watch that was hit */
    uint64_t id;                /* of this server, as opposed to others */

    ReplayWait wait;
    gint64 told;                /* how far something is; us */

    /* While a packet is answered */
    bool may_talk;              /* a hart moves: gdb shows what it is told */
    const GdbTargetOps *ops;
    void *opaque;
    GdbTargetNext next;
};

/* reply.c: send a packet. */
void gdb_put(GdbTarget *g, const GString *s);
void gdb_puts(GdbTarget *g, const char *text);

/* Send an error that gdb shows to the user. */
void G_GNUC_PRINTF(2, 3) gdb_error(GdbTarget *g, const char *fmt, ...);

/* Text for the user to read, before the hart stops */
void gdb_say(GdbTarget *g, const char *text);

/* Send a part of @text as qXfer wants it: @range is "OFFSET,LENGTH". */
void gdb_put_part(GdbTarget *g, const GString *text, const char *range);

/* target-libraries.c */
GArray *gdb_libraries_new(void);
bool gdb_libraries_known(const GdbTarget *g);
void gdb_libraries_read(GdbTarget *g, const char *args);
void gdb_libraries_offset(GdbTarget *g, const char *args);
bool gdb_monitor_libraries(GdbTarget *g, const char *arg, GString *out);

/* together.c: hart @hart, where it is now that others have stopped. */
GdbHart *gdb_hart_at(GdbTarget *g, unsigned hart);

/*
 * Hart @hart has gone to where it is: all others go there, too, in time, but none
 * beyond its one of @bounds, or NULL.
 */
void gdb_others_go_on(GdbTarget *g, unsigned hart, bool back,
                      const uint64_t *bounds);

/* Where a hart stops, or would stop if another one had not stopped before */
typedef struct GdbPlace {
    unsigned hart;
    uint64_t at;
    bool found;                 /* memory that is watched is accessed there: ... */
    unsigned watched;           /* ... the number of the watch */
} GdbPlace;

/*
 * Is memory that is watched accessed before @stop->hart comes to @stop->at, by
 * it, or with @all by another hart meanwhile? Sets @stop to the first one that
 * does so. gdb expects of RISC-V that the hart stops before the access, and takes
 * a step over the instruction: back, if it goes back. So the place is where that
 * step begins. @bounds, one for each hart, are set to where each may go.
 */
ReplayFound gdb_find_access(GdbTarget *g, GdbPlace *stop, bool back, bool all,
                            uint64_t *bounds);

/* The hart that is asked about */
static inline GdbHart *gdb_hart(GdbTarget *g)
{
    return gdb_hart_at(g, g->general);
}

/* Addresses have so many bits. */
static inline uint64_t gdb_address(const GdbTarget *g, uint64_t address)
{
    return g->xlen == 32 ? (uint32_t)address : address;
}

/*
 * Read a thread's number at *@p: that of a hart, or 0 and -1 for the one that
 * is selected. Returns false if there is no such thread.
 */
bool gdb_get_thread(const GdbTarget *g, const char **p, unsigned *hart);

/* gdb-text.c: qXfer:features:read:target.xml, qXfer:threads:read */
GString *gdb_text_features(const GdbTarget *g);
GString *gdb_text_threads(GdbTarget *g);

/* What "monitor where" says of hart @hart */
GString *gdb_text_where(GdbTarget *g, unsigned hart);

/* move.c: why a hart is where it is */
typedef enum GdbStop {
    GDB_STOP_THERE,
    GDB_STOP_BREAKPOINT,
    GDB_STOP_WATCHPOINT,        /* at g->watched */
    GDB_STOP_INTERRUPT,
    GDB_STOP_BEGIN,
    GDB_STOP_END,
} GdbStop;

void gdb_put_stop(GdbTarget *g, unsigned hart, GdbStop why);

/*
 * wait.c: what gdb will ask for once @hart is at instruction @at may take long
 * to find: do it now, while gdb can show how far it is, and hears Ctrl-C.
 * Returns false if that came.
 */
bool gdb_prepare(GdbTarget *g, unsigned hart, uint64_t at);
void gdb_wait_init(GdbTarget *g);

/* What takes long begins now. */
void gdb_wait_begin(GdbTarget *g);

/* Has Ctrl-C ended what was to be found? Sends an error then. */
bool gdb_was_interrupted(GdbTarget *g);

/*
 * Move @hart by one instruction, or to the next breakpoint; send the stop.
 * @all: the others go on, too, up to the same time.
 */
void gdb_step(GdbTarget *g, unsigned hart, bool back, bool all);
void gdb_continue(GdbTarget *g, unsigned hart, bool back, bool all);

/* vCont, with what is behind it */
void gdb_vcont(GdbTarget *g, const char *actions);

/*
 * Z2, Z3, Z4 and z2, z3, z4, by @kind: @args is "ADDRESS,LENGTH". Without data
 * trace, the answer is an error.
 */
void gdb_watchpoint(GdbTarget *g, bool insert, char kind, const char *args);

/* Z0, Z1 and z0, z1: @args is "ADDRESS,KIND". */
void gdb_breakpoint(GdbTarget *g, bool insert, const char *args);

/*
 * history.c: Qbtrace:*, Qbtrace-conf:*, qXfer:btrace:read:*,
 * qXfer:btrace-conf:read:*, with what is behind the prefix
 */
void gdb_history_set(GdbTarget *g, const char *what);
void gdb_history_configure(GdbTarget *g, const char *what);
void gdb_history_read(GdbTarget *g, const char *what);
void gdb_history_read_conf(GdbTarget *g, const char *what);
void gdb_history_drop(GdbTarget *g);

/*
 * stack.c: append one of our own registers of the hart that is asked about.
 * Returns false if it is not known.
 */
bool gdb_put_own_register(GdbTarget *g, GString *s, unsigned n);

/*
 * "monitor python" and "monitor bt" with the argument @arg: append the answer to
 * @out. Returns false if the answer is an error message.
 */
bool gdb_monitor_python(GdbTarget *g, const char *arg, GString *out);
bool gdb_monitor_stack(GdbTarget *g, const char *arg, GString *out);

/* monitor.c: qRcmd, with the command's text */
void gdb_monitor(GdbTarget *g, const char *text);

/* Hart @hart to @place, see gdb_target_go() */
bool gdb_go_to(GdbTarget *g, unsigned hart, const char *place, GError **errp);

#endif /* ETRACE_GDB_TARGET_PRIVATE_H */
