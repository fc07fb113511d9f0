/*
 * rvtrace listen: collect trace and sideband from sockets
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <unistd.h>
#include <glib-unix.h>
#include "commands/cli/cli.h"
#include "commands/cli/channel-options.h"
#include "collect/packer.h"
#include "profile/selection.h"

#define PROGRESS_US     500000

/*
 * We have hung up: the other side has so long to notice and to say the last.
 * After that, it is cut off when nothing has come for so long, but not later
 * than that.
 */
#define QUIET_US        300000
#define LATEST_US       5000000

typedef struct ListenOptions {
    Channel channels[2];
    int timeout;
    gboolean progress;
    char *duration, *bytes;     /* as they were given; or NULL */
    uint64_t ns;                /* 0: until the other side closes it */
    uint64_t most;              /* bytes of the first channel; 0: the same */
    gboolean pack;
    int level;                  /* of zstd; 0: not given */
    char *rotate;               /* a size or a time, as it was given; or NULL */
    int keep;                   /* pieces; 0: all */
} ListenOptions;

/* When to stop, by the monotonic clock */
typedef struct End {
    gint64 connected;           /* since then all are; 0: not yet */
    gint64 hung_up;             /* when we did; 0: not yet */
    gint64 last;                /* when there was another byte */
    gint64 bytes;               /* ... of so many */
} End;

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

static bool all_connected(ListenOptions *o)
{
    for (size_t i = 0; i < ARRAY_SIZE(o->channels); i++) {
        if (o->channels[i].from && !channel_is_connected(&o->channels[i])) {
            return false;
        }
    }
    return true;
}

static gint64 all_bytes(ListenOptions *o)
{
    return channel_bytes(&o->channels[0]) + channel_bytes(&o->channels[1]);
}

/*
 * Hang up when there is enough of the trace: QEMU ends the session then, and
 * the sideband says where. Who does not, or goes on sending, is cut off.
 */
