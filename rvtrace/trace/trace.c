/*
 * A part of a trace to decode: its files and harts
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "base/input.h"
#include "base/option-error.h"
#include "base/stream-file.h"
#include "trace/cut-mark.h"
#include "trace/trace-private.h"
#include "trace/trace-text.h"

#define MAX_SOURCES 65536

/* Is the framing known now? Then find out where the ring's trace begins. */
static bool begin_ring(Trace *t, const ETraceParams *framing, GError **errp)
{
    if (t->ram && !t->pieces.runs) {
        if (!ring_find_begin(&t->ring, framing, errp)) {
            return false;
        }
        t->begin = t->ring.begin;
    }
    return true;
}

static bool harts_from_sideband(Trace *t, GError **errp)
{
    const ETraceParams *framing = NULL;

    t->known_ids = g_new0(bool, MAX_SOURCES);
    t->nr_harts = sideband_nr_harts(t->sideband);
    t->harts = g_new0(TraceHart, t->nr_harts);
    for (unsigned i = 0; i < t->nr_harts; i++) {
        const SidebandHart *h = sideband_hart(t->sideband, i);

        t->harts[i].present = h->present;
        t->harts[i].params = h->params;
        t->harts[i].isa = h->isa;
        if (h->present) {
            t->known_ids[h->params.src_id] = true;
            t->isa.xlen = h->params.iaddress_width;
            framing = &h->params;
        }
    }
    if (!framing) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "sideband: session %u has no encoder parameters (%s)",
                    sideband_session(t->sideband),
                    sideband_problem(t->sideband) ?: "no PARAMS records");
        return false;
    }
    return begin_ring(t, framing, errp) &&
           trace_check_identity(t, framing, errp);
}

/* Which packet of each hart a piece begins with */
static bool number_piece(Trace *t, GError **errp)
{
    for (unsigned i = 0; t->head && t->sideband && i < t->nr_harts; i++) {
        if (t->harts[i].present &&
            !sideband_align_lookup(t->sideband, t->at + t->begin, i,
                                   &t->harts[i].first_packet)) {
            g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                        "%s: the sideband has nothing of where this piece "
                        "begins, at byte %" PRIu64 " of the trace; give all of "
                        "the sideband", t->path, t->at + t->begin);
            return false;
        }
    }
    return true;
}

/* What was lost at the beginning of a ring, for each hart */
static void number_ring(Trace *t)
{
    const Ring *ring = &t->ring;

    for (unsigned i = 0; t->ram && ring->cut && i < t->nr_harts; i++) {
        TraceHart *h = &t->harts[i];

        if (h->present) {
            h->first_packet = ring_first_packet(ring, &h->params, t->sideband,
                                                i);
            h->first_ioptions = ring_first_ioptions(&h->params,
                                                    ring->data + ring->begin,
                                                    ring->size - ring->begin);
        }
    }
}

/* Without a sideband: a hart for every source that appears in the stream. */
static bool harts_from_stream(Trace *t, const TraceOptions *opts,
                              const ETraceParams *given, GError **errp)
{
    g_autofree bool *seen = g_new0(bool, MAX_SOURCES);
    ETraceParams params;
    size_t pos;

    if (!t->elf && !opts->packets_only) {
        g_set_error(errp, OPTION_ERROR, OPTION_NEEDS_PROGRAM,
                    "the program is needed to decode a trace");
        return false;
    }
    if (t->elf) {
        t->isa.xlen = elf_code_xlen(t->elf);
    }
    if (given) {
        params = *given;
    } else {
        trace_default_params(&params, t->isa.xlen, false);
    }
    if (!begin_ring(t, &params, errp)) {
        return false;
    }
    pos = t->begin;
    seen[0] = !params.src_bits;
    while (params.src_bits && pos < t->end) {
        ETraceEncapPacket pkt;
        ETraceEncapStatus st = etrace_encap_parse(&params, t->data + pos,
                                                  t->end - pos, &pkt);
        if (st == ETRACE_ENCAP_MORE) {
            break;
        }
        seen[pkt.src_id] |= st == ETRACE_ENCAP_PACKET;
        pos += pkt.size;
    }
    for (unsigned i = 0; i < MAX_SOURCES; i++) {
        if (seen[i]) {
            t->nr_harts = i + 1;
        }
    }
    if (!t->nr_harts) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: no packets", t->path);
        return false;
    }
    t->harts = g_new0(TraceHart, t->nr_harts);
    for (unsigned i = 0; i < t->nr_harts; i++) {
        t->harts[i].present = seen[i];
        t->harts[i].params = params;
        t->harts[i].params.src_id = i;
    }
    return true;
}

