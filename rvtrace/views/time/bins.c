/*
 * Counts by time: how much of each thing there was in each of a few bins
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/virtual-clock.h"
#include "views/time/bins.h"

/* What is behind this counts as being here: sums must not overflow. */
#define BINS_LAST   (UINT64_MAX / 4)

Bins *bins_new(uint64_t width, unsigned max_bins, unsigned max_counts)
{
    Bins *b = g_new0(Bins, 1);

    b->width = width;
    b->max_bins = max_bins;
    b->max_counts = max_counts;
    b->counts = g_array_new(false, false, sizeof(BinCount));
    b->open = g_array_new(false, true, sizeof(uint64_t));
    b->touched = g_array_new(false, false, sizeof(uint32_t));
    return b;
}

void bins_free(Bins *b)
{
    g_array_unref(b->counts);
    g_array_unref(b->open);
    g_array_unref(b->touched);
    g_free(b);
}

static void count(Bins *b, uint32_t id, uint64_t n)
{
    uint64_t *sum;

    if (!n) {
        return;
    }
    if (b->open->len <= id) {
        g_array_set_size(b->open, id + 1);
    }
    sum = &g_array_index(b->open, uint64_t, id);
    if (!*sum) {
        g_array_append_val(b->touched, id);
    }
    *sum += n;
}

/* What was counted belongs to bin @bin. */
static void flush(Bins *b, uint32_t bin)
{
    for (guint i = 0; i < b->touched->len; i++) {
        uint32_t id = g_array_index(b->touched, uint32_t, i);
        uint64_t *sum = &g_array_index(b->open, uint64_t, id);
        BinCount done = { .id = id, .bin = bin, .count = *sum };

        g_array_append_val(b->counts, done);
        *sum = 0;
    }
    g_array_set_size(b->touched, 0);
}

static void find_end(Bins *b)
{
    b->end = (b->first + b->now + 1) * b->width;
}

/* Two bins become one: those that begin at an even multiple and the next */
static void halve(Bins *b)
{
    GArray *old = b->counts;
    unsigned odd = b->first & 1;

    flush(b, b->now);
    b->counts = g_array_sized_new(false, false, sizeof(BinCount),
                                  old->len / 2);
    for (guint i = 0; i < old->len; i++) {
        const BinCount *c = &g_array_index(old, BinCount, i);
        uint32_t bin = (c->bin + odd) / 2;

        if (i && bin != (c[-1].bin + odd) / 2) {
            flush(b, (c[-1].bin + odd) / 2);
        }
        count(b, c->id, c->count);
    }
    /* The last pair may be the one that is not complete. */
    if (old->len) {
        uint32_t last = (g_array_index(old, BinCount, old->len - 1).bin +
                         odd) / 2;

        if (last != (b->now + odd) / 2) {
            flush(b, last);
        }
    }
    g_array_unref(old);
    b->now = (b->now + odd) / 2;
    b->first /= 2;
    b->width *= 2;
    find_end(b);
}

static uint64_t bin_of(const Bins *b, uint64_t at)
{
    uint64_t bin = at / b->width;

    return bin - MIN(bin, b->first);
}

/* Go on with the bin of @at, if that is behind the one that is counted. */
static void go_on(Bins *b, uint64_t at)
{
    if (bin_of(b, at) <= b->now) {
        return;
    }
    while (bin_of(b, at) >= b->max_bins) {
        halve(b);
    }
    if (bin_of(b, at) == b->now) {
        return;
    }
    flush(b, b->now);
    b->now = bin_of(b, at);
    find_end(b);
    while (b->counts->len > b->max_counts && b->now) {
        halve(b);
    }
}

void bins_put(Bins *b, uint32_t id, uint64_t from, uint64_t to,
              uint64_t n)
{
    uint64_t done = 0;

    if (to < b->end) {
        count(b, id, n);
        return;
    }
    from = MIN(from, BINS_LAST);
    to = MIN(to, BINS_LAST);
    if (!b->known) {
        b->known = true;
        b->first = from / b->width;
        find_end(b);
    }
    go_on(b, from);
    /* Room for all of it, before it is divided */
    while (bin_of(b, to) >= b->max_bins) {
        halve(b);
    }
    while (bin_of(b, to) > b->now) {
        uint64_t end = b->end;
        uint64_t part = share_of(n, end - from, to - from);

        count(b, id, part - done);
        done = part;
        if (end == to) {
            break;
        }
        go_on(b, end);
    }
    count(b, id, n - done);
}

void bins_end(Bins *b)
{
    flush(b, b->now);
}
