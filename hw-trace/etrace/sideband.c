/*
 * Sideband: the code that ran, beside the trace - packing and unpacking
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "sideband.h"

/* @n numbers of 8 bytes at @p; returns what is behind them. */
static uint8_t *put_u64s(uint8_t *p, const uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++, p += 8) {
        etrace_sb_put(p, words[i], 8);
    }
    return p;
}

static uint64_t get_u64(const uint8_t *p, size_t index)
{
    return etrace_sb_get(p + 8 * index, 8);
}

/* A header at @out; returns where the payload of @len bytes begins. */
static uint8_t *begin(uint8_t *out, ETraceSbType type, unsigned hart,
                      size_t len)
{
    ETraceSbHeader header = { .type = type, .hart = hart, .len = len };

    return out + etrace_sb_pack_header(out, &header);
}

/* A record that is numbers of 8 bytes */
#define PACK_U64S(out, type, hart, ...) ({                              \
        const uint64_t words_[] = { __VA_ARGS__ };                      \
        uint8_t *p_ = begin(out, type, hart, sizeof(words_));           \
        put_u64s(p_, words_, ARRAY_SIZE(words_)) - (out);               \
    })

/*
 * Header, SESSION, PARAMS
 */

size_t etrace_sb_pack_header(uint8_t *out, const ETraceSbHeader *header)
{
    etrace_sb_put(out, header->type, 2);
    etrace_sb_put(out + 2, header->hart, 2);
    etrace_sb_put(out + 4, header->len, 4);
    return ETRACE_SB_HEADER_SIZE;
}

bool etrace_sb_unpack_header(const uint8_t *data, size_t len,
                             ETraceSbHeader *header)
{
    if (len < ETRACE_SB_HEADER_SIZE) {
        return false;
    }
    *header = (ETraceSbHeader) {
        .type = etrace_sb_get(data, 2),
        .hart = etrace_sb_get(data + 2, 2),
        .len = etrace_sb_get(data + 4, 4),
    };
    return len - ETRACE_SB_HEADER_SIZE >= header->len;
}

size_t etrace_sb_pack_session(uint8_t *out, const ETraceSbSession *session)
{
    uint8_t *p = begin(out, ETRACE_SB_SESSION, ETRACE_SB_ALL_HARTS,
                       ETRACE_SB_SESSION_SIZE);

    memset(p, 0, ETRACE_SB_SESSION_SIZE);
    memcpy(p, ETRACE_SB_MAGIC, 8);
    etrace_sb_put(p + 8, session->major, 2);
    etrace_sb_put(p + 10, session->minor, 2);
    etrace_sb_put(p + 12, session->harts, 2);
    etrace_sb_put(p + 14, session->flags, 2);
    etrace_sb_put(p + 16, session->number, 4);
    etrace_sb_put(p + 24, session->trace_offset, 8);
    return p + ETRACE_SB_SESSION_SIZE - out;
}

bool etrace_sb_unpack_session(const uint8_t *p, size_t len,
                              ETraceSbSession *session)
{
    if (len < ETRACE_SB_SESSION_SIZE || memcmp(p, ETRACE_SB_MAGIC, 8)) {
        return false;
    }
    *session = (ETraceSbSession) {
        .major = etrace_sb_get(p + 8, 2),
        .minor = etrace_sb_get(p + 10, 2),
        .harts = etrace_sb_get(p + 12, 2),
        .flags = etrace_sb_get(p + 14, 2),
        .number = etrace_sb_get(p + 16, 4),
        .trace_offset = etrace_sb_get(p + 24, 8),
    };
    return true;
}

