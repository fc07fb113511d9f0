/*
 * RISC-V trace encoder: units, which an encoder may have beside its core
 *
 * A unit is a part of the encoder with properties, registers and migrated
 * state of its own: triggers, data trace, filters. It registers itself, and
 * the core calls it where the table below says so. While no unit waits for the
 * next block (RISCVTraceEncoder.pending, .filtered), blocks pass them by.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_ENCODER_UNIT_H
#define HW_TRACE_RISCV_TRACE_ENCODER_UNIT_H

#include "hw/qdev-properties.h"
#include "hw/register.h"
#include "migration/vmstate.h"
#include "hw/trace/etrace/etrace.h"
#include "hw/trace/riscv-trace-encoder.h"
#include "target/riscv/trace/hart.h"

/* Slots of the table, in the order in which units see a block */
typedef enum RISCVTraceEncoderSlot {
    RISCV_TRACE_UNIT_TRIGGERS,
    RISCV_TRACE_UNIT_DATA,
    RISCV_TRACE_UNIT_FILTERS,
    RISCV_TRACE_UNIT_GUEST,
    RISCV_TRACE_UNITS
} RISCVTraceEncoderSlot;

/* What is said of a property, and the limits of one of 8 bits */
typedef struct RISCVTraceEncoderProp {
    const char *name, *description;
    struct {
        size_t offset;          /* in RISCVTraceEncoderConfig */
        uint8_t min, max;       /* both 0: there are none */
    } limits;
} RISCVTraceEncoderProp;

#define RISCV_TRACE_LIMITS(member, min, max) \
    { offsetof(RISCVTraceEncoderConfig, member), min, max }

/* A block on its way through the units */
typedef struct RISCVTraceEncoderBlock {
    const ETraceBlock *block;
    uint64_t tval;
    bool qualified;             /* for instruction trace */
    /* Accesses of its instructions, and which of them are qualified */
    unsigned num_accesses;
    const ETraceAccess *accesses;
    bool *traced;
} RISCVTraceEncoderBlock;

/* Every function may be NULL. */
typedef struct RISCVTraceEncoderUnit {
    const Property *props;
    unsigned num_props;
    const RISCVTraceEncoderProp *texts;
    unsigned num_texts;
    const RegisterAccessInfo *regs;     /* trTe* in RISCVTraceEncoder.regs */
    unsigned num_regs;
    const VMStateDescription *vmsd;     /* subsection of the encoder's */

    /* The device */
    void (*class_init)(ObjectClass *oc);
    void (*init)(RISCVTraceEncoder *s);
    void (*finalize)(RISCVTraceEncoder *s);
    /* At realize; false with @errp set if properties do not fit together */
    bool (*check)(RISCVTraceEncoder *s, Error **errp);

    /* Registers; BQL */

    /* All at their power-up value */
    void (*reset)(RISCVTraceEncoder *s);
    /* They have been migrated; reset() was called before. */
    void (*post_load)(RISCVTraceEncoder *s);
    /* trTeControl goes from @old to @val. */
    void (*control)(RISCVTraceEncoder *s, uint32_t old, uint32_t val);

    /* From the registers to the encoder; in the hart's thread, BQL */

    /* Take them over. Sets needs_data, needs_context, filtered if need be. */
    void (*configure)(RISCVTraceEncoder *s);
    /* What the port is to report beside that */
    void (*port)(RISCVTraceEncoder *s, RISCVTraceHartConfig *port);
    /* A session begins, behind configure(). */
    void (*start)(RISCVTraceEncoder *s);
    /* They may have changed within a session; true: a support packet is due */
    bool (*apply)(RISCVTraceEncoder *s);

    /* What the hart retires; in its thread, or while the VM is stopped */

    void (*event)(RISCVTraceEncoder *s, const ETraceEvent *event);
    /* Around each block while one of the units waits for it */
    void (*before)(RISCVTraceEncoder *s, RISCVTraceEncoderBlock *b);
    void (*after)(RISCVTraceEncoder *s, const RISCVTraceEncoderBlock *b);

    /* Filters, if there are active ones */

    /*
     * Which addresses are qualified with privilege @priv; false: only a look
     * at each block tells.
     */
    bool (*ranges)(RISCVTraceEncoder *s, ETracePriv priv,
                   ETraceRanges *ranges);

    /* Data trace */

    /*
     * The @n accesses come right before the block @b, or before something else
     * (NULL). True if they may be sent from where they are, behind the block;
     * else they are kept until it comes.
     */
    bool (*take)(RISCVTraceEncoder *s, const ETraceSlot *slots, size_t n,
                 const ETraceBlock *b);
    /* Send the accesses among the @n slots; no filter is asked about them. */
    void (*send)(RISCVTraceEncoder *s, const ETraceSlot *slots, size_t n);
    /* Send those of @b, as far as they are qualified. */
    void (*send_kept)(RISCVTraceEncoder *s, const RISCVTraceEncoderBlock *b);
    /* Decoders begin anew at the packet that comes next ... */
    void (*resync)(RISCVTraceEncoder *s);
    /* ... because packets that the sink had taken were lost */
    void (*lost)(RISCVTraceEncoder *s);

    /* Triggers */

    /*
     * May one fire between two instructions? Which block it belongs to has to
     * be seen then.
     */
    bool (*armed)(RISCVTraceEncoder *s);
    /* One fired while the hart is not traced. */
    void (*fired)(RISCVTraceEncoder *s, ETraceTrigger action);
} RISCVTraceEncoderUnit;

/* NULL where a unit is not built in */
extern const RISCVTraceEncoderUnit *
    riscv_trace_encoder_units[RISCV_TRACE_UNITS];

/* Call @function of each unit that has it. */
#define RISCV_TRACE_CALL_UNITS(function, ...) do {                      \
        for (unsigned i_ = 0; i_ < RISCV_TRACE_UNITS; i_++) {           \
            const RISCVTraceEncoderUnit *u_ =                           \
                riscv_trace_encoder_units[i_];                          \
                                                                        \
            if (u_ && u_->function) {                                   \
                u_->function(__VA_ARGS__);                              \
            }                                                           \
        }                                                               \
    } while (0)

/* Register @unit before the type of encoders is: from a type_init(). */
void riscv_trace_encoder_add_unit(RISCVTraceEncoderSlot slot,
                                  const RISCVTraceEncoderUnit *unit);

#endif /* HW_TRACE_RISCV_TRACE_ENCODER_UNIT_H */
