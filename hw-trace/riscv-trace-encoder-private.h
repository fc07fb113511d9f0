/*
 * RISC-V trace encoder: what its files share
 *
 * Each file uses those that stand before it here: the hart's side first, from
 * packets up to the port, then the registers and the device.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_ENCODER_PRIVATE_H
#define HW_TRACE_RISCV_TRACE_ENCODER_PRIVATE_H

#include "qapi/qapi-types-common.h"
#include "qemu/atomic.h"
#include "hw/register.h"
#include "hw/sysbus.h"
#include "etrace/data-short.h"
#include "etrace/encap.h"
#include "etrace/encoder.h"
#include "etrace/filter-expr.h"
#include "riscv-trace-encoder.h"
#include "riscv-trace-regs.h"
#include "riscv-trace-sink.h"
#include "riscv-trace-timestamp.h"
#include "target/riscv/trace/hart.h"

/* Registers but filters and comparators, which have a space of their own */
#define RISCV_TRACE_ENCODER_R_MAX   (R_TR_TE_TRIG_EXT_OUT_CONTROL + 1)

/* Modes that can be switched; the values are their bits of trTeInstFeatures. */
typedef enum RISCVTraceMode {
    RISCV_TRACE_MODE_FULL_ADDRESS = 0,
    RISCV_TRACE_MODE_IMPLICIT_EXCEPTION = 1,
    RISCV_TRACE_MODE_SEQUENTIAL_JUMP = 2,
    RISCV_TRACE_MODE_IMPLICIT_RETURN = 3,
    RISCV_TRACE_MODE_BRANCH_PREDICTION = 4,
    RISCV_TRACE_MODE_JUMP_TARGET_CACHE = 5,
    RISCV_TRACE_MODES
} RISCVTraceMode;

/*
 * What an encoder is built with. Names of parameters are those of E-Trace's
 * Table 9.1.
 */
typedef struct RISCVTraceEncoderConfig {
    char *wire_format;
    char *context_source;
    uint16_t src_id;            /* at power-up, as are the next two */
    uint8_t src_bits;
    uint8_t sync_mode;
    uint8_t sync_max;
    bool stall;                 /* trTeInstStallEna at power-up */
    bool autostart;
    char *autostart_modes;      /* see riscv_trace_modes_parse() */

    /* Modes at power-up; auto: off, but autostart may choose it */
    OnOffAuto mode[RISCV_TRACE_MODES];
    bool context;               /* trTeContext */
    bool data;                  /* autostart is of data trace, too */
    bool data_drop;
    bool data_no_value;
    bool data_no_addr;
    uint8_t data_compress;

    /* Sizes and widths */
    uint8_t return_stack_size;
    uint8_t call_counter_size;
    uint8_t bpred_size;
    uint8_t cache_size;
    bool sijump;
    uint8_t itype_width;
    uint8_t privilege_width;
    uint8_t ecause_width;
    uint8_t context_width;
    uint8_t ctype;              /* how changes of context are reported */
    uint8_t time_width;
    uint8_t impdef_width;
    uint8_t data_width;
    uint8_t daddress_width;
    uint8_t filters;
    uint8_t comparators;
    uint8_t filter_excint;
    uint8_t trigger_inputs;
    uint8_t trigger_outputs;
    uint8_t timestamp_width;
    uint8_t timestamp_mode;     /* at power-up */
} RISCVTraceEncoderConfig;

/*
 * Packets are handed to the sink in batches of up to this many bytes, so that
 * harts do not wait for each other too often.
 */
#define RISCV_TRACE_ENCODER_BATCH   8192

/* Packets that the sink has not got yet */
typedef struct RISCVTraceEncoderBatch {
    size_t len;                 /* of the bytes that are used */
    unsigned packets;
    uint8_t bytes[RISCV_TRACE_ENCODER_BATCH];
} RISCVTraceEncoderBatch;