/* The parameters that are a byte each, where they are in the payload */
static const struct {
    uint8_t at;
    size_t member;
} param_bytes[] = {
#define PARAM_BYTE(at, name) { at, offsetof(ETraceParams, name) }
    PARAM_BYTE(0, wire_format),
    PARAM_BYTE(1, iaddress_width),
    PARAM_BYTE(2, iaddress_lsb),
    PARAM_BYTE(3, privilege_width),
    PARAM_BYTE(4, ecause_width),
    PARAM_BYTE(5, time_width),
    PARAM_BYTE(6, context_width),
    PARAM_BYTE(7, call_counter_size),
    PARAM_BYTE(8, return_stack_size),
    PARAM_BYTE(9, bpred_size),
    PARAM_BYTE(10, cache_size),
    PARAM_BYTE(11, f0s_width),
    PARAM_BYTE(12, src_bits),
    PARAM_BYTE(13, ts_bytes),
    PARAM_BYTE(28, sijump),
    PARAM_BYTE(29, data_width),
    PARAM_BYTE(30, daddress_width),
    PARAM_BYTE(31, lrid_width),
#undef PARAM_BYTE
};

size_t etrace_sb_pack_params(uint8_t *out, unsigned hart,
                             const ETraceSbParams *params)
{
    const uint8_t *from = (const uint8_t *)&params->params;
    uint8_t *p = begin(out, ETRACE_SB_PARAMS, hart, ETRACE_SB_PARAMS_SIZE);

    for (unsigned i = 0; i < ARRAY_SIZE(param_bytes); i++) {
        p[param_bytes[i].at] = from[param_bytes[i].member];
    }
    etrace_sb_put(p + 14, params->params.src_id, 2);
    etrace_sb_put(p + 16, params->mhartid, 8);
    etrace_sb_put(p + 24, params->isa, 4);
    etrace_sb_put(p + 32, params->params.ts_hz, 8);
    return p + ETRACE_SB_PARAMS_SIZE - out;
}

bool etrace_sb_unpack_params(const uint8_t *p, size_t len,
                             ETraceSbParams *params)
{
    uint8_t *to = (uint8_t *)&params->params;
    /* Those of minor version 1 are there together, or not at all. */
    size_t size = len < ETRACE_SB_PARAMS_SIZE_1_1 ? ETRACE_SB_PARAMS_SIZE_1_0
                                                  : ETRACE_SB_PARAMS_SIZE_1_1;

    if (len < ETRACE_SB_PARAMS_SIZE_1_0) {
        return false;
    }
    *params = (ETraceSbParams) {
        .params.src_id = etrace_sb_get(p + 14, 2),
        .mhartid = etrace_sb_get(p + 16, 8),
        .isa = etrace_sb_get(p + 24, 4),
    };
    for (unsigned i = 0; i < ARRAY_SIZE(param_bytes); i++) {
        if (param_bytes[i].at < size) {
            to[param_bytes[i].member] = p[param_bytes[i].at];
        }
    }
    if (len >= ETRACE_SB_PARAMS_SIZE) {
        params->params.ts_hz = etrace_sb_get(p + 32, 8);
    }
    return true;
}

/*
 * Code, and what replaces it
 */

size_t etrace_sb_pack_code(uint8_t *out, uint64_t pa, const void *bytes,
                           size_t len)
{
    uint8_t *p = begin(out, ETRACE_SB_CODE, ETRACE_SB_ALL_HARTS, 8 + len);

    etrace_sb_put(p, pa, 8);
    memcpy(p + 8, bytes, len);
    return p + 8 + len - out;
}

bool etrace_sb_unpack_code(const uint8_t *p, size_t len, uint64_t *pa,
                           const uint8_t **bytes, size_t *n)
{
    uint64_t offset;

    if (len < 8) {
        return false;
    }
    *pa = get_u64(p, 0);
    *bytes = p + 8;
    *n = len - 8;
    offset = *pa % ETRACE_SB_PAGE_SIZE;
    return !(offset & 1) && !(*n & 1) && *n <= ETRACE_SB_PAGE_SIZE - offset;
}

size_t etrace_sb_pack_fence(uint8_t *out, unsigned hart, uint64_t packets)
{
    return PACK_U64S(out, ETRACE_SB_FENCE, hart, packets);
}

size_t etrace_sb_pack_gap(uint8_t *out, unsigned hart, uint64_t packets)
{
    return PACK_U64S(out, ETRACE_SB_GAP, hart, packets);
}