/*
 * The trace file is a piece, whose bytes @behind and on are those of the stream
 * from @mark on.
 */
static bool find_in_piece(Trace *t, const CutMark *mark, size_t behind,
                          size_t size, GError **errp)
{
    uint64_t start = 0, end = UINT64_MAX, last, id, origin;

    t->at = (int64_t)mark->offset - (int64_t)(behind + mark->head);
    t->begin = behind + mark->head;
    t->end = size;
    t->head = mark->head;
    if (!t->sideband) {
        return true;
    }
    last = t->at + size;
    sideband_trace_range(t->sideband, &start, &end);
    if (start > last || end <= mark->offset) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: session %u of the sideband is not in this piece, "
                    "which has bytes %" PRIu64 " to %" PRIu64 " of the trace",
                    t->path, sideband_session(t->sideband), mark->offset,
                    last);
        return false;
    }
    t->end = MIN(end, last) - t->at;
    t->goes_on = end > last &&
                 sideband_known_from(t->sideband, last) != UINT64_MAX;
    if (start >= mark->offset) {
        t->begin = start - t->at;
        t->head = 0;
        return true;
    }
    if (sideband_origin(t->sideband, &id, &origin) && id != mark->id) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s and %s are of different runs: the piece is of session "
                    "%016" PRIx64 ", the sideband of %016" PRIx64 "; give the "
                    "files of one run", t->path, t->sideband_path, mark->id,
                    id);
        return false;
    }
    return true;
}

/* The session's part of the trace file */
static bool find_range(Trace *t, const TraceOptions *opts, const Trace *later,
                       size_t size, GError **errp)
{
    uint64_t start = 0, end = UINT64_MAX;
    CutMark mark;
    size_t behind;

    if (t->ram) {
        return trace_take_ram(t, opts, later, errp);
    }
    if (cut_mark_get(t->data, size, &mark, &behind)) {
        return find_in_piece(t, &mark, behind, size, errp);
    }
    if (t->sideband) {
        sideband_trace_range(t->sideband, &start, &end);
    }
    if (start > size) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: session %u of the sideband begins at byte %" PRIu64
                    " of the trace, but the file has %zu bytes; do the files "
                    "belong together?", t->path,
                    sideband_session(t->sideband), start, size);
        return false;
    }
    t->begin = start;
    t->end = MIN(end, size);
    return true;
}

Trace *trace_open_part(const TraceOptions *opts, unsigned i,
                       Sideband *sideband, ElfCode *elf, const Trace *later,
                       GError **errp)
{
    g_autoptr(Trace) t = g_new0(Trace, 1);
    const ETraceParams *given = opts->params;
    ETraceParams plain;
    size_t size;

    t->limit = UINT64_MAX;
    t->isa = opts->isa;
    t->isa.xlen = opts->isa.xlen ?: 64;
    t->tvec = opts->tvec;
    t->ram = opts->ram;
    t->path = g_strdup(opts->traces[opts->ram ? 0 : i]);
    t->sideband_path = sideband ? g_strdup(opts->sidebands[i]) : NULL;
    t->sideband = sideband;
    t->elf = elf;
    t->file = stream_file_open(t->path, errp);
    if (!t->file) {
        return NULL;
    }
    if (opts->unit) {
        GBytes *file = t->file;

        t->file = unit_rewrite(opts->unit, file, t->path, &plain, &t->places,
                               errp);
        g_bytes_unref(file);
        if (!t->file) {
            return NULL;
        }
        given = &plain;
        t->resync_repeats = opts->unit->resync_repeats;
        t->block_ends = opts->unit->block_ends;
    }
    t->data = input_data(t->file, &size);
    if (!find_range(t, opts, later, size, errp)) {
        return NULL;
    }
    if (t->sideband ? !harts_from_sideband(t, errp) :
                      !harts_from_stream(t, opts, given, errp)) {
        return NULL;
    }
    if (!number_piece(t, errp)) {
        return NULL;
    }
    number_ring(t);
    return g_steal_pointer(&t);
}

void trace_free(Trace *t)
{
    while (t) {
        Trace *next = t->next;

        g_clear_pointer(&t->sideband, sideband_free);
        if (t->samples) {
            t->free_samples(t->samples);
        }
        if (t->owns_elf) {
            elf_code_free(t->elf);
        }
        ring_clear(&t->ring);
        pieces_clear(&t->pieces);
        g_clear_pointer(&t->file, g_bytes_unref);
        g_clear_pointer(&t->places, g_array_unref);
        g_free(t->known_ids);
        g_free(t->harts);
        g_free(t->path);
        g_free(t->sideband_path);
        g_free(t);
        t = next;
    }
}