static void look_for_end(ListenOptions *o, End *end, gint64 now)
{
    Channel *first = &o->channels[o->channels[0].from ? 0 : 1];
    gint64 bytes = all_bytes(o);

    if (!end->connected && all_connected(o)) {
        end->connected = now;
    }
    if (!end->hung_up && end->connected) {
        if ((o->ns && (uint64_t)(now - end->connected) * 1000 >= o->ns) ||
            (o->most && (uint64_t)channel_bytes(first) >= o->most)) {
            channel_hang_up(first);
            end->hung_up = end->last = now;
            end->bytes = bytes;
        }
        return;
    }
    if (bytes != end->bytes) {
        end->bytes = bytes;
        end->last = now;
    }
    if (end->hung_up && (now - end->last >= QUIET_US ||
                         now - end->hung_up >= LATEST_US)) {
        channel_stop(&o->channels[0]);
        channel_stop(&o->channels[1]);
    }
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
    End end = { 0 };
    bool ok = true;

    for (size_t i = 0; i < ARRAY_SIZE(o->channels); i++) {
        Channel *c = &o->channels[i];

        if (c->from && !channel_open(c, cancel, o->timeout)) {
            /* Leave nothing of the one before. */
            g_cancellable_cancel(cancel);
            if (i && o->channels[0].from) {
                channel_finish(&o->channels[0]);
            }
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
        look_for_end(o, &end, now);
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

static bool pack_valid(ListenOptions *o)
{
    if (o->level < 0 || o->level > PACKER_LEVEL_MAX) {
        say_error("--level %d: must be from 1 to %d", o->level,
                  PACKER_LEVEL_MAX);
        return false;
    }
    o->level = o->level ?: o->pack ? PACKER_LEVEL_DEFAULT : 0;
    o->channels[0].sink_options.level = o->level;
    o->channels[1].sink_options.level = o->level;
    return true;
}

/* The sideband is in one piece: each of the trace's needs what is before. */
static bool rotate_valid(ListenOptions *o)
{
    SinkOptions *sink = &o->channels[0].sink_options;
    uint64_t ns;

    if (!o->rotate) {
        if (o->keep) {
            say_error("--keep: is about pieces; give --rotate, too");
        }
        return !o->keep;
    }
    if (!o->channels[0].from || !o->channels[1].from) {
        say_error("--rotate: the trace is cut where its sideband can be used; "
                  "give both, --trace and --sideband");
        return false;
    }
    if (selection_parse_time(o->rotate, &ns) && ns) {
        sink->longest = MAX(ns / 1000, 1);
    } else if (!selection_parse_count(o->rotate, &sink->most) ||
               !sink->most) {
        say_error("--rotate %s: must be a number of bytes, with k, M or G "
                  "behind it or not, or a time like 10s or 500ms", o->rotate);
        return false;
    }
    if (o->keep < 0) {
        say_error("--keep %d: must be a number of pieces", o->keep);
        return false;
    }
    sink->keep = o->keep;
    sink->cutter = cutter_new();
    o->channels[1].cutter = sink->cutter;
    return true;
}

static bool options_valid(ListenOptions *o)
{
    for (size_t i = 0; i < ARRAY_SIZE(o->channels); i++) {
        const Channel *c = &o->channels[i];

        if (!c->from != !c->to) {
            say_error("--%s and --%s-out go together", c->what, c->what);
            return false;
        }
    }
    if (!o->channels[0].from && !o->channels[1].from) {
        say_error("listen to what? give --trace ADDRESS --trace-out FILE");
        return false;
    }
    if (o->duration && (!selection_parse_time(o->duration, &o->ns) ||
                        !o->ns)) {
        say_error("--for %s: must be a time like 10s or 500ms", o->duration);
        return false;
    }
    if (o->bytes && (!selection_parse_count(o->bytes, &o->most) ||
                     !o->most)) {
        say_error("--bytes %s: must be a number of bytes, with k, M or G "
                  "behind it or not", o->bytes);
        return false;
    }
    if (o->timeout < 0) {
        say_error("--timeout: seconds, 0 for no limit");
        return false;
    }
    channel_options_take(o->channels);
    return pack_valid(o) && rotate_valid(o);
}

int cmd_listen(int argc, char **argv)
{
    ListenOptions o = {
        .channels = { { .what = "trace" }, { .what = "sideband" } },
        .timeout = 60,
    };
    int status = CLI_ERROR;
    const GOptionEntry own[] = {
        { "for", 0, 0, G_OPTION_ARG_STRING, &o.duration,
          "Stop so long after the connection, and close the files: 10s, 500ms",
          "TIME" },
        { "bytes", 0, 0, G_OPTION_ARG_STRING, &o.bytes,
          "Stop when there are so many bytes of the trace (or of the sideband, "
          "if it is alone), and a few more that are on their way; N can end "
          "in k, M or G", "N" },
        { "compress", 'z', 0, G_OPTION_ARG_NONE, &o.pack,
          "Compress both streams with zstd, as without it those whose FILE "
          "ends in .zst; all commands read them", NULL },
        { "level", 0, 0, G_OPTION_ARG_INT, &o.level,
          "The same, with another level of compression, from 1 to 19 "
          "(default: 3)", "N" },
        { "rotate", 0, 0, G_OPTION_ARG_STRING, &o.rotate,
          "Write the trace in pieces, FILE.000001 and so on, of so many bytes "
          "(with k, M or G; before compression) or so much time (10s); each "
          "can be decoded with the sideband, which stays one file", "SIZE|TIME" },
        { "keep", 0, 0, G_OPTION_ARG_INT, &o.keep,
          "With --rotate: remove the oldest pieces when there are more than N "
          "(default: keep all)", "N" },
        { "progress", 0, 0, G_OPTION_ARG_NONE, &o.progress,
          "Show progress even if standard error is no terminal", NULL },
        { NULL }
    };
    g_autofree GOptionEntry *streams = channel_options(o.channels, &o.timeout);
    g_autofree GOptionEntry *entries = cli_join_entries(streams, own);

    if (cli_parse_only(entries, "Collect the trace, the sideband or both "
                       "from sockets into files, until the\nother side "
                       "closes them, or --for or --bytes says so.",
                       CHANNEL_ADDRESS_HELP
                       "\nExit status: 0 success, 2 an error.", argc, argv) &&
        options_valid(&o)) {
        status = collect(&o);
    }
    channel_options_clear(o.channels);
    g_clear_pointer(&o.channels[1].cutter, cutter_free);
    g_free(o.rotate);
    g_free(o.duration);
    g_free(o.bytes);
    return status;
}
