/*
 * RISC-V trace: what the parts of the hart side know of each other
 *
 * From the ground up: history and ring; events, reader, code, maps and task;
 * hart; helpers. None calls what stands above it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_TRACE_INTERNAL_H
#define TARGET_RISCV_TRACE_INTERNAL_H

#include "cpu.h"
#include "qemu/thread.h"
#include "hw/trace/etrace/sideband.h"
#include "hart.h"
#include "reader.h"

/* Slots handed over at a time: large enough to amortise the call. */
#define RISCV_TRACE_RING_SLOTS  1024
/*
 * Slots behind the limit for what a TB, of TCG_MAX_INSNS instructions, and C
 * code append before they drain.
 */
#define RISCV_TRACE_RING_SLACK  (512 + 64)

/* An address space: what turns a virtual page into a physical one. */
typedef struct RISCVTraceSpace {
    uint64_t atp;               /* satp, or vsatp for the virtualized one */
    uint64_t gatp;              /* hgatp for the virtualized one, else 0 */
} RISCVTraceSpace;

/* An executable page that was seen in the middle of a TB. */
typedef struct RISCVTracePage {
    bool virt;
    RISCVTraceSpace space;
    uint64_t va;
    uint64_t pa;
} RISCVTracePage;

/* Of a hart's mappings, so many are at hand. */
#define RISCV_TRACE_RECENT_MAPS 512

/* A trap vector register, as the sideband's reader knows it */
typedef struct RISCVTraceTvec {
    bool reported;
    bool pending;               /* value is to be reported */
    uint64_t value;
} RISCVTraceTvec;

#define RISCV_TRACE_TVECS   3   /* M, S, VS */

/* The task that the hart runs, see task.c */
typedef struct RISCVTraceTask {
    bool pending;               /* it is to be looked at */
    uint64_t at;                /* ... there */
    bool known;                 /* the reader knows the last one: */
    ETraceSbTask last;
    /* What was so when it was read for the last time, if it was */
    bool read;
    uint64_t read_at;           /* 0 if it was not */
    uint64_t satp;
    bool settled;               /* that was on the way to U mode */
} RISCVTraceTask;

typedef enum RISCVTraceStall {
    RISCV_TRACE_RUNNING,
    RISCV_TRACE_STALLED,
    RISCV_TRACE_RELEASED,       /* may run; its thread may not know yet */
} RISCVTraceStall;

struct RISCVTraceHart {
    CPUState *cs;
    const RISCVTraceHartOps *ops;
    void *opaque;
    unsigned index;

    ETraceSlot *ring;
    bool active;                /* written by the hart's thread only */
    void (*drain)(RISCVTraceHart *hart);    /* for who stands below it */
    int stall;                  /* RISCVTraceStall, atomic */
    VMChangeStateEntry *vm_state;

    /* Events, see events.c; the hart's thread only */
    RISCVTraceHartConfig config;
    bool context_reported;
    uint64_t context;           /* if reported */
    bool time_due;              /* a full ring was handed over: report it */
    RISCVTraceTvec tvec[RISCV_TRACE_TVECS];
    RISCVTraceTask task;

    /* history.c; the hart's thread only */
    bool recheck_mode;          /* at the next TB end: blocks or history? */
    ETraceRanges ranges;        /* those that the TB key has a number of */
    ETraceHistoryModes modes;   /* of the branch history that is reported */

    RISCVTraceReader *reader;   /* NULL: there was no session; VM stopped */
    QLIST_ENTRY(RISCVTraceHart) next;       /* of its harts */

    /* Sideband, see reader.c and maps.c; the hart's thread only */
    uint32_t session;           /* that tracing was started in */
    uint64_t change;            /* id of the last change that has its place */
    uint64_t fenced;            /* packets in front of the last fence */
    unsigned rings;             /* handed over since registers were put */
    RISCVTraceSpace space[2];   /* last reported, by virt */
    GHashTable *maps;           /* RISCVTracePage (but pa) -> same */
    RISCVTracePage recent_maps[RISCV_TRACE_RECENT_MAPS];    /* by their hash */
    GArray *pending;            /* RISCVTracePage, waiting for the TB's end */
};

static inline RISCVTraceHart *riscv_trace_hart(CPUState *cs)
{
    return cpu_env(cs)->trace.hart;
}

/* The hart's part of the TB key is another one. */
static inline void riscv_trace_key_changed(CPURISCVState *env)
{
#ifndef CONFIG_USER_ONLY
    riscv_transfer_update(env);
#endif
}

