/*
 * RISC-V trace encoder: what the files of its core share
 *
 * Each file uses those that stand before it here: the hart's side first, from
 * packets up to the port, then the registers and the device. Units stand
 * above them; see riscv-trace-encoder-unit.h.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_ENCODER_PRIVATE_H
#define HW_TRACE_RISCV_TRACE_ENCODER_PRIVATE_H

#include "qapi/qapi-types-common.h"
#include "qemu/atomic.h"
#include "hw/register.h"
#include "hw/sysbus.h"
#include "hw/trace/etrace/encap.h"
#include "hw/trace/etrace/encoder.h"
#include "hw/trace/etrace/upper.h"
#include "hw/trace/riscv-trace-encoder.h"
#include "riscv-trace-encoder-unit.h"
#include "hw/trace/riscv-trace-regs.h"
#include "hw/trace/riscv-trace-sink.h"
#include "hw/trace/riscv-trace-timestamp.h"
#include "target/riscv/trace/hart.h"

/* All but filters and comparators, which have a space of their own */
#define RISCV_TRACE_ENCODER_R_MAX   (R_TR_TE_TRIG_EXT_OUT_CONTROL + 1)

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

/* State of the units, each in its own file */
typedef struct RISCVTraceEncoderTriggers RISCVTraceEncoderTriggers;
typedef struct RISCVTraceEncoderData RISCVTraceEncoderData;
typedef struct RISCVTraceEncoderFilters RISCVTraceEncoderFilters;
typedef struct RISCVTraceEncoderGuest RISCVTraceEncoderGuest;

struct RISCVTraceEncoder {
    SysBusDevice parent_obj;

    RegisterInfoArray *reg_array;
    RegisterInfo regs_info[RISCV_TRACE_ENCODER_R_MAX];
    uint32_t regs[RISCV_TRACE_ENCODER_R_MAX];
    RISCVTraceTimestamp ts;

    /* Properties */
    CPUState *cpu;
    Object *sink_obj;
    uint32_t hart_index;        /* input of the funnel, number in sideband */
    RISCVTraceEncoderConfig cfg;
    RISCVTraceModes start_modes;    /* what cfg.autostart_modes says */

    /* Units, NULL where one is not built in */
    RISCVTraceEncoderTriggers *triggers;
    RISCVTraceEncoderData *data;
    RISCVTraceEncoderFilters *filters;
    RISCVTraceEncoderGuest *guest;

    RISCVTraceSource source;
    RISCVTraceSink *sink;
    RISCVTraceSinkClass *sink_class;
    ETraceParams params;        /* of the present session */
    bool apply_pending;         /* the hart will look at the registers */

    /* Written by the hart's thread, read by any */
    bool tracing;               /* instructions are being traced */
    bool tracing_data;          /* data accesses are being traced */
    bool stall_or_overflow;     /* trTeInstStallOrOverflow */

    /* Of the hart's thread; of any other while the VM is stopped */
    ETraceEncoder enc;
    RISCVTraceHartConfig hart_config;   /* what the port was asked for */
    uint32_t pending;           /* units that wait for the next block: bits */
    bool filtered;              /* a unit qualifies blocks and accesses */
    bool off_due;               /* traced up to here, unless it goes on */
    bool notify_due;            /* report the next block */
    bool moved;                 /* a trigger has moved bits of registers */
    bool context_on;            /* trTeContext */
    uint64_t context;           /* that the port has reported last */
    ETraceUpper upper;
    uint64_t next;              /* where the next history begins */
    bool timestamps;            /* packets have them */
    /* Ticks of the first and the last one in this session; atomic */
    aligned_uint64_t first_ticks, last_ticks;
    bool any_ticks;
    bool needs_context;         /* a unit looks at the context */
    bool needs_data;            /* accesses are to be reported by the port */
    bool stalls_for_data;       /* harts wait rather than lose data packets */
    bool asked;                 /* about room, since the last batch */
    uint64_t cycles;            /* of the hart, when last looked at */
    bool live;                  /* enc was started in the present session */
    bool lost;                  /* a batch was lost: signal it to enc */
    uint64_t packets;           /* put into the stream in this session */
    bool passed;                /* what ran since a window was not traced */
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

/* riscv-trace-encoder-tracing.c */

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

/* What mcycle counts */
uint64_t riscv_trace_encoder_cycles(void);

/* riscv-trace-encoder-apply.c */

extern const RISCVTraceHartOps riscv_trace_encoder_hart_ops;

/* Close the window; the packets in the stream. See RISCVTraceHartOps. */
uint64_t riscv_trace_encoder_fence(void *opaque);

/* Registers have changed: the hart's thread looks at them soon. BQL. */
void riscv_trace_encoder_changed(RISCVTraceEncoder *s);

/* Have the units look at their registers; a support packet, if one is due. */
void riscv_trace_encoder_apply_units(RISCVTraceEncoder *s);

/* Pass on what the hart has retired, in its thread or while it stands. */
void riscv_trace_encoder_drain(RISCVTraceEncoder *s);

/* Look at the sink, and have the hart traced or not. BQL. */
void riscv_trace_encoder_update(RISCVTraceEncoder *s);

/* riscv-trace-encoder-regs.c */

void riscv_trace_encoder_regs_init(RISCVTraceEncoder *s);

/* Every register at its power-up value; BQL. */
void riscv_trace_encoder_regs_reset(RISCVTraceEncoder *s);

/* For pre_write(): is the write ignored, as the encoder is in reset? */
bool riscv_trace_encoder_in_reset(RISCVTraceEncoder *s, RegisterInfo *reg);

/* For pre_write(): what the register holds */
uint32_t riscv_trace_encoder_reg(RegisterInfo *reg);

/* A post_write(): the encoder looks at the register soon. */
void riscv_trace_encoder_reg_changed(RegisterInfo *reg, uint64_t val);

/* riscv-trace-encoder-props.c */

/* False with @errp set if the properties do not fit together. */
bool riscv_trace_encoder_check(RISCVTraceEncoder *s, Error **errp);
void riscv_trace_encoder_class_props(ObjectClass *oc);

/* Parameters of the encoder as it is programmed now */
void riscv_trace_encoder_params(RISCVTraceEncoder *s, ETraceParams *params);

#endif /* HW_TRACE_RISCV_TRACE_ENCODER_PRIVATE_H */
