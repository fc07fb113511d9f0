/*
 * Numbers and texts in files of our own: little-endian, without padding
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_BYTES_H
#define ETRACE_BYTES_H

#include <glib.h>

static inline void bytes_put_u8(GByteArray *out, uint8_t value)
{
    g_byte_array_append(out, &value, 1);
}

void bytes_put_u32(GByteArray *out, uint32_t value);
void bytes_put_u64(GByteArray *out, uint64_t value);

/* Its length and its bytes; NULL is written as "". */
void bytes_put_text(GByteArray *out, const char *text);

/*
 * Reads of @data, which it does not own, from @pos on. What is behind the end
 * is read as 0 and sets @failed, which stays.
 */
typedef struct ByteReader {
    const uint8_t *data;
    size_t size, pos;
    bool failed;
} ByteReader;

uint8_t bytes_get_u8(ByteReader *in);
uint32_t bytes_get_u32(ByteReader *in);
uint64_t bytes_get_u64(ByteReader *in);

/* The caller frees it; "" if it failed, or if there is a NUL in it. */
char *bytes_get_text(ByteReader *in);

/*
 * How many elements follow, of at least @size bytes each: a u32 that fails if
 * there is no room for so many, so that it is safe to allocate by.
 */
uint32_t bytes_get_count(ByteReader *in, size_t size);

#endif /* ETRACE_BYTES_H */
