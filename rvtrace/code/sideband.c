/*
 * Sideband files: sessions, parameters and the index of places
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "etrace/packet.h"
#include "base/input.h"
#include "base/stream-file.h"
#include "code/sideband-private.h"

#define MAX_HARTS       4096

bool sideband_next(const uint8_t *data, size_t end, size_t *pos,
                   SidebandRecord *rec)
{
    ETraceSbHeader header;

    if (!etrace_sb_unpack_header(data + *pos, end - *pos, &header)) {
        return false;
    }
    rec->type = header.type;
    rec->hart = header.hart;
    rec->len = header.len;
    rec->payload = data + *pos + ETRACE_SB_HEADER_SIZE;
    rec->pos = *pos;
    *pos += ETRACE_SB_HEADER_SIZE + header.len;
    return true;
}

bool sideband_record_valid(const Sideband *sb, const SidebandRecord *rec)
{
    bool hart = rec->hart < sb->nr_harts;
    const uint8_t *p = rec->payload;
    union {
        ETraceSbParams params;
        ETraceSbPlace place;
        ETraceSbTvec tvec;
        ETraceSbSpace space;
        ETraceSbMap map;
        ETraceSbRam ram;
        ETraceSbOrigin origin;
        ETraceSbTask task;
        ETraceSbRegs regs;
        uint64_t val;
    } any;
    const uint8_t *bytes;
    size_t n;

    switch (rec->type) {
    case ETRACE_SB_PARAMS:
        return hart && etrace_sb_unpack_params(p, rec->len, &any.params);
    case ETRACE_SB_CODE:
        return etrace_sb_unpack_code(p, rec->len, &any.val, &bytes, &n);
    case ETRACE_SB_FENCE:
    case ETRACE_SB_CHANGE:
        return etrace_sb_unpack_u64(p, rec->len, &any.val);
    case ETRACE_SB_GAP:
        return hart && etrace_sb_unpack_u64(p, rec->len, &any.val);
    case ETRACE_SB_REGS:
        return hart && etrace_sb_unpack_regs(p, rec->len, &any.regs);
    case ETRACE_SB_PLACE:
        return hart && etrace_sb_unpack_place(p, rec->len, &any.place);
    case ETRACE_SB_TVEC:
        return hart && etrace_sb_unpack_tvec(p, rec->len, &any.tvec);
    case ETRACE_SB_SPACE:
        return hart && etrace_sb_unpack_space(p, rec->len, &any.space);
    case ETRACE_SB_MAP:
        return hart && etrace_sb_unpack_map(p, rec->len, &any.map);
    case ETRACE_SB_ALIGN:
        return etrace_sb_unpack_align(p, rec->len, sb->nr_harts, &any.val);
    case ETRACE_SB_RAM:
        return (hart || rec->hart == ETRACE_SB_ALL_HARTS) &&
               etrace_sb_unpack_ram(p, rec->len, sb->nr_harts, &any.ram);
    case ETRACE_SB_ORIGIN:
        return etrace_sb_unpack_origin(p, rec->len, &any.origin);
    case ETRACE_SB_END:
        return etrace_sb_unpack_end(p, rec->len, sb->nr_harts, &any.val);
    case ETRACE_SB_NOTE:
        return (hart || rec->hart == ETRACE_SB_ALL_HARTS) &&
               rec->len >= ETRACE_SB_NOTE_SIZE(0);
    case ETRACE_SB_TASK:
        return hart && etrace_sb_unpack_task(p, rec->len, &any.task);
    default:
        return true;
    }
}

static void G_GNUC_PRINTF(2, 3) add_problem(Sideband *sb, const char *fmt, ...)
{
    va_list ap;

    sb->nr_problems++;
    if (sb->problem) {
        return;         /* the first one explains most */
    }
    va_start(ap, fmt);
    sb->problem = g_strdup_vprintf(fmt, ap);
    va_end(ap);
}

