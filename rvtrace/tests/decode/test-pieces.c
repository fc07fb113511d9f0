/*
 * Pieces of a RAM sink's trace: places, order, numbers of packets
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "etrace/encap.h"
#include "trace/pieces-private.h"
#include "tests/fixtures/guest-build.h"
#include "tests/fixtures/sb-build.h"
#include "trace/trace.h"

#define START   0x80001000u
#define RING_SIZE   0x1000u
#define ROUND   400         /* bytes, about, from stop to stop */
#define ROUNDS  4
#define MAX_ROUNDS 600

/* How do rounds differ? */
typedef enum Rounds {
    DIFFERENT,
    ALIKE,              /* not at all */
    SAME_END,           /* in the beginning, as a driver's do */
} Rounds;

/* What does the sideband say of the last bytes before a stop? */
typedef enum Says {
    NOTHING, TAILS, SUMS
} Says;

/* What one sink has stored, and where it was stopped */
typedef struct Stored {
    GByteArray *data;
    size_t stops[MAX_ROUNDS + 1];       /* the first one is 0 */
    unsigned packets[MAX_ROUNDS + 1];   /* before them */
} Stored;

typedef struct Session {
    ETraceParams params[2];
    Stored sinks[2];
    unsigned nr_sinks;
    GByteArray *sb;
    Sideband *sideband;
} Session;

/* In place of a trRamWP that is set to trRamStart after each stop */
static bool ring_wraps;

static void put_packet(GByteArray *trace, const ETraceParams *params,
                       unsigned seed)
{
    uint8_t payload[8], wrapped[ETRACE_ENCAP_MAX];
    size_t len;

    for (unsigned i = 0; i < sizeof(payload); i++) {
        payload[i] = seed * 2654435761u >> (i * 3) | 1;
    }
    len = etrace_encap_pack(params, &(ETraceEncapPacket) {
        .src_id = params->src_id,
        .payload = payload,
        .len = 3 + seed % 5,
    }, wrapped);
    g_byte_array_append(trace, wrapped, len);
}

/* Each round begins with alignment, and ends with a whole packet. */
static void store(Stored *s, const ETraceParams *params, unsigned seed,
                  Rounds kind, unsigned rounds)
{
    unsigned n = 0;

    s->data = g_byte_array_new();
    for (unsigned round = 0; round < rounds; round++) {
        unsigned from = kind == ALIKE ? seed : seed + 1000 * round;
        size_t size = ROUND + (kind == SAME_END ? 50 * (round % 7) : 0);

        for (unsigned i = 0; s->data->len < s->stops[round] + size; i++) {
            if (i % 20 == 0) {
                uint8_t align[ETRACE_ALIGN_MAX];

                g_byte_array_append(s->data, align,
                                    etrace_encap_align(params, align));
            }
            put_packet(s->data, params, from + i);
            n++;
        }
        for (unsigned i = 0; kind == SAME_END && i < 30; i++, n++) {
            put_packet(s->data, params, seed + i);
        }
        s->stops[round + 1] = s->data->len;
        s->packets[round + 1] = n;
    }
}

static void put_stop(Session *s, unsigned sink, unsigned round, Says says)
{
    const Stored *stored = &s->sinks[sink];
    bool shared = s->nr_sinks == 1;
    g_autoptr(GByteArray) record = g_byte_array_new();
    uint64_t words[4 + 2] = {
        stored->stops[round], START, START + 0xffc,
        START + (ring_wraps ? stored->stops[round] % RING_SIZE : 0),
    };
    size_t tail = MIN(stored->stops[round], ETRACE_SB_RAM_TAIL);

    words[3] |= ring_wraps && stored->stops[round] > RING_SIZE;
    words[4 + sink] = stored->packets[round];
    for (unsigned i = 0; i < 4 + s->nr_sinks; i++) {
        uint64_t le = GUINT64_TO_LE(words[i]);

        g_byte_array_append(record, (const guint8 *)&le, 8);
    }
    if (says != NOTHING) {
        g_byte_array_append(record, stored->data->data +
                            stored->stops[round] - tail, tail);
    }
    if (says == SUMS) {
        uint64_t summed = stored->stops[round] - stored->stops[round - 1];
        uint64_t sum[] = {
            GUINT64_TO_LE(summed),
            GUINT64_TO_LE(etrace_sb_sum(stored->data->data +
                                        stored->stops[round - 1], summed)),
        };

        g_byte_array_append(record, (const guint8 *)sum, sizeof(sum));
    }
    sb_record(s->sb, ETRACE_SB_RAM, shared ? ETRACE_SB_ALL_HARTS : sink,
              record->data, record->len);
}

