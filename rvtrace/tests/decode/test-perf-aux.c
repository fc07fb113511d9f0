/*
 * The AUX data of perf.data files
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "trace/perf-aux.h"
#include "tests/fixtures/perf-build.h"
#include "base/perf-file.h"

#define CPU         (1u << 7)       /* of sample_type */
#define IDENTIFIER  (1u << 16)

/* PERF_RECORD_AUX: @size bytes from @offset on were written, with @flags. */
static void put_aux_flags(GByteArray *b, uint64_t offset, uint64_t size,
                          int cpu, int id, uint64_t flags)
{
    guint record = perf_record(b, 11, 0);

    view_put64(b, offset);
    view_put64(b, size);
    view_put64(b, flags);
    if (cpu >= 0) {
        view_put32(b, cpu);
        view_put32(b, 0);
    }
    if (id >= 0) {
        view_put64(b, id);
    }
    perf_record_end(b, record);
}

static void put_aux(GByteArray *b, uint64_t offset, uint64_t size, int cpu,
                    bool identifier)
{
    put_aux_flags(b, offset, size, cpu, identifier ? 99 : -1, 0);
}

/*
 * PERF_RECORD_AUXTRACE: @size bytes, each of which is @fill, follow it, and
 * what perf fills them up with.
 */
static void put_auxtrace_of(GByteArray *b, uint64_t offset, uint64_t size,
                            unsigned idx, unsigned cpu, uint8_t fill)
{
    guint record = perf_record(b, 71, 0);

    view_put64(b, ROUND_UP(size, 8));
    view_put64(b, offset);
    view_put64(b, 0);
    view_put32(b, idx);
    view_put32(b, 0);
    view_put32(b, cpu);
    view_put32(b, 0);
    perf_record_end(b, record);
    for (uint64_t i = 0; i < ROUND_UP(size, 8); i++) {
        view_put8(b, i < size ? fill : 0);
    }
}

static void put_auxtrace(GByteArray *b, uint64_t offset, uint64_t size,
                         unsigned cpu, uint8_t fill)
{
    put_auxtrace_of(b, offset, size, 0, cpu, fill);
}

static void put_info(GByteArray *b, uint32_t type)
{
    guint record = perf_record(b, 70, 0);

    view_put32(b, type);
    view_put32(b, 0);
    perf_record_end(b, record);
}

static GArray *read_truncated(GByteArray *b, unsigned truncated)
{
    GError *err = NULL;
    GArray *pieces;
    unsigned got;

    perf_end(b);
    check_true(perf_file_is(b->data, b->len));
    pieces = perf_aux_read("file", b->data, b->len, &got, &err);
    check_no_error(err);
    check_nonnull(pieces);
    check_cmpuint(got, ==, truncated);
    return pieces;
}

static GArray *read_all(GByteArray *b)
{
    return read_truncated(b, 0);
}

static void refused(GByteArray *b, const char *says)
{
    g_autoptr(GError) err = NULL;
    unsigned truncated;

    check_null(perf_aux_read("file", b->data, b->len, &truncated, &err));
    check_nonnull(strstr(err->message, says));
}

static void check_piece(const GArray *pieces, guint i, uint8_t fill,
                        size_t size)
{
    const Piece *piece = &g_array_index(pieces, Piece, i);

    check_cmpuint(i, <, pieces->len);
    check_cmpuint(piece->size, ==, size);
    check_cmpint(piece->at, ==, PIECE_AT_UNKNOWN);
    for (size_t k = 0; k < size; k++) {
        check_cmpuint(piece->data[k], ==, fill);
    }
}

/* What a buffer has of several recordings is a piece for each of them. */
static void test_borders(gconstpointer data)
{
    bool pipe = GPOINTER_TO_INT(data);
    g_autoptr(GByteArray) b = perf_begin(CPU | IDENTIFIER, 0, pipe);
    g_autoptr(GArray) pieces = NULL;

    put_info(b, 20);
    put_aux(b, 0, 30, 0, true);
    put_aux(b, 30, 50, 0, true);
    put_aux(b, 0, 10, 1, true);
    put_auxtrace(b, 0, 24, 0, 'a');
    put_auxtrace(b, 24, 56, 0, 'b');
    put_auxtrace(b, 0, 10, 1, 'c');
    pieces = read_all(b);
    check_cmpuint(pieces->len, ==, 4);
    check_piece(pieces, 0, 'a', 24);
    check_piece(pieces, 1, 'b', 6);
    check_piece(pieces, 2, 'b', 50);
    check_piece(pieces, 3, 'c', 10);
}

