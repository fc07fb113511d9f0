/*
 * Names that others have chosen, as text that any program reads
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/text-plain.h"

/* U+0080 to U+009F: to some terminals they begin escape sequences. */
static bool is_c1(const uint8_t *p)
{
    return p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0;
}

static bool is_control(const uint8_t *p)
{
    return *p < ' ' || *p == 0x7f || is_c1(p);
}

const char *text_plain(const char *text)
{
    const uint8_t *p = (const uint8_t *)text;
    g_autoptr(GString) plain = NULL;

    while (*p && !is_control(p)) {
        p++;
    }
    if (!*p) {
        return text;
    }
    plain = g_string_new(NULL);
    for (p = (const uint8_t *)text; *p; p++) {
        g_string_append_c(plain, is_control(p) ? '?' : *p);
        p += is_c1(p);
    }
    return g_intern_string(plain->str);
}