static void set_up_rounds(Session *s, unsigned sinks, Rounds kind,
                          unsigned rounds, Says says)
{
    GError *err = NULL;

    *s = (Session) { .nr_sinks = sinks, .sb = g_byte_array_new() };
    sb_session(s->sb, 1, sinks, 0);
    for (unsigned i = 0; i < sinks; i++) {
        etrace_params_init(&s->params[i], 64);
        if (sinks > 1) {
            s->params[i].src_bits = 4;
            s->params[i].src_id = i;
        }
        sb_params(s->sb, i, &s->params[i]);
        store(&s->sinks[i], &s->params[i], 7 + 500000 * i, kind, rounds);
    }
    for (unsigned round = 1; round <= rounds; round++) {
        for (unsigned i = 0; i < sinks; i++) {
            put_stop(s, i, round, says);
        }
    }
    s->sideband = sideband_parse(s->sb->data, s->sb->len, 0, &err);
    check_no_error(err);
}

static void set_up(Session *s, unsigned sinks, Rounds kind, Says says)
{
    set_up_rounds(s, sinks, kind, ROUNDS, says);
}

static void tear_down(Session *s)
{
    for (unsigned i = 0; i < s->nr_sinks; i++) {
        g_byte_array_unref(s->sinks[i].data);
    }
    sideband_free(s->sideband);
    g_byte_array_unref(s->sb);
}

static Piece bytes_of(const Session *s, unsigned sink, size_t from, size_t to)
{
    return (Piece) {
        .path = "piece",
        .data = s->sinks[sink].data->data + from,
        .size = to - from,
        .at = PIECE_AT_UNKNOWN,
    };
}

/* Round @n, from 0, of a sink */
static Piece round_of(const Session *s, unsigned sink, unsigned n)
{
    return bytes_of(s, sink, s->sinks[sink].stops[n],
                    s->sinks[sink].stops[n + 1]);
}

static void refused(const Session *s, Piece *pieces, unsigned n,
                    const char *says)
{
    g_autoptr(GError) err = NULL;
    Pieces p;

    check_false(pieces_init(&p, pieces, n, s->sideband, &err));
    check_nonnull(strstr(err->message, says));
    pieces_clear(&p);
}

static void accepted(const Session *s, Pieces *p, Piece *pieces, unsigned n)
{
    GError *err = NULL;

    check_true(pieces_init(p, pieces, n, s->sideband, &err));
    check_no_error(err);
}

/* The first @n rounds, which @pieces become, a piece each */
static void all_accepted(const Session *s, Pieces *p, Piece *pieces,
                         unsigned n)
{
    for (unsigned round = 0; round < n; round++) {
        pieces[round] = round_of(s, 0, round);
    }
    accepted(s, p, pieces, n);
}

static const PieceRun *run_of(const Pieces *p, guint i)
{
    check_cmpuint(i, <, p->runs->len);
    return &g_array_index(p->runs, PieceRun, i);
}

/* All rounds, in any order, are what was stored. */
static void test_any_order(void)
{
    static const unsigned orders[][ROUNDS] = {
        { 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 2, 0, 3, 1 },
    };
    Session s;

    set_up(&s, 1, DIFFERENT, TAILS);
    for (unsigned i = 0; i < ARRAY_SIZE(orders); i++) {
        Piece pieces[ROUNDS];
        Pieces p;

        for (unsigned k = 0; k < ROUNDS; k++) {
            pieces[k] = round_of(&s, 0, orders[i][k]);
        }
        accepted(&s, &p, pieces, ROUNDS);
        check_cmpuint(p.runs->len, ==, 1);
        check_cmpuint(run_of(&p, 0)->at, ==, 0);
        check_false(run_of(&p, 0)->cut);
        check_cmpuint(p.data->len, ==, s.sinks[0].data->len);
        check_false(memcmp(p.data->data, s.sinks[0].data->data,
                           p.data->len));
        pieces_clear(&p);
    }
    tear_down(&s);
}

