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
        { "tls-cert", 0, 0, G_OPTION_ARG_FILENAME, &channels[0].tls.cert,
          "Speak TLS, and show this certificate, with the key in it if there "
          "is no --tls-key; PEM", "FILE" },
        { "tls-key", 0, 0, G_OPTION_ARG_FILENAME, &channels[0].tls.key,
          "The key of --tls-cert; PEM", "FILE" },
        { "tls-ca", 0, 0, G_OPTION_ARG_FILENAME, &channels[0].tls.ca,
          "Speak TLS, and believe certificates that this one has signed; PEM "
          "(default: those that the system trusts)", "FILE" },
        { NULL }
    };

    return g_memdup2(entries, sizeof(entries));
}

void channel_options_take(Channel channels[2])
{
    channels[1].tls = channels[0].tls;
}

void channel_options_clear(Channel channels[2])
{
    for (unsigned i = 0; i < 2; i++) {
        g_free(channels[i].from);
        g_free(channels[i].to);
    }
    g_free(channels[0].tls.cert);
    g_free(channels[0].tls.key);
    g_free(channels[0].tls.ca);
}
