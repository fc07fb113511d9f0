/*
 * Packets as text, a line each, and back
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "text/packet-text-private.h"
#include "base/params-text.h"

PacketSources *packet_sources_new(const ETraceParams *defaults)
{
    PacketSources *s = g_new0(PacketSources, 1);

    s->by_id = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    s->all = g_new0(PacketSource, 1);
    s->all->params = *defaults;
    return s;
}

void packet_sources_free(PacketSources *s)
{
    g_hash_table_unref(s->by_id);
    g_free(s->all);
    g_free(s);
}

static PacketSource *find(const PacketSources *s, uint16_t src_id)
{
    return g_hash_table_lookup(s->by_id, GUINT_TO_POINTER(src_id));
}

PacketSource *packet_sources_set(PacketSources *s, uint16_t src_id,
                                 const ETraceParams *params)
{
    PacketSource *src = find(s, src_id);

    if (!src) {
        src = g_new0(PacketSource, 1);
        g_hash_table_insert(s->by_id, GUINT_TO_POINTER(src_id), src);
    }
    src->params = *params;
    src->params.src_id = src_id;
    memset(&src->sizes, 0, sizeof(src->sizes));
    return src;
}

PacketSource *packet_sources_get(PacketSources *s, uint16_t src_id)
{
    return find(s, src_id) ?:
           packet_sources_set(s, src_id, &s->all->params);
}

bool packet_sources_knows(const PacketSources *s, uint16_t src_id)
{
    return find(s, src_id);
}

void packet_text_params(GString *out, const ETraceParams *params)
{
    g_string_append_printf(out, "params src=%u", params->src_id);
    params_text_append(out, params);
}

/* What the packets behind @pkt have to be read with */
static void follow(PacketSource *src, const ETracePacket *pkt)
{
    if (pkt->format == ETRACE_FORMAT_SYNC &&
        pkt->subformat == ETRACE_SYNC_SUPPORT) {
        etrace_params_follow(&src->params, pkt);
    }
}

static void append_hex(GString *out, const uint8_t *bytes, size_t len)
{
    g_string_append(out, " bytes=");
    for (size_t i = 0; i < len; i++) {
        g_string_append_printf(out, "%02x", bytes[i]);
    }
}

/* True if the payload, encapsulated again, is what was there. */
static bool yields_the_bytes(const ETraceParams *params,
                             const ETraceEncapPacket *pkt,
                             const uint8_t *payload, size_t len,
                             const uint8_t *whole)
{
    uint8_t out[ETRACE_ENCAP_MAX];
    ETraceEncapPacket again = *pkt;

    again.payload = payload;
    again.len = len;
    return etrace_encap_pack(params, &again, out) == pkt->size &&
           !memcmp(out, whole, pkt->size);
}

void packet_text_write(GString *out, PacketSources *sources,
                       const ETraceEncapPacket *pkt, const uint8_t *whole)
{
    PacketSource *src = packet_sources_get(sources, pkt->src_id);
    ETraceParams before = src->params;
    const char *kind = "unknown";
    uint8_t buf[ETRACE_PACKET_MAX];
    ETraceDataPacket data;
    ETracePacket inst;
    size_t len = 0;

    g_string_append(out, pkt->data ? "data" : "inst");
    if (before.src_bits) {
        g_string_append_printf(out, " src=%u", pkt->src_id);
    }
    if (pkt->flow) {
        g_string_append_printf(out, " flow=%u", pkt->flow);
    }
    if (pkt->extend) {
        g_string_append_printf(out, " ts=0x%" PRIx64, pkt->timestamp);
    }
    if (pkt->data) {
        if (etrace_data_packet_unpack(&before, &src->sizes, pkt->payload,
                                      pkt->len, &data)) {
            packet_text_data_fields(out, &before, &data);
            kind = packet_text_data_kind(&data);
            len = etrace_data_packet_pack(&before, NULL, &data, buf);
        }
    } else if (etrace_packet_unpack(&before, pkt->payload, pkt->len, &inst)) {
        packet_text_inst_fields(out, &before, &inst);
        kind = packet_text_inst_kind(&before, &inst);
        len = etrace_packet_pack(&before, &inst, buf);
        follow(src, &inst);
    }
    if (!len || !yields_the_bytes(&before, pkt, buf, len, whole)) {
        append_hex(out, whole, pkt->size);
    }
    g_string_append_printf(out, "  # %s", kind);
}