/* Triggers that wait for the block with the instruction that they are of */
typedef struct RISCVTraceEncoderTriggers {
    bool on, off, notify;
    uint64_t on_pc, off_pc, notify_pc;  /* -1: whatever comes */
} RISCVTraceEncoderTriggers;

/* Data trace; see riscv-trace-encoder-data.c */
typedef struct RISCVTraceEncoderData {
    ETraceDataState state;
    ETraceDataShort quick;
    uint8_t compress;           /* trTeDataAddrCompress */
    bool may_drop;              /* trTeDataDropEna */
    bool lossless;              /* trTeDataStallEna */
    bool due;                   /* a trigger has moved trTeDataTracing */
    bool asked;                 /* about room, since the last batch */
    GArray *traced;             /* bool: accesses that filters qualify */
} RISCVTraceEncoderData;

struct RISCVTraceEncoder {
    SysBusDevice parent_obj;

    RegisterInfoArray *reg_array;
    RegisterInfo regs_info[RISCV_TRACE_ENCODER_R_MAX];
    uint32_t regs[RISCV_TRACE_ENCODER_R_MAX];
    MemoryRegion filter_mem;
    uint32_t filter_regs[ETRACE_FILTERS_MAX][TR_TE_FILTER_SIZE / 4];
    uint32_t comp_regs[ETRACE_COMPARATORS_MAX][TR_TE_COMP_SIZE / 4];
    RISCVTraceTimestamp ts;
    qemu_irq trigger_out[TR_TE_TRIG_MAX];
    uint8_t trigger_in_level;   /* bit per line */
    uint32_t impdef;            /* bit per line */

    /* Properties */
    CPUState *cpu;
    Object *sink_obj;
    uint32_t hart_index;        /* input of the funnel, number in sideband */
    RISCVTraceEncoderConfig cfg;
    RISCVTraceModes start_modes;    /* what cfg.autostart_modes says */
    ETraceFilterExpr expr;      /* the filter that no register has; BQL */
    ETraceGuestInfo guest;      /* for the sideband; before realize only */

    RISCVTraceSource source;
    RISCVTraceSink *sink;
    RISCVTraceSinkClass *sink_class;
    ETraceParams params;        /* of the present session */
    bool apply_pending;         /* the hart will look at the registers */
    bool filter_reset;          /* ... and its filters start anew */

    /* Written by the hart's thread, read by any */
    bool tracing;               /* instructions are being traced */
    bool stall_or_overflow;     /* trTeInstStallOrOverflow */
    bool data_stall_or_overflow;
    bool data_drop;             /* trTeDataDrop */
    uint8_t outputs_due;        /* TR_TE_TRIG_OUT_*, to be pulsed */

    /* Of the hart's thread; of any other while the VM is stopped */
    ETraceEncoder enc;
    ETraceFilter filter;        /* as the registers say */
    ETraceFilter expr_filter;   /* as expr says */
    bool filtered;              /* blocks, accesses or notify by these two */
    RISCVTraceHartConfig hart_config;   /* what the port was asked for */
    RISCVTraceEncoderTriggers triggers;
    bool off_due;               /* traced up to here, unless it goes on */
    bool notify_due;            /* report the next block */
    bool context_on;            /* trTeContext */
    unsigned upper_rd;          /* register that the last block ends in ... */
    uint64_t upper_end;         /* ... loading for a jump, and where it ends */
    uint64_t next;              /* where the next history begins */
    bool timestamps;            /* packets have them */
    bool needs_data;            /* accesses are to be kept for their block */
    GArray *accesses;           /* ETraceAccess */
    RISCVTraceEncoderData data;
    uint64_t cycles;            /* of the hart, when last looked at */
    bool live;                  /* enc was started in the present session */
    bool lost;                  /* a batch was lost: signal it to enc */
    uint64_t packets;           /* put into the stream in this session */
    RISCVTraceEncoderBatch batch;
};

static inline uint32_t riscv_trace_encoder_control(RISCVTraceEncoder *s)
{
    return qatomic_read(&s->regs[R_TR_TE_CONTROL]);
}

