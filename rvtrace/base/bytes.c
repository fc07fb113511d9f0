/*
 * Numbers and texts in files of our own
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/bytes.h"

static void put(GByteArray *out, uint64_t value, unsigned size)
{
    uint8_t bytes[8];

    for (unsigned i = 0; i < size; i++) {
        bytes[i] = value >> (8 * i);
    }
    g_byte_array_append(out, bytes, size);
}

void bytes_put_u32(GByteArray *out, uint32_t value)
{
    put(out, value, 4);
}

void bytes_put_u64(GByteArray *out, uint64_t value)
{
    put(out, value, 8);
}

void bytes_put_text(GByteArray *out, const char *text)
{
    size_t len = text ? strlen(text) : 0;

    put(out, len, 4);
    g_byte_array_append(out, (const guint8 *)text, len);
}

static uint64_t get(ByteReader *in, unsigned size)
{
    uint64_t value = 0;

    if (in->failed || in->size - in->pos < size) {
        in->failed = true;
        return 0;
    }
    for (unsigned i = 0; i < size; i++) {
        value |= (uint64_t)in->data[in->pos + i] << (8 * i);
    }
    in->pos += size;
    return value;
}

uint8_t bytes_get_u8(ByteReader *in)
{
    return get(in, 1);
}

uint32_t bytes_get_u32(ByteReader *in)
{
    return get(in, 4);
}

uint64_t bytes_get_u64(ByteReader *in)
{
    return get(in, 8);
}

uint32_t bytes_get_count(ByteReader *in, size_t size)
{
    uint32_t count = bytes_get_u32(in);

    if (count > (in->size - in->pos) / size) {
        in->failed = true;
        return 0;
    }
    return in->failed ? 0 : count;
}

char *bytes_get_text(ByteReader *in)
{
    uint32_t len = bytes_get_count(in, 1);
    const uint8_t *text = in->data + in->pos;

    if (len && memchr(text, 0, len)) {
        in->failed = true;
    }
    if (in->failed) {
        return g_strdup("");
    }
    in->pos += len;
    return g_strndup((const char *)text, len);
}
