/*
 * A trace to decode: its files, its harts, and the decoding of one of them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TRACE_H
#define ETRACE_TRACE_H

#include "flow/data-flow.h"
#include "trace/pieces.h"
#include "trace/ring.h"
#include "trace/stream.h"
#include "trace/unit.h"

/* xtvec, where the sideband does not report it */
typedef struct TraceTvec {
    bool known[SIDEBAND_NR_PRIVS];
    uint64_t value[SIDEBAND_NR_PRIVS];
} TraceTvec;

/*
 * A trace that was migrated, or whose reader changed, is in several parts:
 * the lists hold one entry for each, in order.
 */
typedef struct TraceOptions {
    char **traces;              /* paths; of a RAM sink, see trace-ram.c */
    char **sidebands;           /* paths; or NULL */
    const unsigned *sessions;   /* of the sidebands; NULL or 0: the last one */
    /* The program; needed without a sideband. trace_open() takes it. */
    ElfCode *elf;
    InsnIsa isa;                /* xlen 0: not known */
    /* Of the encoder, without a sideband; NULL: as QEMU has them */
    const ETraceParams *params;
    /* Instead of @params, if its packets are not plain; or NULL */
    const Unit *unit;
    bool packets_only;          /* there need not be a program */
    bool ram;                   /* the trace is a dump of a RAM sink */
    int64_t wrapped_at;         /* see ring_init() */
    const int64_t *at;          /* of each RAM trace, see Piece; or NULL */
    TraceTvec tvec;
} TraceOptions;

typedef struct TraceHart {
    bool present;
    ETraceParams params;
    uint32_t isa;               /* ETRACE_SB_ISA_* */
    uint64_t first_packet;      /* in the session; not 0 if the trace is cut */
    uint8_t first_ioptions;     /* of a trace that is cut */
} TraceHart;

typedef struct Trace Trace;

/*
 * How much work a hart may be: so many instructions that are followed, and so
 * many more for each byte of the stream. The rounds of a loop of predicted
 * branches are not counted (flow.h). Real programs, other than such loops,
 * stay below a thousandth of that.
 */
#define TRACE_WORK_MIN          (1u << 27)
#define TRACE_WORK_PER_BYTE     (1u << 16)

/* A trace, or a part of it */
struct Trace {
    Trace *next;                /* the part behind this one, or NULL */
    /*
     * Instructions of each hart to decode, UINT64_MAX by default; and whether
     * to go on however much work it is. The first part's count.
     */
    uint64_t limit;
    bool patient;
    char *path;
    char *sideband_path;        /* or NULL */
    GBytes *file;
    GArray *places;             /* of a unit that is not plain, or NULL */
    bool resync_repeats, block_ends;    /* see Unit */
    const uint8_t *data;
    size_t begin, end;          /* the session's part of the file */
    /*
     * A piece (cut-mark.h): where @data is in the stream, how many bytes in
     * front of @begin say which modes the harts are in, and whether other
     * pieces go on behind it. Of a trace in one piece all are 0.
     */
    int64_t at;
    size_t head;
    bool goes_on;
    bool unmarked;              /* ends before it says which session it is */
    bool ram;                   /* data is ring.data, else file's */
    Ring ring;
    Pieces pieces;              /* or data is theirs; runs may be NULL */
    Sideband *sideband;         /* or NULL */
    ElfCode *elf;               /* or NULL; the first part's, for all */
    bool owns_elf;
    InsnIsa isa;
    TraceTvec tvec;
    unsigned nr_harts;
    TraceHart *harts;
    bool *known_ids;            /* srcIDs of the harts; NULL: any */
    /* Instead of a trace; the harts are those of the samples, then */
    struct PerfSamples *samples;
    void (*free_samples)(struct PerfSamples *samples);
};

/* Is it a perf.data file, whose AUX data are pieces of a RAM sink's trace? */
bool trace_is_perf_data(const char *path);

/*
 * Returns the first part; the others have the same harts. Returns NULL and
 * sets @errp if a file or an option is no good, or if the parts do not go on
 * from each other.
 */
Trace *trace_open(const TraceOptions *opts, GError **errp);
void trace_free(Trace *t);

/*
 * For trace_open(): part @i alone, with its sideband (may be NULL), which it
 * takes, and the program (may be NULL), which it does not. @later is the part
 * behind it, or NULL.
 */
Trace *trace_open_part(const TraceOptions *opts, unsigned i,
                       Sideband *sideband, ElfCode *elf, const Trace *later,
                       GError **errp);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Trace, trace_free)