/* Without sample_id_all's CPU, borders are those of any. */
static void test_no_cpu(void)
{
    g_autoptr(GByteArray) b = perf_begin(0, 0, false);
    g_autoptr(GArray) pieces = NULL;

    put_aux(b, 0, 8, -1, false);
    put_aux(b, 8, 8, -1, false);
    put_auxtrace(b, 0, 16, 3, 'x');
    pieces = read_all(b);
    check_cmpuint(pieces->len, ==, 2);
    check_piece(pieces, 0, 'x', 8);
    check_piece(pieces, 1, 'x', 8);
}

/* perf fills what it writes of a buffer up to a multiple of 8 bytes. */
static void test_padding(void)
{
    g_autoptr(GByteArray) b = perf_begin(CPU | IDENTIFIER, 0, false);
    g_autoptr(GArray) pieces = NULL;

    put_info(b, 8);
    put_aux(b, 0, 12, 0, true);
    put_auxtrace(b, 0, 12, 0, 'a');
    put_aux(b, 12, 4, 0, true);
    put_aux(b, 16, 20, 0, true);
    put_auxtrace(b, 12, 24, 0, 'b');
    put_aux(b, 36, 4, 0, true);
    put_auxtrace(b, 36, 4, 0, 'c');
    pieces = read_all(b);
    check_cmpuint(pieces->len, ==, 4);
    check_piece(pieces, 0, 'a', 12);
    check_piece(pieces, 1, 'b', 4);
    check_piece(pieces, 2, 'b', 20);
    check_piece(pieces, 3, 'c', 4);
}

static void put_id(GByteArray *b, uint64_t id, uint64_t idx, uint64_t cpu)
{
    view_put64(b, id);
    view_put64(b, idx);
    view_put64(b, cpu);
    view_put64(b, 0);
}

/*
 * Events of a task, on every CPU that it comes to: their records have no CPU,
 * but the event's id.
 */
static void test_ids(void)
{
    g_autoptr(GByteArray) b = perf_begin(IDENTIFIER, 0, false);
    g_autoptr(GArray) pieces = NULL;
    guint record;

    put_info(b, 8);
    put_aux_flags(b, 0, 16, -1, 5, 0x100);
    record = perf_record(b, 69, 0);
    view_put64(b, 2);
    put_id(b, 5, 0, 3);
    put_id(b, 6, 1, 7);
    perf_record_end(b, record);
    put_aux_flags(b, 16, 16, -1, 5, 0x100);
    put_aux_flags(b, 0, 8, -1, 6, 0x100);
    put_aux_flags(b, 8, 40, -1, 6, 0x100);
    put_auxtrace_of(b, 0, 32, 0, 3, 'a');
    put_auxtrace_of(b, 0, 48, 1, 7, 'b');
    pieces = read_all(b);
    check_cmpuint(pieces->len, ==, 4);
    check_piece(pieces, 0, 'a', 16);
    check_piece(pieces, 1, 'a', 16);
    check_piece(pieces, 2, 'b', 8);
    check_piece(pieces, 3, 'b', 40);
}

/* Where the buffer was full, the end is missing: of no use, but known. */
static void test_truncated(void)
{
    g_autoptr(GByteArray) b = perf_begin(CPU, 0, false);
    g_autoptr(GByteArray) all = perf_begin(CPU, 0, false);
    g_autoptr(GArray) pieces = NULL;

    put_aux_flags(b, 0, 16, 0, -1, 0);
    put_aux_flags(b, 16, 7, 0, -1, 0x101);
    put_aux_flags(b, 23, 9, 0, -1, 0);
    put_aux_flags(b, 16, 16, 1, -1, 0);
    put_auxtrace(b, 0, 32, 0, 'x');
    put_auxtrace(b, 0, 32, 1, 'y');
    pieces = read_truncated(b, 1);
    check_cmpuint(pieces->len, ==, 4);
    check_piece(pieces, 0, 'x', 16);
    check_piece(pieces, 1, 'x', 9);
    check_piece(pieces, 2, 'y', 16);
    check_piece(pieces, 3, 'y', 16);

    put_aux_flags(all, 0, 15, 0, -1, 1);
    put_auxtrace(all, 0, 15, 0, 'x');
    perf_end(all);
    refused(all, "a larger one");
}