/* riscv-trace-encoder-modes.c */

/* False with @errp set if modes that are not built in are asked for. */
bool riscv_trace_encoder_modes_check(RISCVTraceEncoder *s, Error **errp);

/* trTeInstImplicitReturnMode: TR_TE_RETURN_* */
uint32_t riscv_trace_encoder_return_mode(const RISCVTraceEncoderConfig *cfg);

/* Bits 5:0 of trTeInstFeatures: which can be set, */
uint32_t riscv_trace_encoder_modes_built_in(const RISCVTraceEncoderConfig *cfg);
/* ... and which are set at power-up */
uint32_t riscv_trace_encoder_modes_power_up(const RISCVTraceEncoderConfig *cfg);

/* ETRACE_IOPT_* that the registers ask for */
uint8_t riscv_trace_encoder_ioptions(RISCVTraceEncoder *s);

/* riscv-trace-encoder-packets.c */

/* Where the encoder's packets go; @opaque is the RISCVTraceEncoder. */
extern const ETraceEncoderOps riscv_trace_encoder_ops;

/* Encapsulate a payload for the sink; false if it is lost. */
bool riscv_trace_encoder_put(RISCVTraceEncoder *s, bool data,
                             const uint8_t *payload, size_t len);

/* Hand the sink what has been put. */
void riscv_trace_encoder_flush(RISCVTraceEncoder *s);

/* If a loss has not been reported yet, report it, if there is room. */
void riscv_trace_encoder_report_loss(RISCVTraceEncoder *s);

/* Packets that the sink had taken were lost. */
void riscv_trace_encoder_data_lost(RISCVTraceEncoder *s);

/* riscv-trace-encoder-filters.c */

/* Give the registers' contents to s->filter; in the hart's thread, BQL. */
void riscv_trace_encoder_filters_apply(RISCVTraceEncoder *s);

/* Give the property to s->expr_filter; in the hart's thread, BQL. */
void riscv_trace_encoder_expr_apply(RISCVTraceEncoder *s);

/* An event of the port that filters may look at; see etrace_filter_event(). */
void riscv_trace_encoder_filters_event(RISCVTraceEncoder *s,
                                       const ETraceEvent *event);

/*
 * What the filters of the registers and that of the property say together of
 * the block or trap @b, with its @tval, and of the first @n of s->accesses,
 * which are those in it: s->data.traced says which of these are traced.
 * Only if there are active filters.
 */
ETraceFilterResult riscv_trace_encoder_filters_block(RISCVTraceEncoder *s,
                                                     const ETraceBlock *b,
                                                     uint64_t tval,
                                                     unsigned n);

/* riscv-trace-encoder-data.c */

/* Do the registers ask for data accesses, now or when a trigger fires? */
bool riscv_trace_encoder_data_wanted(RISCVTraceEncoder *s);

/* Registers to s->enc and s->data; true if a support packet is due. */
bool riscv_trace_encoder_data_apply(RISCVTraceEncoder *s);

/* A session begins; before s->enc is started */
void riscv_trace_encoder_data_start(RISCVTraceEncoder *s);

/*
 * May the @n accesses that stand right before the block @b be sent from where
 * they are, behind it? If not, they have to be kept.
 */
bool riscv_trace_encoder_data_direct(RISCVTraceEncoder *s,
                                     const ETraceSlot *slots, size_t n,
                                     const ETraceBlock *b);

/* Keep @n accesses until their block comes. */
void riscv_trace_encoder_data_keep(RISCVTraceEncoder *s,
                                   const ETraceSlot *slots, size_t n);

/*
 * How many of s->accesses are those of the block or trap @b. As many bools
 * are in s->data.traced for the filters.
 */
unsigned riscv_trace_encoder_data_count(RISCVTraceEncoder *s,
                                        const ETraceBlock *b);

/* Send the accesses among the @n slots; no filter is asked about them. */
void riscv_trace_encoder_data_send(RISCVTraceEncoder *s,
                                   const ETraceSlot *slots, size_t n);

