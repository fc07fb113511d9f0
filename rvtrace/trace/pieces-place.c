/*
 * Pieces of a RAM sink's trace: to find the places where they were stored
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/option-error.h"
#include "trace/pieces-private.h"
#include "trace/ring.h"

/* What a search may cost: places to look at closely, of each piece */
#define MAX_PLACES      (1u << 16)
/* ... and stops whose last bytes are the same; more say nothing. */
#define MAX_ALIKE       64
/* Places that one piece may have */
#define MAX_SAME        16
/* Pieces that are looked at together if that is needed */
#define MAX_TOGETHER    1024

unsigned pieces_first_stop(const SidebandRam *stops, unsigned n, uint64_t at)
{
    unsigned low = 0, high = n;

    while (low < high) {
        unsigned mid = low + (high - low) / 2;

        if (stops[mid].bytes < at) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

/* Are the last bytes before @stop in the piece, as far as it has them? */
static bool is_tail(const SidebandRam *stop, const uint8_t *data, int64_t at)
{
    int64_t end = stop->bytes - at, from = end - (int64_t)stop->tail_len;
    size_t skip = from < 0 ? MIN(-from, (int64_t)stop->tail_len) : 0;

    return !memcmp(stop->tail + skip, data + from + skip,
                   stop->tail_len - skip);
}

/* Does the sideband know more of the bytes before byte @end of a piece? */
static bool has_sum(const SidebandRam *stop, uint64_t end)
{
    return stop->summed && stop->summed <= end;
}

/* Does the piece, at byte @at of the session, go on to @stop like this? */
static bool goes_to(const SidebandRam *stop, const uint8_t *data, int64_t at)
{
    int64_t end = stop->bytes - at;

    return is_tail(stop, data, at) &&
           (!has_sum(stop, end) ||
            etrace_sb_sum(data + end - stop->summed, stop->summed) ==
            stop->sum);
}

static GArray *stops_of(const Sideband *sb, int sink)
{
    GArray *stops = g_array_new(FALSE, FALSE, sizeof(SidebandRam));
    unsigned n;
    const SidebandRam *rams = sideband_rams(sb, &n);

    for (unsigned i = 0; i < n; i++) {
        if (rams[i].hart == sink) {
            g_array_append_val(stops, rams[i]);
        }
    }
    return stops;
}

/*
 * May the piece be at byte @at of the session? *@sure, which may be NULL: a
 * stop says so.
 */
static bool fits(const SidebandRam *stops, unsigned n, const uint8_t *data,
                 size_t size, int64_t at, bool *sure)
{
    bool seen = false;
    unsigned i = pieces_first_stop(stops, n, at < 0 ? 0 : at);

    for (; i < n && (int64_t)stops[i].bytes - at <= (int64_t)size; i++) {
        if (!goes_to(&stops[i], data, at)) {
            return false;
        }
        seen |= stops[i].tail_len && (int64_t)stops[i].bytes > at;
    }
    if (sure) {
        *sure = seen;
    }
    /* Nothing is stored behind the last stop. */
    return n && at + (int64_t)size <= (int64_t)stops[n - 1].bytes;
}

bool piece_is_at(const Sideband *sb, int sink, const uint8_t *data,
                 size_t size, int64_t at)
{
    g_autoptr(GArray) stops = stops_of(sb, sink);

    return fits((const SidebandRam *)stops->data, stops->len, data, size, at,
                NULL);
}

static uint64_t last_word(const uint8_t *end)
{
    return etrace_sb_get(end - 8, 8);
}

static void tails_init(Tails *t, const SidebandRam *stops, unsigned n)
{
    t->words = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                     NULL);
    t->stops = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
                                     (GDestroyNotify)g_bytes_unref,
                                     (GDestroyNotify)g_array_unref);
    for (unsigned i = 0; i < n; i++) {
        GBytes *tail;
        GArray *list;
        uint64_t word;

        if (stops[i].tail_len < ETRACE_SB_RAM_TAIL) {
            continue;
        }
        tail = g_bytes_new_static(stops[i].tail, ETRACE_SB_RAM_TAIL);
        list = g_hash_table_lookup(t->stops, tail);
        if (!list) {
            list = g_array_new(FALSE, FALSE, sizeof(unsigned));
            g_hash_table_insert(t->stops, g_bytes_ref(tail), list);
        }
        g_array_append_val(list, i);
        g_bytes_unref(tail);
        word = last_word(stops[i].tail + ETRACE_SB_RAM_TAIL);
        g_hash_table_add(t->words, g_memdup2(&word, sizeof(word)));
    }
}

