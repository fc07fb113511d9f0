/*
 * RISC-V trace: the code that ran (sideband stream)
 *
 * Knows which bytes were translated, from which physical page, and which
 * virtual page a hart fetches them through; tells the sideband stream what is
 * new, and puts what replaces something behind a fence in the hart's trace.
 * See hw/trace/etrace/sideband.h for the records.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_TRACE_CODE_H
#define TARGET_RISCV_TRACE_CODE_H

#include "hart.h"

/*
 * Takes one whole record. May be called from any vCPU thread, one at a time.
 * Returns false if it was lost: the session is over then.
 */
typedef bool RISCVTraceRecordFn(void *opaque, const uint8_t *record,
                                size_t len);

/*
 * Begin a sideband session: whatever was told before is forgotten. @put may
 * be NULL: no sideband. @params has @nharts entries, indexed like the
 * encoders; @trace_offset: bytes of the trace stream since its channel was
 * opened. Call with the BQL held, then riscv_trace_hart_enable() each hart.
 */
void riscv_trace_session_begin(RISCVTraceRecordFn *put, void *opaque,
                               unsigned nharts, const ETraceParams *params,
                               uint64_t trace_offset);

/* No reader any more. BQL held. */
void riscv_trace_session_end(void);

/*
 * An alignment sequence ends at @trace_offset; @packets: each hart's packets
 * before it.
 */
void riscv_trace_session_align(uint64_t trace_offset, const uint64_t *packets,
                               unsigned nharts);

/*
 * What a RAM sink holds by now: the @n words of ETRACE_SB_RAM. Not from the
 * middle of a record of a hart's own.
 */
void riscv_trace_session_ram(const uint64_t *words, unsigned n);

#endif /* TARGET_RISCV_TRACE_CODE_H */