static bool is_session(const SidebandRecord *rec, ETraceSbSession *session)
{
    return rec->type == ETRACE_SB_SESSION &&
           etrace_sb_unpack_session(rec->payload, rec->len, session);
}

static void parse_params(SidebandHart *hart, const SidebandRecord *rec)
{
    ETraceSbParams params;

    etrace_sb_unpack_params(rec->payload, rec->len, &params);
    hart->present = true;
    hart->params = params.params;
    hart->mhartid = params.mhartid;
    hart->isa = params.isa;
}

static void add_ram(Sideband *sb, const SidebandRecord *rec)
{
    ETraceSbRam from;
    SidebandRam ram;

    etrace_sb_unpack_ram(rec->payload, rec->len, sb->nr_harts, &from);
    ram = (SidebandRam) {
        .hart = rec->hart == ETRACE_SB_ALL_HARTS ? SIDEBAND_SHARED_RAM :
                                                   rec->hart,
        .bytes = from.bytes,
        .start = from.start,
        .limit = from.limit,
        .wp = from.wp,
        .wrapped = from.wrapped,
        .packets = rec->payload + ETRACE_SB_RAM_SIZE(0),
        .tail = rec->payload + ETRACE_SB_RAM_SIZE(sb->nr_harts),
        .tail_len = MIN(rec->len - ETRACE_SB_RAM_SIZE(sb->nr_harts),
                        ETRACE_SB_RAM_TAIL),
        .summed = from.summed,
        .sum = from.sum,
    };
    ram.tail_len = MIN(ram.tail_len, ram.bytes);
    if (ram.summed > MIN(ram.bytes, ETRACE_SB_RAM_SUMMED)) {
        ram.summed = 0;
    }
    g_array_append_val(sb->rams, ram);
}

/*
 * Walk the records from @pos to the end once: parameters, places, alignment
 * sequences.
 */
static bool index_records(Sideband *sb, size_t pos, GError **errp)
{
    ETraceSbOrigin origin;
    SidebandAlign align;
    SidebandRecord rec;

    while (pos < sb->end && sideband_next(sb->data, sb->end, &pos, &rec)) {
        if (!sideband_record_valid(sb, &rec)) {
            add_problem(sb, "malformed record of type %u at byte %zu",
                        rec.type, rec.pos);
            continue;
        }
        switch (rec.type) {
        case ETRACE_SB_PARAMS:
            parse_params(&sb->harts[rec.hart], &rec);
            if (!etrace_params_valid(&sb->harts[rec.hart].params)) {
                g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                            "sideband: the encoder parameters of hart %u "
                            "(byte %zu) are none that this program can read",
                            rec.hart, rec.pos);
                return false;
            }
            break;
        case ETRACE_SB_PLACE:
            sideband_add_place(sb, &rec);
            break;
        case ETRACE_SB_GAP:
            sideband_add_gap(sb, &rec);
            break;
        case ETRACE_SB_ALIGN:
            align.payload = rec.payload;
            etrace_sb_unpack_align(rec.payload, rec.len, sb->nr_harts,
                                   &align.offset);
            g_array_append_val(sb->aligns, align);
            break;
        case ETRACE_SB_RAM:
            add_ram(sb, &rec);
            break;
        case ETRACE_SB_ORIGIN:
            etrace_sb_unpack_origin(rec.payload, rec.len, &origin);
            sb->id = origin.id;
            sb->origin = origin.before;
            break;
        case ETRACE_SB_END:
            sb->last = rec.payload;
            sb->last_len = rec.len;
            break;
        }
    }
    sideband_sort_places(sb);
    return true;
}

