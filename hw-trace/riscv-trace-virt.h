/*
 * RISC-V trace: the trace components of the virt machine
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
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_VIRT_H
#define HW_TRACE_RISCV_TRACE_VIRT_H

#include "qapi/error.h"
#include "qom/object.h"

struct RISCVVirtState;

/* Machine properties "trace", "trace-chardev", ... */
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

/* Add the properties to the virt machine's class. */
void riscv_trace_virt_class_init(ObjectClass *oc);

/* "trace-guest-info", in riscv-trace-guest.c */
void riscv_trace_guest_class_init(ObjectClass *oc);

/*
 * Create the components if "trace" is on; the harts exist. Returns false with
 * @errp set if the options do not make sense.
 */
bool riscv_trace_virt_create(struct RISCVVirtState *s, Error **errp);

/* Add their nodes to the device tree, which has those of the harts. */
void riscv_trace_virt_create_fdt(struct RISCVVirtState *s);

#endif /* HW_TRACE_RISCV_TRACE_VIRT_H */
