/*
 * Protocol buffers: just enough to write messages
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "protobuf.h"

/* Of 7 bits each */
#define MAX_VARINT  10

enum { WIRE_VARINT = 0, WIRE_LEN = 2 };

static unsigned make_varint(guint8 *out, guint64 value)
{
    unsigned n = 0;

    for (; value >= 0x80; value >>= 7) {
        out[n++] = value | 0x80;
    }
    out[n++] = value;
    return n;
}

static void put_varint(GByteArray *b, guint64 value)
{
    guint8 bytes[MAX_VARINT];

    g_byte_array_append(b, bytes, make_varint(bytes, value));
}

static void put_tag(GByteArray *b, unsigned field, unsigned wire)
{
    put_varint(b, (guint64)field << 3 | wire);
}

void protobuf_uint(GByteArray *b, unsigned field, guint64 value)
{
    put_tag(b, field, WIRE_VARINT);
    put_varint(b, value);
}

void protobuf_string(GByteArray *b, unsigned field, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    size_t len = strlen(valid);

    put_tag(b, field, WIRE_LEN);
    put_varint(b, len);
    g_byte_array_append(b, (const guint8 *)valid, len);
}

gsize protobuf_begin(GByteArray *b, unsigned field)
{
    put_tag(b, field, WIRE_LEN);
    return b->len;
}

/* The length goes in front of what it is the length of. */
void protobuf_end(GByteArray *b, gsize at)
{
    guint8 bytes[MAX_VARINT];
    gsize len = b->len - at;
    unsigned n = make_varint(bytes, len);

    g_byte_array_set_size(b, b->len + n);
    memmove(b->data + at + n, b->data + at, len);
    memcpy(b->data + at, bytes, n);
}
