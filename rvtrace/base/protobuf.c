/*
 * Protocol buffers: just enough to write messages
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/protobuf.h"

/* Of 7 bits each */
#define MAX_VARINT  10

enum { WIRE_VARINT = 0, WIRE_I64 = 1, WIRE_LEN = 2 };

static unsigned make_varint(guint8 *out, guint64 value)
{
    unsigned n = 0;

    for (; value >= 0x80; value >>= 7) {
        out[n++] = value | 0x80;
    }
    out[n++] = value;
    return n;
}

void protobuf_varint(GByteArray *b, guint64 value)
{
    guint8 bytes[MAX_VARINT];

    g_byte_array_append(b, bytes, make_varint(bytes, value));
}

static void put_tag(GByteArray *b, unsigned field, unsigned wire)
{
    protobuf_varint(b, (guint64)field << 3 | wire);
}

void protobuf_uint(GByteArray *b, unsigned field, guint64 value)
{
    put_tag(b, field, WIRE_VARINT);
    protobuf_varint(b, value);
}

void protobuf_fixed64(GByteArray *b, unsigned field, guint64 value)
{
    guint8 bytes[8];

    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = value >> 8 * i;
    }
    put_tag(b, field, WIRE_I64);
    g_byte_array_append(b, bytes, 8);
}

static void put_bytes(GByteArray *b, unsigned field, const void *data,
                      size_t len)
{
    put_tag(b, field, WIRE_LEN);
    protobuf_varint(b, len);
    if (len) {
        g_byte_array_append(b, data, len);
    }
}

void protobuf_message(GByteArray *b, unsigned field,
                      const GByteArray *message)
{
    put_bytes(b, field, message->data, message->len);
}

void protobuf_string(GByteArray *b, unsigned field, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);

    put_bytes(b, field, valid, strlen(valid));
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
