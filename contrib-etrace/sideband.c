/*
 * Sideband files: sessions, parameters and the index of places
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "etrace/packet.h"
#include "input.h"
#include "sideband-private.h"

/* Payloads of the records that have a fixed size, bytes */
#define SESSION_SIZE    32
#define MAX_HARTS       4096

bool sideband_next(const uint8_t *data, size_t end, size_t *pos,
                   SidebandRecord *rec)
{
    uint32_t len;

    if (end - *pos < ETRACE_SB_HEADER_SIZE) {
        return false;
    }
    len = etrace_sb_get(data + *pos + 4, 4);
    if (end - *pos - ETRACE_SB_HEADER_SIZE < len) {
        return false;
    }
    rec->type = etrace_sb_get(data + *pos, 2);
    rec->hart = etrace_sb_get(data + *pos + 2, 2);
    rec->len = len;
    rec->payload = data + *pos + ETRACE_SB_HEADER_SIZE;
    rec->pos = *pos;
    *pos += ETRACE_SB_HEADER_SIZE + len;
    return true;
}

bool sideband_record_valid(const Sideband *sb, const SidebandRecord *rec)
{
    uint64_t off;

    switch (rec->type) {
    case ETRACE_SB_PARAMS:
        return rec->hart < sb->nr_harts &&
               rec->len >= ETRACE_SB_PARAMS_SIZE_1_0;
    case ETRACE_SB_CODE:
        if (rec->len < 8) {
            return false;
        }
        off = etrace_sb_get(rec->payload, 8) & CODE_PAGE_MASK;
        return !(off & 1) && !(rec->len & 1) &&
               rec->len - 8 <= CODE_PAGE_SIZE - off;
    case ETRACE_SB_FENCE:
    case ETRACE_SB_CHANGE:
        return rec->len >= 8;
    case ETRACE_SB_PLACE:
        return rec->hart < sb->nr_harts && rec->len >= 16;
    case ETRACE_SB_TVEC:
        return rec->hart < sb->nr_harts && rec->len >= ETRACE_SB_TVEC_SIZE;
    case ETRACE_SB_SPACE:
    case ETRACE_SB_MAP:
        return rec->hart < sb->nr_harts && rec->len >= 24;
    case ETRACE_SB_ALIGN:
        return rec->len >= 8 + 8 * (size_t)sb->nr_harts;
    case ETRACE_SB_RAM:
        return rec->len >= 32 + 8 * (size_t)sb->nr_harts &&
               etrace_sb_get(rec->payload + 8, 8) <=
               (etrace_sb_get(rec->payload + 24, 8) & ~1ull) &&
               (etrace_sb_get(rec->payload + 24, 8) & ~1ull) <=
               etrace_sb_get(rec->payload + 16, 8);
    case ETRACE_SB_ORIGIN:
        return rec->len >= ETRACE_SB_ORIGIN_SIZE;
    case ETRACE_SB_END:
        return rec->len >= ETRACE_SB_END_SIZE(sb->nr_harts);
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

static bool is_session(const SidebandRecord *rec)
{
    return rec->type == ETRACE_SB_SESSION && rec->len >= SESSION_SIZE &&
           memcmp(rec->payload, ETRACE_SB_MAGIC, 8) == 0;
}

static void parse_params(SidebandHart *hart, const uint8_t *p, size_t len)
{
    hart->present = true;
    hart->params = (ETraceParams) {
        .wire_format = p[0],
        .iaddress_width = p[1],
        .iaddress_lsb = p[2],
        .privilege_width = p[3],
        .ecause_width = p[4],
        .time_width = p[5],
        .context_width = p[6],
        .call_counter_size = p[7],
        .return_stack_size = p[8],
        .bpred_size = p[9],
        .cache_size = p[10],
        .f0s_width = p[11],
        .src_bits = p[12],
        .ts_bytes = p[13],
        .src_id = etrace_sb_get(p + 14, 2),
    };
    hart->mhartid = etrace_sb_get(p + 16, 8);
    hart->isa = etrace_sb_get(p + 24, 4);
    if (len >= ETRACE_SB_PARAMS_SIZE) {
        hart->params.sijump = p[28];
        hart->params.data_width = p[29];
        hart->params.daddress_width = p[30];
        hart->params.lrid_width = p[31];
    }
}

static void add_place(Sideband *sb, const SidebandRecord *rec)
{
    GArray **places = &sb->places[rec->hart];
    SidebandPlace place = {
        .id = etrace_sb_get(rec->payload, 8),
        .packets = etrace_sb_get(rec->payload + 8, 8),
        .pos = rec->pos,
    };

    if (!*places) {
        *places = g_array_new(FALSE, FALSE, sizeof(SidebandPlace));
    }
    g_array_append_val(*places, place);
}

static gint compare_places(gconstpointer pa, gconstpointer pb)
{
    const SidebandPlace *a = pa, *b = pb;

    if (a->id != b->id) {
        return a->id < b->id ? -1 : 1;
    }
    return a->pos < b->pos ? -1 : a->pos > b->pos;
}

uint64_t sideband_place(const Sideband *sb, unsigned hart, uint64_t id)
{
    const GArray *places = sb->places[hart];
    guint low = 0, high = places ? places->len : 0;

    while (low < high) {
        guint mid = low + (high - low) / 2;

        if (g_array_index(places, SidebandPlace, mid).id < id) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    if (!places || low == places->len) {
        return UINT64_MAX;
    }
    id = g_array_index(places, SidebandPlace, low).id;
    while (low + 1 < places->len &&
           g_array_index(places, SidebandPlace, low + 1).id == id) {
        low++;
    }
    return g_array_index(places, SidebandPlace, low).packets;
}

/* Walk the session once: parameters, places, alignment sequences. */
static bool index_session(Sideband *sb, GError **errp)
{
    size_t pos = sb->begin;
    SidebandRecord rec;

    sb->harts = g_new0(SidebandHart, sb->nr_harts);
    sb->places = g_new0(GArray *, sb->nr_harts);
    sb->aligns = g_array_new(FALSE, FALSE, sizeof(SidebandAlign));

    while (pos < sb->end && sideband_next(sb->data, sb->end, &pos, &rec)) {
        if (!sideband_record_valid(sb, &rec)) {
            add_problem(sb, "malformed record of type %u at byte %zu",
                        rec.type, rec.pos);
            continue;
        }
        switch (rec.type) {
        case ETRACE_SB_PARAMS:
            parse_params(&sb->harts[rec.hart], rec.payload, rec.len);
            if (!etrace_params_valid(&sb->harts[rec.hart].params)) {
                g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                            "sideband: the encoder parameters of hart %u "
                            "(byte %zu) are none that this program can read",
                            rec.hart, rec.pos);
                return false;
            }
            break;
        case ETRACE_SB_PLACE:
            add_place(sb, &rec);
            break;
        case ETRACE_SB_ALIGN:
            g_array_append_vals(sb->aligns, &(SidebandAlign) {
                .offset = etrace_sb_get(rec.payload, 8),
                .packets = rec.payload + 8,
            }, 1);
            break;
        case ETRACE_SB_RAM:
            sb->ram = rec.payload;
            break;
        case ETRACE_SB_ORIGIN:
            sb->id = etrace_sb_get(rec.payload, 8);
            sb->origin = etrace_sb_get(rec.payload + 8, 8);
            break;
        case ETRACE_SB_END:
            sb->last = rec.payload;
            break;
        }
    }
    for (unsigned i = 0; i < sb->nr_harts; i++) {
        if (sb->places[i]) {
            g_array_sort(sb->places[i], compare_places);
        }
    }
    if (sb->cut) {
        add_problem(sb, "cut off or malformed at byte %zu", sb->end);
    }
    return true;
}

static bool open_session(Sideband *sb, const SidebandRecord *rec,
                         GError **errp)
{
    const uint8_t *p = rec->payload;
    unsigned major = etrace_sb_get(p + 8, 2);

    if (major != ETRACE_SB_VERSION_MAJOR) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                    "sideband: version %u of the stream cannot be read, "
                    "only version %u", major, ETRACE_SB_VERSION_MAJOR);
        return false;
    }
    sb->nr_harts = etrace_sb_get(p + 12, 2);
    sb->session = etrace_sb_get(p + 16, 4);
    sb->trace_start = etrace_sb_get(p + 24, 8);
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
    SidebandRecord rec, found = { 0 };
    uint64_t next_start = UINT64_MAX;
    size_t pos = 0;
    unsigned last = 0;

    sb->data = data;
    sb->trace_end = UINT64_MAX;
    if (!sideband_next(data, size, &pos, &rec) || !is_session(&rec)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "sideband: not a sideband stream (it does not begin "
                    "with a SESSION record)");
        return NULL;
    }
    pos = 0;
    while (sideband_next(data, size, &pos, &rec)) {
        if (!is_session(&rec)) {
            continue;
        }
        last = etrace_sb_get(rec.payload + 16, 4);
        if (found.payload && !sb->end) {
            sb->end = rec.pos;
            next_start = etrace_sb_get(rec.payload + 24, 8);
        }
        if (!session || last == session) {
            found = rec;
            sb->begin = pos;
            sb->end = 0;
            next_start = UINT64_MAX;
        }
    }
    if (!found.payload) {
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
    GBytes *file = input_open(path, errp);
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
    }
    g_free(sb->places);
    g_free(sb->harts);
    g_free(sb->problem);
    g_clear_pointer(&sb->aligns, g_array_unref);
    g_clear_pointer(&sb->file, g_bytes_unref);
    g_free(sb);
}