static bool index_session(Sideband *sb, GError **errp)
{
    sb->harts = g_new0(SidebandHart, sb->nr_harts);
    sb->places = g_new0(GArray *, sb->nr_harts);
    sb->gaps = g_new0(GArray *, sb->nr_harts);
    sb->aligns = g_array_new(FALSE, FALSE, sizeof(SidebandAlign));
    sb->rams = g_array_new(FALSE, FALSE, sizeof(SidebandRam));
    if (!index_records(sb, sb->begin, errp)) {
        return false;
    }
    if (sb->cut) {
        add_problem(sb, "cut off or malformed at byte %zu", sb->end);
    }
    return true;
}

bool sideband_grow(Sideband *sb, size_t size)
{
    size_t from = sb->end, pos = from;
    ETraceSbSession session;
    SidebandRecord rec;

    while (sideband_next(sb->data, size, &pos, &rec)) {
        if (is_session(&rec, &session)) {
            index_records(sb, from, NULL);
            return false;
        }
        sb->end = pos;
    }
    return index_records(sb, from, NULL);
}

uint64_t sideband_known_to(const Sideband *sb, uint64_t limit)
{
    for (guint i = sb->aligns->len; i-- > 0;) {
        uint64_t offset = g_array_index(sb->aligns, SidebandAlign, i).offset;

        if (offset <= limit) {
            return offset;
        }
    }
    return 0;
}

static bool open_session(Sideband *sb, const ETraceSbSession *session,
                         GError **errp)
{
    if (session->major != ETRACE_SB_VERSION_MAJOR) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                    "sideband: version %u of the stream cannot be read, "
                    "only version %u", session->major,
                    ETRACE_SB_VERSION_MAJOR);
        return false;
    }
    sb->nr_harts = session->harts;
    sb->session = session->number;
    sb->minor = session->minor;
    sb->flags = session->flags;
    sb->trace_start = session->trace_offset;
    if (!sb->nr_harts || sb->nr_harts > MAX_HARTS) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "sideband: session %u has %u harts", sb->session,
                    sb->nr_harts);
        return false;
    }
    return true;
}

Sideband *sideband_parse(const uint8_t *data, size_t size, unsigned session,
                         GError **errp)
{
    g_autoptr(Sideband) sb = g_new0(Sideband, 1);
    ETraceSbSession each, found = { 0 };
    uint64_t next_start = UINT64_MAX;
    unsigned last = 0;
    SidebandRecord rec;
    bool is_found = false;
    size_t pos = 0;

    sb->data = data;
    sb->trace_end = UINT64_MAX;
    if (!sideband_next(data, size, &pos, &rec) || !is_session(&rec, &each)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "sideband: not a sideband stream (it does not begin "
                    "with a SESSION record)");
        return NULL;
    }
    pos = 0;
    while (sideband_next(data, size, &pos, &rec)) {
        if (!is_session(&rec, &each)) {
            continue;
        }
        last = each.number;
        if (is_found && !sb->end) {
            sb->end = rec.pos;
            next_start = each.trace_offset;
        }
        if (!session || last == session) {
            found = each;
            is_found = true;
            sb->begin = pos;
            sb->end = 0;
            next_start = UINT64_MAX;
        }
    }
    if (!is_found) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                    "sideband: there is no session %u; the last one is %u",
                    session, last);
        return NULL;
    }
    if (!open_session(sb, &found, errp)) {
        return NULL;
    }
    if (!sb->end) {
        sb->end = pos;
        sb->cut = pos != size;
    }
    /* Another connection's channel starts to count from 0 again. */
    if (next_start > sb->trace_start) {
        sb->trace_end = next_start;
    }
    if (!index_session(sb, errp)) {
        return NULL;
    }
    return g_steal_pointer(&sb);
}

Sideband *sideband_open(const char *path, unsigned session, GError **errp)
{
    GBytes *file = stream_file_open(path, errp);
    const uint8_t *data;
    size_t size;
    Sideband *sb;

    if (!file) {
        return NULL;
    }
    data = input_data(file, &size);
    sb = sideband_parse(data, size, session, errp);
    if (!sb) {
        g_bytes_unref(file);
        g_prefix_error(errp, "%s: ", path);
        return NULL;
    }
    sb->file = file;
    return sb;
}

