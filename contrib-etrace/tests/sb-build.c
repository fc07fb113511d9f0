/*
 * Sideband streams to order, for tests
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <stdarg.h>
#include "check.h"
#include "sb-build.h"

void sb_record(GByteArray *sb, unsigned type, unsigned hart,
               const void *payload, size_t len)
{
    uint8_t header[ETRACE_SB_HEADER_SIZE];

    etrace_sb_put(header, type, 2);
    etrace_sb_put(header + 2, hart, 2);
    etrace_sb_put(header + 4, len, 4);
    g_byte_array_append(sb, header, sizeof(header));
    if (len) {
        g_byte_array_append(sb, payload, len);
    }
}

void sb_u64s(GByteArray *sb, unsigned type, unsigned hart, unsigned n, ...)
{
    uint8_t payload[8 * 8];
    va_list ap;

    check_cmpuint(n, <=, 8);
    va_start(ap, n);
    for (unsigned i = 0; i < n; i++) {
        etrace_sb_put(payload + 8 * i, va_arg(ap, uint64_t), 8);
    }
    va_end(ap);
    sb_record(sb, type, hart, payload, 8 * n);
}

void sb_session(GByteArray *sb, unsigned number, unsigned nr_harts,
                uint64_t trace_offset)
{
    uint8_t p[32] = { 0 };

    memcpy(p, ETRACE_SB_MAGIC, 8);
    etrace_sb_put(p + 8, ETRACE_SB_VERSION_MAJOR, 2);
    etrace_sb_put(p + 10, ETRACE_SB_VERSION_MINOR, 2);
    etrace_sb_put(p + 12, nr_harts, 2);
    etrace_sb_put(p + 16, number, 4);
    etrace_sb_put(p + 24, trace_offset, 8);
    sb_record(sb, ETRACE_SB_SESSION, ETRACE_SB_ALL_HARTS, p, sizeof(p));
}

void sb_origin(GByteArray *sb, uint64_t id, uint64_t origin)
{
    sb_u64s(sb, ETRACE_SB_ORIGIN, ETRACE_SB_ALL_HARTS, 2, id, origin);
}

void sb_params(GByteArray *sb, unsigned hart, const ETraceParams *params)
{
    uint8_t p[ETRACE_SB_PARAMS_SIZE] = {
        params->wire_format, params->iaddress_width, params->iaddress_lsb,
        params->privilege_width, params->ecause_width, params->time_width,
        params->context_width, params->call_counter_size,
        params->return_stack_size, params->bpred_size, params->cache_size,
        params->f0s_width, params->src_bits, params->ts_bytes,
    };

    etrace_sb_put(p + 14, params->src_id, 2);
    etrace_sb_put(p + 16, hart, 8);
    p[28] = params->sijump;
    p[29] = params->data_width;
    p[30] = params->daddress_width;
    p[31] = params->lrid_width;
    sb_record(sb, ETRACE_SB_PARAMS, hart, p, sizeof(p));
}

void sb_code(GByteArray *sb, uint64_t phys, const void *bytes, size_t len)
{
    uint8_t p[8 + ETRACE_SB_PAGE_SIZE];

    check_cmpuint(len, <=, ETRACE_SB_PAGE_SIZE);
    etrace_sb_put(p, phys, 8);
    memcpy(p + 8, bytes, len);
    sb_record(sb, ETRACE_SB_CODE, ETRACE_SB_ALL_HARTS, p, 8 + len);
}

void sb_fence(GByteArray *sb, unsigned hart, uint64_t packets)
{
    sb_u64s(sb, ETRACE_SB_FENCE, hart, 1, packets);
}

void sb_change(GByteArray *sb, uint64_t id)
{
    sb_u64s(sb, ETRACE_SB_CHANGE, ETRACE_SB_ALL_HARTS, 1, id);
}

void sb_place(GByteArray *sb, unsigned hart, uint64_t id, uint64_t packets)
{
    sb_u64s(sb, ETRACE_SB_PLACE, hart, 2, id, packets);
}

void sb_space(GByteArray *sb, unsigned hart, bool virt, uint64_t atp)
{
    sb_u64s(sb, ETRACE_SB_SPACE, hart, 3, (uint64_t)virt, atp, (uint64_t)0);
}

void sb_map(GByteArray *sb, unsigned hart, bool virt, uint64_t vaddr,
            uint64_t phys)
{
    sb_u64s(sb, ETRACE_SB_MAP, hart, 3, (uint64_t)virt, vaddr, phys);
}
