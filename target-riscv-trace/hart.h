/*
 * RISC-V hart side of the hart to encoder interface
 *
 * Retirement blocks are appended to a bounded ring per hart, by translated
 * code at the end of each TB and by the functions below where control leaves
 * a TB in its middle, and are handed to the encoder in retirement order.
 * E-Trace 2.0, chapter 4.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_TRACE_HART_H
#define TARGET_RISCV_TRACE_HART_H

#include "hw/core/cpu.h"
#include "hw/trace/etrace/encoder.h"
#include "hw/trace/etrace/ranges.h"

/*
 * The encoder's end of the port. Every function is called in the hart's own
 * thread (or in another one while the VM is stopped), at a TB boundary.
 */
typedef struct RISCVTraceHartOps {
    /*
     * @n slots in retirement order. The ring stays the hart's.
     */
    void (*retire)(void *opaque, const ETraceSlot *slots, size_t n);
    /* Tracing of this hart begins with the next retirement. */
    void (*start)(void *opaque);
    /* It has ended; all that retired was passed to retire(). */
    void (*stop)(void *opaque);
    /*
     * Close the packet window here. Returns the number of packets that this
     * hart has put into the stream in this session.
     */
    uint64_t (*fence)(void *opaque);
    /*
     * How much detail is needed of what retires next, at @pc with privilege
     * @priv? For history, fills @modes, whose stack and predictor the hart
     * keeps while it reports history. Less than blocks may come until the next
     * time that this is asked, which is after a trap, trap return or event, and
     * whenever retire() was called. If the answer holds for some addresses
     * only, fills @ranges (whose n is 0 else): no block is in two of them, and
     * the hart reports blocks again before it goes from qualified ones to
     * others, or back. NULL: blocks always.
     */
    ETraceDetail (*detail)(void *opaque, ETracePriv priv, uint64_t pc,
                           ETraceHistoryModes *modes, ETraceRanges *ranges);
    /*
     * A debug trigger fired while the hart is not traced. May be NULL: the
     * encoder has no trigger inputs.
     */
    void (*trigger)(void *opaque, ETraceTrigger action);
} RISCVTraceHartOps;

/* Where the port's context comes from */
typedef enum RISCVTraceContext {
    RISCV_TRACE_CONTEXT_OFF,
    /* ASID in bits 15:0, VMID in bits 29:16 (section 4.2.3) */
    RISCV_TRACE_CONTEXT_ASID,
    RISCV_TRACE_CONTEXT_MCONTEXT,
    /* scontext in bits 31:0, hcontext above */
    RISCV_TRACE_CONTEXT_SCONTEXT,
} RISCVTraceContext;

/* Has the hart scontext (CPU property "scontext")? Any thread. */
bool riscv_trace_hart_has_scontext(CPUState *cs);

/* What else looks at what a traced hart does; see task.c */
typedef struct RISCVTraceFollower RISCVTraceFollower;
extern const RISCVTraceFollower riscv_trace_linux;
extern const RISCVTraceFollower riscv_trace_rtos;

/* Which optional signals the encoder wants; all off by default */
typedef struct RISCVTraceHartConfig {
    RISCVTraceContext context;
    ETraceCtype ctype;          /* with each change of the context */
    bool time;                  /* mtime, at traps and full rings */
    bool data;                  /* data accesses */
    bool tvec;                  /* report trap vectors to the sideband */
    const RISCVTraceFollower *follower;     /* NULL: none */
    const struct ETraceGuestInfo *guest;    /* what it has to know */
} RISCVTraceHartConfig;

/*
 * Connect an encoder. Once per CPU, before it runs; @ops and @opaque must
 * outlive it. @hart_index is the encoder's number in the sideband stream.
 */
void riscv_trace_hart_attach(CPUState *cs, const RISCVTraceHartOps *ops,
                             void *opaque, unsigned hart_index);

/* To be called from start() only: what the port reports from here on. */
void riscv_trace_hart_configure(CPUState *cs,
                                const RISCVTraceHartConfig *config);

/*
 * Turn tracing on or off at the hart's next TB boundary, where start() or
 * stop() is called. Any thread that holds the BQL. The last call wins; an on
 * in a new sideband session restarts tracing that is on already.
 */
void riscv_trace_hart_enable(CPUState *cs, bool on);

/* The same at once: from the hart's own thread, between two TBs. */
void riscv_trace_hart_enable_now(CPUState *cs, bool on);

/*
 * What start() would configure has changed: if the hart is traced, stop() and
 * start() are called at its next TB boundary. Any thread.
 */
void riscv_trace_hart_restart(CPUState *cs);

/*
 * The stall signal (E-Trace Table 4.6): a stalled hart stops at its next TB
 * boundary as if it were halted, so that stop, monitor and migration go on
 * working, until it is released. Stalling: from the hart's own thread only.
 * Releasing: any thread. Returns false if it was so already.
 */
bool riscv_trace_hart_stall(CPUState *cs, bool stalled);

/*
 * Hand over what the ring holds. From the hart's own thread between two TBs,
 * or from any while the VM is stopped.
 */
void riscv_trace_hart_drain(CPUState *cs);

/*
 * What detail() says may have changed. From the hart's own thread between two
 * TBs, when it has been drained.
 */
void riscv_trace_hart_refresh(CPUState *cs);

/*
 * Hand over the events that the ring holds, and the blocks before them. In the
 * middle of a TB of this hart, which accesses a register of its encoder.
 */
void riscv_trace_hart_drain_in_tb(CPUState *cs);

/*
 * Disconnect the encoder: nothing of it is called any more, and the hart is not
 * traced. BQL, not from a hart's thread.
 */
void riscv_trace_hart_detach(CPUState *cs);

/*
 * The same from the hart's own thread, between two TBs, if nothing that was
 * queued for it will run.
 */
void riscv_trace_hart_detach_now(CPUState *cs);

#endif /* TARGET_RISCV_TRACE_HART_H */