size_t etrace_sb_pack_change(uint8_t *out, uint64_t id)
{
    return PACK_U64S(out, ETRACE_SB_CHANGE, ETRACE_SB_ALL_HARTS, id);
}

bool etrace_sb_unpack_u64(const uint8_t *p, size_t len, uint64_t *val)
{
    if (len < 8) {
        return false;
    }
    *val = get_u64(p, 0);
    return true;
}

size_t etrace_sb_pack_place(uint8_t *out, unsigned hart,
                            const ETraceSbPlace *place)
{
    return PACK_U64S(out, ETRACE_SB_PLACE, hart, place->id, place->packets);
}

bool etrace_sb_unpack_place(const uint8_t *p, size_t len,
                            ETraceSbPlace *place)
{
    if (len < ETRACE_SB_PLACE_SIZE) {
        return false;
    }
    *place = (ETraceSbPlace) { get_u64(p, 0), get_u64(p, 1) };
    return true;
}

/*
 * Address spaces, handlers of traps
 */

size_t etrace_sb_pack_space(uint8_t *out, unsigned hart,
                            const ETraceSbSpace *space)
{
    return PACK_U64S(out, ETRACE_SB_SPACE, hart, space->virt, space->atp,
                     space->gatp);
}

bool etrace_sb_unpack_space(const uint8_t *p, size_t len,
                            ETraceSbSpace *space)
{
    if (len < ETRACE_SB_SPACE_SIZE) {
        return false;
    }
    *space = (ETraceSbSpace) { p[0], get_u64(p, 1), get_u64(p, 2) };
    return true;
}

size_t etrace_sb_pack_map(uint8_t *out, unsigned hart, const ETraceSbMap *map)
{
    return PACK_U64S(out, ETRACE_SB_MAP, hart, map->virt, map->va, map->pa);
}

bool etrace_sb_unpack_map(const uint8_t *p, size_t len, ETraceSbMap *map)
{
    if (len < ETRACE_SB_MAP_SIZE) {
        return false;
    }
    *map = (ETraceSbMap) { p[0], get_u64(p, 1), get_u64(p, 2) };
    return true;
}

size_t etrace_sb_pack_regs(uint8_t *out, unsigned hart,
                           const ETraceSbRegs *regs)
{
    const uint64_t first[] = { regs->pc, regs->priv, regs->flags };
    uint8_t *p = begin(out, ETRACE_SB_REGS, hart, ETRACE_SB_REGS_SIZE);

    p = put_u64s(p, first, ARRAY_SIZE(first));
    p = put_u64s(p, regs->x + 1, ARRAY_SIZE(regs->x) - 1);
    return put_u64s(p, regs->f, ARRAY_SIZE(regs->f)) - out;
}

bool etrace_sb_unpack_regs(const uint8_t *p, size_t len, ETraceSbRegs *regs)
{
    if (len < ETRACE_SB_REGS_SIZE) {
        return false;
    }
    *regs = (ETraceSbRegs) {
        .pc = get_u64(p, 0), .priv = get_u64(p, 1), .flags = get_u64(p, 2),
    };
    for (unsigned i = 0; i < 31; i++) {
        regs->x[i + 1] = get_u64(p, 3 + i);
    }
    for (unsigned i = 0; i < 32; i++) {
        regs->f[i] = get_u64(p, 34 + i);
    }
    return true;
}

size_t etrace_sb_pack_reset(uint8_t *out, unsigned hart)
{
    return begin(out, ETRACE_SB_RESET, hart, 0) - out;
}

size_t etrace_sb_pack_forget(uint8_t *out, unsigned hart)
{
    return begin(out, ETRACE_SB_FORGET, hart, 0) - out;
}

size_t etrace_sb_pack_tvec(uint8_t *out, unsigned hart,
                           const ETraceSbTvec *tvec)
{
    return PACK_U64S(out, ETRACE_SB_TVEC, hart, tvec->priv, tvec->value);
}