/*
 * With -icount, clocks may be read at the end of a TB only, when it has been
 * counted as a whole. Where these are used that is so, or will be as soon as
 * the TB is left. Pass what begin returned to end.
 */
static inline bool riscv_trace_clock_begin(RISCVTraceHart *hart)
{
    bool can_do_io = hart->cs->neg.can_do_io;

    hart->cs->neg.can_do_io = true;
    return can_do_io;
}

static inline void riscv_trace_clock_end(RISCVTraceHart *hart, bool can_do_io)
{
    hart->cs->neg.can_do_io = can_do_io;
}

/*
 * Work that was queued for a hart is done between these. In user mode, it is
 * done outside of cpu_exec_start() and cpu_exec_end(), and another thread may
 * end the trace of all harts meanwhile.
 */
static inline void riscv_trace_work_begin(CPUState *cs)
{
#ifdef CONFIG_USER_ONLY
    cpu_exec_start(cs);
#endif
}

static inline void riscv_trace_work_end(CPUState *cs)
{
#ifdef CONFIG_USER_ONLY
    cpu_exec_end(cs);
#endif
}

/*
 * ring.c
 */

/* Hand over what the ring holds to the encoder; in the hart's thread. */
void riscv_trace_flush(RISCVTraceHart *hart);

/*
 * Append a slot from C code, and flush the ring first if it is full. Nothing
 * must have been kept back as branch history.
 */
void riscv_trace_append(RISCVTraceHart *hart, const ETraceSlot *slot);

/* Ask for a drain at the end of the current TB even if the ring is not full. */
void riscv_trace_ask_drain(RISCVTraceHart *hart);

/*
 * history.c
 */

/*
 * A slot, whose branches are those since the last one but @last's own. @priv:
 * of all that is in it.
 */
void riscv_trace_history_slot(CPURISCVState *env, target_ulong last,
                              target_ulong next, ETraceItype itype,
                              ETracePriv priv, uint8_t flags);

/* Slots for the jumps that no branch has followed */
void riscv_trace_history_jumps(CPURISCVState *env, ETracePriv priv);

/*
 * What generated code has kept back goes into the ring. @pc: what comes next,
 * after what ran with privilege @priv.
 */
void riscv_trace_history_end(RISCVTraceHart *hart, target_ulong pc,
                             ETracePriv priv);

/* Branch history from here on, at the end of a TB and with an empty ring. */
void riscv_trace_history_on(RISCVTraceHart *hart,
                            const ETraceHistoryModes *modes);

/*
 * Blocks from here on, for one TB at least. Nothing must have been kept back.
 */
void riscv_trace_history_off(RISCVTraceHart *hart);

/* Entries of the return stack of @bytes that translated code keeps */
unsigned riscv_trace_history_depth(const RISCVTracePort *port, unsigned bytes);

/*
 * events.c
 */

/* Append the context if it changed. */
void riscv_trace_append_context(RISCVTraceHart *hart);

/*
 * Append the time if it is wanted. @report: have a packet report it before the
 * next instruction; otherwise only packets that have a time anyway do.
 */
void riscv_trace_append_time(RISCVTraceHart *hart, bool report);

/*
 * True if the handler of the trap that was just taken is where the sideband
 * says.
 */
bool riscv_trace_tvec_is_known(RISCVTraceHart *hart, bool async,
                              target_ulong cause);

/*
 * If its vector is another one than the sideband says, record that at the next
 * drain, which is asked for. The trap is in the ring: the record closes the
 * window, and that must not be before the handler's first instruction, without
 * which the draft 1.1.1 has no packet for a trap.
 */
void riscv_trace_tvec_report(RISCVTraceHart *hart);

/*
 * ranges.c
 */

/* Numbers of ranges that a TB key has room for, from 1 on */
#define RISCV_TRACE_RANGES_MAX  (RISCV_TRACE_RANGES_OTHERS - 1)

/*
 * Put the number of these ranges into the hart's TB key, and keep them. False:
 * the hart has to report blocks, because the session has seen too many others.
 */
bool riscv_trace_ranges_set(RISCVTraceHart *hart, const ETraceRanges *ranges);

/*
 * reader.c
 */