static void tails_clear(Tails *t)
{
    g_hash_table_destroy(t->words);
    g_hash_table_destroy(t->stops);
}

/*
 * NULL if no stop is known by it; *@more is set if too many are, and nothing
 * but their tails is known.
 */
static const GArray *tails_lookup(const Tails *t, const SidebandRam *stops,
                                  const uint8_t *end, bool *more)
{
    uint64_t word = last_word(end);
    GBytes *tail;
    const GArray *list;

    if (!g_hash_table_contains(t->words, &word)) {
        return NULL;
    }
    tail = g_bytes_new_static(end - ETRACE_SB_RAM_TAIL, ETRACE_SB_RAM_TAIL);
    list = g_hash_table_lookup(t->stops, tail);
    g_bytes_unref(tail);
    if (list && list->len > MAX_ALIKE &&
        !stops[g_array_index(list, unsigned, 0)].summed) {
        *more = true;
        return NULL;
    }
    return list;
}

/* Where the piece may be */
typedef struct Places {
    int64_t at[MAX_SAME];
    int sink[MAX_SAME];
    unsigned n, looked;
    bool more;                  /* there may be others */
    bool settled;               /* the piece is at one of them */
} Places;

static void add_place(Places *found, const Piece *piece,
                      const SidebandRam *stops, unsigned n, int64_t at)
{
    int sink = stops->hart;

    if (found->n == MAX_SAME || found->looked == MAX_PLACES) {
        found->more = true;
        return;
    }
    found->looked++;
    if (at < 0 || !fits(stops, n, piece->data, piece->size, at, NULL)) {
        return;
    }
    for (unsigned i = 0; i < found->n; i++) {
        if (found->at[i] == at && found->sink[i] == sink) {
            return;
        }
    }
    found->at[found->n] = at;
    found->sink[found->n++] = sink;
}

/*
 * Byte @end of the piece may be one of the stops @list, by numbers: those whose
 * sum is known, or those of which no more than the tail is. Returns true if it
 * can be.
 */
static bool add_places(Places *found, const Piece *piece,
                       const SidebandRam *stops, unsigned n,
                       const GArray *list, size_t end, bool summed)
{
    unsigned before = found->n;

    for (guint i = 0; i < list->len; i++) {
        const SidebandRam *stop = &stops[g_array_index(list, unsigned, i)];

        if (has_sum(stop, end) == summed) {
            add_place(found, piece, stops, n, (int64_t)(stop->bytes - end));
        }
    }
    return found->n > before;
}

static void search(Places *found, const Piece *piece, const Tails *tails,
                   const SidebandRam *stops, unsigned n)
{
    /* From its end on, where one that has not been cut was stopped */
    for (size_t end = piece->size; end >= ETRACE_SB_RAM_TAIL; end--) {
        const GArray *list = tails_lookup(tails, stops, piece->data + end,
                                          &found->more);

        if (!list) {
            continue;
        }
        /* Where the bytes' sum says so, the ends of longer ones say nothing. */
        if (add_places(found, piece, stops, n, list, end, true)) {
            return;
        }
        add_places(found, piece, stops, n, list, end, false);
    }
    /* Less than a tail: it has to end at a stop. */
    for (unsigned i = 0; i < n && piece->size < ETRACE_SB_RAM_TAIL; i++) {
        add_place(found, piece, stops, n,
                  (int64_t)(stops[i].bytes - piece->size));
    }
    /* The beginning of a session has stops with less than a tail before. */
    for (unsigned i = 0; i < n && stops[i].tail_len < ETRACE_SB_RAM_TAIL &&
                         stops[i].tail_len; i++) {
        add_place(found, piece, stops, n, 0);
    }
}

/* Is the piece of a hart that @sink does not take? Then it is not from there */
static bool is_of_sink(const Piece *piece, const Sideband *sb, int sink)
{
    const SidebandHart *h = sink < 0 ? NULL : sideband_hart(sb, sink);
    uint16_t src_id;

    return !h || !h->params.src_bits ||
           !ring_first_source(&h->params, piece->data, piece->size, &src_id) ||
           src_id == h->params.src_id;
}

