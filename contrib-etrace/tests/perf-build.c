/*
 * perf.data files to order, for tests
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "perf-build.h"

#define HEADER  104
#define ATTR    112
#define SAMPLE_ID_ALL (1u << 18)

static void put_attr(GByteArray *b, uint64_t sample_type, uint64_t branch_type)
{
    guint start = b->len;

    view_put32(b, 0);
    view_put32(b, ATTR);
    view_put64(b, 0);
    view_put64(b, 1000);
    view_put64(b, sample_type);
    view_put64(b, 0);
    view_put64(b, SAMPLE_ID_ALL);
    view_put(b, 0, 8);
    view_put(b, 0, 8);
    view_put(b, 0, 8);
    view_put64(b, branch_type);
    while (b->len < start + ATTR) {
        view_put8(b, 0);
    }
}

GByteArray *perf_begin(uint64_t sample_type, uint64_t branch_type, bool pipe)
{
    GByteArray *b = g_byte_array_new();
    guint record;

    g_byte_array_append(b, (const guint8 *)"PERFILE2", 8);
    if (pipe) {
        view_put64(b, 16);
        record = perf_record(b, 64, 0);
        put_attr(b, sample_type, branch_type);
        perf_record_end(b, record);
        return b;
    }
    view_put64(b, HEADER);
    view_put64(b, ATTR + 16);
    view_put64(b, HEADER);
    view_put64(b, ATTR + 16);
    view_put64(b, HEADER + ATTR + 16);
    while (b->len < HEADER) {
        view_put8(b, 0);
    }
    put_attr(b, sample_type, branch_type);
    view_put64(b, 0);
    view_put64(b, 0);
    return b;
}

guint perf_record(GByteArray *b, unsigned type, unsigned misc)
{
    guint record = b->len;

    view_put32(b, type);
    view_put16(b, misc);
    view_put16(b, 0);
    return record;
}

void perf_record_end(GByteArray *b, guint record)
{
    b->data[record + 6] = b->len - record;
    b->data[record + 7] = (b->len - record) >> 8;
}

void perf_end(GByteArray *b)
{
    uint64_t size = GUINT64_TO_LE((uint64_t)b->len - HEADER - ATTR - 16);

    if (b->data[8] == HEADER) {
        memcpy(b->data + 48, &size, 8);
    }
}
