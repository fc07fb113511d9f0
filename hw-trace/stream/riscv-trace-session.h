/*
 * RISC-V trace: sessions of readers
 *
 * A session is what one reader can decode. It exists while somebody reads the
 * trace, or always if there is an output that can be read later. It begins
 * anew when another reader joins, of the trace or of the sideband, because
 * that one has to get everything again. Without a session no hart is traced.
 * What is missing at its end is reported (riscv-trace-counts.h).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_SESSION_H
#define HW_TRACE_RISCV_TRACE_SESSION_H

#include "qemu/notify.h"
#include "qemu/thread.h"
#include "riscv-trace-chardev.h"
#include "hw/trace/riscv-trace-counts.h"
#include "riscv-trace-sideband.h"
#include "hw/trace/riscv-trace-sink.h"
#include "target/riscv/trace/reader.h"

typedef struct RISCVTraceSession {
    RISCVTraceChardev *trace;       /* NULL: there is none */
    bool trace_used;                /* packets go to @trace; atomic */
    RISCVTraceSideband *sideband;   /* NULL: there is none */
    RISCVTraceReader *reader;       /* of @sideband */
    bool resident;                  /* needs no reader of @trace to exist */
    /*
     * Called when a session has begun, before the first packet of it, with
     * the VM stopped. @params are what framing is the same for all packets.
     */
    void (*begin)(void *opaque, const ETraceParams *params);
    /* The VM is stopped and every window closed. */
    void (*flush)(void *opaque);
    void *opaque;

    RISCVTraceSource *sources[RISCV_TRACE_MAX_SOURCES];
    unsigned num_sources;       /* highest index that is connected, plus 1 */
    bool active;                /* may be read by any thread */
    bool pending;               /* a (new) session is to begin */
    bool begun;                 /* the sideband has its beginning; atomic */
    bool trace_left;            /* the reader of the trace is gone ... */
    uint64_t trace_end;         /* ... and what was written up to then */
    /*
     * Of this session, or of the last one; migrates, so that the sessions at
     * the destination report what they go on from. 0: there was none.
     */
    uint64_t id;
    QEMUTimer *timer;           /* begins it */
    VMChangeStateEntry *vmstate;
    Notifier shutdown;
    Notifier exit;

    /* A source is stalled only while it is held, and so is sources[]. */
    QemuMutex stall_lock;
    RISCVTraceCounts counts;
} RISCVTraceSession;

/*
 * @sideband, @begin, @flush and @opaque must be set; the others may be set
 * later, before the machine runs.
 */
void riscv_trace_session_init(RISCVTraceSession *s);
void riscv_trace_session_cleanup(RISCVTraceSession *s);

/* Connect a source, before the machine runs. */
bool riscv_trace_session_connect(RISCVTraceSession *s, unsigned index,
                                 RISCVTraceSource *src, Error **errp);

/* Disconnect it. BQL. */
void riscv_trace_session_disconnect(RISCVTraceSession *s, unsigned index);

/* There is a session. Any thread. */
bool riscv_trace_session_active(RISCVTraceSession *s);

/* Every source is asked to look at the sink's readiness again. BQL. */
void riscv_trace_session_update(RISCVTraceSession *s);

/* See RISCVTraceSinkClass. */
void riscv_trace_session_throttle(RISCVTraceSession *s, unsigned index,
                                  bool lossless);

/* Packets go to the channel of the trace, or do not any more. Any thread. */
void riscv_trace_session_use_trace(RISCVTraceSession *s, bool used);

/* Put a record into the sideband, from the main loop. */
void riscv_trace_session_put(RISCVTraceSession *s, const uint8_t *record,
                             size_t len);

/* What the reader knows is no longer so: begin anew. Any thread. */
void riscv_trace_session_restart(RISCVTraceSession *s);

/* A session is to begin when the VM runs. */
void riscv_trace_session_request(RISCVTraceSession *s);

/* The channel of the trace: for the owner's RISCVTraceChardevOps. */
void riscv_trace_session_opened(RISCVTraceSession *s);
void riscv_trace_session_closed(RISCVTraceSession *s);
void riscv_trace_session_drained(RISCVTraceSession *s);

#endif /* HW_TRACE_RISCV_TRACE_SESSION_H */
