/*
 * Names that others have chosen, as text that any program reads
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/text-plain.h"

/*
 * How many bytes at @p are a character that programs take for more than text: a
 * control character, of which U+0080 to U+009F begin escape sequences of some
 * terminals, or U+2028 or U+2029, which separate lines
 */
static unsigned special(const uint8_t *p)
{
    if (*p < ' ' || *p == 0x7f) {
        return *p ? 1 : 0;
    }
    if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0) {
        return 2;
    }
    return p[0] == 0xe2 && p[1] == 0x80 && (p[2] | 1) == 0xa9 ? 3 : 0;
}

char *text_plain_copy(const char *text)
{
    const uint8_t *p = (const uint8_t *)text;
    GString *plain = g_string_new(NULL);

    while (*p) {
        unsigned size = special(p);

        g_string_append_c(plain, size ? '?' : *p);
        p += MAX(size, 1);
    }
    return g_string_free(plain, false);
}

const char *text_plain(const char *text)
{
    const uint8_t *p = (const uint8_t *)text;
    g_autofree char *plain = NULL;

    while (*p && !special(p)) {
        p++;
    }
    if (!*p) {
        return text;
    }
    plain = text_plain_copy(text);
    return g_intern_string(plain);
}