static bool parse_hex(const char *hex, GByteArray *out, GError **errp)
{
    size_t digits = strspn(hex, "0123456789abcdefABCDEF");

    if (hex[digits] || digits % 2) {
        packet_text_error(errp, "bytes=%.40s is not pairs of hexadecimal "
                          "digits", hex);
        return false;
    }
    for (size_t i = 0; i < digits; i += 2) {
        uint8_t byte = g_ascii_xdigit_value(hex[i]) << 4 |
                       g_ascii_xdigit_value(hex[i + 1]);

        g_byte_array_append(out, &byte, 1);
    }
    return true;
}

static bool assemble_params(PacketSources *sources, PacketLine *l,
                            GError **errp)
{
    ETraceParams params = sources->all->params;
    uint64_t src_id;

    if (!packet_line_number(l, "src", 16, false, &src_id, errp)) {
        return false;
    }
    for (unsigned i = 0; i < l->count; i++) {
        if (!l->pairs[i].used &&
            !params_text_set(&params, l->pairs[i].name, l->pairs[i].value,
                             errp)) {
            return false;
        }
    }
    if (!etrace_params_valid(&params)) {
        packet_text_error(errp, "%s", etrace_params_problem(&params));
        return false;
    }
    packet_sources_set(sources, src_id, &params);
    return true;
}

static bool assemble_nulls(PacketLine *l, bool align, GByteArray *out,
                           GError **errp)
{
    uint64_t flow, count = 1;
    uint8_t byte;

    if (!packet_line_number(l, "flow", 2, false, &flow, errp) ||
        (!align && packet_line_find(l, "count") &&
         !packet_line_number(l, "count", 32, false, &count, errp)) ||
        !packet_line_done(l, errp)) {
        return false;
    }
    if (!align && (count < 1 || count > PACKET_TEXT_MAX_IDLE)) {
        packet_text_error(errp, "idle needs count=1 to count=%u",
                          PACKET_TEXT_MAX_IDLE);
        return false;
    }
    byte = flow << 5 | (align ? 0x80 : 0);
    for (uint64_t i = 0; i < count; i++) {
        g_byte_array_append(out, &byte, 1);
    }
    return true;
}

/* The payload that the rest of @l's fields say */
static size_t assemble_payload(PacketSource *src, PacketLine *l, bool data,
                               uint8_t buf[ETRACE_PACKET_MAX], GError **errp)
{
    ETraceDataPacket te_data;
    ETracePacket te_inst;
    size_t len;

    if (data) {
        if (!packet_text_parse_data(l, &src->params, &src->sizes, &te_data,
                                    errp)) {
            return 0;
        }
        return etrace_data_packet_pack(&src->params, &src->sizes, &te_data,
                                       buf);
    }
    if (!packet_text_parse_inst(l, &src->params, &te_inst, errp)) {
        return 0;
    }
    len = etrace_packet_pack(&src->params, &te_inst, buf);
    follow(src, &te_inst);
    return len;
}

/* The encapsulation's fields */
static PacketSource *assemble_header(PacketSources *sources, PacketLine *l,
                                     ETraceEncapPacket *pkt, GError **errp)
{
    uint64_t src_id, flow, timestamp;
    PacketSource *src;

    if (!packet_line_number(l, "src", 16, false, &src_id, errp) ||
        !packet_line_number(l, "flow", 2, false, &flow, errp)) {
        return NULL;
    }
    src = packet_sources_get(sources, src_id);
    if (!packet_line_number(l, "src", src->params.src_bits, false, &src_id,
                            errp) ||
        !packet_line_number(l, "ts", 8 * src->params.ts_bytes, false,
                            &timestamp, errp)) {
        return NULL;
    }
    *pkt = (ETraceEncapPacket) {
        .src_id = src_id,
        .flow = flow,
        .extend = packet_line_find(l, "ts") != NULL,
        .data = !strcmp(l->word, "data"),
        .timestamp = timestamp,
    };
    if (pkt->data && !src->params.data_width) {
        packet_text_error(errp, "the parameters have no data trace: "
                          "data_width=0");
        return NULL;
    }
    return src;
}

