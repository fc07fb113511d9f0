/*
 * JSON, also for scripts within HTML
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/json.h"

static bool is_plain(gunichar c)
{
    /* The first four mean something to HTML, the last two to scripts. */
    return c >= ' ' && c != 0x7f && c != '<' && c != '>' && c != '&' &&
           c != '\'' && c != '"' && c != '\\' && c != 0x2028 && c != 0x2029;
}

void json_string(GString *s, const char *text, size_t max_chars)
{
    g_autofree char *valid = text ? g_utf8_make_valid(text, -1) : NULL;
    size_t n = 0;

    if (!text) {
        g_string_append(s, "null");
        return;
    }
    g_string_append_c(s, '"');
    for (const char *p = valid; *p; p = g_utf8_next_char(p), n++) {
        gunichar c = g_utf8_get_char(p);

        if (n + 1 == max_chars && *g_utf8_next_char(p)) {
            g_string_append_unichar(s, 0x2026);
            break;
        }
        if (is_plain(c)) {
            g_string_append_unichar(s, c);
        } else {
            g_string_append_printf(s, "\\u%04x", c);
        }
    }
    g_string_append_c(s, '"');
}

void json_comma(GString *s)
{
    char last = s->len ? s->str[s->len - 1] : '[';

    if (last != '[' && last != '{' && last != ':') {
        g_string_append_c(s, ',');
    }
}

size_t json_depth(const char *text)
{
    size_t depth = 0, most = 0;
    bool quoted = false;

    for (; *text; text++) {
        if (quoted) {
            text += *text == '\\' && text[1];
            quoted = *text != '"';
        } else if (*text == '"') {
            quoted = true;
        } else if (*text == '[' || *text == '{') {
            depth++;
            most = MAX(most, depth);
        } else if ((*text == ']' || *text == '}') && depth) {
            depth--;
        }
    }
    return most;
}
