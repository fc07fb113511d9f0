/*
 * RISC-V trace: guest memory that trace is written to
 *
 * What is put into the trace may come from a hart that is in the middle of a
 * translation. So nothing here that writes invalidates translated code, which
 * would need locks that such a hart may hold: memory with code in it is named
 * apart, and freed of the code beforehand.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_MEMORY_H
#define HW_TRACE_RISCV_TRACE_MEMORY_H

#include "system/memory.h"

typedef enum RISCVTraceMemory {
    RISCV_TRACE_MEMORY_RAM,
    RISCV_TRACE_MEMORY_CODE,        /* RAM, from which code was translated */
    RISCV_TRACE_MEMORY_OTHER,       /* not, or not all of it, RAM */
} RISCVTraceMemory;

/* What is there at @addr, @len bytes of it? Any thread. */
RISCVTraceMemory riscv_trace_memory_look(AddressSpace *as, hwaddr addr,
                                         hwaddr len);

/*
 * Forget all code that was translated from @len bytes at @addr. BQL, and not
 * from the middle of a translation.
 */
void riscv_trace_memory_evict(AddressSpace *as, hwaddr addr, hwaddr len);

/*
 * Store @len bytes. Returns false, and may have stored some of them, if not
 * all of it is RAM. Any thread.
 */
bool riscv_trace_memory_store(AddressSpace *as, hwaddr addr,
                              const uint8_t *bytes, hwaddr len);

/*
 * Load @len bytes. Returns false if not all of it is RAM: nothing else is read,
 * whose reading might have effects. Any thread.
 */
bool riscv_trace_memory_load(AddressSpace *as, hwaddr addr, uint8_t *bytes,
                             hwaddr len);

#endif /* HW_TRACE_RISCV_TRACE_MEMORY_H */
