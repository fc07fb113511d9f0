/*
 * What QEMU's disassembler needs of its bswap.h, for building it without QEMU
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SHIM_QEMU_BSWAP_H
#define ETRACE_SHIM_QEMU_BSWAP_H

static inline int lduw_le_p(const void *ptr)
{
    const uint8_t *p = ptr;

    return p[0] | p[1] << 8;
}

static inline int lduw_be_p(const void *ptr)
{
    const uint8_t *p = ptr;

    return p[0] << 8 | p[1];
}

static inline int ldl_le_p(const void *ptr)
{
    const uint8_t *p = ptr;

    return (int)(lduw_le_p(p) | (uint32_t)lduw_le_p(p + 2) << 16);
}

static inline int ldl_be_p(const void *ptr)
{
    const uint8_t *p = ptr;

    return (int)((uint32_t)lduw_be_p(p) << 16 | lduw_be_p(p + 2));
}

static inline uint64_t ldq_le_p(const void *ptr)
{
    const uint8_t *p = ptr;

    return (uint32_t)ldl_le_p(p) | (uint64_t)ldl_le_p(p + 4) << 32;
}

#endif /* ETRACE_SHIM_QEMU_BSWAP_H */
