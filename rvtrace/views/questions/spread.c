/*
 * How values are spread: count, least, most and percentiles
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <math.h>
#include "views/questions/spread.h"

#define EXACT_BITS  6           /* values below 1 << that */
#define STEP_BITS   5           /* buckets of an octave, likewise */

void spread_init(Spread *s)
{
    *s = (Spread) { .least = UINT64_MAX };
    s->buckets = g_array_new(false, true, sizeof(uint64_t));
}

void spread_clear(Spread *s)
{
    g_clear_pointer(&s->buckets, g_array_unref);
}

static unsigned top_bit(uint64_t value)
{
    return 63 - __builtin_clzll(value);
}

static unsigned bucket_of(uint64_t value)
{
    unsigned top;

    if (value < 1u << EXACT_BITS) {
        return value;
    }
    top = top_bit(value);
    return (1u << EXACT_BITS) + ((top - EXACT_BITS) << STEP_BITS) +
           ((value >> (top - STEP_BITS)) & ((1u << STEP_BITS) - 1));
}

/* The largest value that is in @bucket */
static uint64_t last_of(unsigned bucket)
{
    unsigned k = bucket - (1u << EXACT_BITS), top;
    uint64_t first;

    if (bucket < 1u << EXACT_BITS) {
        return bucket;
    }
    top = EXACT_BITS + (k >> STEP_BITS);
    first = (uint64_t)((1u << STEP_BITS) | (k & ((1u << STEP_BITS) - 1)))
            << (top - STEP_BITS);
    return first + (UINT64_C(1) << (top - STEP_BITS)) - 1;
}

static uint64_t *bucket(const Spread *s, unsigned i)
{
    return &g_array_index(s->buckets, uint64_t, i);
}

void spread_add(Spread *s, uint64_t value)
{
    unsigned i = bucket_of(value);

    if (s->buckets->len <= i) {
        g_array_set_size(s->buckets, i + 1);
    }
    ++*bucket(s, i);
    s->count++;
    s->sum += value;
    s->least = MIN(s->least, value);
    s->most = MAX(s->most, value);
}

void spread_merge(Spread *s, const Spread *from)
{
    if (s->buckets->len < from->buckets->len) {
        g_array_set_size(s->buckets, from->buckets->len);
    }
    for (guint i = 0; i < from->buckets->len; i++) {
        *bucket(s, i) += *bucket(from, i);
    }
    s->count += from->count;
    s->sum += from->sum;
    s->least = MIN(s->least, from->least);
    s->most = MAX(s->most, from->most);
}

uint64_t spread_percentile(const Spread *s, double share)
{
    uint64_t left = MAX(ceil(s->count * share), 1);

    for (guint i = 0; i < s->buckets->len; i++) {
        if (left <= *bucket(s, i)) {
            return CLAMP(last_of(i), s->least, s->most);
        }
        left -= *bucket(s, i);
    }
    return s->count ? s->most : 0;
}

uint64_t spread_octave(const Spread *s, uint64_t from)
{
    unsigned first = bucket_of(from);
    unsigned end = from ? bucket_of(from + (from - 1)) + 1 : 1;
    uint64_t n = 0;

    for (unsigned i = first; i < MIN(end, s->buckets->len); i++) {
        n += *bucket(s, i);
    }
    return n;
}
