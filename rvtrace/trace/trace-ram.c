/*
 * A part of a trace to decode: what RAM sinks had stored
 *
 * It is one dump of a ring, which may have the trace of several sessions; or
 * the dumps of the rings of one session, where each hart has a sink; or pieces
 * of them, as AUX buffers have them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "base/input.h"
#include "trace/perf-aux.h"
#include "base/packed.h"
#include "base/perf-file.h"
#include "base/stream-file.h"
#include "trace/trace-private.h"

/* Where in the session the bytes begin that the ring has; may be before it. */
static int64_t ring_at(const Ring *ring, const Sideband *sb)
{
    SidebandRam ram;

    sideband_ram(sb, ring->sink, &ram);
    return ram.bytes - ring->size;
}

/* A ring's dump that explains itself, and is what the sink had stored */
static bool take_ring(Ring *ring, const uint8_t *data, size_t size,
                      int64_t wrapped_at, const Sideband *sb, GError **errp)
{
    if (!ring_init(ring, data, size, wrapped_at, sb, errp)) {
        return false;
    }
    if (!sb || piece_is_at(sb, ring->sink, ring->data, ring->size,
                    ring_at(ring, sb))) {
        return true;
    }
    ring_clear(ring);
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "this is not what "
                "the RAM sink had stored last in the session");
    return false;
}

static bool take_one_ring(Trace *t, const TraceOptions *opts,
                          const Trace *later, GError **errp)
{
    size_t size;
    const uint8_t *data = input_data(t->file, &size);

    if (!(later ? ring_init_before(&t->ring, &later->ring, t->sideband, errp) :
                  take_ring(&t->ring, data, size, opts->wrapped_at,
                            t->sideband, errp))) {
        return false;
    }
    t->data = t->ring.data;
    t->begin = t->ring.begin;
    t->end = t->ring.size;
    return true;
}

/* What a file has: what is left of this session in a ring, or a piece */
static void take_dump(Piece *piece, Ring *ring, const Sideband *sb)
{
    SidebandRam ram;

    if (piece->at != PIECE_AT_UNKNOWN) {
        return;
    }
    if (take_ring(ring, piece->data, piece->size, RING_NOT_WRAPPED, sb,
                  NULL)) {
        piece->data = ring->data + ring->session;
        piece->size = ring->size - ring->session;
        piece->at = ring_at(ring, sb) + ring->session;
        return;
    }
    /* Software has set trRamWP to the ring's beginning between. */
    for (int sink = SIDEBAND_SHARED_RAM; sink < (int)sideband_nr_harts(sb);
         sink++) {
        if (sideband_ram(sb, sink, &ram) && !ram.wrapped &&
            piece->size - 4 == ram.limit - ram.start &&
            piece_is_at(sb, sink, piece->data, ram.wp - ram.start,
                        ram.bytes - (ram.wp - ram.start))) {
            piece->size = ram.wp - ram.start;
            piece->at = ram.bytes - piece->size;
            return;
        }
    }
}

typedef struct Files {
    GArray *pieces;             /* Piece */
    GPtrArray *rings;           /* what pieces of rings are in */
    GPtrArray *files;           /* ... and all others */
    unsigned truncated;         /* recordings that are left out */
} Files;

static void free_ring(gpointer ring)
{
    ring_clear(ring);
    g_free(ring);
}

static bool take_file(Files *f, const TraceOptions *opts, unsigned i,
                      const Sideband *sb, GError **errp)
{
    Piece piece = {
        .path = opts->traces[i],
        .at = opts->at ? opts->at[i] : PIECE_AT_UNKNOWN,
    };
    GBytes *file = stream_file_open(piece.path, errp);
    Ring *ring;

    if (!file) {
        return false;
    }
    g_ptr_array_add(f->files, file);
    piece.data = input_data(file, &piece.size);
    if (perf_file_is(piece.data, piece.size)) {
        unsigned truncated;
        g_autoptr(GArray) aux = perf_aux_read(piece.path, piece.data,
                                              piece.size, &truncated, errp);

        if (aux) {
            f->truncated += truncated;
            g_array_append_vals(f->pieces, aux->data, aux->len);
        }
        return aux;
    }
    if (sb) {
        ring = g_new0(Ring, 1);
        g_ptr_array_add(f->rings, ring);
        take_dump(&piece, ring, sb);
    }
    g_array_append_val(f->pieces, piece);
    return true;
}

static bool take_pieces(Trace *t, const TraceOptions *opts, GError **errp)
{
    Files f = {
        .pieces = g_array_new(FALSE, FALSE, sizeof(Piece)),
        .rings = g_ptr_array_new_with_free_func(free_ring),
        .files = g_ptr_array_new_with_free_func(
            (GDestroyNotify)g_bytes_unref),
    };
    bool ok = true;

    for (unsigned i = 0; ok && opts->traces[i]; i++) {
        ok = take_file(&f, opts, i, t->sideband, errp);
    }
    if (ok && t->sideband) {
        ok = pieces_init(&t->pieces, (Piece *)f.pieces->data, f.pieces->len,
                         t->sideband, errp);
    } else if (ok) {
        pieces_init_as_given(&t->pieces, (const Piece *)f.pieces->data,
                             f.pieces->len);
    }
    g_array_unref(f.pieces);
    g_ptr_array_unref(f.rings);
    g_ptr_array_unref(f.files);
    if (ok) {
        t->pieces.truncated = f.truncated;
        t->data = (const uint8_t *)t->pieces.data->data;
        t->end = t->pieces.data->len;
    }
    return ok;
}

bool trace_is_perf_data(const char *path)
{
    g_autoptr(GBytes) head = NULL;
    const uint8_t *data;
    size_t size;

    /* What can be read once is a trace. */
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        return false;
    }
    head = packed_open_head(path, PERF_FILE_MAGIC_SIZE, NULL);
    data = head ? input_data(head, &size) : NULL;
    return head && perf_file_is(data, size);
}

bool trace_take_ram(Trace *t, const TraceOptions *opts, const Trace *later,
                    GError **errp)
{
    g_autoptr(GError) why = NULL;
    bool one = !opts->traces[1] && !opts->at &&
               !trace_is_perf_data(opts->traces[0]);
    const SidebandRam *stops;
    unsigned n = 0;

    if (one && take_one_ring(t, opts, later, &why)) {
        return true;
    }
    stops = t->sideband ? sideband_rams(t->sideband, &n) : NULL;
    /* Nothing but a ring can be found by an older QEMU's sideband. */
    if (one && (!n || !stops[n - 1].tail_len || later || opts->sidebands[1] ||
                opts->wrapped_at > 0)) {
        g_propagate_prefixed_error(errp, g_steal_pointer(&why), "%s: ",
                                   later ? t->sideband_path : t->path);
        return false;
    }
    return take_pieces(t, opts, errp);
}

bool trace_next_run(TraceDecoder *d)
{
    const GArray *runs = d->trace->pieces.runs;

    while (runs && d->run < runs->len) {
        const PieceRun *run = &g_array_index(runs, PieceRun, d->run++);

        if (run->sink >= 0 && run->sink != (int)d->hart) {
            continue;
        }
        if (d->flow.started) {
            /* It does not go on to where the sink was stopped. */
            flow_gap(&d->flow, FLOW_LOST_CUT);
        }
        d->stream.pos = run->begin;
        d->stream.end = run->end;
        if (run->first) {
            d->packets = run->first[d->hart];
        }
        if (run->at) {
            d->flow.params.ioptions = run->ioptions[d->hart];
            d->flow.waiting = true;
            d->data.waiting = true;
        }
        return true;
    }
    return false;
}