/* te_inst by kind, for statistics */
typedef enum TracePacketKind {
    TRACE_PKT_F0,
    TRACE_PKT_F1,               /* branch map and address */
    TRACE_PKT_F1_NO_ADDR,       /* full branch map */
    TRACE_PKT_F2,
    TRACE_PKT_F3_START,
    TRACE_PKT_F3_TRAP,
    TRACE_PKT_F3_CONTEXT,
    TRACE_PKT_F3_SUPPORT,
    TRACE_PKT_MALFORMED,
    TRACE_PKT_NR_KINDS,
} TracePacketKind;

typedef struct TraceStats {
    uint64_t packets[TRACE_PKT_NR_KINDS];
    uint64_t payload_bytes;
    uint64_t wire_bytes;        /* with encapsulation, without nulls */
    uint64_t data_packets;      /* te_data, which the above do not count */
    uint64_t data_payload_bytes;
    uint64_t data_wire_bytes;
    uint64_t losses[FLOW_LOST_NR_KINDS];
    uint64_t skipped_packets;   /* between a loss and the next sync */
    uint64_t skipped_bytes;     /* of lost framing */
    unsigned unknown_ends;      /* parts of which nobody says where they end */
    uint64_t late_packets;      /* when a RAM sink had stopped */
    uint64_t filled, open;      /* see FlowEnds */
} TraceStats;

/* Add what was counted in @more, of another piece or hart. */
void trace_stats_add(TraceStats *stats, const TraceStats *more);

uint64_t trace_stats_losses(const TraceStats *stats);
const char *trace_packet_kind_text(TracePacketKind kind);

typedef struct TraceLoss {
    unsigned hart;
    const Trace *part;
    uint64_t packet;            /* of the hart in the part, from 0 */
    size_t offset;              /* in the trace file, bytes */
    size_t bytes;               /* FLOW_LOST_FRAMING: how many were skipped */
    FlowLoss flow;
} TraceLoss;

typedef struct TraceDecoder TraceDecoder;

/*
 * Where decoding of a hart can begin: behind one of its synchronisation
 * packets
 */
typedef struct TracePoint {
    unsigned part;              /* from 0 */
    uint64_t pos;               /* of the next packet in the part's file */
    uint64_t support;           /* of the last support packet, or NO_SUPPORT */
    uint64_t packets;           /* of the hart in the part, before pos */
    /* ... for which the sideband was read, and how far that was */
    uint64_t advanced, sideband_pos;
    FlowPoint flow;
} TracePoint;

#define TRACE_NO_SUPPORT    UINT64_MAX

/* What trace_decode_from() has to know besides */
typedef struct TraceStart {
    const TracePoint *point;
    /* by part, of those before the point's: packets as in its advanced */
    const uint64_t *advanced;
    /* Called when the decoder is there; may be NULL */
    void (*begun)(void *opaque);
} TraceStart;

/*
 * data may be NULL: data packets are not decoded then, unless access asks for
 * each of them by itself, and not for whose it is. Instructions come in runs
 * before they come with their accesses. note may be NULL, too; it is
 * called between what the hart executed before and after the note was taken.
 * synced is called behind synchronisation packets, when all that came before
 * has been reported.
 */
typedef struct TraceConsumer {
    FlowOps flow;
    const DataFlowOps *data;
    void (*access)(void *opaque, const ETraceDataAccess *access);
    void (*loss)(void *opaque, const TraceLoss *loss);
    void (*note)(void *opaque, const SidebandNote *note);
    void (*synced)(void *opaque);
    /*
     * A packet reported the time, after all that was handed over: the low @bits
     * of it, by a @timestamp of its envelope or else by its time field. May be
     * NULL.
     */
    void (*time)(void *opaque, uint64_t ticks, unsigned bits, bool timestamp);
} TraceConsumer;

struct TraceDecoder {
    Trace *trace;               /* the part that is being decoded */
    unsigned hart;
    const TraceConsumer *consumer;
    void *opaque;
    bool stop;                  /* set by the consumer: no further */
    bool gave_up;               /* it was more work than a trace should be */
    TraceStats stats;

    Flow flow;
    FlowEnds ends;              /* if the trace has block_ends */
    DataFlow data;              /* if the consumer has data or access */
    Image *image;
    FlowPaths *paths;
    Stream stream;
    StreamItem item;
    uint64_t left;              /* instructions; UINT64_MAX: no limit */
    bool patient;
    uint64_t work, bytes;       /* steps and bytes of the parts before */
    uint64_t packets;           /* of the part, consumed */
    uint64_t barrier;
    uint64_t advanced;          /* packets at the last barrier */
    uint64_t support;           /* see TracePoint */
    bool synced;                /* the packet was one of synchronisation */
    unsigned part;              /* number of @trace */
    unsigned run;               /* of its pieces: the next one */
    GArray *ended;              /* uint64_t: @advanced of the parts before */
    uint64_t sideband_end;      /* afterwards: see TracePoint */
    size_t reported;            /* bytes of the part: see trace-decode.c */
    uint64_t progress;          /* see trace_decoder_progress() */
};