/* Send the first @n accesses that were kept, as far as they are qualified. */
void riscv_trace_encoder_data_send_kept(RISCVTraceEncoder *s, unsigned n);

/* Forget the first @n accesses. */
void riscv_trace_encoder_data_done(RISCVTraceEncoder *s, unsigned n);

/* riscv-trace-encoder-tracing.c */

/* trTeControl goes from @old to @val; trigger outputs show it. Any thread. */
void riscv_trace_encoder_tracing_moved(RISCVTraceEncoder *s, uint32_t old,
                                       uint32_t val);

/*
 * A trigger moves trTeInstTracing and trTeDataTracing, as far as their
 * TrigEnable bits allow. Any thread.
 */
void riscv_trace_encoder_trigger_tracing(RISCVTraceEncoder *s, bool on);

/* Instructions are traced from here on, or no more. */
void riscv_trace_encoder_inst_on(RISCVTraceEncoder *s);
void riscv_trace_encoder_inst_off(RISCVTraceEncoder *s);

/* ... as trTeInstTracing says */
void riscv_trace_encoder_inst_follow(RISCVTraceEncoder *s);

/* riscv-trace-encoder-port.c: of RISCVTraceHartOps */

ETraceDetail riscv_trace_encoder_hart_detail(void *opaque, ETracePriv priv,
                                             uint64_t pc,
                                             ETraceHistoryModes *modes,
                                             ETraceRanges *ranges);
void riscv_trace_encoder_hart_retire(void *opaque, const ETraceSlot *slots,
                                     size_t n);
void riscv_trace_encoder_hart_trigger(void *opaque, ETraceTrigger action);

/* What mcycle counts */
uint64_t riscv_trace_encoder_cycles(void);

/* riscv-trace-encoder-apply.c */

extern const RISCVTraceHartOps riscv_trace_encoder_hart_ops;

/* Close the window; the packets in the stream. See RISCVTraceHartOps. */
uint64_t riscv_trace_encoder_fence(void *opaque);

/* Registers have changed: the hart's thread looks at them soon. BQL. */
void riscv_trace_encoder_changed(RISCVTraceEncoder *s);

/* An external trigger input fires. BQL. */
void riscv_trace_encoder_external(RISCVTraceEncoder *s, ETraceTrigger action);

/* Pass on what the hart has retired, in its thread or while it stands. */
void riscv_trace_encoder_drain(RISCVTraceEncoder *s);

/* Look at the sink, and have the hart traced or not. BQL. */
void riscv_trace_encoder_update(RISCVTraceEncoder *s);

/* riscv-trace-encoder-filter-regs.c */

void riscv_trace_encoder_filters_init(RISCVTraceEncoder *s);
void riscv_trace_encoder_filters_reset(RISCVTraceEncoder *s);

/* riscv-trace-encoder-regs.c */

void riscv_trace_encoder_regs_init(RISCVTraceEncoder *s);

/* Every register at its power-up value; BQL. */
void riscv_trace_encoder_regs_reset(RISCVTraceEncoder *s);

/* riscv-trace-encoder-guest.c */

void riscv_trace_encoder_guest_class_props(ObjectClass *oc);

/* riscv-trace-encoder-expr.c */

void riscv_trace_encoder_expr_class_props(ObjectClass *oc);

/* False with @errp set if the property does not fit the hart. */
bool riscv_trace_encoder_expr_check(RISCVTraceEncoder *s, Error **errp);

/* riscv-trace-encoder-props.c */

/* False with @errp set if the properties do not fit together. */
bool riscv_trace_encoder_check(RISCVTraceEncoder *s, Error **errp);
void riscv_trace_encoder_class_props(ObjectClass *oc);

/* Parameters of the encoder as it is programmed now */
void riscv_trace_encoder_params(RISCVTraceEncoder *s, ETraceParams *params);

#endif /* HW_TRACE_RISCV_TRACE_ENCODER_PRIVATE_H */