/* The hart of that source, if it has a sink of its own; else -1 */
static int sink_of_source(const Sideband *sb, uint16_t src_id)
{
    SidebandRam ram;

    for (unsigned i = 0; i < sideband_nr_harts(sb); i++) {
        const SidebandHart *h = sideband_hart(sb, i);

        if (h->present && h->params.src_bits && h->params.src_id == src_id &&
            sideband_ram(sb, i, &ram)) {
            return i;
        }
    }
    return -1;
}

/* Is it one piece behind another one, of two sinks? */
static bool is_of_two_sinks(const Piece *piece, const Sideband *sb,
                            const ETraceParams *params)
{
    int first = -1;
    size_t skip;

    for (size_t at = 0; at < piece->size &&
             etrace_encap_find_align(params, piece->data + at,
                                     piece->size - at, &skip); at++) {
        uint16_t src_id;
        int sink;

        at += skip;
        if (!ring_first_source(params, piece->data + at, piece->size - at,
                               &src_id)) {
            break;
        }
        sink = sink_of_source(sb, src_id);
        if (sink >= 0 && first >= 0 && sink != first) {
            return true;
        }
        first = sink >= 0 ? sink : first;
    }
    return false;
}

GArray *pieces_find_sinks(const Sideband *sb)
{
    GArray *sinks = g_array_new(FALSE, FALSE, sizeof(Sink));

    for (int hart = SIDEBAND_SHARED_RAM; hart < (int)sideband_nr_harts(sb);
         hart++) {
        Sink sink = { .hart = hart, .stops = stops_of(sb, hart) };

        if (!sink.stops->len) {
            g_array_unref(sink.stops);
            continue;
        }
        tails_init(&sink.tails, (const SidebandRam *)sink.stops->data,
                   sink.stops->len);
        g_array_append_val(sinks, sink);
    }
    return sinks;
}

void pieces_free_sinks(GArray *sinks)
{
    for (guint i = 0; i < sinks->len; i++) {
        Sink *sink = &g_array_index(sinks, Sink, i);

        g_array_unref(sink->stops);
        tails_clear(&sink->tails);
    }
    g_array_unref(sinks);
}

/* Where may the piece be? Nowhere is an error. */
static bool find_places(const Piece *piece, Places *found, const Sideband *sb,
                        const GArray *sinks, GError **errp)
{
    bool tails = false;

    for (guint i = 0; i < sinks->len; i++) {
        const Sink *sink = &g_array_index(sinks, Sink, i);
        const SidebandRam *stops = (const SidebandRam *)sink->stops->data;
        unsigned n = sink->stops->len;

        if (!is_of_sink(piece, sb, sink->hart)) {
            continue;
        }
        tails |= stops[n - 1].tail_len;
        if (piece->at == PIECE_AT_UNKNOWN) {
            search(found, piece, &sink->tails, stops, n);
        } else {
            add_place(found, piece, stops, n, piece->at);
        }
    }
    if (found->n || found->more) {
        return true;
    }
    for (guint i = 0; i < sinks->len; i++) {
        int hart = g_array_index(sinks, Sink, i).hart;

        if (hart >= 0 &&
            is_of_two_sinks(piece, sb, &sideband_hart(sb, hart)->params)) {
            g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                        "%s: has what two sinks stored, one behind the other; "
                        "split it where the second one begins, and give each "
                        "file a --trace of its own", piece->path);
            return false;
        }
    }
    if (piece->at != PIECE_AT_UNKNOWN) {
        g_set_error(errp, OPTION_ERROR, OPTION_NEEDS_NO_AT,
                    "%s: these are not the %zu bytes that were stored at byte "
                    "%" PRIi64 " of session %u", piece->path, piece->size,
                    piece->at, sideband_session(sb));
    } else if (!tails) {
        g_set_error(errp, OPTION_ERROR, OPTION_NEEDS_AT,
                    "%s: the sideband of this QEMU does not say where a piece "
                    "of %zu bytes was stored", piece->path, piece->size);
    } else {
        g_set_error(errp, OPTION_ERROR, OPTION_NEEDS_SESSION,
                    "%s: session %u of the sideband has stored no such %zu "
                    "bytes, or they do not go on to where the sink was "
                    "stopped", piece->path, sideband_session(sb), piece->size);
    }
    return false;
}

