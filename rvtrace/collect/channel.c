/*
 * Collecting a stream: from a socket to a file, by a thread of its own
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "collect/channel.h"
#include "base/say.h"

#define BUFFER_SIZE     (256 * 1024)

bool channel_is_connected(Channel *c)
{
    return g_atomic_int_get(&c->connected);
}

bool channel_is_done(Channel *c)
{
    return g_atomic_int_get(&c->done);
}

bool channel_is_shown(Channel *c)
{
    return g_atomic_int_get(&c->shown);
}

gint64 channel_bytes(Channel *c)
{
    return __atomic_load_n(&c->bytes, __ATOMIC_RELAXED);
}

/* Is there something to read? Write what waits for that too long. */
static bool wait_for_more(Channel *c, GInputStream *in)
{
    GSocket *socket = g_socket_connection_get_socket(c->conn);
    gint64 left = sink_may_wait(c->sink);

    if (left == 0) {
        return sink_flush(c->sink, &c->error);
    }
    if (left < 0 ||
        g_pollable_input_stream_is_readable(G_POLLABLE_INPUT_STREAM(in))) {
        return true;
    }
    if (g_socket_condition_timed_wait(socket, G_IO_IN | G_IO_HUP, left,
                                      c->stop, NULL) ||
        g_cancellable_is_cancelled(c->stop)) {
        return true;
    }
    return sink_flush(c->sink, &c->error);
}

/* Copy until the peer closes. A connection that is reset has ended, too. */
static void copy_stream(Channel *c, GInputStream *in)
{
    g_autofree uint8_t *buf = g_malloc(BUFFER_SIZE);

    for (;;) {
        g_autoptr(GError) err = NULL;
        gssize n;

        if (!wait_for_more(c, in)) {
            return;
        }
        n = g_input_stream_read(in, buf, BUFFER_SIZE, c->stop, &err);
        if (n < 0 && !g_error_matches(err, G_IO_ERROR,
                                      G_IO_ERROR_CONNECTION_CLOSED) &&
            !g_error_matches(err, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
            g_set_error(&c->error, G_IO_ERROR, err->code,
                        "cannot read from %s: %s", c->from, err->message);
        }
        if (n > 0 && c->cutter) {
            cutter_sideband(c->cutter, buf, n);
        }
        if (n <= 0 || !sink_put(c->sink, buf, n, &c->error)) {
            return;
        }
        g_atomic_int_set(&c->shown, 1);
        __atomic_fetch_add(&c->bytes, n, __ATOMIC_RELAXED);
    }
}

static bool connect_channel(Channel *c)
{
    g_autoptr(GError) err = NULL;

    c->conn = address_connect(c->address, c->timeout, c->stop, &err);
    if (!c->conn && !g_cancellable_is_cancelled(c->stop)) {
        g_set_error(&c->error, G_IO_ERROR, err->code,
                    "no connection %s %s within %u s%s%s",
                    c->address->server ? "at" : "to", c->from, c->timeout,
                    c->address->server ? "" : ": ",
                    c->address->server ? "" : err->message);
    }
    if (!c->conn) {
        return false;
    }
    c->io = tls_begin(&c->tls, c->conn, c->address, c->timeout, c->stop,
                      &err);
    if (!c->io && !g_cancellable_is_cancelled(c->stop)) {
        g_set_error(&c->error, G_IO_ERROR, err->code, "no TLS with %s: %s",
                    c->from, err->message);
    }
    return c->io;
}

static gpointer channel_thread(gpointer opaque)
{
    Channel *c = opaque;

    if (connect_channel(c)) {
        g_atomic_int_set(&c->connected, 1);
        copy_stream(c, g_io_stream_get_input_stream(c->io));
    }
    if (c->conn) {
        /* Nobody is to wait for us to read more. */
        g_socket_close(g_socket_connection_get_socket(c->conn), NULL);
    }
    if (c->error) {
        /* One stream is of no use without the other. */
        g_cancellable_cancel(c->cancel);
    }
    g_atomic_int_set(&c->done, 1);
    return NULL;
}

/* All are cancelled, and so is this one. */
static void on_cancel(GCancellable *cancel, gpointer stop)
{
    g_cancellable_cancel(stop);
}

bool channel_open(Channel *c, GCancellable *cancel, unsigned timeout)
{
    g_autoptr(GError) err = NULL;

    c->cancel = cancel;
    c->timeout = timeout;
    c->address = address_parse(c->from, &err);
    if (!c->address) {
        say_error("--%s: %s", c->what, err->message);
        return false;
    }
    if (!tls_check(&c->tls, c->address->server, &err)) {
        say_error("%s", err->message);
        g_clear_pointer(&c->address, address_free);
        return false;
    }
    c->sink = sink_open(c->to, &c->sink_options, &err);
    if (!c->sink) {
        say_error("--%s-out: %s", c->what, err->message);
        g_clear_pointer(&c->address, address_free);
        return false;
    }
    return true;
}

void channel_hang_up(Channel *c)
{
    g_socket_shutdown(g_socket_connection_get_socket(c->conn), false, true,
                      NULL);
}

void channel_stop(Channel *c)
{
    if (c->stop) {
        g_cancellable_cancel(c->stop);
    }
}

void channel_start(Channel *c)
{
    c->stop = g_cancellable_new();
    g_cancellable_connect(c->cancel, G_CALLBACK(on_cancel),
                          g_object_ref(c->stop), g_object_unref);
    c->thread = g_thread_new(c->what, channel_thread, c);
}

bool channel_finish(Channel *c)
{
    bool ok = true;

    g_clear_pointer(&c->thread, g_thread_join);
    if (c->error || (!c->shown && g_cancellable_is_cancelled(c->cancel))) {
        g_clear_pointer(&c->sink, sink_discard);
    } else {
        sink_commit(g_steal_pointer(&c->sink), &c->error);
    }
    if (c->error) {
        say_error("%s", c->error->message);
        ok = false;
    }
    g_clear_error(&c->error);
    g_clear_object(&c->stop);
    g_clear_object(&c->io);
    g_clear_object(&c->conn);
    g_clear_pointer(&c->address, address_free);
    return ok;
}
