/*
 * Linux kernels as files: what is known of their types
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_KERNEL_BTF_H
#define ETRACE_KERNEL_BTF_H

#include <glib.h>
#include "etrace/guest-info.h"

/*
 * What trace-guest-info has to know of the kernel in @path: an Image, as it is
 * or compressed by gzip, or a vmlinux. Returns false and sets @errp, with the
 * path and what to do in its message.
 */
bool kernel_btf_guest_info(const char *path, ETraceGuestInfo *info,
                             GError **errp);

/*
 * The same of @size bytes in memory that are an Image, or anything else that
 * has BTF somewhere.
 */
bool kernel_btf_parse(const uint8_t *data, size_t size,
                        ETraceGuestInfo *info, GError **errp);

#endif /* ETRACE_KERNEL_BTF_H */