void sideband_free(Sideband *sb)
{
    for (unsigned i = 0; sb->places && i < sb->nr_harts; i++) {
        g_clear_pointer(&sb->places[i], g_array_unref);
        g_clear_pointer(&sb->gaps[i], g_array_unref);
    }
    g_free(sb->places);
    g_free(sb->gaps);
    g_free(sb->harts);
    g_free(sb->problem);
    g_clear_pointer(&sb->aligns, g_array_unref);
    g_clear_pointer(&sb->rams, g_array_unref);
    g_clear_pointer(&sb->file, g_bytes_unref);
    g_free(sb);
}

unsigned sideband_session(const Sideband *sb)
{
    return sb->session;
}

unsigned sideband_minor(const Sideband *sb)
{
    return sb->minor;
}

bool sideband_is_process(const Sideband *sb)
{
    return sb->flags & ETRACE_SB_SESSION_PROCESS;
}

unsigned sideband_nr_harts(const Sideband *sb)
{
    return sb->nr_harts;
}

const SidebandHart *sideband_hart(const Sideband *sb, unsigned hart)
{
    return hart < sb->nr_harts ? &sb->harts[hart] : NULL;
}

void sideband_trace_range(const Sideband *sb, uint64_t *start, uint64_t *end)
{
    *start = sb->trace_start;
    *end = sb->trace_end;
}

const char *sideband_problem(const Sideband *sb)
{
    return sb->problem;
}

/* The first alignment sequence that ends at @offset or behind */
static guint find_align(const Sideband *sb, uint64_t offset)
{
    guint lo = 0, hi = sb->aligns->len;

    /* The writer's offsets only grow. */
    while (lo < hi) {
        guint mid = lo + (hi - lo) / 2;

        if (g_array_index(sb->aligns, SidebandAlign, mid).offset < offset) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

bool sideband_align_lookup(const Sideband *sb, uint64_t offset,
                           unsigned hart, uint64_t *packets)
{
    guint i = find_align(sb, offset);
    const SidebandAlign *a;

    if (i == sb->aligns->len) {
        return false;
    }
    a = &g_array_index(sb->aligns, SidebandAlign, i);
    if (a->offset != offset) {
        return false;
    }
    *packets = etrace_sb_unpack_align_hart(a->payload, hart);
    return true;
}

uint64_t sideband_known_from(const Sideband *sb, uint64_t from)
{
    guint i = find_align(sb, from);

    return i < sb->aligns->len ?
           g_array_index(sb->aligns, SidebandAlign, i).offset : UINT64_MAX;
}

bool sideband_origin(const Sideband *sb, uint64_t *id, uint64_t *origin)
{
    *id = sb->id;
    *origin = sb->origin;
    return sb->id != 0;
}

bool sideband_end(const Sideband *sb, unsigned hart, SidebandEnd *end)
{
    ETraceSbEnd from;

    if (!sb->last) {
        return false;
    }
    from = etrace_sb_unpack_end_hart(sb->last, sb->last_len, sb->nr_harts,
                                     hart);
    *end = (SidebandEnd) {
        .packets = from.put,
        .lost = from.lost,
        .lost_last = from.lost_last,
        .ticks = from.ticks,
    };
    return true;
}

const SidebandRam *sideband_rams(const Sideband *sb, unsigned *n)
{
    *n = sb->rams->len;
    return (const SidebandRam *)sb->rams->data;
}

bool sideband_ram(const Sideband *sb, int hart, SidebandRam *ram)
{
    for (guint i = sb->rams->len; i-- > 0;) {
        *ram = g_array_index(sb->rams, SidebandRam, i);
        if (ram->hart == hart) {
            return true;
        }
    }
    return false;
}

uint64_t sideband_ram_packets(const SidebandRam *ram, unsigned hart)
{
    return etrace_sb_get(ram->packets + 8 * hart, 8);
}