/* Two that do not follow each other: their packets are numbered. */
static void test_gap(void)
{
    Session s;
    Piece pieces[2];
    Pieces p;

    set_up(&s, 1, DIFFERENT, TAILS);
    pieces[0] = round_of(&s, 0, 3);
    pieces[1] = round_of(&s, 0, 1);
    accepted(&s, &p, pieces, 2);
    check_cmpuint(p.runs->len, ==, 2);
    for (unsigned i = 0; i < 2; i++) {
        unsigned round = i ? 3 : 1;

        check_cmpuint(run_of(&p, i)->at, ==, s.sinks[0].stops[round]);
        check_cmpuint(run_of(&p, i)->first[0], ==,
                      s.sinks[0].packets[round]);
        check_cmpint(run_of(&p, i)->sink, ==, SIDEBAND_SHARED_RAM);
    }
    pieces_clear(&p);
    tear_down(&s);
}

/* From the middle of a packet on: what is whole is found, and numbered. */
static void test_cut(void)
{
    Session s;
    Piece piece;
    Pieces p;
    size_t at, pos;
    unsigned n = 0;

    set_up(&s, 1, DIFFERENT, TAILS);
    at = s.sinks[0].stops[1] + 50;
    piece = bytes_of(&s, 0, at, s.sinks[0].stops[3]);
    accepted(&s, &p, &piece, 1);
    check_cmpint(piece.at, ==, at);
    check_true(run_of(&p, 0)->cut);
    check_cmpuint(run_of(&p, 0)->begin, >, 0);
    for (pos = run_of(&p, 0)->begin; pos < run_of(&p, 0)->end;) {
        ETraceEncapPacket pkt;
        ETraceEncapStatus status = etrace_encap_parse(
            &s.params[0], (const uint8_t *)p.data->data + pos,
            run_of(&p, 0)->end - pos, &pkt);

        check_true(status == ETRACE_ENCAP_PACKET ||
                   status == ETRACE_ENCAP_NULL);
        n += status == ETRACE_ENCAP_PACKET;
        pos += pkt.size;
    }
    check_cmpuint(run_of(&p, 0)->first[0] + n, ==, s.sinks[0].packets[3]);
    pieces_clear(&p);
    tear_down(&s);
}

static void test_overlap(void)
{
    Session s;
    Piece pieces[3];
    Pieces p;

    set_up(&s, 1, DIFFERENT, TAILS);
    pieces[0] = bytes_of(&s, 0, 0, s.sinks[0].stops[2]);
    pieces[1] = bytes_of(&s, 0, s.sinks[0].stops[1], s.sinks[0].stops[3]);
    accepted(&s, &p, pieces, 2);
    check_cmpuint(p.runs->len, ==, 1);
    check_cmpuint(p.data->len, ==, s.sinks[0].stops[3]);
    check_false(memcmp(p.data->data, s.sinks[0].data->data, p.data->len));
    pieces_clear(&p);
    pieces[0] = round_of(&s, 0, 2);
    pieces[1] = pieces[0];
    refused(&s, pieces, 2, "the other files have all of it");
    /* A driver copies all of a ring that has wrapped: older rounds again. */
    pieces[0] = round_of(&s, 0, 1);
    pieces[1] = round_of(&s, 0, 2);
    pieces[2] = bytes_of(&s, 0, s.sinks[0].stops[0] + 9, s.sinks[0].stops[4]);
    for (unsigned i = 0; i < 3; i++) {
        pieces[i].again = true;
    }
    accepted(&s, &p, pieces, 3);
    check_cmpuint(p.runs->len, ==, 1);
    check_cmpuint(p.data->len, ==, s.sinks[0].stops[4] - 9);
    check_cmpuint(run_of(&p, 0)->at, ==, 9);
    pieces_clear(&p);
    tear_down(&s);
}