unsigned sideband_session(const Sideband *sb)
{
    return sb->session;
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

bool sideband_align_lookup(const Sideband *sb, uint64_t offset,
                           unsigned hart, uint64_t *packets)
{
    unsigned lo = 0, hi = sb->aligns->len;

    /* The writer's offsets only grow. */
    while (lo < hi) {
        unsigned mid = lo + (hi - lo) / 2;
        const SidebandAlign *a = &g_array_index(sb->aligns, SidebandAlign,
                                                mid);

        if (a->offset == offset) {
            *packets = etrace_sb_get(a->packets + 8 * hart, 8);
            return true;
        }
        if (a->offset < offset) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return false;
}

bool sideband_origin(const Sideband *sb, uint64_t *id, uint64_t *origin)
{
    *id = sb->id;
    *origin = sb->origin;
    return sb->id != 0;
}

bool sideband_end(const Sideband *sb, unsigned hart, SidebandEnd *end)
{
    const uint8_t *p = sb->last;

    if (!p) {
        return false;
    }
    p += ETRACE_SB_END_SIZE(hart);
    *end = (SidebandEnd) {
        .packets = etrace_sb_get(p, 8),
        .lost = etrace_sb_get(p + 8, 8),
        .lost_last = etrace_sb_get(p + 16, 8),
    };
    return true;
}

bool sideband_ram(const Sideband *sb, SidebandRam *ram)
{
    uint64_t wp;

    if (!sb->ram) {
        return false;
    }
    wp = etrace_sb_get(sb->ram + 24, 8);
    *ram = (SidebandRam) {
        .bytes = etrace_sb_get(sb->ram, 8),
        .start = etrace_sb_get(sb->ram + 8, 8),
        .limit = etrace_sb_get(sb->ram + 16, 8),
        .wp = wp & ~1ull,
        .wrapped = wp & 1,
        .packets = sb->ram + 32,
    };
    return true;
}
