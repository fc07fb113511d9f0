/*
 * rvtrace listen: collect trace and sideband from sockets
 *
 * A thread for each stream: neither may hold up the other, because QEMU may
 * wait until both have room.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include <glib-unix.h>
#include "address.h"
#include "cli.h"

#define BUFFER_SIZE     (256 * 1024)
#define PROGRESS_US     500000

typedef struct Channel {
    const char *what;           /* "trace", "sideband" */
    char *from;                 /* address */
    char *to;                   /* file */
    unsigned timeout;
    Address *address;
    int fd;
    GThread *thread;
    GCancellable *cancel;       /* of all channels */
    GError *error;
    /* atomic: */
    gint connected, done;
    gint64 bytes;
} Channel;

typedef struct ListenOptions {
    Channel channels[2];
    int timeout;
    gboolean progress;
} ListenOptions;

static gint64 channel_bytes(Channel *c)
{
    return __atomic_load_n(&c->bytes, __ATOMIC_RELAXED);
}

static bool write_all(Channel *c, const uint8_t *buf, size_t len)
{
    while (len) {
        ssize_t n = write(c->fd, buf, len);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            g_set_error(&c->error, G_IO_ERROR, g_io_error_from_errno(errno),
                        "cannot write %s: %s", c->to, g_strerror(errno));
            return false;
        }
        buf += n;
        len -= n;
    }
    return true;
}

/* Copy until the peer closes. A connection that is reset has ended, too. */
static void copy_stream(Channel *c, GInputStream *in)
{
    g_autofree uint8_t *buf = g_malloc(BUFFER_SIZE);

    for (;;) {
        g_autoptr(GError) err = NULL;
        gssize n = g_input_stream_read(in, buf, BUFFER_SIZE, c->cancel, &err);

        if (n < 0 && !g_error_matches(err, G_IO_ERROR,
                                      G_IO_ERROR_CONNECTION_CLOSED) &&
            !g_error_matches(err, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
            g_set_error(&c->error, G_IO_ERROR, err->code,
                        "cannot read from %s: %s", c->from, err->message);
        }
        if (n <= 0 || !write_all(c, buf, n)) {
            return;
        }
        __atomic_fetch_add(&c->bytes, n, __ATOMIC_RELAXED);
    }
}

static gpointer channel_thread(gpointer opaque)
{
    Channel *c = opaque;
    g_autoptr(GError) err = NULL;
    g_autoptr(GSocketConnection) conn =
        address_connect(c->address, c->timeout, c->cancel, &err);

    if (conn) {
        g_atomic_int_set(&c->connected, 1);
        copy_stream(c, g_io_stream_get_input_stream(G_IO_STREAM(conn)));
    } else if (!g_cancellable_is_cancelled(c->cancel)) {
        g_set_error(&c->error, G_IO_ERROR, err->code,
                    "no connection %s %s within %u s%s%s",
                    c->address->server ? "at" : "to", c->from, c->timeout,
                    c->address->server ? "" : ": ",
                    c->address->server ? "" : err->message);
    }
    if (c->error) {
        /* One stream is of no use without the other. */
        g_cancellable_cancel(c->cancel);
    }
    g_atomic_int_set(&c->done, 1);
    return NULL;
}

static void append_progress(GString *line, Channel *c, double seconds)
{
    gint64 bytes = channel_bytes(c);

    g_string_append_printf(line, "%s%s: ", line->len ? "   " : "", c->what);
    if (!g_atomic_int_get(&c->connected)) {
        g_string_append(line, "waiting for a connection");
    } else {
        g_string_append_printf(line, "%.1f MB, %.2f MB/s%s", bytes / 1e6,
                               seconds > 0 ? bytes / 1e6 / seconds : 0,
                               g_atomic_int_get(&c->done) ? ", closed" : "");
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

static bool start_channel(Channel *c, GCancellable *cancel, unsigned timeout)
{
    g_autoptr(GError) err = NULL;

    c->cancel = cancel;
    c->timeout = timeout;
    c->address = address_parse(c->from, &err);
    if (!c->address) {
        cli_error("--%s: %s", c->what, err->message);
        return false;
    }
    c->fd = open(c->to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (c->fd < 0) {
        cli_error("cannot write %s: %s", c->to, g_strerror(errno));
        return false;
    }
    return true;
}

static bool finish_channel(Channel *c)
{
    bool ok = true;

    g_thread_join(c->thread);
    if (close(c->fd) != 0 && !c->error) {
        g_set_error(&c->error, G_IO_ERROR, g_io_error_from_errno(errno),
                    "cannot write %s: %s", c->to, g_strerror(errno));
    }
    if (c->error) {
        cli_error("%s", c->error->message);
        ok = false;
    }
    g_clear_error(&c->error);
    g_clear_pointer(&c->address, address_free);
    return ok;
}

static bool all_done(ListenOptions *o)
{
    for (size_t i = 0; i < ARRAY_SIZE(o->channels); i++) {
        if (o->channels[i].from && !g_atomic_int_get(&o->channels[i].done)) {
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

        if (c->from && !start_channel(c, cancel, o->timeout)) {
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
            c->thread = g_thread_new(c->what, channel_thread, c);
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
            ok &= finish_channel(&o->channels[i]);
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
    GOptionEntry entries[] = {
        { "trace", 't', 0, G_OPTION_ARG_STRING, &o.channels[0].from,
          "Where the trace comes from", "ADDRESS" },
        { "trace-out", 0, 0, G_OPTION_ARG_FILENAME, &o.channels[0].to,
          "Where to write it to", "FILE" },
        { "sideband", 's', 0, G_OPTION_ARG_STRING, &o.channels[1].from,
          "Where the sideband comes from", "ADDRESS" },
        { "sideband-out", 0, 0, G_OPTION_ARG_FILENAME, &o.channels[1].to,
          "Where to write it to", "FILE" },
        { "timeout", 0, 0, G_OPTION_ARG_INT, &o.timeout,
          "Give up if there is no connection after so many seconds; 0: wait "
          "for ever (default: 60)", "N" },
        { "progress", 0, 0, G_OPTION_ARG_NONE, &o.progress,
          "Show progress even if standard error is no terminal", NULL },
        G_OPTION_ENTRY_NULL
    };

    if (cli_parse_only(entries, "Collect the trace, the sideband or both "
                       "from sockets into files, until the\nother side "
                       "closes them.",
                       "ADDRESS is unix:PATH or tcp:HOST:PORT, to connect to "
                       "a QEMU chardev with\nserver=on. With ,server behind "
                       "it, QEMU connects.\n\nExit status: 0 success, 2 an "
                       "error.", argc, argv) && options_valid(&o)) {
        status = collect(&o);
    }
    for (size_t i = 0; i < ARRAY_SIZE(o.channels); i++) {
        g_free(o.channels[i].from);
        g_free(o.channels[i].to);
    }
    return status;
}
