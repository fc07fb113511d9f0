/*
 * RISC-V trace: the trace components of a machine
 *
 *     encoder (one per hart) --> funnel [--> ATB bridge] --> replicator
 *
 *     replicator --> PIB sink --> chardev
 *                --> RAM sink --> guest memory or SRAM
 *                    sideband --> chardev
 *
 * or, with the topology "per-hart", whose replicator only keeps the session
 * that all RAM sinks share, and has no other outputs:
 *
 *     encoder --> replicator --> RAM sink (one per hart)
 *
 * They are children of the machine, by whose names the monitor finds them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_COMPONENTS_H
#define HW_TRACE_RISCV_TRACE_COMPONENTS_H

#include "exec/hwaddr.h"
#include "qapi/error.h"

/* Properties of the virt machine, or of the device riscv-trace */
typedef struct RISCVTraceOptions {
    bool on;
    bool autostart;             /* from reset, without guest software */
    bool atb;                   /* an ATB bridge behind the funnel */
    bool per_hart;              /* a RAM sink for each hart, no funnel */
    char *modes;                /* of autostart; NULL: the default */
    char *chardev;              /* of the PIB sink; NULL: none */
    char *sideband;             /* of the sideband stream; NULL: none */
    const char *needs_sideband; /* an option that does; NULL: none is given */
} RISCVTraceOptions;

/* Pages of RISCV_TRACE_MMIO_SIZE bytes: encoders from 0 on, then */
#define RISCV_TRACE_PAGE_FUNNEL     RISCV_TRACE_MAX_SOURCES
#define RISCV_TRACE_PAGE_PIB        (RISCV_TRACE_MAX_SOURCES + 1)
#define RISCV_TRACE_PAGE_RAM        (RISCV_TRACE_MAX_SOURCES + 2)
#define RISCV_TRACE_PAGE_ATB        (RISCV_TRACE_MAX_SOURCES + 3)
/* ... of which the topology "per-hart" has none: its RAM sinks are there. */
#define RISCV_TRACE_PAGE_HART_RAM   RISCV_TRACE_MAX_SOURCES

/* As a base: components are not mapped. */
#define RISCV_TRACE_UNMAPPED        ((hwaddr)-1)

/* Is there a chardev @id, if it is not NULL? @property: for the error */
bool riscv_trace_check_chardev(const char *property, const char *id,
                               Error **errp);

/*
 * Create the components for @harts, RISCVCPUs that exist, numbered from 0,
 * below @base, or not mapped if that is RISCV_TRACE_UNMAPPED. Returns false
 * with @errp set if the options do not make sense, or the machine has trace
 * components already. @harts and @opt remain the caller's.
 */
bool riscv_trace_components_create(const RISCVTraceOptions *opt,
                                   const GPtrArray *harts, hwaddr base,
                                   Error **errp);

#endif /* HW_TRACE_RISCV_TRACE_COMPONENTS_H */
