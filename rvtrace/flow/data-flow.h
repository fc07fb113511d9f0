/*
 * Data flow: from te_data packets to the accesses of each instruction
 *
 * A te_data does not say which instruction it is of. In a stream where every
 * access is traced, they come in the order of the instructions, and between
 * two synchronization packets of the instruction trace both must come out
 * even: the accesses of the instructions from the one that the first packet
 * reports up to the one before the next packet's lie between the packets.
 * That is how our encoder orders them. So instructions and accesses are kept
 * until the stretch between two such packets ends, and are put together if
 * there is a way to do so that leaves nothing over on either side. Where the
 * code does not say how many accesses an instruction makes (data-insn.h),
 * the earlier instruction gets as many as can be its: unmasked vector
 * instructions have the same number of elements until something changes vl,
 * unit-stride elements follow each other, an sc stores where the lr was.
 *
 * Filters, data trace that begins or ends in the middle of a stretch, and
 * losses make counts differ; then nobody can know whose accesses they are, and
 * those of the stretch are handed over in the order of the stream, without an
 * instruction.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_DATA_FLOW_H
#define ETRACE_DATA_FLOW_H

#include "code/data-insn.h"
#include "flow/flow.h"

typedef struct DataFlowAccess {
    bool pc_known;
    uint64_t pc;                /* of the instruction */
    /*
     * No packet: an sc that failed, as there is none where it would have
     * been. Only dtype and size of @access are known.
     */
    bool inferred;
    ETraceDataAccess access;
} DataFlowAccess;

typedef struct DataFlowInsn {
    uint64_t pc;
    uint32_t raw;               /* of 16 bits: the low half */
    bool readable;              /* raw is known */
} DataFlowInsn;

/* In the order of execution; each may be NULL. */
typedef struct DataFlowOps {
    void (*insn)(void *opaque, const DataFlowInsn *insn);
    void (*access)(void *opaque, const DataFlowAccess *access);
} DataFlowOps;

typedef enum DataFlowStatus {
    DATA_FLOW_OK,
    DATA_FLOW_MALFORMED,        /* no te_data of these parameters */
    DATA_FLOW_NO_BASE,          /* builds upon a packet that is missing */
    DATA_FLOW_WAITING,          /* ... and is before the first sync packet */
} DataFlowStatus;

/* What instructions have left behind, as far as it is known */
typedef struct DataFlowLeft {
    bool has_reserved;
    uint64_t reserved;          /* lr */
    bool has_vl;
    uint32_t vl;
    bool vstart;                /* may not be 0 */
} DataFlowLeft;

typedef struct DataFlowItem DataFlowItem;
typedef struct DataFlowKind DataFlowKind;

typedef struct DataFlow {
    ETraceParams params;
    Image *image;
    const DataFlowOps *ops;
    void *opaque;
    uint64_t mask;              /* of instruction addresses */

    ETraceDataState state;
    ETraceDataSizes sizes;
    /* Of the stretch; there is room for as many as max_... says. */
    DataFlowInsn *insns;
    DataFlowItem *items;        /* those that may access something */
    ETraceDataAccess *accesses;
    unsigned nr_insns, nr_items, nr_accesses;
    unsigned max_insns, max_items, max_accesses;
    DataFlowKind *kinds;        /* what instructions are that ran lately */
    DataFlowLeft left;          /* by those before the stretch */
    bool broken;                /* something of the stretch is lost */
    bool waiting;               /* for a sync packet: what is before is gone */

    uint64_t associated;        /* accesses that were put to instructions */
    uint64_t others;            /* ... and that were not */
} DataFlow;

/* @params and @image as of the hart's Flow; @image must live as long. */
void data_flow_init(DataFlow *df, const ETraceParams *params, Image *image,
                    const DataFlowOps *ops, void *opaque);
void data_flow_destroy(DataFlow *df);

/* What FlowOps report: instructions that retired, and a trap */
void data_flow_run(DataFlow *df, const FlowRun *run);
void data_flow_trap(DataFlow *df, const FlowTrap *trap);

/*
 * The payload of a data packet, and what it is as a number, if that is known
 * (packet_word()); or NULL
 */
DataFlowStatus data_flow_packet(DataFlow *df, const uint8_t *payload,
                                size_t len, const int64_t *word);

/*
 * The same, but nobody asks whose the access is: *@access is what the packet
 * says, if it is OK.
 */
DataFlowStatus data_flow_access(DataFlow *df, const uint8_t *payload,
                                size_t len, const int64_t *word,
                                ETraceDataAccess *access);

/*
 * An instruction packet. Called behind flow_packet(), whose instructions have
 * been handed to data_flow_run().
 */
void data_flow_inst_packet(DataFlow *df, const ETracePacket *pkt);

/* Instructions or accesses are missing at this place. */
void data_flow_gap(DataFlow *df);

/* Hand over what is kept; the end of the trace. */
void data_flow_end(DataFlow *df);

#endif /* ETRACE_DATA_FLOW_H */
