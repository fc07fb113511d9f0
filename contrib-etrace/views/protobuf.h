/*
 * Protocol buffers: the wire format, written by hand
 *
 * A message is bytes that fields are added to; one within another one is made
 * first and then added.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_PROTOBUF_H
#define ETRACE_VIEWS_PROTOBUF_H

#include <glib.h>

/* A number alone, as packed fields have them */
void pb_varint(GByteArray *b, uint64_t v);

/* uint64, uint32, bool, enum, and int64 and int32 as they are */
void pb_uint(GByteArray *b, unsigned field, uint64_t v);

/* fixed64, double's bits */
void pb_fixed64(GByteArray *b, unsigned field, uint64_t v);

/* string, bytes */
void pb_string(GByteArray *b, unsigned field, const char *text);

/* A message, or packed numbers */
void pb_message(GByteArray *b, unsigned field, const GByteArray *message);

#endif /* ETRACE_VIEWS_PROTOBUF_H */