bool etrace_sb_unpack_tvec(const uint8_t *p, size_t len, ETraceSbTvec *tvec)
{
    if (len < ETRACE_SB_TVEC_SIZE) {
        return false;
    }
    *tvec = (ETraceSbTvec) { get_u64(p, 0), get_u64(p, 1) };
    return true;
}

/*
 * Tasks and notes
 */

size_t etrace_sb_pack_task(uint8_t *out, unsigned hart,
                           const ETraceSbTask *task)
{
    uint8_t *p = begin(out, ETRACE_SB_TASK, hart, ETRACE_SB_TASK_SIZE);

    etrace_sb_put(p, task->task, 8);
    etrace_sb_put(p + 8, task->tid, 4);
    etrace_sb_put(p + 12, task->tgid, 4);
    memset(p + 16, 0, ETRACE_SB_COMM_SIZE);
    memcpy(p + 16, task->comm, strnlen(task->comm, ETRACE_SB_COMM_SIZE));
    etrace_sb_put(p + 16 + ETRACE_SB_COMM_SIZE, task->flags, 8);
    return p + ETRACE_SB_TASK_SIZE - out;
}

bool etrace_sb_unpack_task(const uint8_t *p, size_t len, ETraceSbTask *task)
{
    if (len < ETRACE_SB_TASK_SIZE_1_4) {
        return false;
    }
    *task = (ETraceSbTask) {
        .task = get_u64(p, 0),
        .tid = etrace_sb_get(p + 8, 4),
        .tgid = etrace_sb_get(p + 12, 4),
        .flags = len < ETRACE_SB_TASK_SIZE ? 0 : get_u64(p, 4),
    };
    memcpy(task->comm, p + 16,
           strnlen((const char *)p + 16, ETRACE_SB_COMM_SIZE));
    return true;
}

size_t etrace_sb_pack_note(uint8_t *out, unsigned hart, uint64_t kind,
                           const void *text, size_t len)
{
    uint8_t *p = begin(out, ETRACE_SB_NOTE, hart, ETRACE_SB_NOTE_SIZE(len));

    etrace_sb_put(p, kind, 8);
    memcpy(p + 8, text, len);
    return p + 8 + len - out;
}

bool etrace_sb_unpack_note(const uint8_t *p, size_t len, uint64_t *kind,
                           const char **text, size_t *n)
{
    if (len < ETRACE_SB_NOTE_SIZE(0)) {
        return false;
    }
    *kind = get_u64(p, 0);
    *text = (const char *)p + 8;
    *n = len - 8;
    return true;
}

/*
 * The trace as a whole
 */

size_t etrace_sb_pack_align(uint8_t *out, uint64_t offset,
                            const uint64_t *packets, unsigned harts)
{
    uint8_t *p = begin(out, ETRACE_SB_ALIGN, ETRACE_SB_ALL_HARTS,
                       ETRACE_SB_ALIGN_SIZE(harts));

    p = put_u64s(p, &offset, 1);
    return put_u64s(p, packets, harts) - out;
}

bool etrace_sb_unpack_align(const uint8_t *p, size_t len, unsigned harts,
                            uint64_t *offset)
{
    if (len < ETRACE_SB_ALIGN_SIZE(harts)) {
        return false;
    }
    *offset = get_u64(p, 0);
    return true;
}

uint64_t etrace_sb_unpack_align_hart(const uint8_t *p, unsigned hart)
{
    return get_u64(p, 1 + hart);
}

uint64_t etrace_sb_sum(const uint8_t *bytes, size_t n)
{
    uint64_t sum = 0xcbf29ce484222325;

    for (size_t i = 0; i < n; i++) {
        sum = (sum ^ bytes[i]) * 0x100000001b3;
    }
    return sum;
}

