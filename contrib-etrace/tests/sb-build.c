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

/* A record that a function of etrace/sideband.h packs into "out" */
#define APPEND_PACKED(sb, call) do {                                        \
        uint8_t out[ETRACE_SB_HEADER_SIZE + 8 + ETRACE_SB_PAGE_SIZE];       \
        size_t len_ = (call);                                               \
                                                                            \
        g_byte_array_append(sb, out, len_);                                 \
    } while (0)

void sb_note(GByteArray *sb, unsigned hart, ETraceSbNoteKind kind,
             const char *text)
{
    APPEND_PACKED(sb, etrace_sb_pack_note(out, hart, kind, text,
                                          strlen(text)));
}

void sb_session(GByteArray *sb, unsigned number, unsigned nr_harts,
                uint64_t trace_offset)
{
    const ETraceSbSession session = {
        .major = ETRACE_SB_VERSION_MAJOR,
        .minor = ETRACE_SB_VERSION_MINOR,
        .harts = nr_harts,
        .number = number,
        .trace_offset = trace_offset,
    };

    APPEND_PACKED(sb, etrace_sb_pack_session(out, &session));
}

void sb_origin(GByteArray *sb, uint64_t id, uint64_t origin)
{
    const ETraceSbOrigin from = { .id = id, .before = origin };

    APPEND_PACKED(sb, etrace_sb_pack_origin(out, &from));
}

void sb_params(GByteArray *sb, unsigned hart, const ETraceParams *params)
{
    const ETraceSbParams from = { .params = *params, .mhartid = hart };

    APPEND_PACKED(sb, etrace_sb_pack_params(out, hart, &from));
}

void sb_code(GByteArray *sb, uint64_t phys, const void *bytes, size_t len)
{
    check_cmpuint(len, <=, ETRACE_SB_PAGE_SIZE);
    APPEND_PACKED(sb, etrace_sb_pack_code(out, phys, bytes, len));
}

void sb_fence(GByteArray *sb, unsigned hart, uint64_t packets)
{
    APPEND_PACKED(sb, etrace_sb_pack_fence(out, hart, packets));
}

void sb_change(GByteArray *sb, uint64_t id)
{
    APPEND_PACKED(sb, etrace_sb_pack_change(out, id));
}

void sb_place(GByteArray *sb, unsigned hart, uint64_t id, uint64_t packets)
{
    const ETraceSbPlace place = { .id = id, .packets = packets };

    APPEND_PACKED(sb, etrace_sb_pack_place(out, hart, &place));
}

void sb_space(GByteArray *sb, unsigned hart, bool virt, uint64_t atp)
{
    const ETraceSbSpace space = { .virt = virt, .atp = atp };

    APPEND_PACKED(sb, etrace_sb_pack_space(out, hart, &space));
}

void sb_map(GByteArray *sb, unsigned hart, bool virt, uint64_t vaddr,
            uint64_t phys)
{
    const ETraceSbMap map = { .virt = virt, .va = vaddr, .pa = phys };

    APPEND_PACKED(sb, etrace_sb_pack_map(out, hart, &map));
}

void sb_thread(GByteArray *sb, unsigned hart, uint64_t task, unsigned tid,
               unsigned tgid, const char *comm)
{
    ETraceSbTask record = { .task = task, .tid = tid, .tgid = tgid };

    g_strlcpy(record.comm, comm, sizeof(record.comm));
    APPEND_PACKED(sb, etrace_sb_pack_task(out, hart, &record));
}

void sb_task(GByteArray *sb, unsigned hart, uint64_t task, unsigned tid,
             const char *comm)
{
    sb_thread(sb, hart, task, tid, tid, comm);
}