/* "bytes" say all; what fields there are must not contradict them. */
static bool assemble_verbatim(PacketSources *sources, PacketLine *l,
                              PacketSource *src, const char *hex,
                              GByteArray *out, GError **errp)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GString) text = g_string_new(NULL);
    g_auto(PacketLine) written = { 0 };
    ETraceEncapPacket pkt;

    if (!parse_hex(hex, bytes, errp)) {
        return false;
    }
    if (etrace_encap_parse(&src->params, bytes->data, bytes->len, &pkt) !=
        ETRACE_ENCAP_PACKET || pkt.size != bytes->len) {
        packet_text_error(errp, "bytes=%.40s is not one whole packet", hex);
        return false;
    }
    packet_text_write(text, sources, &pkt, bytes->data);
    if (!packet_line_split(&written, text->str, errp)) {
        return false;
    }
    for (unsigned i = 0; i < l->count; i++) {
        PacketPair *pair = packet_line_find(&written, l->pairs[i].name);

        if (strcmp(written.word, l->word) || !pair ||
            (strcmp(pair->name, "bytes") &&
             strcmp(pair->value, l->pairs[i].value))) {
            packet_text_error(errp, "bytes say: %s", text->str);
            return false;
        }
    }
    g_byte_array_append(out, bytes->data, bytes->len);
    return true;
}

static bool assemble_packet(PacketSources *sources, PacketLine *l,
                            GByteArray *out, GError **errp)
{
    uint8_t buf[ETRACE_PACKET_MAX], whole[ETRACE_ENCAP_MAX];
    ETraceEncapPacket pkt;
    PacketSource *src = assemble_header(sources, l, &pkt, errp);
    ETraceParams params;
    PacketPair *bytes;

    if (!src) {
        return false;
    }
    bytes = packet_line_find(l, "bytes");
    if (bytes) {
        return assemble_verbatim(sources, l, src, bytes->value, out, errp);
    }
    params = src->params;
    pkt.payload = buf;
    pkt.len = assemble_payload(src, l, pkt.data, buf, errp);
    if (!pkt.len) {
        return false;
    }
    g_byte_array_append(out, whole, etrace_encap_pack(&params, &pkt, whole));
    return true;
}

bool packet_text_assemble(PacketSources *sources, const char *line,
                          GByteArray *out, GError **errp)
{
    g_auto(PacketLine) l = { 0 };
    PacketPair *bytes;

    if (!packet_line_split(&l, line, errp)) {
        return false;
    }
    if (!l.word) {
        return true;
    }
    if (!strcmp(l.word, "params")) {
        return assemble_params(sources, &l, errp);
    }
    if (!strcmp(l.word, "inst") || !strcmp(l.word, "data")) {
        return assemble_packet(sources, &l, out, errp);
    }
    if (!strcmp(l.word, "idle") || !strcmp(l.word, "align")) {
        return assemble_nulls(&l, !strcmp(l.word, "align"), out, errp);
    }
    if (!strcmp(l.word, "raw")) {
        bytes = packet_line_find(&l, "bytes");
        return packet_line_done(&l, errp) &&
               (!bytes || parse_hex(bytes->value, out, errp));
    }
    packet_text_error(errp, "'%.40s' is none of params, inst, data, idle, "
                      "align and raw", l.word);
    return false;
}

size_t packet_text_payload(PacketSources *sources, const char *line,
                           uint8_t buf[ETRACE_PACKET_MAX], GError **errp)
{
    g_auto(PacketLine) l = { 0 };
    ETraceEncapPacket pkt;
    PacketSource *src;

    if (!packet_line_split(&l, line, errp)) {
        return 0;
    }
    if (!l.word || (strcmp(l.word, "inst") && strcmp(l.word, "data"))) {
        packet_text_error(errp, "'%s' is neither inst nor data", line);
        return 0;
    }
    src = assemble_header(sources, &l, &pkt, errp);
    return src ? assemble_payload(src, &l, pkt.data, buf, errp) : 0;
}
