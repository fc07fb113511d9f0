/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/qapi-commands-riscv-trace.h"

HumanReadableText *qmp_x_query_riscv_trace(Error **errp)
{
    error_setg(errp, "RISC-V trace is not available in this QEMU");
    return NULL;
}

void qmp_x_riscv_trace_start(bool has_sink, RiscvTraceSink sink, Error **errp)
{
    error_setg(errp, "RISC-V trace is not available in this QEMU");
}

void qmp_x_riscv_trace_stop(Error **errp)
{
    error_setg(errp, "RISC-V trace is not available in this QEMU");
}

void qmp_x_riscv_trace_save(const char *filename, bool has_hart, uint16_t hart,
                            Error **errp)
{
    error_setg(errp, "RISC-V trace is not available in this QEMU");
}
