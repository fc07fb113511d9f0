/*
 * Pieces of a file that are the same again and again, kept once
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/stack-pool.h"

struct StackPool {
    GHashTable *index;      /* GBytes -> number */
    GPtrArray *pieces;      /* GBytes, by number */
};

StackPool *stack_pool_new(void)
{
    StackPool *pool = g_new0(StackPool, 1);

    pool->index = g_hash_table_new(g_bytes_hash, g_bytes_equal);
    pool->pieces = g_ptr_array_new_with_free_func(
        (GDestroyNotify)g_bytes_unref);
    return pool;
}

void stack_pool_free(StackPool *pool)
{
    g_hash_table_unref(pool->index);
    g_ptr_array_unref(pool->pieces);
    g_free(pool);
}

unsigned stack_pool_add(StackPool *pool, GByteArray *piece)
{
    GBytes *bytes = g_byte_array_free_to_bytes(piece);
    gpointer number;

    if (g_hash_table_lookup_extended(pool->index, bytes, NULL, &number)) {
        g_bytes_unref(bytes);
        return GPOINTER_TO_UINT(number);
    }
    g_ptr_array_add(pool->pieces, bytes);
    g_hash_table_insert(pool->index, bytes,
                        GUINT_TO_POINTER(pool->pieces->len - 1));
    return pool->pieces->len - 1;
}

void stack_pool_put(const StackPool *pool, GByteArray *out)
{
    bytes_put_u32(out, pool->pieces->len);
    for (guint i = 0; i < pool->pieces->len; i++) {
        gsize size;
        const uint8_t *data = g_bytes_get_data(pool->pieces->pdata[i], &size);

        bytes_put_u32(out, size);
        g_byte_array_append(out, data, size);
    }
}

GArray *stack_pool_get(ByteReader *in)
{
    GArray *pieces = g_array_new(false, false, sizeof(ByteReader));
    uint32_t n = bytes_get_count(in, 4);

    while (n-- > 0) {
        uint32_t size = bytes_get_count(in, 1);
        ByteReader piece = { .data = in->data + in->pos, .size = size };

        in->pos += size;
        g_array_append_val(pieces, piece);
    }
    if (in->failed) {
        g_array_unref(pieces);
        return NULL;
    }
    return pieces;
}
