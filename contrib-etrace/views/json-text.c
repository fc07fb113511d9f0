/*
 * JSON: strings
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "json-text.h"

void json_append_string(GString *json, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);

    g_string_append_c(json, '"');
    for (const char *p = valid; *p; p++) {
        if (*p == '"' || *p == '\\') {
            g_string_append_c(json, '\\');
            g_string_append_c(json, *p);
        } else if ((unsigned char)*p < 0x20 || *p == 0x7f) {
            g_string_append_printf(json, "\\u%04x", *p);
        } else {
            g_string_append_c(json, *p);
        }
    }
    g_string_append_c(json, '"');
}
