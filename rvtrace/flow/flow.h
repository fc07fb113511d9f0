/*
 * Instruction flow: from te_inst packets to executed instructions
 *
 * Chapter 11, "Decoder", of "Efficient Trace for RISC-V" 2.0, with every mode
 * of branch trace. What was executed is handed over in runs of instructions
 * that follow each other in memory.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_FLOW_H
#define ETRACE_FLOW_H

#include "etrace/jump-cache.h"
#include "etrace/packet.h"
#include "etrace/predictor.h"
#include "etrace/return-stack.h"
#include "base/trap-text.h"
#include "code/image.h"
#include "flow/flow-ends.h"

/* Instructions of a run whose lengths FlowRun.wide gives */
#define FLOW_WIDE_INSNS 32

/*
 * @count instructions that were executed one after the other, the first one
 * at @pc. @code has their bytes in a row, at least up to the first half-word
 * of the last one, for the sake of their lengths. @wide says the same of the
 * first FLOW_WIDE_INSNS: bit 0 is set if the first one has 4 bytes, and each
 * next one's bit is as many half-words higher.
 *
 * @count may be 0: then only @itype is news, about the instruction that the
 * run before ended with.
 */
typedef struct FlowRun {
    uint64_t pc;
    const uint8_t *code;
    uint64_t wide;
    uint64_t end;       /* address behind the last one, if itype is set */
    unsigned count;
    uint8_t priv;       /* ETracePriv of all of them */
    /*
     * How the last one was left: an ETraceItype, or ETRACE_ITYPE_NONE if the
     * next in memory follows or if it is not known yet
     */
    uint8_t itype;
} FlowRun;

static inline unsigned flow_insn_length(const uint8_t *code)
{
    return insn_length(code[0]);
}

/*
 * The bytes of an instruction of @run, at @pc and @code, which are as @image has
 * them: one of 16 bits is in the low half of *@raw. False: they are not known.
 */
static inline bool flow_run_raw(const FlowRun *run, Image *image, uint64_t mask,
                                uint64_t pc, const uint8_t *code, uint32_t *raw)
{
    /* Alone, it may be one that nobody knows, or end on the next page. */
    if (run->count == 1 ||
        (pc & CODE_PAGE_MASK) >= CODE_PAGE_SIZE - sizeof(*raw)) {
        return image_raw(image, run->priv, pc, mask, raw);
    }
    *raw = code[0] | code[1] << 8;
    if (insn_length(*raw) == 4) {
        *raw |= (uint32_t)(code[2] | code[3] << 8) << 16;
    }
    return true;
}

/* FlowTrap.cause, where whoever recorded it did not say */
#define FLOW_CAUSE_UNKNOWN  TRAP_CAUSE_UNKNOWN

typedef struct FlowTrap {
    bool interrupt;
    uint8_t cause;
    uint8_t priv;       /* before the trap */
    bool epc_known;     /* not, if a trap hits the first handler instruction */
    uint64_t epc;
    uint64_t tval;      /* exceptions only */
} FlowTrap;

typedef enum FlowLossKind {
    FLOW_LOST_MALFORMED,        /* a payload that is no te_inst */
    FLOW_LOST_IN_BAND,          /* the encoder says so: trace_lost */
    FLOW_LOST_FRAMING,          /* framing was broken; see stream.h */
    FLOW_LOST_CODE,             /* no code known where the path leads */
    FLOW_LOST_BRANCHES,         /* too few branches reported, or too many */
    FLOW_LOST_UPDISCON,         /* an uninferable jump without an address */
    FLOW_LOST_LOOP,             /* the path never gets to the address */
    FLOW_LOST_ORDER,            /* a packet that cannot stand here */
    FLOW_LOST_UNSUPPORTED,      /* a mode that this decoder cannot follow */
    FLOW_LOST_TVEC,             /* implicit exception: handler not known */
    FLOW_LOST_CACHE,            /* no target at the index */
    FLOW_LOST_DATA,             /* the encoder says so: dloss */
    FLOW_LOST_DATA_MALFORMED,   /* a payload that is no te_data */
    FLOW_LOST_DATA_BASE,        /* te_data that builds upon a missing one */
    FLOW_LOST_CUT,              /* less than there was, by the sideband */
    FLOW_LOST_END,              /* lost behind the last packet, as it says */
    FLOW_LOST_WORK,             /* steps_max: the decoder gave up */
    FLOW_LOST_NR_KINDS,
} FlowLossKind;

typedef struct FlowLoss {
    FlowLossKind kind;
    bool pc_known;
    uint64_t pc;        /* last instruction known to have been executed */
    uint64_t address;   /* FLOW_LOST_CODE: of the missing code */
    uint64_t packets;   /* FLOW_LOST_CUT, FLOW_LOST_END: how many */
} FlowLoss;

/* Why a window ended */
typedef enum FlowWindowEnd {
    FLOW_WINDOW_QUAL,       /* a support packet: ended_rep, ended_ntr */
    FLOW_WINDOW_LOSS,
} FlowWindowEnd;

/*
 * Each may be NULL, except run or else runs. A branch predictor lets a packet
 * of a few bytes stand for 2^32 branches; they are all of one loop, or nearly.
 * Not every round need be reported to a consumer with repeat.
 */
