/*
 * Files that views are made of: little-endian bytes, and temporary ones
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_VIEW_FILE_H
#define ETRACE_VIEWS_VIEW_FILE_H

#include <glib.h>

/*
 * An empty temporary file without a name, in TMPDIR, to be written and read.
 * Returns NULL and sets @errp if there can be none.
 */
FILE *view_temporary(GError **errp);

/* Add what is in @from, from its start on, to @to; false: I/O error. */
bool view_copy(FILE *from, FILE *to);

/* Numbers, least significant byte first */
static inline void view_put(GByteArray *b, uint64_t v, unsigned bytes)
{
    uint8_t le[8];

    for (unsigned i = 0; i < bytes; i++) {
        le[i] = v >> 8 * i;
    }
    g_byte_array_append(b, le, bytes);
}

static inline void view_put8(GByteArray *b, uint8_t v)
{
    view_put(b, v, 1);
}

static inline void view_put16(GByteArray *b, uint16_t v)
{
    view_put(b, v, 2);
}

static inline void view_put32(GByteArray *b, uint32_t v)
{
    view_put(b, v, 4);
}

static inline void view_put64(GByteArray *b, uint64_t v)
{
    view_put(b, v, 8);
}

/* @text with its NUL, and more of them up to a multiple of @align bytes */
static inline void view_put_string(GByteArray *b, const char *text,
                                   unsigned align)
{
    size_t len = strlen(text) + 1;

    g_byte_array_append(b, (const guint8 *)text, len);
    for (; len % align; len++) {
        view_put8(b, 0);
    }
}

#endif /* ETRACE_VIEWS_VIEW_FILE_H */
