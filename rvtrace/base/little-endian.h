/*
 * Numbers as perf's files and buffers of CTR samples have them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_LITTLE_ENDIAN_H
#define ETRACE_LITTLE_ENDIAN_H

#include "etrace/sideband.h"

/* The number in the @bytes bytes at @p, 8 of them at most */
static inline uint64_t get_le(const uint8_t *p, unsigned bytes)
{
    return etrace_sb_get(p, bytes);
}

#endif /* ETRACE_LITTLE_ENDIAN_H */
