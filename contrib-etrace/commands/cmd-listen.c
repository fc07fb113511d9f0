/*
 * rvtrace listen: collect trace and sideband from sockets
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <unistd.h>
#include <glib-unix.h>
#include "cli.h"
#include "collect.h"

#define PROGRESS_US     500000

typedef struct ListenOptions {
    Channel channels[2];
    int timeout;
    gboolean progress;
} ListenOptions;

static void append_progress(GString *line, Channel *c, double seconds)
{
    gint64 bytes = channel_bytes(c);

    g_string_append_printf(line, "%s%s: ", line->len ? "   " : "", c->what);
    if (!channel_is_connected(c)) {
        g_string_append(line, "waiting for a connection");
    } else {
        g_string_append_printf(line, "%.1f MB, %.2f MB/s%s", bytes / 1e6,
                               seconds > 0 ? bytes / 1e6 / seconds : 0,
                               channel_is_done(c) ? ", closed" : "");
    }
}

/* On a terminal the line is rewritten; elsewhere there is one after another. */
static void show_progress(ListenOptions *o, double seconds, bool last)
{
    g_autoptr(GString) line = g_string_new(NULL);
    bool tty = isatty(STDERR_FILENO);

    for (size_t i = 0; i < ARRAY_SIZE(o->channels); i++) {
        if (o->channels[i].from) {
            append_progress(line, &o->channels[i], seconds);
        }
    }
    if (tty) {
        fprintf(stderr, "\r\033[K%s%s", line->str, last ? "\n" : "");
    } else {
        fprintf(stderr, "%s\n", line->str);
    }
    fflush(stderr);
}

static gboolean on_signal(gpointer cancel)
{
    g_cancellable_cancel(cancel);
    return G_SOURCE_CONTINUE;
}

static bool all_done(ListenOptions *o)
{
    for (size_t i = 0; i < ARRAY_SIZE(o->channels); i++) {
        if (o->channels[i].from && !channel_is_done(&o->channels[i])) {
            return false;
        }
    }
    return true;
}

static gboolean wake_up(gpointer unused)
{
    return G_SOURCE_CONTINUE;
}

static int collect(ListenOptions *o)
{
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    bool progress = o->progress || isatty(STDERR_FILENO);
    gint64 start = g_get_monotonic_time(), shown = start, now;
    bool ok = true;

    for (size_t i = 0; i < ARRAY_SIZE(o->channels); i++) {
        Channel *c = &o->channels[i];

        if (c->from && !channel_open(c, cancel, o->timeout)) {
            return CLI_ERROR;
        }
    }
    /* Interrupted, what has come so far is kept. */
    g_unix_signal_add(SIGINT, on_signal, cancel);
    g_unix_signal_add(SIGTERM, on_signal, cancel);
    g_timeout_add(50, wake_up, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(o->channels); i++) {
        Channel *c = &o->channels[i];

        if (c->from) {
            channel_start(c);
        }
    }
    while (!all_done(o)) {
        g_main_context_iteration(NULL, TRUE);
        now = g_get_monotonic_time();
        if (progress && now - shown >= PROGRESS_US) {
            show_progress(o, (now - start) / 1e6, false);
            shown = now;
        }
    }
    if (progress) {
        show_progress(o, (g_get_monotonic_time() - start) / 1e6, true);
    }
    for (size_t i = 0; i < ARRAY_SIZE(o->channels); i++) {
        if (o->channels[i].from) {
            ok &= channel_finish(&o->channels[i]);
        }
    }
    return ok ? CLI_OK : CLI_ERROR;
}

static bool options_valid(const ListenOptions *o)
{
    for (size_t i = 0; i < ARRAY_SIZE(o->channels); i++) {
        const Channel *c = &o->channels[i];

        if (!c->from != !c->to) {
            cli_error("--%s and --%s-out go together", c->what, c->what);
            return false;
        }
    }
    if (!o->channels[0].from && !o->channels[1].from) {
        cli_error("listen to what? give --trace ADDRESS --trace-out FILE");
        return false;
    }
    if (o->timeout < 0) {
        cli_error("--timeout: seconds, 0 for no limit");
        return false;
    }
    return true;
}

int cmd_listen(int argc, char **argv)
{
    ListenOptions o = {
        .channels = { { .what = "trace" }, { .what = "sideband" } },
        .timeout = 60,
    };
    int status = CLI_ERROR;
    const GOptionEntry own[] = {
        { "progress", 0, 0, G_OPTION_ARG_NONE, &o.progress,
          "Show progress even if standard error is no terminal", NULL },
        G_OPTION_ENTRY_NULL
    };
    g_autofree GOptionEntry *streams = channel_options(o.channels, &o.timeout);
    g_autofree GOptionEntry *entries = cli_join_entries(streams, own);

    if (cli_parse_only(entries, "Collect the trace, the sideband or both "
                       "from sockets into files, until the\nother side "
                       "closes them.",
                       CHANNEL_ADDRESS_HELP
                       "\nExit status: 0 success, 2 an error.", argc, argv) &&
        options_valid(&o)) {
        status = collect(&o);
    }
    for (size_t i = 0; i < ARRAY_SIZE(o.channels); i++) {
        g_free(o.channels[i].from);
        g_free(o.channels[i].to);
    }
    return status;
}
