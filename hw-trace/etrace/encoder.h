/*
 * E-Trace instruction trace encoder: blocks in, packets out
 *
 * The compressed branch trace algorithm of chapter 8 (Figure 8.1), fed with
 * retirement blocks, one hart per encoder. No allocation, no I/O, no locking:
 * the caller owns the struct and calls from one thread at a time.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_ENCODER_H
#define HW_TRACE_ETRACE_ENCODER_H

#include "jump-cache.h"
#include "packet.h"
#include "predictor.h"
#include "return-stack.h"

/* trTeInstSyncMode: what the resynchronisation timer counts */
typedef enum ETraceSyncMode {
    ETRACE_SYNC_OFF = 0,
    ETRACE_SYNC_PACKETS = 1,
    ETRACE_SYNC_CYCLES = 2,
    ETRACE_SYNC_HALFWORDS = 3,
} ETraceSyncMode;

/*
 * Where packets go. @payload is the packed form of @pkt and lives during the
 * call only. Returns false if the sink cannot take the packet: it is lost,
 * and the encoder reports that in-band as soon as @ready returns true.
 */
typedef struct ETraceEncoderOps {
    bool (*emit)(void *opaque, const ETracePacket *pkt,
                 const uint8_t *payload, size_t len);
    bool (*ready)(void *opaque);
    /*
     * As @emit for @n packets of formats 0 to 2 at once, which are
     * encapsulated already: flow 0, no timestamp; @size bytes in all, 1 KiB at
     * most. May be NULL.
     */
    bool (*emit_many)(void *opaque, const uint8_t *packets, size_t size,
                      unsigned n);
    /*
     * A window has ended, by the packets until here, only because none can say
     * how the path goes on: the next one begins with the next block. May be
     * NULL.
     */
    void (*broken)(void *opaque);
} ETraceEncoderOps;

/* A range of code: addresses of its first and its last instruction. */
typedef struct ETraceRun {
    uint64_t first;
    uint64_t last;
    uint8_t irets;              /* ETraceEncoder.irets at its last one */
} ETraceRun;

/* Maximum of ranges remembered; on overflow one is reported early. */
#define ETRACE_RUN_MAX 8

/*
 * The encoder of one hart. The caller sets the first group of members, after
 * etrace_encoder_init() and while stopped; ioptions while it runs, too, if
 * etrace_encoder_reconfigure() follows.
 */
typedef struct ETraceEncoder {
    ETraceParams params;
    /*
     * ETRACE_IOPT_* that are wished for. Those for which @params have nothing
     * stay off: no predictor, no cache, no stack or counter, no sijump_p.
     * params.ioptions are the ones in force.
     */
    uint8_t ioptions;
    /* What support packets say about data trace, beside params.doptions */
    bool denable;
    bool dloss;                         /* reported once */
    /*
     * 4, or 3: types of jumps are not distinguished then, except that a jump is
     * inferable or not (section 4.2); there are no implicit returns.
     */
    uint8_t itype_width;
    ETraceSyncMode sync_mode;
    uint64_t sync_max;                  /* packets, cycles or half-words */
    const ETraceEncoderOps *ops;
    void *opaque;

    /*
     * The rest is the encoder's own. It is declared here so that it can be
     * embedded and migrated; see encoder.c for what each part means.
     */
    bool enabled;               /* between start and stop */
    bool started;               /* a window is open: an F3 was sent for it */
    bool lost;                  /* a packet was refused since the last sync */
    bool keep_history;          /* sync packets reset neither stack ... */
    uint8_t branches;           /* 0..31 in branch_map */
    bool map_failed;            /* one of them was not predicted */
    bool branch_failed;         /* the one after @pbc correct ones was not */
    uint32_t branch_map;
    uint64_t pbc;               /* 0, or 31 and more instead of a map */
    uint64_t address;           /* last one reported: base of differences */
    uint64_t resync_count;
    bool resync_due;            /* the timer has expired */

    uint64_t time;
    uint64_t context;
    uint8_t context_due;        /* ETraceCtype: how to report these two */

    bool have_last;             /* @last waits for its next instruction */
    bool last_reported;         /* the sync packet is @last's only insn's */
    bool last_is_target;        /* it is the target of an updiscon, to report */
    bool after_jump;            /* @last ends in an inferred return, sijump */
    bool last_after_jump;       /* the one before it does; it is one insn */
    bool notify_due;            /* @last is to be reported with notify */
    ETraceBlock last;

    bool have_trap;             /* @trap has not been followed by a handler */
    bool trap_reported;         /* ... but is out, with thaddr 0 */
    ETraceBlock trap;
    uint64_t trap_tval;

    /* the run since the last report or branch; see "The run" */
    uint8_t run_count;
    ETraceRun run[ETRACE_RUN_MAX + 1];
    uint64_t run_start;
    bool run_unknown;           /* it may have been anywhere: history */
    uint8_t irets;              /* implicit returns in it */
    bool target_revisited;      /* @last ends in an updiscon back into it */
    bool maybe_inferred;        /* ... and the packet for that is out */

    /* of the updiscon that @last ends in */
    bool target_uncached;       /* its target does not go into the cache */
    bool target_irreport;       /* a return whose number has to be reported */
    uint8_t target_irets;
    uint32_t target_irdepth;

    /* implicit returns since the last packet; stack depths before them */
    uint8_t iret_min, iret_max;

    ETraceReturnStack stack;
    ETracePredictor predictor;
    ETraceJumpCache cache;
} ETraceEncoder;

