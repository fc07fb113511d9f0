/*
 * Protocol buffers: the wire format, written by hand
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "protobuf.h"

typedef enum WireType {
    WIRE_VARINT = 0,
    WIRE_I64 = 1,
    WIRE_LEN = 2,
} WireType;

void pb_varint(GByteArray *b, uint64_t v)
{
    uint8_t bytes[10];
    unsigned n = 0;

    do {
        bytes[n++] = (v & 0x7f) | (v > 0x7f ? 0x80 : 0);
        v >>= 7;
    } while (v);
    g_byte_array_append(b, bytes, n);
}

static void put_tag(GByteArray *b, unsigned field, WireType type)
{
    pb_varint(b, (uint64_t)field << 3 | type);
}

void pb_uint(GByteArray *b, unsigned field, uint64_t v)
{
    put_tag(b, field, WIRE_VARINT);
    pb_varint(b, v);
}

void pb_fixed64(GByteArray *b, unsigned field, uint64_t v)
{
    uint8_t bytes[8];

    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = v >> 8 * i;
    }
    put_tag(b, field, WIRE_I64);
    g_byte_array_append(b, bytes, 8);
}

static void put_bytes(GByteArray *b, unsigned field, const void *data,
                      size_t len)
{
    put_tag(b, field, WIRE_LEN);
    pb_varint(b, len);
    g_byte_array_append(b, data, len);
}

void pb_string(GByteArray *b, unsigned field, const char *text)
{
    put_bytes(b, field, text, strlen(text));
}

void pb_message(GByteArray *b, unsigned field, const GByteArray *message)
{
    static const uint8_t nothing[1];

    put_bytes(b, field, message->len ? message->data : nothing,
              message->len);
}
