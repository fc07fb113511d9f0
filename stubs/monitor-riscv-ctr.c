/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/qapi-commands-misc-riscv.h"

HumanReadableText *qmp_x_query_riscv_ctr(Error **errp)
{
    error_setg(errp, "control transfer records are not available in this QEMU");
    return NULL;
}
