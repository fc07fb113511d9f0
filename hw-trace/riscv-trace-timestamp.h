/*
 * RISC-V trace: timestamp unit of an encoder or a funnel
 *
 * Trace Control Interface 1.0, section "Timestamp Unit": the registers
 * trTsControl and trTsCounter of the component that embeds it. All clocks are
 * derived from QEMU_CLOCK_VIRTUAL, so that they stand while the VM does:
 *
 *  - external: 10 MHz, the rate and value of an unmodified mtime
 *  - internal system, internal core: 1 GHz, divided by trTsPrescale
 *  - shared: the unit of the funnel that the component is connected to
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_TIMESTAMP_H
#define HW_TRACE_RISCV_TRACE_TIMESTAMP_H

#include "migration/vmstate.h"
#include "qemu/thread.h"

/* trTsMode */
typedef enum RISCVTraceTimestampMode {
    RISCV_TRACE_TIMESTAMP_NONE = 0,
    RISCV_TRACE_TIMESTAMP_EXTERNAL = 1,
    RISCV_TRACE_TIMESTAMP_SYSTEM = 2,
    RISCV_TRACE_TIMESTAMP_CORE = 3,
    RISCV_TRACE_TIMESTAMP_SHARED = 4,
} RISCVTraceTimestampMode;

/* Widest counter: trTsWidth has 6 bits. */
#define RISCV_TRACE_TIMESTAMP_WIDTH_MAX 63

typedef struct RISCVTraceTimestamp RISCVTraceTimestamp;

struct RISCVTraceTimestamp {
    uint8_t width;              /* bits; 0: there is no unit */
    bool encoder;               /* in an encoder: core clock, trTsEnable */
    RISCVTraceTimestamp *shared;    /* NULL: nothing to share */

    QemuMutex lock;             /* protects what follows */
    uint32_t control;           /* trTsControl */
    uint64_t ticks;             /* counter when it last was set or stopped */
    int64_t since;              /* clock of that moment, ns */
};

/*
 * @width: bits, up to RISCV_TRACE_TIMESTAMP_WIDTH_MAX. @encoder: as in the
 * struct. The unit is in reset then.
 */
void riscv_trace_timestamp_init(RISCVTraceTimestamp *t, unsigned width,
                                bool encoder);
void riscv_trace_timestamp_cleanup(RISCVTraceTimestamp *t);

/* Mode 4 takes @from's time. Before the machine runs. */
void riscv_trace_timestamp_share(RISCVTraceTimestamp *t,
                                 RISCVTraceTimestamp *from);

/* As by trTsActive 0; also when the component's own Active bit is 0. BQL. */
void riscv_trace_timestamp_reset(RISCVTraceTimestamp *t);

/* trTsControl; BQL */
uint32_t riscv_trace_timestamp_read(RISCVTraceTimestamp *t);
void riscv_trace_timestamp_write(RISCVTraceTimestamp *t, uint32_t val);

/*
 * Set the mode, enable it and let it count, as if written: power-up values.
 * A mode that there is not: none. BQL.
 */
void riscv_trace_timestamp_power_up(RISCVTraceTimestamp *t, unsigned mode);

/* The present time without a limit of bits, 0 if there is none. Any thread. */
uint64_t riscv_trace_timestamp_ticks(RISCVTraceTimestamp *t);

/* What a timestamp has of it: the lower bits */
uint64_t riscv_trace_timestamp_bits(RISCVTraceTimestamp *t, uint64_t ticks);

/* Ticks a second, 0 if there are none. Any thread. */
uint64_t riscv_trace_timestamp_hz(RISCVTraceTimestamp *t);

/* trTsCounter: the present time, 0 if there is none. Any thread. */
uint64_t riscv_trace_timestamp_now(RISCVTraceTimestamp *t);

/* True if packets are to have timestamps. Any thread. */
bool riscv_trace_timestamp_enabled(RISCVTraceTimestamp *t);

/* Bytes of a timestamp in a packet ("T") */
static inline unsigned riscv_trace_timestamp_bytes(unsigned width)
{
    return (width + 7) / 8;
}

extern const VMStateDescription vmstate_riscv_trace_timestamp;

#endif /* HW_TRACE_RISCV_TRACE_TIMESTAMP_H */