/* Parameters must be set by etrace_params_init(); everything else is reset. */
void etrace_encoder_init(ETraceEncoder *enc, const ETraceParams *params,
                         const ETraceEncoderOps *ops, void *opaque);

/*
 * Tracing goes on (trTeEnable and trTeInstTracing both 1): sends the support
 * packet; the next block starts a window with a synchronisation packet.
 */
void etrace_encoder_start(ETraceEncoder *enc);

/*
 * Retirement: one block of the ingress port, in program order. @tval counts
 * only for itype 1. Ignored while stopped.
 */
void etrace_encoder_block(ETraceEncoder *enc, const ETraceBlock *block,
                          uint64_t tval);

/*
 * As etrace_encoder_block() for the blocks that the @n slots begin with, each
 * behind its accesses, up to the first one that a packet may follow from, or
 * that may be a sequentially inferable jump (ETraceBlock.cause). Returns the
 * number of slots with these blocks and their accesses, 0 if there are none.
 * The accesses are the caller's, before the next block that is handed in.
 */
size_t etrace_encoder_plain_blocks(ETraceEncoder *enc, const ETraceSlot *slots,
                                   size_t n);

/*
 * What translated code has to keep for this encoder while it reports branch
 * history (etrace.h)
 */
typedef struct ETraceHistoryModes {
    ETraceReturnStack *stack;   /* implicit return mode, or NULL */
    ETracePredictor *predictor; /* branch prediction mode, or NULL */
    bool sijump;                /* infer sequentially inferable jumps */
    /* false: ETRACE_HISTORY_CONTAINED may be set where it need not be */
    bool exact_run;
} ETraceHistoryModes;

/*
 * How much detail this encoder, in its present state, needs of what retires
 * next; for branch history fills @m. Stack and predictor are the encoder's own
 * and the hart's while it reports history: between the history's
 * ETRACE_EVENT_NEXT, which must have been handed in (with the blocks before it)
 * already, and the next block, the encoder does not touch them.
 */
ETraceDetail etrace_encoder_detail(ETraceEncoder *enc, ETraceHistoryModes *m);

/*
 * The histories that the @n slots begin with. *@next: where the first one
 * begins; then, where the last one went on to. As if their blocks had been
 * handed in, but that an address may be reported for which they would have
 * shown that it is not needed. Without a window, what retired is lost, and is
 * reported so. Returns the number of slots taken.
 */
size_t etrace_encoder_history(ETraceEncoder *enc, const ETraceSlot *slots,
                              size_t n, uint64_t *next);

/*
 * The context from the next block or trap on, which is what packets report,
 * and how the change is to be reported (Table "Context type"). Ignored if
 * nocontext_p (context_width 0).
 */
void etrace_encoder_context(ETraceEncoder *enc, uint64_t context,
                            ETraceCtype ctype);

/*
 * The time that packets report from the next block or trap on, in the caller's
 * ticks, and how this one is to be reported, as a context would be. Ignored if
 * notime_p (time_width 0).
 */
void etrace_encoder_time(ETraceEncoder *enc, uint64_t time, ETraceCtype ctype);

/*
 * Trace notify: report the last instruction of the block that was handed in
 * last (section 4.2.5, trigger[2]). Nothing if no window is open.
 */
void etrace_encoder_notify(ETraceEncoder *enc);

/* @n cycles have passed, for ETRACE_SYNC_CYCLES. */
void etrace_encoder_cycles(ETraceEncoder *enc, uint64_t n);

/*
 * The caller has changed something that support packets report: ioptions,
 * sync_mode, denable, dloss, params.doptions. Sends one if tracing is on. If
 * instruction packets mean something else from here on, the window ends
 * before, and the next block opens a new one.
 */
void etrace_encoder_reconfigure(ETraceEncoder *enc);

/*
 * Send a support packet, whether tracing is on or not, for the sake of what
 * it says about data trace; after a loss as soon as the sink is ready.
 */
void etrace_encoder_support(ETraceEncoder *enc);

/*
 * End the packet window here: report the last instruction (section 3.1.6) and
 * send a support packet with ended_rep or ended_ntr (section 6.5). The next
 * block opens a new window. Nothing happens if no window is open.
 */
void etrace_encoder_end_window(ETraceEncoder *enc);

/*
 * Tracing goes off: as above, but a support packet is sent even if no window
 * is open, with ienable 0; then the encoder ignores blocks.
 */
void etrace_encoder_stop(ETraceEncoder *enc);

#endif /* HW_TRACE_ETRACE_ENCODER_H */
