/*
 * RISC-V trace: the trace components of the virt machine
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_VIRT_H
#define HW_TRACE_RISCV_TRACE_VIRT_H

#include "qapi/error.h"
#include "qom/object.h"
#include "hw/trace/riscv-trace-components.h"

struct RISCVVirtState;

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