/*
 * Decode everything of one hart, which must be present, in all parts.
 * @consumer gets what was executed; @d->stats is filled. @d is the
 * consumer's to read and to stop while this runs. @t->limit and @t->patient
 * say how far to go.
 */
void trace_decode(TraceDecoder *d, Trace *t, unsigned hart,
                  const TraceConsumer *consumer, void *opaque);

/*
 * The same from @start on. Of what stands before it, @consumer gets only the
 * notes, and what @d counts is from there on. Returns false, having decoded
 * nothing, if the trace has no such place.
 */
bool trace_decode_from(TraceDecoder *d, Trace *t, unsigned hart,
                       const TraceStart *start,
                       const TraceConsumer *consumer, void *opaque);

/*
 * To be called by @consumer's synced, when @d has come to a synchronisation
 * packet: where that is. Returns false if one cannot begin there.
 */
bool trace_decoder_point(const TraceDecoder *d, TracePoint *point);

/*
 * The code of @hart, which must be present, when it has got to part @part of
 * @t and the part's sideband was read for @packets of its packets. @advanced:
 * see TraceStart. The caller frees it.
 */
Image *trace_image_at(const Trace *t, unsigned hart, unsigned part,
                      const uint64_t *advanced, uint64_t packets);

/*
 * Do packets of @hart report the time? *@timestamp: by their envelopes, else by
 * time fields. Looks at the beginning of the trace. Of a hart without packets,
 * such as a thread that a cut trace lacks, none is without a time.
 */
bool trace_reports_time(const Trace *t, unsigned hart, bool *timestamp);

/*
 * The same of a trace in one part that is still growing (growing.h), piece by
 * piece: begin, go on to byte @end of the trace as often as wanted, end. Where
 * a piece ends, an alignment sequence has to end, or the trace itself. The
 * consumer has got all of the last one when trace_decoder_end() returns.
 */
void trace_decoder_begin(TraceDecoder *d, Trace *t, unsigned hart,
                         const TraceConsumer *consumer, void *opaque);
void trace_decoder_go_on(TraceDecoder *d, size_t end);
void trace_decoder_end(TraceDecoder *d);

/* The trace's sideband has grown. */
void trace_decoder_grown(TraceDecoder *d);

/*
 * Go on at @to, where an alignment sequence ends, without decoding what is
 * before it. @packets is set to how many of the hart's packets that leaves out.
 * The consumer gets a loss of kind FLOW_LOST_FRAMING. Returns false, and has
 * done nothing, if there is no such place ahead.
 */
bool trace_decoder_skip(TraceDecoder *d, size_t to, uint64_t *packets);

/*
 * Bytes of the trace that @d has seen, of all parts. Any thread may ask while
 * trace_decode() runs.
 */
uint64_t trace_decoder_progress(const TraceDecoder *d);

/*
 * Does a window that ends with the current packet end for the sideband's sake?
 * Then what is traced next follows at once. With streams before version 1.10
 * that may not be so if a filter has ended it as well.
 */
bool trace_decoder_fenced(const TraceDecoder *d);

/* Is that certain? See sideband_has_gaps(). */
bool trace_decoder_knows_gaps(const TraceDecoder *d);

/*
 * The hart's registers where a window starts; see sideband_view_registers().
 * To be called from TraceConsumer's window_start() only.
 */
const ETraceSbRegs *trace_decoder_registers(const TraceDecoder *d);

/* Address space of the current instructions; see sideband_view_space(). */
unsigned trace_decoder_space(const TraceDecoder *d, unsigned priv);

/* Task of the current instructions; see sideband_view_task(). */
bool trace_decoder_task(const TraceDecoder *d, SidebandTask *task);

/* sideband_moves() of all parts, for the caller to free */
GArray *trace_moves(const Trace *t);

/*
 * How far the hart has come in the sideband: sideband_in_part() of the next
 * record; 0 if there is no sideband. The records before that one have been
 * applied.
 */
uint64_t trace_decoder_place(const TraceDecoder *d);

/* The same of where decoding can begin */
static inline uint64_t trace_point_place(const TracePoint *point)
{
    return sideband_in_part(point->part, point->sideband_pos);
}

#endif /* ETRACE_TRACE_H */
