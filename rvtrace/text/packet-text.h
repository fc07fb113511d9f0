/*
 * Packets as text, a line each, and back
 *
 *     params src=1 wire_format=2.0 iaddress_width=64 ...
 *     inst src=1 format=3 subformat=0 branch=1 privilege=3 address=0x1000
 *     data src=1 ts=0x17 format=2 size=3 diff=0 data_len=0 data=0x2 ...
 *     idle count=31
 *     align
 *     raw bytes=0102ff
 *
 * A line is a word and NAME=VALUE pairs; '#' starts a comment. The names of
 * fields are the specification's, fields that are 0 need not be written. What
 * a value means: address in bytes, with a sign where it is a difference;
 * notify, updiscon and irreport 1 if asserted; everything else as in the
 * packet. src (srcID, 0 if there is none), flow and ts (timestamp) are the
 * encapsulation's. bytes are the whole packet in hexadecimal digits, where
 * the fields do not determine them: no fields if it is none that is known.
 *
 * params sets the parameters of the packets of src behind it; a support
 * packet sets its modes.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PACKET_TEXT_H
#define ETRACE_PACKET_TEXT_H

#include <glib.h>
#include "etrace/data-packet.h"
#include "etrace/encap.h"

/* More null.idle in a line are no use to anybody. */
#define PACKET_TEXT_MAX_IDLE (1u << 24)

/* The packets of one source */
typedef struct PacketSource {
    ETraceParams params;        /* as the last support packet left them */
    ETraceDataSizes sizes;
} PacketSource;

/* Sources by srcID; one that was not set is like those without srcID. */
typedef struct PacketSources {
    GHashTable *by_id;          /* srcID -> PacketSource */
    PacketSource *all;          /* never NULL */
} PacketSources;

PacketSources *packet_sources_new(const ETraceParams *defaults);
void packet_sources_free(PacketSources *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PacketSources, packet_sources_free)

/* @params, which must be valid, hold for the packets of @src_id. */
PacketSource *packet_sources_set(PacketSources *s, uint16_t src_id,
                                 const ETraceParams *params);
PacketSource *packet_sources_get(PacketSources *s, uint16_t src_id);

/* Has @src_id parameters of its own? */
bool packet_sources_knows(const PacketSources *s, uint16_t src_id);

/* A "params" line for @params (without a newline) */
void packet_text_params(GString *out, const ETraceParams *params);

/*
 * The line for the packet @pkt that takes the bytes @whole, without a
 * newline. Its source follows it if it is a support packet.
 */
void packet_text_write(GString *out, PacketSources *sources,
                       const ETraceEncapPacket *pkt, const uint8_t *whole);

/*
 * Assemble one line: append its bytes to @out. @sources follow params lines
 * and support packets. Returns false and sets @errp if it cannot be.
 */
bool packet_text_assemble(PacketSources *sources, const char *line,
                          GByteArray *out, GError **errp);

/*
 * The payload of an "inst" or "data" line without "bytes", in @buf. Returns
 * its length, or 0 and sets @errp.
 */
size_t packet_text_payload(PacketSources *sources, const char *line,
                           uint8_t buf[ETRACE_PACKET_MAX], GError **errp);

#endif /* ETRACE_PACKET_TEXT_H */
