/*
 * Index of an array's elements by what distinguishes them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/element-index.h"

#define MIN_BITS    6

void element_index_clear(ElementIndex *x)
{
    g_free(x->slots);
    *x = (ElementIndex) { };
}

/* The upper bits choose the slot, so that growing keeps the order. */
static unsigned home(const ElementIndex *x, uint32_t hash)
{
    return hash >> (32 - x->bits);
}

static void put(ElementIndex *x, uint64_t slot)
{
    unsigned mask = (1u << x->bits) - 1;
    unsigned i = home(x, slot >> 32);

    while (x->slots[i]) {
        i = (i + 1) & mask;
    }
    x->slots[i] = slot;
}

static void grow(ElementIndex *x)
{
    ElementIndex old = *x;

    x->bits = old.bits ? old.bits + 1 : MIN_BITS;
    x->slots = g_new0(uint64_t, 1u << x->bits);
    for (unsigned i = 0; old.bits && i < 1u << old.bits; i++) {
        if (old.slots[i]) {
            put(x, old.slots[i]);
        }
    }
    g_free(old.slots);
}

int64_t element_index_find(const ElementIndex *x, const GArray *array,
                           uint32_t hash, ElementEqual *equal,
                           const void *like)
{
    unsigned size = g_array_get_element_size((GArray *)array);
    unsigned mask = (1u << x->bits) - 1;

    if (!x->bits) {
        return -1;
    }
    for (unsigned i = home(x, hash); x->slots[i]; i = (i + 1) & mask) {
        unsigned number = (uint32_t)x->slots[i] - 1;

        if (x->slots[i] >> 32 == hash &&
            equal(array->data + (size_t)number * size, like)) {
            return number;
        }
    }
    return -1;
}

void element_index_add(ElementIndex *x, uint32_t hash, unsigned number)
{
    /* at most three of four slots */
    if (!x->bits || x->used >= 3u << (x->bits - 2)) {
        grow(x);
    }
    put(x, (uint64_t)hash << 32 | (number + 1));
    x->used++;
}

unsigned element_index_intern(ElementIndex *x, GArray *array, uint32_t hash,
                              ElementEqual *equal, const void *like)
{
    int64_t found = element_index_find(x, array, hash, equal, like);

    if (found < 0) {
        found = array->len;
        g_array_append_vals(array, like, 1);
        element_index_add(x, hash, found);
    }
    return found;
}
