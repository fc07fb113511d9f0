/*
 * Pieces of a RAM sink's trace: put together, in the session's order
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace/encap.h"
#include "trace/pieces-private.h"
#include "trace/ring.h"

static gint compare_pieces(gconstpointer pa, gconstpointer pb)
{
    const Piece *a = pa, *b = pb;

    if (a->sink != b->sink) {
        return a->sink < b->sink ? -1 : 1;
    }
    return a->at < b->at ? -1 : a->at > b->at;
}

/* The framing of a run: that of any hart whose packets may be in it */
static const ETraceParams *framing_of(const Sideband *sb, int sink)
{
    for (unsigned i = 0; i < sideband_nr_harts(sb); i++) {
        const SidebandHart *h = sideband_hart(sb, i);

        if (h->present && (sink < 0 || sink == (int)i)) {
            return &h->params;
        }
    }
    return NULL;
}

/* Number the packets of a run, by the first stop that is known in it. */
static bool number_run(Pieces *p, PieceRun *run, const Sideband *sb,
                       const GArray *stops, GError **errp)
{
    const SidebandRam *s = (const SidebandRam *)stops->data;
    const ETraceParams *framing = framing_of(sb, run->sink);
    const uint8_t *data = (const uint8_t *)p->data->data;
    unsigned i = pieces_first_stop(s, stops->len, run->at);
    unsigned harts = sideband_nr_harts(sb);
    size_t skip, stop;

    run->first = g_new0(uint64_t, harts);
    run->ioptions = g_new0(uint8_t, harts);
    if (!run->at) {
        return true;
    }
    if (!framing || i == stops->len ||
        s[i].bytes - run->at > run->end - run->begin) {
        invalid(errp, "the piece at byte %" PRIu64 " does not go on to where "
                "the sink was stopped, so that its packets cannot be numbered: "
                "give a longer one", run->at);
        return false;
    }
    stop = run->begin + (s[i].bytes - run->at);
    run->cut = s[i].bytes != run->at;
    if (run->cut) {
        if (!etrace_encap_find_align(framing, data + run->begin,
                                     stop - run->begin, &skip)) {
            /* All that is whole begins behind the stop. */
            skip = stop - run->begin;
        }
        run->begin += skip;
    }
    for (unsigned hart = 0; hart < harts; hart++) {
        const SidebandHart *h = sideband_hart(sb, hart);
        uint64_t total = sideband_ram_packets(&s[i], hart), left = 0;

        if (!h->present || (run->sink >= 0 && run->sink != (int)hart)) {
            continue;
        }
        left = ring_count_packets(&h->params, data + run->begin,
                                  stop - run->begin);
        run->first[hart] = total > left ? total - left : 0;
        run->ioptions[hart] = ring_first_ioptions(&h->params,
                                                  data + run->begin,
                                                  run->end - run->begin);
    }
    return true;
}

/* Append a piece, whose place is known, to the run before or as a new one. */
static bool add_piece(Pieces *p, const Piece *piece, GError **errp)
{
    PieceRun *last = p->runs->len ?
        &g_array_index(p->runs, PieceRun, p->runs->len - 1) : NULL;
    uint64_t known = last && last->sink == piece->sink ?
                     last->at + (last->end - last->begin) : 0;
    uint64_t end = piece->at + piece->size;
    size_t skip = 0;

    if (known && end <= known && piece->again) {
        return true;
    }
    if (known && end <= known) {
        invalid(errp, "%s: the other files have all of it, from byte %" PRIi64
                " of the session on: give each piece once", piece->path,
                piece->at);
        return false;
    }
    if (known > (uint64_t)piece->at) {
        skip = known - piece->at;
    }
    if (!known || (uint64_t)piece->at > known) {
        PieceRun run = {
            .sink = piece->sink,
            .at = piece->at,
            .begin = p->data->len,
            .end = p->data->len,
        };

        g_array_append_val(p->runs, run);
        last = &g_array_index(p->runs, PieceRun, p->runs->len - 1);
    }
    g_array_append_vals(p->data, piece->data + skip, piece->size - skip);
    last->end = p->data->len;
    return true;
}

bool pieces_init(Pieces *p, Piece *pieces, unsigned n, const Sideband *sb,
                 GError **errp)
{
    GArray *sinks;
    bool ok;

    *p = (Pieces) {
        .data = g_array_new(FALSE, FALSE, 1),
        .runs = g_array_new(FALSE, FALSE, sizeof(PieceRun)),
    };
    sinks = pieces_find_sinks(sb);
    ok = pieces_locate(pieces, n, sb, sinks, errp);
    if (ok) {
        qsort(pieces, n, sizeof(*pieces), compare_pieces);
    }
    for (unsigned i = 0; ok && i < n; i++) {
        ok = add_piece(p, &pieces[i], errp);
    }
    for (guint i = 0; ok && i < p->runs->len; i++) {
        PieceRun *run = &g_array_index(p->runs, PieceRun, i);

        ok = number_run(p, run, sb, pieces_stops_in(sinks, run->sink), errp);
    }
    pieces_free_sinks(sinks);
    return ok;
}

void pieces_init_as_given(Pieces *p, const Piece *pieces, unsigned n)
{
    *p = (Pieces) {
        .data = g_array_new(FALSE, FALSE, 1),
        .runs = g_array_new(FALSE, FALSE, sizeof(PieceRun)),
    };
    for (unsigned i = 0; i < n; i++) {
        PieceRun run = {
            .sink = SIDEBAND_SHARED_RAM,
            .begin = p->data->len,
            .end = p->data->len + pieces[i].size,
        };

        g_array_append_vals(p->data, pieces[i].data, pieces[i].size);
        g_array_append_val(p->runs, run);
    }
}

void pieces_clear(Pieces *p)
{
    for (guint i = 0; p->runs && i < p->runs->len; i++) {
        PieceRun *run = &g_array_index(p->runs, PieceRun, i);

        g_free(run->first);
        g_free(run->ioptions);
    }
    g_clear_pointer(&p->runs, g_array_unref);
    g_clear_pointer(&p->data, g_array_unref);
}
