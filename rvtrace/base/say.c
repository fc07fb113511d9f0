/*
 * What rvtrace says to its user, on stderr
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/say.h"
#include "base/text-plain.h"

G_GNUC_PRINTF(2, 0)
static void say(const char *kind, const char *fmt, va_list ap)
{
    g_autofree char *text = g_strdup_vprintf(fmt, ap);
    g_autofree char *valid = g_utf8_make_valid(text, -1);

    /* It may quote a file or a peer, and goes to a terminal. */
    fprintf(stderr, "rvtrace: %s: %s\n", kind, text_plain(valid));
}

void say_error(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say("error", fmt, ap);
    va_end(ap);
}

void say_warn(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say("warning", fmt, ap);
    va_end(ap);
}

void say_note(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say("note", fmt, ap);
    va_end(ap);
}

bool flush_output(FILE *f, const char *what)
{
    if (fflush(f) != 0 || ferror(f)) {
        say_error("cannot write %s: %s", what, g_strerror(errno));
        return false;
    }
    return true;
}
