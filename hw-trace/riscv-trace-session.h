/*
 * RISC-V trace: sessions of a sink that has readers
 *
 * A session is what one reader can decode: it exists while somebody reads the
 * trace, and begins anew when a sideband reader joins, because that one has
 * to be told everything. Without a session no hart is traced.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_SESSION_H
#define HW_TRACE_RISCV_TRACE_SESSION_H

#include "qemu/notify.h"
#include "qemu/thread.h"
#include "riscv-trace-chardev.h"
#include "riscv-trace-sideband.h"
#include "riscv-trace-sink.h"

typedef struct RISCVTraceSession {
    RISCVTraceChardev *trace;
    RISCVTraceSideband *sideband;   /* NULL: there is none */
    /*
     * Called when a session has begun, before the first packet of it, with
     * the VM stopped and the parameters of every source.
     */
    void (*begin)(void *opaque, const ETraceParams *params, unsigned n);
    void *opaque;

    RISCVTraceSource *sources[RISCV_TRACE_MAX_SOURCES];
    unsigned num_sources;       /* highest index that is connected, plus 1 */
    bool active;                /* may be read by any thread */
    bool pending;               /* a (new) session is to begin */
    unsigned number;            /* of this session, from 1 */
    QEMUTimer *timer;           /* begins it */
    VMChangeStateEntry *vmstate;
    Notifier shutdown;

    QemuMutex stall_lock;       /* protects what follows */
    uint32_t stalled;           /* a bit per source */
} RISCVTraceSession;

/* The first four members must be set. */
void riscv_trace_session_init(RISCVTraceSession *s);
void riscv_trace_session_cleanup(RISCVTraceSession *s);

/* Connect a source, before the machine runs. */
bool riscv_trace_session_connect(RISCVTraceSession *s, unsigned index,
                                 RISCVTraceSource *src, Error **errp);

/* There is a reader. Any thread. */
bool riscv_trace_session_active(RISCVTraceSession *s);

/* Every source is asked to look at the sink's readiness again. BQL. */
void riscv_trace_session_update(RISCVTraceSession *s);

/* See RISCVTraceSinkClass. */
void riscv_trace_session_throttle(RISCVTraceSession *s, unsigned index,
                                  bool lossless);

/* What the reader was told is no longer so: begin anew. Any thread. */
void riscv_trace_session_restart(RISCVTraceSession *s);

/* The channel of the trace: for the owner's RISCVTraceChardevOps. */
void riscv_trace_session_opened(RISCVTraceSession *s);
void riscv_trace_session_closed(RISCVTraceSession *s);
void riscv_trace_session_drained(RISCVTraceSession *s);

#endif /* HW_TRACE_RISCV_TRACE_SESSION_H */