struct RISCVTraceReader {
    QemuMutex lock;             /* of what follows, but for what is atomic */
    uint32_t session;           /* number of the present one; atomic */
    bool deaf;                  /* nobody reads; atomic */
    RISCVTraceRecordFn *put;
    void *opaque;
    aligned_uint64_t change;    /* id of the last CHANGE; atomic */
    ETraceRanges ranges[RISCV_TRACE_RANGES_MAX];    /* see ranges.c */
    unsigned n_ranges;          /* of them, in this session */
    uint64_t replaced;          /* value of change when bytes were replaced */
    GHashTable *pages;          /* what it knows, by address; see code.c */
    QLIST_HEAD(, RISCVTraceHart) harts;     /* that are traced for it */
    QLIST_ENTRY(RISCVTraceReader) next;     /* BQL */
};

/* True if @hart's trace belongs to a session that somebody reads. */
bool riscv_trace_has_reader(RISCVTraceHart *hart);

/* Put a record. The lock is held. */
void riscv_trace_reader_record(RISCVTraceReader *reader, const uint8_t *record,
                               size_t len);

/*
 * Put @hart's place of every change of code that was announced since its last
 * one, and close its window there. Between two TBs.
 */
void riscv_trace_reader_place(RISCVTraceHart *hart);

/*
 * Take the lock of @hart's reader, with the hart's place of every change in
 * the stream. Returns the reader; unlock it.
 */
RISCVTraceReader *riscv_trace_reader_lock(RISCVTraceHart *hart);

/* The same, with @hart's window closed and a fence put behind it */
RISCVTraceReader *riscv_trace_reader_lock_behind_fence(RISCVTraceHart *hart);

/*
 * Put @hart's registers, if its data is traced. Between two TBs. @amid: what it
 * did before is in the trace.
 */
void riscv_trace_reader_registers(RISCVTraceHart *hart, bool amid);

/* A ring has been handed over: put them amid the trace, if it is time to. */
void riscv_trace_reader_ring(RISCVTraceHart *hart);

/*
 * maps.c
 */

/* Tracing of @hart starts in the reader's present session. */
void riscv_trace_maps_start(RISCVTraceHart *hart);

/* Report what waited for the end of a TB; the ring is empty. */
void riscv_trace_maps_pending(RISCVTraceHart *hart);

/* @hart was reset; the ring is empty. */
void riscv_trace_maps_reset(RISCVTraceHart *hart);

/*
 * *@pa: the physical page that the hart, as it is, fetches the instruction at
 * @va from, which has been fetched. False, and says so once, if that was not
 * reported: it is better that a decoder misses the code than that the machine
 * ends.
 */
bool riscv_trace_maps_find(RISCVTraceHart *hart, vaddr va, uint64_t *pa);

/*
 * A follower, if the encoder asks for one: it sees moves to tp in S mode, in
 * translated code, and the following.
 */
struct RISCVTraceFollower {
    /* Tracing of @hart starts. */
    void (*start)(RISCVTraceHart *hart);
    /* It has taken this trap from @priv and @virt. May be NULL. */
    void (*trap)(RISCVTraceHart *hart, bool async, target_ulong cause,
                 target_ulong priv, bool virt);
    /* It has returned from a trap, from @priv to perhaps U mode. */
    void (*xret)(RISCVTraceHart *hart, target_ulong priv);
    /* Code has done what may be a switch of tasks; see translate-task.c.inc. */
    void (*switched)(RISCVTraceHart *hart);
    /*
     * What is to be said of the task whose descriptor is at @task->task.
     * Returns false: nothing.
     */
    bool (*read)(RISCVTraceHart *hart, ETraceSbTask *task);
    /*
     * Report what is to be looked at, if hart->task.pending; between TBs, or
     * where one ends.
     */
    void (*pending)(RISCVTraceHart *hart);
};

/*
 * stall.c
 */

/* @hart may be stalled from here on, */
void riscv_trace_stall_init(RISCVTraceHart *hart);
/* ... and is released for good. BQL, not from a hart's thread. */
void riscv_trace_stall_end(RISCVTraceHart *hart);

/*
 * hart.c
 */

/*
 * What comes next, at @pc, is no part of the branch history or of the code that
 * has no trace code, and neither is what follows: blocks from here on. @priv:
 * of what ran.
 */
void riscv_trace_to_blocks(RISCVTraceHart *hart, target_ulong pc,
                           ETracePriv priv);

/*
 * How much detail the encoder needs of what comes next, for history in which
 * modes; blocks end where it says from now on. What was kept has been flushed.
 */
ETraceDetail riscv_trace_detail(RISCVTraceHart *hart,
                                ETraceHistoryModes *modes);

/*
 * Flush, and see to what waited for the end of a TB: there, or at the end of
 * the part of it that retires.
 */
void riscv_trace_drain(RISCVTraceHart *hart);

#endif /* TARGET_RISCV_TRACE_INTERNAL_H */
