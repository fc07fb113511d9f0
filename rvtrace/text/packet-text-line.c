/*
 * Packets as text: the words of a line
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "text/packet-text-private.h"

void packet_text_error(GError **errp, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    g_clear_error(errp);
    if (errp) {
        *errp = g_error_new_valist(G_IO_ERROR, G_IO_ERROR_INVALID_DATA, fmt,
                                   ap);
    }
    va_end(ap);
}

bool packet_line_split(PacketLine *l, const char *text, GError **errp)
{
    char *rest, *token;

    *l = (PacketLine) { .text = g_strdup(text) };
    l->text[strcspn(l->text, "#\r\n")] = '\0';
    for (token = strtok_r(l->text, " \t", &rest); token;
         token = strtok_r(NULL, " \t", &rest)) {
        char *eq = strchr(token, '=');

        if (!l->word) {
            l->word = token;
            continue;
        }
        if (!eq || eq == token || !eq[1]) {
            packet_text_error(errp, "'%.40s' is not NAME=VALUE", token);
            return false;
        }
        *eq = '\0';
        if (packet_line_find(l, token)) {
            packet_text_error(errp, "%s is there twice", token);
            return false;
        }
        if (l->count == PACKET_LINE_MAX_PAIRS) {
            packet_text_error(errp, "too many fields, from %s on", token);
            return false;
        }
        l->pairs[l->count++] = (PacketPair) { token, eq + 1, false };
    }
    for (unsigned i = 0; i < l->count; i++) {
        l->pairs[i].used = false;
    }
    return true;
}

void packet_line_clear(PacketLine *l)
{
    g_free(l->text);
}

PacketPair *packet_line_find(PacketLine *l, const char *name)
{
    for (unsigned i = 0; i < l->count; i++) {
        if (!strcmp(l->pairs[i].name, name)) {
            l->pairs[i].used = true;
            return &l->pairs[i];
        }
    }
    return NULL;
}

bool packet_line_number(PacketLine *l, const char *name, unsigned width,
                        bool is_signed, uint64_t *value, GError **errp)
{
    PacketPair *pair = packet_line_find(l, name);
    bool negative;
    const char *digits;
    char *end;

    *value = 0;
    if (!pair) {
        return true;
    }
    negative = pair->value[0] == '-';
    digits = pair->value + negative;
    errno = 0;
    *value = g_ascii_strtoull(digits, &end, 0);
    if (!g_ascii_isdigit(digits[0]) || *end || errno ||
        (negative && !is_signed)) {
        packet_text_error(errp, "%.40s=%.40s is not a number%s", name,
                          pair->value,
                          negative && *end == '\0' ?
                          " that this field can have" : "");
        return false;
    }
    if (negative) {
        *value = -*value;
    }
    if (width < 64) {
        uint64_t high = is_signed ? *value + (1ull << (width - 1)) : *value;

        if (width == 0 ? *value != 0 : high >> width) {
            packet_text_error(errp, "%s=%s does not fit into %u bits", name,
                              pair->value, width);
            return false;
        }
    } else if (is_signed && negative != ((int64_t)*value < 0) && *value) {
        packet_text_error(errp, "%s=%s does not fit into 64 bits", name,
                          pair->value);
        return false;
    }
    return true;
}

bool packet_line_done(const PacketLine *l, GError **errp)
{
    for (unsigned i = 0; i < l->count; i++) {
        if (!l->pairs[i].used) {
            packet_text_error(errp, "there is no %s in this packet",
                              l->pairs[i].name);
            return false;
        }
    }
    return true;
}
