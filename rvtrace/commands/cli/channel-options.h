/*
 * rvtrace: the options of commands that collect streams
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_CHANNEL_OPTIONS_H
#define ETRACE_CHANNEL_OPTIONS_H

#include "collect/channel.h"

/* What --help says of ADDRESS, two lines */
#define CHANNEL_ADDRESS_HELP \
    "ADDRESS is unix:PATH or tcp:HOST:PORT, to connect to a QEMU chardev " \
    "with\nserver=on. With ,server behind it, QEMU connects.\n"

/*
 * The options that say where the trace, channels[0], and the sideband,
 * channels[1], come from and go to, and *@timeout, seconds; the caller frees
 * them, and the strings that they set.
 */
GOptionEntry *channel_options(Channel channels[2], int *timeout);

/* When they are parsed: what is for both channels */
void channel_options_take(Channel channels[2]);

/* Free what they were set to. */
void channel_options_clear(Channel channels[2]);

#endif /* ETRACE_CHANNEL_OPTIONS_H */
