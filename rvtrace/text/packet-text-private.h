/*
 * Packets as text: the fields of a line
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PACKET_TEXT_PRIVATE_H
#define ETRACE_PACKET_TEXT_PRIVATE_H

#include "text/packet-text.h"

#define PACKET_LINE_MAX_PAIRS 48

typedef struct PacketPair {
    const char *name, *value;
    bool used;
} PacketPair;

/* A line, taken apart */
typedef struct PacketLine {
    char *text;                 /* owned; the rest points into it */
    const char *word;           /* NULL: nothing but a comment */
    unsigned count;
    PacketPair pairs[PACKET_LINE_MAX_PAIRS];
} PacketLine;

bool packet_line_split(PacketLine *l, const char *text, GError **errp);
void packet_line_clear(PacketLine *l);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PacketLine, packet_line_clear)

/* The pair called @name, marked as used; NULL if there is none. */
PacketPair *packet_line_find(PacketLine *l, const char *name);

/*
 * The number that @name has, or 0. Returns false and sets @errp if it is none
 * of @width bits (64: any); a @is_signed one may be negative.
 */
bool packet_line_number(PacketLine *l, const char *name, unsigned width,
                        bool is_signed, uint64_t *value, GError **errp);

/* True if every pair has been used. */
bool packet_line_done(const PacketLine *l, GError **errp);

void G_GNUC_PRINTF(2, 3) packet_text_error(GError **errp, const char *fmt,
                                           ...);

/* " NAME=VALUE" for every field */
void packet_text_inst_fields(GString *out, const ETraceParams *params,
                             const ETracePacket *pkt);
void packet_text_data_fields(GString *out, const ETraceParams *params,
                             const ETraceDataPacket *pkt);

/* What kind of packet it is, for people */
const char *packet_text_inst_kind(const ETraceParams *params,
                                  const ETracePacket *pkt);
const char *packet_text_data_kind(const ETraceDataPacket *pkt);

/*
 * The reverse; @l's other pairs have been used. @sizes: of the requests, which
 * responses do not have.
 */
bool packet_text_parse_inst(PacketLine *l, const ETraceParams *params,
                            ETracePacket *pkt, GError **errp);
bool packet_text_parse_data(PacketLine *l, const ETraceParams *params,
                            const ETraceDataSizes *sizes,
                            ETraceDataPacket *pkt, GError **errp);

/* A field's value as text: decimal, or hexadecimal if it is wide */
static inline void packet_text_field(GString *out, const char *name,
                                     uint64_t value, unsigned width,
                                     bool is_signed)
{
    if (is_signed && (int64_t)value < 0) {
        g_string_append_printf(out, " %s=-0x%" PRIx64, name, -value);
    } else if (width > 8) {
        g_string_append_printf(out, " %s=0x%" PRIx64, name, value);
    } else {
        g_string_append_printf(out, " %s=%" PRIu64, name, value);
    }
}

#endif /* ETRACE_PACKET_TEXT_PRIVATE_H */