/* The same bytes in each round */
static void test_alike(void)
{
    Session s;
    Piece pieces[ROUNDS];
    Pieces p;

    set_up(&s, 1, ALIKE, TAILS);
    pieces[0] = round_of(&s, 0, 2);
    refused(&s, pieces, 1, "the same bytes were stored at several places");
    pieces[0].at = s.sinks[0].stops[2];
    accepted(&s, &p, pieces, 1);
    check_cmpuint(run_of(&p, 0)->first[0], ==, s.sinks[0].packets[2]);
    pieces_clear(&p);
    /* all there are: any order is right */
    all_accepted(&s, &p, pieces, ROUNDS);
    check_cmpuint(p.runs->len, ==, 1);
    check_cmpuint(p.data->len, ==, s.sinks[0].data->len);
    pieces_clear(&p);
    tear_down(&s);
}

/*
 * A driver stops the trace by the same instructions each time: hundreds of
 * rounds end alike, and may be as long as others.
 */
static void test_same_end(void)
{
    Session s;
    Piece pieces[MAX_ROUNDS];
    Pieces p;

    set_up_rounds(&s, 1, SAME_END, MAX_ROUNDS, TAILS);
    pieces[0] = round_of(&s, 0, 300);
    refused(&s, pieces, 1, "the same bytes were stored at several places");
    tear_down(&s);

    set_up_rounds(&s, 1, SAME_END, MAX_ROUNDS, SUMS);
    for (unsigned round = 0; round < MAX_ROUNDS; round += 37) {
        pieces[0] = round_of(&s, 0, round);
        accepted(&s, &p, pieces, 1);
        check_cmpuint(run_of(&p, 0)->at, ==, s.sinks[0].stops[round]);
        check_cmpuint(run_of(&p, 0)->first[0], ==,
                      s.sinks[0].packets[round]);
        pieces_clear(&p);
    }
    /* What a ring that has wrapped held: it begins anywhere. */
    pieces[0] = bytes_of(&s, 0, s.sinks[0].stops[70] + 33,
                         s.sinks[0].stops[74]);
    accepted(&s, &p, pieces, 1);
    check_cmpuint(run_of(&p, 0)->at, ==, s.sinks[0].stops[70] + 33);
    pieces_clear(&p);
    all_accepted(&s, &p, pieces, MAX_ROUNDS);
    check_cmpuint(p.runs->len, ==, 1);
    check_cmpuint(p.data->len, ==, s.sinks[0].data->len);
    pieces_clear(&p);
    /* One byte is another one, in a round as long as any. */
    s.sinks[0].data->data[s.sinks[0].stops[13] + 20] ^= 1;
    pieces[0] = round_of(&s, 0, 13);
    refused(&s, pieces, 1, "has stored no such");
    tear_down(&s);
}

/* Rounds that are the same are known by what was given before them. */
static void test_alike_sums(void)
{
    Session s;
    Piece pieces[ROUNDS];
    Pieces p;

    set_up(&s, 1, ALIKE, SUMS);
    pieces[0] = round_of(&s, 0, 2);
    refused(&s, pieces, 1, "the same bytes were stored at several places");
    all_accepted(&s, &p, pieces, ROUNDS);
    check_cmpuint(p.data->len, ==, s.sinks[0].data->len);
    pieces_clear(&p);
    tear_down(&s);
}

static void test_elsewhere(void)
{
    Session s;
    g_autofree uint8_t *other = g_malloc0(300);
    Piece piece;

    set_up(&s, 1, DIFFERENT, TAILS);
    piece = (Piece) {
        .path = "piece", .data = other, .size = 300, .at = PIECE_AT_UNKNOWN,
    };
    refused(&s, &piece, 1, "has stored no such 300 bytes");
    piece = round_of(&s, 0, 1);
    piece.at = s.sinks[0].stops[2];
    refused(&s, &piece, 1, "these are not the");
    /* no stop is in it */
    piece = bytes_of(&s, 0, s.sinks[0].stops[1] + 8,
                     s.sinks[0].stops[1] + 200);
    refused(&s, &piece, 1, "do not go on to where the sink was stopped");
    tear_down(&s);
}

