/*
 * gdb's target: what answers are made of
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/target-private.h"

void gdb_put(GdbTarget *g, const GString *s)
{
    g->ops->send(g->opaque, s->str, s->len);
}

void gdb_puts(GdbTarget *g, const char *text)
{
    g->ops->send(g->opaque, text, strlen(text));
}

void gdb_error(GdbTarget *g, const char *fmt, ...)
{
    g_autoptr(GString) text = g_string_new("E.");
    va_list ap;

    va_start(ap, fmt);
    g_string_append_vprintf(text, fmt, ap);
    va_end(ap);
    gdb_put(g, text);
}

void gdb_say(GdbTarget *g, const char *text)
{
    g_autoptr(GString) s = g_string_new("O");

    rsp_put_hex(s, text, strlen(text));
    gdb_put(g, s);
}

void gdb_put_part(GdbTarget *g, const GString *text, const char *range)
{
    g_autoptr(GString) part = g_string_new(NULL);
    uint64_t offset, len;

    if (!rsp_get_number(&range, &offset) || *range++ != ',' ||
        !rsp_get_number(&range, &len) || *range) {
        gdb_error(g, "offset and length are needed");
        return;
    }
    if (offset > text->len) {
        gdb_error(g, "the offset is behind the end");
        return;
    }
    /* Bytes that have to be escaped count twice. */
    len = MIN(len, RSP_MAX_PAIRS);
    g_string_append_c(part, len < text->len - offset ? 'm' : 'l');
    g_string_append_len(part, text->str + offset,
                        MIN(len, text->len - offset));
    gdb_put(g, part);
}

bool gdb_get_thread(const GdbTarget *g, const char **p, unsigned *hart)
{
    uint64_t number;

    *hart = g->selected;
    if (g_str_has_prefix(*p, "-1")) {
        *p += 2;
        return true;
    }
    if (!rsp_get_number(p, &number)) {
        return false;
    }
    if (!number) {
        return true;
    }
    if (number > g->nr_harts || !g->harts[number - 1].replay) {
        return false;
    }
    *hart = number - 1;
    return true;
}
