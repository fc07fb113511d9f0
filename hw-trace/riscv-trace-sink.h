/*
 * RISC-V trace: how encoders, funnels and sinks are connected
 *
 * Encoders push whole packets down a chain of sinks, at whose end a
 * replicator gives them to the outputs, where they leave the trace system.
 * Sinks know nothing of the packets; they signal to the sources connected
 * to them when there is somebody to trace for.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_SINK_H
#define HW_TRACE_RISCV_TRACE_SINK_H

#include "hw/core/cpu.h"
#include "qom/object.h"
#include "etrace/etrace.h"
#include "riscv-trace-timestamp.h"

/* trFunnelDisInput has a bit for each of 16 inputs. */
#define RISCV_TRACE_MAX_SOURCES     16
#define RISCV_TRACE_ALL_SOURCES     ((1u << RISCV_TRACE_MAX_SOURCES) - 1)

typedef struct RISCVTraceSource RISCVTraceSource;

/* What a sink asks of an encoder. The BQL is held in all of them. */
typedef struct RISCVTraceSourceOps {
    /* ready() of the sink has changed. */
    void (*update)(RISCVTraceSource *src);
    /*
     * The VM is stopped: pass on what the hart has retired and end the packet
     * window, so that the trace is complete up to here.
     */
    void (*close)(RISCVTraceSource *src);
    /*
     * The VM is stopped and a new session begins: the packets that follow are
     * for a reader that has seen nothing. Returns the parameters of the
     * packets of this session.
     */
    const ETraceParams *(*begin)(RISCVTraceSource *src);
    /*
     * Ticks from the first timestamp of this session to the last one, which
     * are more than timestamps have bits for if these have wrapped. 0: there
     * are none.
     */
    uint64_t (*ticks)(RISCVTraceSource *src);
    /* Stall the hart (from its own thread) or let it go on. */
    void (*stall)(RISCVTraceSource *src, bool stalled);
} RISCVTraceSourceOps;

struct RISCVTraceSource {
    const RISCVTraceSourceOps *ops;
    CPUState *cpu;
};

#define TYPE_RISCV_TRACE_SINK "riscv-trace-sink"
typedef struct RISCVTraceSinkClass RISCVTraceSinkClass;
DECLARE_CLASS_CHECKERS(RISCVTraceSinkClass, RISCV_TRACE_SINK,
                       TYPE_RISCV_TRACE_SINK)
#define RISCV_TRACE_SINK(obj) \
    INTERFACE_CHECK(RISCVTraceSink, (obj), TYPE_RISCV_TRACE_SINK)
typedef struct RISCVTraceSink RISCVTraceSink;

struct RISCVTraceSinkClass {
    InterfaceClass parent_class;

    /*
     * Connect the source of hart @index, once, before the machine runs.
     * Returns false with @errp set if there is no such input.
     */
    bool (*connect)(RISCVTraceSink *sink, unsigned index,
                    RISCVTraceSource *src, Error **errp);
    /* Disconnect it; it does not put anything any more. BQL. */
    void (*disconnect)(RISCVTraceSink *sink, unsigned index);
    /*
     * Take @len bytes that are @packets whole packets of hart @index, or
     * nothing: false if there is no room or no reader. From any thread; a
     * funnel sees to it that its sink is called by one at a time.
     */
    bool (*put)(RISCVTraceSink *sink, unsigned index, const uint8_t *bytes,
                size_t len, unsigned packets);
    /*
     * True if there is a reader and the chain is enabled for what comes from
     * hart @index. BQL.
     */
    bool (*ready)(RISCVTraceSink *sink, unsigned index);
    /* True if hart @index, which lost packets, may begin again. Any thread. */
    bool (*room)(RISCVTraceSink *sink, unsigned index);
    /*
     * True if packets of hart @index were lost in this session behind the
     * last one that was taken, so that the next one has to say so. Packets
     * that the guest has discarded, by a component that it disabled, are not
     * lost. Any thread.
     */
    bool (*lost)(RISCVTraceSink *sink, unsigned index);
    /*
     * Stall hart @index if its sink is so full that it must wait. @lossless
     * is false if the source would rather lose packets; what goes beside the
     * trace is never lost. In the hart's own thread.
     */
    void (*throttle)(RISCVTraceSink *sink, unsigned index, bool lossless);
    /* The parameters of a source have changed: a new session has to begin. */
    void (*restart)(RISCVTraceSink *sink);
    /* The timestamp unit that sources may share. NULL: there is none. */
    RISCVTraceTimestamp *(*timestamp)(RISCVTraceSink *sink);
};

typedef struct RISCVTraceOutput RISCVTraceOutput;

/* A sink at the end of the chain, as the replicator sees it */
typedef struct RISCVTraceOutputOps {
    /* Packets are taken, and somebody will see them. Any thread. */
    bool (*enabled)(RISCVTraceOutput *out);
    /*
     * Harts are to be traced for this output, even if it takes nothing now
     * and their packets are lost. NULL: as enabled(). Any thread.
     */
    bool (*ready)(RISCVTraceOutput *out);
    /* False if @len bytes are too many now, but may be taken later. */
    bool (*fits)(RISCVTraceOutput *out, size_t len);
    /*
     * As put() of a sink, and if fits() was true false only if this output
     * takes no more at all. One thread at a time.
     */
    bool (*put)(RISCVTraceOutput *out, unsigned index, const uint8_t *bytes,
                size_t len, unsigned packets);
    /* True if a source that lost packets may begin again. Any thread. */
    bool (*room)(RISCVTraceOutput *out);
    /*
     * A session has begun, no packet of it was put. @params are what the
     * framing of all its packets has in common. The VM is stopped.
     */
    void (*begin)(RISCVTraceOutput *out, const ETraceParams *params);
    /* The VM is stopped: nothing may wait for what comes next. NULL: none */
    void (*flush)(RISCVTraceOutput *out);
} RISCVTraceOutputOps;

struct RISCVTraceOutput {
    const RISCVTraceOutputOps *ops;
    struct RISCVTraceChardev *chardev;  /* its FIFO; NULL: it has none */
    uint32_t harts;         /* whose packets it takes, a bit each */
    /* The replicator's */
    bool live;              /* gets the packets of the present session */
    bool missed;            /* some of them went elsewhere only */
};

#endif /* HW_TRACE_RISCV_TRACE_SINK_H */