typedef struct FlowOps {
    void (*run)(void *opaque, const FlowRun *run);
    /*
     * If it is there, it is called instead of run: @n runs, in order, of
     * @insns instructions together. They are valid only during the call.
     */
    void (*runs)(void *opaque, const FlowRun *runs, unsigned n,
                 uint64_t insns);
    void (*trap)(void *opaque, const FlowTrap *trap);
    /* A gap of unknown length ends, and execution goes on at @pc. */
    void (*window_start)(void *opaque, uint64_t pc);
    void (*window_end)(void *opaque, FlowWindowEnd why);
    /* A round of a loop may begin here. */
    void (*mark)(void *opaque);
    /*
     * What was executed since mark was called last was executed @times times
     * more. Returns false if that is too many, or to have each run reported:
     * it is called for fewer then, and again in later rounds.
     */
    bool (*repeat)(void *opaque, uint64_t times);
} FlowOps;

typedef void FlowLossFn(void *opaque, const FlowLoss *loss);

/*
 * The value of xtvec at this place, for traps into @priv (section 3.2.3).
 * Returns false if it is not known.
 */
typedef bool FlowTvecFn(void *opaque, uint8_t priv, uint64_t *xtvec);

/* Runs that are collected before the consumer is called */
#define FLOW_RUNS   64

/* Paths that were walked before; see flow-paths.h */
typedef struct FlowPaths FlowPaths;

typedef struct Flow {
    ETraceParams params;    /* as the last support packet says */
    Image *image;
    const FlowOps *ops;
    void *opaque;
    FlowLossFn *loss;
    void *loss_opaque;
    /* The owner's to set, after flow_init(); NULL: no handler is known */
    FlowTvecFn *tvec;
    void *tvec_opaque;
    uint64_t mask;          /* of addresses: 32 or 64 bits */

    bool started;           /* not start_of_trace */
    bool inferred;          /* inferred_address */
    bool trap_pending;      /* a trap with thaddr 0: its handler comes next */
    /*
     * Draft 1.1.1: a trap packet names pc as the handler's first instruction,
     * which retired unless another trap follows; see find_fault()
     */
    bool handler_pending;
    bool handler_faulted;
    bool unsupported;       /* by the last support packet's modes */
    bool disabled;          /* ... which says that tracing ends */
    bool keep_history;      /* sync packets reset neither stack ... */
    uint8_t priv;
    uint64_t pc;            /* last instruction known to have retired */
    bool prev_known;
    uint64_t prev;          /* the one before it, if it follows in memory */
    uint64_t address;       /* base of differential addresses */

    /* branches that are reported, and not passed yet */
    uint64_t branches;      /* all; behind those of branch_map: as predicted */
    unsigned map_bits;      /* valid bits of branch_map */
    uint64_t branch_map;
    bool last_failed;       /* the last one is not as predicted */

    unsigned irets;         /* implicit returns since the last branch */
    ETraceReturnStack stack;
    ETracePredictor predictor;
    ETraceJumpCache cache;

    /*
     * How much work it was, in instructions that were followed, but for the
     * rounds of a loop; and how much it may be. The owner may set steps_max.
     */
    uint64_t steps, steps_max;
    /* The owner may set it, to a flag that says to stop here; else NULL. */
    const bool *stop;
    uint64_t repeats_until; /* branches left behind a loop that is known */
    uint64_t pushes, pops;  /* of the return stack, within walks */
    uint64_t learnt;        /* changes of the predictor, within walks */

    /* The owner's to set, after flow_init(), and to free; or NULL */
    FlowPaths *paths;

    /* what has not been reported to the consumer yet */
    FlowRun runs[FLOW_RUNS];
    unsigned nr_runs;
    uint64_t run_insns;     /* in all of them */
    uint64_t flushes;       /* so many times they were reported */

    bool waiting;           /* packets are skipped until the next sync */
    /*
     * The owner's to set: a start packet behind an address packet may name the
     * same instruction once more.
     */
    bool resync_repeats;
    /* ... and packets name the end of a block (flow-ends.h); or NULL */
    FlowEnds *ends;
    uint64_t skipped;       /* packets skipped after a loss */
} Flow;

/*
 * Only @params are copied; the rest must live as long as @f. @ops is called
 * with @opaque, @loss with @loss_opaque.
 */
void flow_init(Flow *f, const ETraceParams *params, Image *image,
               const FlowOps *ops, void *opaque,
               FlowLossFn *loss, void *loss_opaque);

/*
 * Process the hart's next packet. The image must be at the packet's place
 * (image_advance()). Returns false if something was lost and reported.
 */
bool flow_packet(Flow *f, const ETracePacket *pkt);

/*
 * Packets are missing or unreadable at this place: report it and wait for
 * the next synchronisation packet.
 */
void flow_gap(Flow *f, FlowLossKind kind);

/* Right behind a synchronisation packet: what there is to know */
typedef struct FlowPoint {
    uint8_t priv;
    uint64_t pc;            /* last instruction that was handed over */
    bool prev_known;
    uint64_t prev;          /* the one before it, if it follows in memory */
    uint64_t address;       /* base of differential addresses */
    bool branch;            /* pc is a branch, which was left ... */
    bool not_taken;         /* ... like that */
    unsigned irets;
} FlowPoint;

/*
 * Where @f is. Returns false if that cannot be said in so few words: not
 * behind a synchronisation packet, or modes go on across these.
 */
bool flow_point(const Flow *f, FlowPoint *point);

/*
 * After flow_init(): go on from @point, as if every packet up to there had
 * been processed. @support is the last support packet before it, or NULL if
 * there was none. Returns false if that packet makes no sense.
 */
bool flow_resume(Flow *f, const ETracePacket *support,
                 const FlowPoint *point);

const char *flow_loss_text(FlowLossKind kind);

#endif /* ETRACE_FLOW_H */
