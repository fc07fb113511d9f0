/*
 * RISC-V trace: shared between the ring and the sideband producer
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_TRACE_INTERNAL_H
#define TARGET_RISCV_TRACE_INTERNAL_H

#include "cpu.h"
#include "code.h"
#include "hart.h"

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

/* A trap vector register, as the sideband's reader knows it */
typedef struct RISCVTraceTvec {
    bool told;
    bool pending;               /* value is to be told */
    uint64_t value;
} RISCVTraceTvec;

#define RISCV_TRACE_TVECS   3   /* M, S, VS */

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
    bool draining;              /* in riscv_trace_drain() */
    int stall;                  /* RISCVTraceStall, atomic */

    /* Events, see events.c; the hart's thread only */
    RISCVTraceHartConfig config;
    bool context_told;
    uint64_t context;           /* if told */
    RISCVTraceTvec tvec[RISCV_TRACE_TVECS];

    /* history.c; the hart's thread only */
    bool recheck_mode;          /* at the next TB end: blocks or history? */
    ETraceHistoryModes modes;   /* of the branch history that is reported */

    /* Sideband, see code.c; the hart's thread only */
    uint32_t session;           /* that tracing was started in */
    uint64_t change;            /* id of the last change that has its place */
    RISCVTraceSpace space[2];   /* last told, by virt */
    GHashTable *maps;           /* RISCVTracePage (but pa) -> same */
    GArray *pending;            /* RISCVTracePage, waiting for the TB's end */
};

static inline RISCVTraceHart *riscv_trace_hart(CPUState *cs)
{
    return cpu_env(cs)->trace.hart;
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

/* Empty the ring into the encoder; in the hart's thread. */
void riscv_trace_flush(RISCVTraceHart *hart);

/*
 * Append a slot from C code; drains when the ring is full. Nothing must have
 * been kept back as branch history.
 */
void riscv_trace_append(RISCVTraceHart *hart, const ETraceSlot *slot);

/*
 * As above, for what must wait for the block of the TB that runs: nothing but
 * the ring is touched.
 */
void riscv_trace_append_in_tb(RISCVTraceHart *hart, const ETraceSlot *slot);

/* events.c: append the context if it changed, the time if it is wanted */
void riscv_trace_append_context(RISCVTraceHart *hart);
void riscv_trace_append_time(RISCVTraceHart *hart);

/*
 * events.c: true if the handler of the trap that was just taken is where the
 * sideband says; if not so, the vector is told at the end of the next TB.
 */
bool riscv_trace_tvec_is_told(RISCVTraceHart *hart, bool async,
                              target_ulong cause);

/* Force a drain at the end of the current TB even if the ring is not full. */
void riscv_trace_interrupt_tb(RISCVTraceHart *hart);

/*
 * Hand over what the ring holds and see to what waited for the end of a TB:
 * there, or at the end of the part of it that retires.
 */
void riscv_trace_drain(RISCVTraceHart *hart);

/*
 * history.c: what generated code has kept back goes into the ring. @pc: what
 * comes next, after what ran with privilege @priv.
 */
void riscv_trace_history_end(RISCVTraceHart *hart, target_ulong pc,
                             ETracePriv priv);

/*
 * history.c: blocks from here on, for one TB at least. Nothing must have been
 * kept back.
 */
void riscv_trace_history_off(RISCVTraceHart *hart);

/* code.c: number of the present session, 0 before the first */
uint32_t riscv_trace_session(void);

/* code.c: tracing of @hart starts in the present session */
void riscv_trace_code_start(RISCVTraceHart *hart);

/*
 * code.c: put the hart's place of every change of code that was announced so
 * far into the sideband, and close its window there. Between two TBs.
 */
void riscv_trace_code_place(RISCVTraceHart *hart);

/* code.c: handle what waited for the end of a TB; the ring is empty */
void riscv_trace_code_pending(RISCVTraceHart *hart);

/* code.c: @hart was reset; the ring is empty */
void riscv_trace_code_reset(RISCVTraceHart *hart);

#endif /* TARGET_RISCV_TRACE_INTERNAL_H */