/* An older QEMU does not say how a sink's trace ended. */
static void test_no_tails(void)
{
    Session s;
    Piece piece;
    Pieces p;

    set_up(&s, 1, DIFFERENT, NOTHING);
    piece = round_of(&s, 0, 1);
    refused(&s, &piece, 1, "does not say where a piece");
    piece.at = s.sinks[0].stops[1];
    accepted(&s, &p, &piece, 1);
    check_cmpuint(run_of(&p, 0)->first[0], ==, s.sinks[0].packets[1]);
    pieces_clear(&p);
    tear_down(&s);
}

/* Each hart's sink has a trace of its own. */
static void test_sinks(void)
{
    Session s;
    Piece pieces[2];
    Pieces p;

    set_up(&s, 2, DIFFERENT, TAILS);
    pieces[0] = round_of(&s, 1, 2);
    pieces[1] = round_of(&s, 0, 1);
    accepted(&s, &p, pieces, 2);
    check_cmpuint(p.runs->len, ==, 2);
    check_cmpint(run_of(&p, 0)->sink, ==, 0);
    check_cmpuint(run_of(&p, 0)->first[0], ==, s.sinks[0].packets[1]);
    check_cmpint(run_of(&p, 1)->sink, ==, 1);
    check_cmpuint(run_of(&p, 1)->first[1], ==, s.sinks[1].packets[2]);
    check_true(piece_is_at(s.sideband, 1, pieces[1].data, pieces[1].size,
                           s.sinks[1].stops[2]));
    check_false(piece_is_at(s.sideband, 0, pieces[1].data, pieces[1].size,
                            s.sinks[0].stops[2]));
    pieces_clear(&p);
    tear_down(&s);
}

static void write_file(const char *dir, const char *name, const uint8_t *data,
                       size_t size)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);

    check_true(g_file_set_contents(path, (const char *)data, size, NULL));
}

/*
 * AUX data of a whole ring that has wrapped are in order, other than a dump of
 * the ring, which has the same size.
 */
static void test_whole_ring(void)
{
    char *dir = guest_dir_new();
    g_autofree char *path = g_build_filename(dir, "trace", NULL);
    g_autofree char *side = g_build_filename(dir, "side", NULL);
    char *traces[] = { path, NULL }, *sides[] = { side, NULL };
    const TraceOptions options = {
        .traces = traces, .sidebands = sides, .ram = true,
        .packets_only = true, .wrapped_at = RING_NOT_WRAPPED,
    };
    g_autoptr(GError) err = NULL;
    g_autoptr(Trace) t = NULL;
    Session s;
    size_t size;

    ring_wraps = true;
    set_up_rounds(&s, 1, DIFFERENT, 20, TAILS);
    ring_wraps = false;
    size = s.sinks[0].data->len;
    check_cmpuint(size, >, RING_SIZE);
    check_cmpuint(size % RING_SIZE, !=, 0);
    write_file(dir, "trace", s.sinks[0].data->data + size - RING_SIZE,
               RING_SIZE);
    write_file(dir, "side", s.sb->data, s.sb->len);
    t = trace_open(&options, &err);
    check_no_error(err);
    check_cmpuint(t->end, ==, RING_SIZE);
    check_cmpint(memcmp(t->data, s.sinks[0].data->data + size - RING_SIZE,
                        RING_SIZE), ==, 0);
    tear_down(&s);
    guest_dir_remove(dir);
}

/*
 * A ring in order that was saved, after which the sink went on: it is where the
 * sideband of all has it, and not at the end. What no stop explains is refused.
 */