const GArray *pieces_stops_in(const GArray *sinks, int hart)
{
    guint i = 0;

    while (g_array_index(sinks, Sink, i).hart != hart) {
        i++;
    }
    return g_array_index(sinks, Sink, i).stops;
}

static void settle(Piece *piece, Places *places, int64_t at, int sink)
{
    piece->at = at;
    piece->sink = sink;
    places->settled = true;
}

/* It may go on from the one that was given before it. */
static bool settle_behind(Piece *pieces, Places *places, unsigned i,
                          const GArray *sinks)
{
    const Piece *before = pieces + i - 1;
    const GArray *stops;
    int64_t at;
    bool sure;

    if (!i || !places[i - 1].settled) {
        return false;
    }
    stops = pieces_stops_in(sinks, before->sink);
    at = before->at + before->size;
    if (!fits((const SidebandRam *)stops->data, stops->len, pieces[i].data,
              pieces[i].size, at, &sure) || !sure) {
        return false;
    }
    settle(&pieces[i], &places[i], at, before->sink);
    return true;
}

/* Where others are it cannot be. True if one place is left. */
static bool settle_by_others(Piece *pieces, Places *places, unsigned n,
                             unsigned i)
{
    unsigned left = 0, last = 0;

    for (unsigned k = 0; k < places[i].n; k++) {
        bool taken = false;

        for (unsigned j = 0; j < n; j++) {
            taken |= places[j].settled && pieces[j].at == places[i].at[k] &&
                     pieces[j].sink == places[i].sink[k];
        }
        if (!taken) {
            left++;
            last = k;
        }
    }
    if (left != 1 || places[i].more) {
        return false;
    }
    settle(&pieces[i], &places[i], places[i].at[last], places[i].sink[last]);
    return true;
}

static bool may_be_as(const Places *a, const Places *b)
{
    return !a->settled && a->n == b->n &&
           !memcmp(a->at, b->at, a->n * sizeof(*a->at)) &&
           !memcmp(a->sink, b->sink, a->n * sizeof(*a->sink));
}

/* The same bytes as others, and all that there are: any order is right. */
static bool settle_alike(Piece *pieces, Places *places, unsigned n, unsigned i)
{
    Places all = places[i];
    unsigned alike = 0, place = 0;

    for (unsigned j = i; j < n; j++) {
        alike += may_be_as(&places[j], &all);
    }
    if (alike != all.n || all.more) {
        return false;
    }
    for (unsigned j = i; j < n; j++) {
        if (may_be_as(&places[j], &all)) {
            settle(&pieces[j], &places[j], all.at[place], all.sink[place]);
            place++;
        }
    }
    return true;
}

static void settle_all(Piece *pieces, Places *places, unsigned n,
                       const GArray *sinks)
{
    bool progress = true;

    while (progress) {
        progress = false;
        for (unsigned i = 0; i < n; i++) {
            progress |= !places[i].settled &&
                        (settle_behind(pieces, places, i, sinks) ||
                         (n <= MAX_TOGETHER &&
                          (settle_by_others(pieces, places, n, i) ||
                           settle_alike(pieces, places, n, i))));
        }
    }
}

bool pieces_locate(Piece *pieces, unsigned n, const Sideband *sb,
                   const GArray *sinks, GError **errp)
{
    g_autofree Places *places = g_new0(Places, n);

    for (unsigned i = 0; i < n; i++) {
        if (!find_places(&pieces[i], &places[i], sb, sinks, errp)) {
            return false;
        }
    }
    for (unsigned i = 0; i < n; i++) {
        if (places[i].n == 1 && !places[i].more) {
            settle(&pieces[i], &places[i], places[i].at[0],
                   places[i].sink[0]);
        }
    }
    settle_all(pieces, places, n, sinks);
    for (unsigned i = 0; i < n; i++) {
        if (!places[i].settled) {
            g_set_error(errp, OPTION_ERROR, OPTION_NEEDS_CHOICE,
                        "%s: the same bytes were stored at several places of "
                        "the session (the first one is byte %" PRIi64 ")",
                        pieces[i].path, places[i].n ? places[i].at[0] : 0);
            return false;
        }
    }
    return true;
}