/* What is behind AUXTRACE_INFO's type is the recording tool's own. */
static void test_private_data(void)
{
    static const uint64_t cpus[] = {
        /* type of the PMU and CPUs; of each: CPU, 5, format, ... */
        10ull << 32 | 2, 0, 5, 0, 0, 0, 1, 0, 1, 5, 0, 0, 0, 1, 1,
    };

    for (unsigned n = 0; n <= ARRAY_SIZE(cpus); n += 1 + (n == 1) * 13) {
        g_autoptr(GByteArray) b = perf_begin(CPU, 0, false);
        g_autoptr(GArray) pieces = NULL;
        guint record = perf_record(b, 70, 0);

        view_put32(b, 8);
        view_put32(b, 0);
        for (unsigned i = 0; i < n; i++) {
            view_put64(b, n == 1 ? 10 : cpus[i]);
        }
        perf_record_end(b, record);
        put_aux(b, 0, 16, 0, false);
        put_auxtrace(b, 0, 16, 0, 'x');
        pieces = read_all(b);
        check_cmpuint(pieces->len, ==, 1);
    }
}

/* What perf reported no borders of is one piece. */
static void test_no_borders(void)
{
    g_autoptr(GByteArray) b = perf_begin(CPU, 0, false);
    g_autoptr(GArray) pieces = NULL;

    put_auxtrace(b, 1000, 16, 0, 'x');
    put_auxtrace(b, UINT64_MAX - 7, 8, 0, 'y');
    pieces = read_all(b);
    check_cmpuint(pieces->len, ==, 2);
    check_piece(pieces, 0, 'x', 16);
    check_piece(pieces, 1, 'y', 8);
}

static void test_refused(void)
{
    g_autoptr(GByteArray) none = perf_begin(CPU, 0, false);
    g_autoptr(GByteArray) other = perf_begin(CPU, 0, false);
    g_autoptr(GByteArray) cut = perf_begin(CPU, 0, false);
    g_autoptr(GByteArray) long_one = perf_begin(CPU, 0, true);
    g_autoptr(GByteArray) nexus = perf_begin(CPU, 0, false);

    put_aux(none, 0, 10, 0, false);
    perf_end(none);
    refused(none, "has no AUX data");

    put_info(other, 1);
    put_auxtrace(other, 0, 16, 0, 'x');
    perf_end(other);
    refused(other, "AUX data are of type 1, which is another architecture's");

    put_info(nexus, 8);
    put_aux_flags(nexus, 0, 16, 0, -1, 0x200);
    put_auxtrace(nexus, 0, 16, 0, 'x');
    perf_end(nexus);
    refused(nexus, "format 2 of their PMU, which is not E-Trace");

    put_auxtrace(cut, 0, 16, 0, 'x');
    perf_end(cut);
    g_byte_array_set_size(cut, cut->len - 1);
    refused(cut, "the perf.data file is cut off");

    /* more bytes behind the record than there are */
    put_auxtrace(long_one, 0, 16, 0, 'x');
    g_byte_array_set_size(long_one, long_one->len - 1);
    refused(long_one, "is damaged or cut off");
    long_one->data[16 + 6] = 7;
    long_one->data[16 + 7] = 0;
    refused(long_one, "is damaged or cut off");
}

/* A file that says less than it should is refused, wherever it is cut. */
static void test_cut_anywhere(void)
{
    g_autoptr(GByteArray) b = perf_begin(CPU, 0, true);

    put_aux(b, 0, 8, 0, false);
    put_auxtrace(b, 0, 16, 0, 'x');
    for (guint n = PERF_FILE_MAGIC_SIZE; n < b->len; n++) {
        g_autofree uint8_t *copy = g_memdup2(b->data, n);
        g_autoptr(GError) err = NULL;

        unsigned truncated;

        check_null(perf_aux_read("file", copy, n, &truncated, &err));
        check_nonnull(err);
    }
    check_false(perf_file_is(b->data, PERF_FILE_MAGIC_SIZE - 1));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/perf-aux/borders", GINT_TO_POINTER(false),
                         test_borders);
    g_test_add_data_func("/perf-aux/borders-pipe", GINT_TO_POINTER(true),
                         test_borders);
    g_test_add_func("/perf-aux/no-cpu", test_no_cpu);
    g_test_add_func("/perf-aux/padding", test_padding);
    g_test_add_func("/perf-aux/ids", test_ids);
    g_test_add_func("/perf-aux/truncated", test_truncated);
    g_test_add_func("/perf-aux/private-data", test_private_data);
    g_test_add_func("/perf-aux/no-borders", test_no_borders);
    g_test_add_func("/perf-aux/refused", test_refused);
    g_test_add_func("/perf-aux/cut-anywhere", test_cut_anywhere);
    return g_test_run();
}
