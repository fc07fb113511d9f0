/*
 * QEMU's command line, with what traces its machine added to it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_QEMU_LINE_H
#define ETRACE_QEMU_LINE_H

#include <gio/gio.h>

typedef struct QemuLine {
    GPtrArray *argv;            /* the words, and a NULL behind them */
    char *trace, *sideband;     /* files that QEMU writes */
    bool guest_info;            /* it was given trace-guest-info */
    guint machine;              /* of argv: the value of the last -machine */
    guint owner;                /* of what traces: that, -device or -cpu */
    const char *kernel, *bios;  /* of its options, in argv; NULL: none */
    const char *program;        /* of user mode, in argv; NULL: a machine */
    bool has_data;              /* its options say whether data are traced */
    bool has_time;              /* its options say which times are traced */
    bool takes_keys;            /* all of the terminal's, Ctrl-C, too */
} QemuLine;

/* The name of the option @arg, -NAME or --NAME; NULL: it is no option */
static inline const char *qemu_option_name(const char *arg)
{
    return arg[0] != '-' || !arg[1] ? NULL : arg + (arg[1] == '-' ? 2 : 1);
}

/*
 * @args, which end with NULL, with the options that trace the machine, or in
 * user mode the program, from its first instruction on, unless they say
 * otherwise, and files for the two streams: those of @args if they have some, or
 * else "trace" and "sideband" in the folder @dir, which must not be "" then.
 * Returns NULL and sets @errp, with what to do in its message, if that cannot
 * be: trace=off, streams that are no files.
 */
QemuLine *qemu_line_new(char **args, const char *dir, GError **errp);

/* Is @qemu, a word that a command begins with, QEMU's user mode? */
bool qemu_line_is_user(const char *qemu);

/*
 * Have the program of @line traced, which is a command line of user mode.
 * Returns false and sets @errp, with what to do in its message, if that cannot
 * be. Part of qemu_line_new().
 */
bool qemu_line_add_user(QemuLine *line, const char *dir, GError **errp);

void qemu_line_free(QemuLine *line);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QemuLine, qemu_line_free)

/* Have trace-guest-info=@text, too. */
void qemu_line_set_guest_info(QemuLine *line, const char *text);

/*
 * Have mtime traced, too, unless the options say something of times: at traps,
 * and each time that a hart hands a full ring of blocks over. That takes some
 * 1 % more bytes. In user mode, packets have timestamps.
 */
void qemu_line_add_time(QemuLine *line);

/* Have loads and stores traced, too, unless the options say something of them. */
void qemu_line_add_data(QemuLine *line);

#endif /* ETRACE_QEMU_LINE_H */
