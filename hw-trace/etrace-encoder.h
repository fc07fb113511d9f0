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

#include "etrace-packet.h"

/* trTeInstSyncMode: what the resynchronisation timer counts */
typedef enum ETraceSyncMode {
    ETRACE_SYNC_OFF = 0,
    ETRACE_SYNC_PACKETS = 1,
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
} ETraceEncoderOps;

/* A stretch of code: addresses of its first and its last instruction. */
typedef struct ETraceRun {
    uint64_t first;
    uint64_t last;
} ETraceRun;

/* Stretches that are told apart before one is reported for want of room */
#define ETRACE_RUN_MAX 8

/*
 * The encoder of one hart. The caller sets the first group of members, after
 * etrace_encoder_init() and while stopped. Of ioptions only
 * ETRACE_IOPT_FULL_ADDRESS may be set.
 */
typedef struct ETraceEncoder {
    ETraceParams params;
    uint8_t ioptions;                   /* ETRACE_IOPT_* that are on */
    ETraceSyncMode sync_mode;
    uint64_t sync_max;                  /* packets or half-words */
    const ETraceEncoderOps *ops;
    void *opaque;

    /*
     * The rest is the encoder's own. It is declared here so that it can be
     * embedded and migrated; see etrace-encoder.c for what each part means.
     */
    bool enabled;               /* between start and stop */
    bool started;               /* a window is open: an F3 was sent for it */
    bool lost;                  /* a packet was refused since the last sync */
    uint8_t branches;           /* 0..31 in branch_map */
    uint32_t branch_map;
    uint64_t address;           /* last one reported: base of differences */
    uint64_t resync_count;
    bool resync_due;            /* the timer has expired */

    bool have_last;             /* @last waits for its next instruction */
    bool last_reported;         /* the sync packet is @last's only insn's */
    bool last_is_target;        /* it is the target of an updiscon, to report */
    ETraceBlock last;

    bool have_trap;             /* @trap has not been followed by a handler */
    bool trap_reported;         /* ... but is out, with thaddr 0 */
    ETraceBlock trap;
    uint64_t trap_tval;

    /* the run since the last report or branch; see "The run" */
    uint8_t run_count;
    ETraceRun run[ETRACE_RUN_MAX];
    uint64_t run_start;
    bool target_revisited;      /* @last ends in an updiscon back into it */
    bool maybe_inferred;        /* ... and the packet for that is out */
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
