/*
 * rvtrace: the options of commands that collect streams
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/cli/channel-options.h"

GOptionEntry *channel_options(Channel channels[2], int *timeout)
{
    const GOptionEntry entries[] = {
        { "trace", 't', 0, G_OPTION_ARG_STRING, &channels[0].from,
          "Where the trace comes from", "ADDRESS" },
        { "trace-out", 0, 0, G_OPTION_ARG_FILENAME, &channels[0].to,
          "Where to write it to", "FILE" },
        { "sideband", 's', 0, G_OPTION_ARG_STRING, &channels[1].from,
          "Where the sideband comes from", "ADDRESS" },
        { "sideband-out", 0, 0, G_OPTION_ARG_FILENAME, &channels[1].to,
          "Where to write it to", "FILE" },
        { "timeout", 0, 0, G_OPTION_ARG_INT, timeout,
          "Give up if there is no connection after so many seconds; 0: wait "
          "for ever (default: 60)", "N" },
        { NULL }
    };

    return g_memdup2(entries, sizeof(entries));
}

void channel_options_take(Channel channels[2])
{
}

void channel_options_clear(Channel channels[2])
{
    for (unsigned i = 0; i < 2; i++) {
        g_free(channels[i].from);
        g_free(channels[i].to);
    }
}
