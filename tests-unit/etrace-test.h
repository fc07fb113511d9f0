/*
 * What the unit tests of the trace core share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_UNIT_ETRACE_TEST_H
#define TESTS_UNIT_ETRACE_TEST_H

#include <glib.h>
#include "hw/trace/etrace/packet.h"

/* Bytes as text, as the specification prints payloads: "05 04 01" */
static inline char *etrace_test_hex(const uint8_t *buf, size_t len)
{
    GString *s = g_string_new(NULL);

    for (size_t i = 0; i < len; i++) {
        g_string_append_printf(s, "%s%02x", i ? " " : "", buf[i]);
    }
    return g_string_free(s, FALSE);
}

/* The reverse; returns the number of bytes. */
static inline size_t etrace_test_bytes(const char *hex, uint8_t *buf,
                                       size_t max)
{
    size_t n = 0;

    for (; *hex; hex += 2 + (hex[2] == ' ')) {
        int high = g_ascii_xdigit_value(hex[0]);
        int low = g_ascii_xdigit_value(hex[1]);

        g_assert(high >= 0 && low >= 0 && n < max);
        buf[n++] = high << 4 | low;
    }
    return n;
}

/* Member by member: the padding between them is of no interest. */
static inline void etrace_test_same(const ETracePacket *a,
                                    const ETracePacket *b)
{
    g_assert_cmpuint(a->format, ==, b->format);
    g_assert_cmpuint(a->subformat, ==, b->subformat);
    g_assert_cmpuint(a->branches, ==, b->branches);
    g_assert_cmpuint(a->notify, ==, b->notify);
    g_assert_cmpuint(a->updiscon, ==, b->updiscon);
    g_assert_cmpuint(a->irreport, ==, b->irreport);
    g_assert_cmphex(a->branch_map, ==, b->branch_map);
    g_assert_cmpuint(a->irdepth, ==, b->irdepth);
    g_assert_cmphex(a->address, ==, b->address);
    g_assert_cmphex(a->branch_count, ==, b->branch_count);
    g_assert_cmpuint(a->branch_fmt, ==, b->branch_fmt);
    g_assert_cmphex(a->index, ==, b->index);
    g_assert_cmpuint(a->branch, ==, b->branch);
    g_assert_cmpuint(a->privilege, ==, b->privilege);
    g_assert_cmphex(a->time, ==, b->time);
    g_assert_cmphex(a->context, ==, b->context);
    g_assert_cmpuint(a->ecause, ==, b->ecause);
    g_assert_cmpuint(a->interrupt, ==, b->interrupt);
    g_assert_cmpuint(a->thaddr, ==, b->thaddr);
    g_assert_cmphex(a->tval, ==, b->tval);
    g_assert_cmpuint(a->ienable, ==, b->ienable);
    g_assert_cmpuint(a->encoder_mode, ==, b->encoder_mode);
    g_assert_cmpuint(a->qual_status, ==, b->qual_status);
    g_assert_cmphex(a->ioptions, ==, b->ioptions);
    g_assert_cmpuint(a->denable, ==, b->denable);
    g_assert_cmpuint(a->dloss, ==, b->dloss);
    g_assert_cmphex(a->doptions, ==, b->doptions);
    g_assert_cmpuint(a->irets, ==, b->irets);
    g_assert_cmpuint(a->resync_disabled, ==, b->resync_disabled);
    g_assert_cmpuint(a->iret_ext, ==, b->iret_ext);
    g_assert_cmpuint(a->mmacas_ext, ==, b->mmacas_ext);
    g_assert_cmpuint(a->time_width, ==, b->time_width);
    g_assert_cmpuint(a->f0s_width, ==, b->f0s_width);
    g_assert_cmpuint(a->return_stack_size, ==, b->return_stack_size);
    g_assert_cmpuint(a->call_counter_size, ==, b->call_counter_size);
    g_assert_cmpuint(a->bpred_size, ==, b->bpred_size);
    g_assert_cmpuint(a->cache_size, ==, b->cache_size);
}

#endif /* TESTS_UNIT_ETRACE_TEST_H */
