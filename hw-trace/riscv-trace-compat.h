/*
 * RISC-V trace components: where the QEMUs differ that they are built in
 *
 * Everything else has the names of the newest one; patches/10.0 gives them to
 * QEMU 10.0.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_COMPAT_H
#define HW_TRACE_RISCV_TRACE_COMPAT_H

#include "hw/register.h"
#include "qom/object.h"

/* What a class_init() gets beside the class: const since QEMU 10.1 */
typedef typeof(__builtin_choose_expr(
    __builtin_types_compatible_p(typeof(((TypeInfo *)0)->class_init),
                                 void (*)(ObjectClass *, const void *)),
    (const void *)0, (void *)0)) RISCVTraceClassData;

/* Since QEMU 10.1 register blocks end with the device that owns them. */
static inline void riscv_trace_finalize_block(RegisterInfoArray *block)
{
#ifndef TYPE_REGISTER_ARRAY
    register_finalize_block(block);
#endif
}

#endif /* HW_TRACE_RISCV_TRACE_COMPAT_H */
