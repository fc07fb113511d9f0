/*
 * The mark of a piece, and where a collected trace is cut
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "collect/cutter.h"
#include "etrace/encap.h"
#include "tests/fixtures/check.h"
#include "trace/cut-mark.h"

static void test_mark(void)
{
    const CutMark marks[] = {
        { 0, 0, 0 },
        { UINT64_MAX, INT64_MAX, 3 },
        { 0x8000000000000001, 0x123456789abcdef, 1 },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(marks); i++) {
        g_autoptr(GByteArray) out = g_byte_array_new();
        const ETraceParams params = { .ts_bytes = 8, .src_bits = 16 };
        CutMark got;
        size_t behind = 0, at;
        uint64_t id;

        cut_mark_put(&marks[i], out);
        at = out->len;
        g_byte_array_append(out, (const uint8_t *)"abc", 3);
        check_true(cut_mark_get(out->data, out->len, &got, &behind));
        check_cmpuint(behind, ==, at);
        check_cmphex(got.id, ==, marks[i].id);
        check_cmphex(got.offset, ==, marks[i].offset);
        check_cmpuint(got.head, ==, marks[i].head);
        /* Other readers see null packets, and no session. */
        check_true(etrace_encap_find_mark(&params, out->data, out->len, &id) ==
                   ETRACE_MARK_NONE);
        check_true(etrace_encap_find_align(&params, out->data, out->len,
                                           &behind));
        for (size_t cut = 0; cut < at + marks[i].head; cut++) {
            check_false(cut_mark_get(out->data, cut, &got, &behind));
        }
        for (size_t byte = 0; byte < at; byte++) {
            out->data[byte] ^= 1;
            check_false(cut_mark_get(out->data, out->len, &got, &behind));
            out->data[byte] ^= 1;
        }
    }
}

/* Without a sideband nothing is cut, and it is not waited for for ever. */
static void test_no_sideband(void)
{
    g_autofree uint8_t *data = g_malloc0(1 << 20);
    g_autoptr(GByteArray) head = g_byte_array_new();
    Cutter *c = cutter_new();
    bool lost = false;
    unsigned n = 0;

    cutter_sideband(c, (const uint8_t *)"what is this?", 13);
    while (!lost && n++ < 100) {
        check_cmpuint(cutter_feed(c, data, 1 << 20, true, head, &lost), ==,
                      SIZE_MAX);
    }
    check_true(lost);
    check_cmpuint(n, ==, 65);
    cutter_free(c);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cut-mark/mark", test_mark);
    g_test_add_func("/cut-mark/no-sideband", test_no_sideband);
    return g_test_run();
}