static void test_earlier_ring(void)
{
    char *dir = guest_dir_new();
    g_autofree char *path = g_build_filename(dir, "trace", NULL);
    g_autofree char *side = g_build_filename(dir, "side", NULL);
    char *traces[] = { path, NULL }, *sides[] = { side, NULL };
    const TraceOptions options = {
        .traces = traces, .sidebands = sides, .ram = true,
        .packets_only = true, .wrapped_at = 0,
    };
    g_autoptr(GError) err = NULL;
    g_autoptr(Trace) t = NULL, none = NULL;
    const PieceRun *run;
    Session s;
    size_t at;

    ring_wraps = true;
    set_up_rounds(&s, 1, DIFFERENT, 20, TAILS);
    ring_wraps = false;
    at = s.sinks[0].stops[18] - RING_SIZE;
    write_file(dir, "trace", s.sinks[0].data->data + at, RING_SIZE);
    write_file(dir, "side", s.sb->data, s.sb->len);
    t = trace_open(&options, &err);
    check_no_error(err);
    check_cmpuint(t->pieces.runs->len, ==, 1);
    run = &g_array_index(t->pieces.runs, PieceRun, 0);
    check_cmpuint(run->at, ==, at);

    s.sinks[0].data->data[s.sinks[0].stops[18] - 3] ^= 1;
    write_file(dir, "trace", s.sinks[0].data->data + at, RING_SIZE);
    none = trace_open(&options, &err);
    check_null(none);
    check_nonnull(strstr(err->message, "has stored no such"));
    tear_down(&s);
    guest_dir_remove(dir);
}

/* perf's tools put AUX data of all CPUs into one file. */
static void test_two_sinks(void)
{
    g_autoptr(GByteArray) both = g_byte_array_new();
    Session s;
    Piece piece;

    set_up(&s, 2, DIFFERENT, TAILS);
    for (unsigned sink = 0; sink < 2; sink++) {
        piece = round_of(&s, sink, 1);
        g_byte_array_append(both, piece.data, piece.size);
    }
    piece.data = both->data;
    piece.size = both->len;
    refused(&s, &piece, 1, "split it where the second one begins");
    tear_down(&s);
}

static void test_as_given(void)
{
    Session s;
    Piece pieces[2];
    Pieces p;

    set_up(&s, 1, DIFFERENT, TAILS);
    pieces[0] = round_of(&s, 0, 2);
    pieces[1] = round_of(&s, 0, 0);
    pieces_init_as_given(&p, pieces, 2);
    check_cmpuint(p.runs->len, ==, 2);
    check_cmpuint(run_of(&p, 0)->end, ==, pieces[0].size);
    check_cmpuint(run_of(&p, 1)->begin, ==, pieces[0].size);
    check_cmpuint(p.data->len, ==, pieces[0].size + pieces[1].size);
    check_null(run_of(&p, 0)->first);
    pieces_clear(&p);
    tear_down(&s);
}

static void test_first_stop(void)
{
    const SidebandRam stops[] = {
        { .bytes = 10 }, { .bytes = 20 }, { .bytes = 20 }, { .bytes = 30 },
    };

    check_cmpuint(pieces_first_stop(stops, 4, 0), ==, 0);
    check_cmpuint(pieces_first_stop(stops, 4, 10), ==, 0);
    check_cmpuint(pieces_first_stop(stops, 4, 11), ==, 1);
    check_cmpuint(pieces_first_stop(stops, 4, 30), ==, 3);
    check_cmpuint(pieces_first_stop(stops, 4, 31), ==, 4);
    check_cmpuint(pieces_first_stop(stops, 0, 5), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pieces/any-order", test_any_order);
    g_test_add_func("/pieces/gap", test_gap);
    g_test_add_func("/pieces/cut", test_cut);
    g_test_add_func("/pieces/overlap", test_overlap);
    g_test_add_func("/pieces/alike", test_alike);
    g_test_add_func("/pieces/same-end", test_same_end);
    g_test_add_func("/pieces/alike-sums", test_alike_sums);
    g_test_add_func("/pieces/elsewhere", test_elsewhere);
    g_test_add_func("/pieces/no-tails", test_no_tails);
    g_test_add_func("/pieces/sinks", test_sinks);
    g_test_add_func("/pieces/whole-ring", test_whole_ring);
    g_test_add_func("/pieces/earlier-ring", test_earlier_ring);
    g_test_add_func("/pieces/two-sinks", test_two_sinks);
    g_test_add_func("/pieces/as-given", test_as_given);
    g_test_add_func("/pieces/first-stop", test_first_stop);
    return g_test_run();
}
