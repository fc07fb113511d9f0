/*
 * RISC-V trace: packets of each source that were put into the stream, or lost
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_COUNTS_H
#define HW_TRACE_RISCV_TRACE_COUNTS_H

#include "qemu/thread.h"
#include "etrace/sideband.h"
#include "riscv-trace-sink.h"

/* Bytes of the longest record of riscv_trace_counts_pack() */
#define RISCV_TRACE_COUNTS_RECORD \
    (ETRACE_SB_HEADER_SIZE + ETRACE_SB_END_SIZE(RISCV_TRACE_MAX_SOURCES))

/* Of the present session. Any thread. */
typedef struct RISCVTraceCounts {
    QemuMutex lock;             /* protects the others */
    bool changed;               /* since they were packed */
    ETraceSbEnd sources[RISCV_TRACE_MAX_SOURCES];
} RISCVTraceCounts;

void riscv_trace_counts_init(RISCVTraceCounts *c);
void riscv_trace_counts_cleanup(RISCVTraceCounts *c);

/* A session begins: nothing was put or lost, which nobody knows yet. */
void riscv_trace_counts_clear(RISCVTraceCounts *c);

/* @packets of a source were put into the stream, or else lost. */
void riscv_trace_counts_add(RISCVTraceCounts *c, unsigned index,
                            unsigned packets, bool put);

/* Ticks that have passed from a source's first timestamp to its last one */
void riscv_trace_counts_set_ticks(RISCVTraceCounts *c, unsigned index,
                                  uint64_t ticks);

/* Were packets lost behind the last one in the stream? */
bool riscv_trace_counts_lost(RISCVTraceCounts *c, unsigned index);

/*
 * Pack the sideband's END, for a trace that ends at offset @end, with the
 * counts of @n sources. Returns its length; 0: it would say what the last one
 * says.
 */
size_t riscv_trace_counts_pack(RISCVTraceCounts *c, uint8_t *record,
                               uint64_t end, unsigned n);

/* The record could not be written: it is to be packed again. */
void riscv_trace_counts_not_written(RISCVTraceCounts *c);

/* Warn of what was lost. */
void riscv_trace_counts_warn(RISCVTraceCounts *c);

#endif /* HW_TRACE_RISCV_TRACE_COUNTS_H */
