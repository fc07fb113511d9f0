/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/qapi-commands-riscv-ctr-sample.h"

void qmp_x_riscv_ctr_sample_start(uint64_t period, bool has_entries,
                                  uint32_t entries, bool has_buffer,
                                  uint64_t buffer, Error **errp)
{
    error_setg(errp, "control transfer records are not available in this QEMU");
}

void qmp_x_riscv_ctr_sample_stop(Error **errp)
{
    error_setg(errp, "control transfer records are not available in this QEMU");
}

RiscvCtrSamples *qmp_x_riscv_ctr_sample_read(Error **errp)
{
    error_setg(errp, "control transfer records are not available in this QEMU");
    return NULL;
}
