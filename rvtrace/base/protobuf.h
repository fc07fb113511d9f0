/*
 * Protocol buffers: just enough to write messages
 *
 * A message is an array of bytes that fields are added to, in any order. A
 * message within another one is begun and ended:
 *
 *     gsize at = protobuf_begin(b, 11);
 *     protobuf_uint(b, 9, 1);
 *     protobuf_end(b, at);
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PROTOBUF_H
#define ETRACE_PROTOBUF_H

#include <glib.h>

/* A field of a varint type but sint32 and sint64: numbers, enums, bool */
void protobuf_uint(GByteArray *b, unsigned field, guint64 value);

/* A string; what is not UTF-8 of it is replaced. */
void protobuf_string(GByteArray *b, unsigned field, const char *text);

/* fixed64, double's bits */
void protobuf_fixed64(GByteArray *b, unsigned field, guint64 value);

/* A number alone, as packed fields have them */
void protobuf_varint(GByteArray *b, guint64 value);

/* A message, or packed numbers, made before */
void protobuf_message(GByteArray *b, unsigned field,
                      const GByteArray *message);

/* A message within @b; what this returns is protobuf_end()'s. */
gsize protobuf_begin(GByteArray *b, unsigned field);
void protobuf_end(GByteArray *b, gsize at);

#endif /* ETRACE_PROTOBUF_H */
