/*
 * What QEMU's disassembler needs of its bitops.h, for building it without QEMU
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SHIM_QEMU_BITOPS_H
#define ETRACE_SHIM_QEMU_BITOPS_H

static inline uint32_t extract32(uint32_t value, int start, int length)
{
    return (value >> start) & (~0U >> (32 - length));
}

static inline int32_t sextract32(uint32_t value, int start, int length)
{
    return (int32_t)(value << (32 - length - start)) >> (32 - length);
}

static inline uint32_t deposit32(uint32_t value, int start, int length,
                                 uint32_t field)
{
    uint32_t mask = (~0U >> (32 - length)) << start;

    return (value & ~mask) | ((field << start) & mask);
}

#endif /* ETRACE_SHIM_QEMU_BITOPS_H */