size_t etrace_sb_pack_ram(uint8_t *out, const ETraceSbRam *ram,
                          unsigned hart, const uint64_t *packets,
                          unsigned harts, const uint8_t *tail, size_t len)
{
    const uint64_t words[] = {
        ram->bytes, ram->start, ram->limit, ram->wp | ram->wrapped,
    };
    const uint64_t sum[] = { ram->summed, ram->sum };
    bool summed = ram->summed && len == ETRACE_SB_RAM_TAIL;
    uint8_t *p = begin(out, ETRACE_SB_RAM, hart,
                       ETRACE_SB_RAM_SIZE(harts) + len +
                       (summed ? ETRACE_SB_RAM_SUM_SIZE : 0));

    p = put_u64s(p, words, ARRAY_SIZE(words));
    p = put_u64s(p, packets, harts);
    memcpy(p, tail, len);
    p += len;
    if (summed) {
        p = put_u64s(p, sum, ARRAY_SIZE(sum));
    }
    return p - out;
}

bool etrace_sb_unpack_ram(const uint8_t *p, size_t len, unsigned harts,
                          ETraceSbRam *ram)
{
    if (len < ETRACE_SB_RAM_SIZE(harts)) {
        return false;
    }
    *ram = (ETraceSbRam) {
        .bytes = get_u64(p, 0),
        .start = get_u64(p, 1),
        .limit = get_u64(p, 2),
        .wp = get_u64(p, 3) & ~1ull,
        .wrapped = get_u64(p, 3) & 1,
    };
    if (len >= ETRACE_SB_RAM_SIZE(harts) + ETRACE_SB_RAM_TAIL +
               ETRACE_SB_RAM_SUM_SIZE) {
        p += ETRACE_SB_RAM_SIZE(harts) + ETRACE_SB_RAM_TAIL;
        ram->summed = get_u64(p, 0);
        ram->sum = get_u64(p, 1);
    }
    return ram->start <= ram->wp && ram->wp <= ram->limit;
}

uint64_t etrace_sb_unpack_ram_hart(const uint8_t *p, unsigned hart)
{
    return get_u64(p, 4 + hart);
}

size_t etrace_sb_pack_origin(uint8_t *out, const ETraceSbOrigin *origin)
{
    return PACK_U64S(out, ETRACE_SB_ORIGIN, ETRACE_SB_ALL_HARTS, origin->id,
                     origin->before);
}

bool etrace_sb_unpack_origin(const uint8_t *p, size_t len,
                             ETraceSbOrigin *origin)
{
    if (len < ETRACE_SB_ORIGIN_SIZE) {
        return false;
    }
    *origin = (ETraceSbOrigin) { get_u64(p, 0), get_u64(p, 1) };
    return true;
}

size_t etrace_sb_pack_end(uint8_t *out, uint64_t offset,
                          const ETraceSbEnd *end, unsigned harts)
{
    uint8_t *p = begin(out, ETRACE_SB_END, ETRACE_SB_ALL_HARTS,
                       ETRACE_SB_END_SIZE(harts));

    p = put_u64s(p, &offset, 1);
    for (unsigned i = 0; i < harts; i++) {
        const uint64_t words[] = { end[i].put, end[i].lost, end[i].lost_last };

        p = put_u64s(p, words, ARRAY_SIZE(words));
    }
    for (unsigned i = 0; i < harts; i++) {
        p = put_u64s(p, &end[i].ticks, 1);
    }
    return p - out;
}

bool etrace_sb_unpack_end(const uint8_t *p, size_t len, unsigned harts,
                          uint64_t *offset)
{
    if (len < ETRACE_SB_END_SIZE_1_3(harts)) {
        return false;
    }
    *offset = get_u64(p, 0);
    return true;
}

ETraceSbEnd etrace_sb_unpack_end_hart(const uint8_t *p, size_t len,
                                      unsigned harts, unsigned hart)
{
    const uint8_t *counts = p + ETRACE_SB_END_SIZE_1_3(hart);
    const uint8_t *ticks = p + ETRACE_SB_END_SIZE_1_3(harts);

    return (ETraceSbEnd) {
        .put = get_u64(counts, 0),
        .lost = get_u64(counts, 1),
        .lost_last = get_u64(counts, 2),
        .ticks = len < ETRACE_SB_END_SIZE(harts) ? ETRACE_SB_TICKS_UNKNOWN
                                                 : get_u64(ticks, hart),
    };
}
