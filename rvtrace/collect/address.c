/*
 * Where to connect to or to listen
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <unistd.h>
#include <gio/gunixsocketaddress.h>
#include "collect/address.h"

#define RETRY_US    100000

static bool parse_tcp(Address *a, char *text)
{
    char *colon = strrchr(text, ':');
    char *end;
    guint64 port;

    if (!colon) {
        return false;
    }
    *colon = 0;
    port = g_ascii_strtoull(colon + 1, &end, 10);
    if (!g_ascii_isdigit(colon[1]) || *end || port == 0 ||
        port > UINT16_MAX) {
        return false;
    }
    if (text[0] == '[' && colon[-1] == ']') {
        colon[-1] = 0;
        text++;
    }
    a->host = g_strdup(*text ? text : "localhost");
    a->port = port;
    return true;
}

Address *address_parse(const char *text, GError **errp)
{
    g_autoptr(Address) a = g_new0(Address, 1);
    g_autofree char *copy = g_strdup(text);

    if (g_str_has_suffix(copy, ",server")) {
        a->server = true;
        copy[strlen(copy) - strlen(",server")] = 0;
    }
    if (g_str_has_prefix(copy, "unix:") && copy[5]) {
        a->path = g_strdup(copy + 5);
    } else if (!g_str_has_prefix(copy, "tcp:") || !parse_tcp(a, copy + 4)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                    "'%s' is neither unix:PATH nor tcp:HOST:PORT (either may "
                    "end in ,server)", text);
        return NULL;
    }
    return g_steal_pointer(&a);
}

void address_free(Address *a)
{
    g_free(a->path);
    g_free(a->host);
    g_free(a);
}

static GSocketConnectable *connectable(const Address *a)
{
    if (a->path) {
        return G_SOCKET_CONNECTABLE(g_unix_socket_address_new(a->path));
    }
    return g_network_address_new(a->host, a->port);
}

static GSocketConnection *connect_client(const Address *a, unsigned timeout,
                                         GCancellable *cancel, GError **errp)
{
    g_autoptr(GSocketClient) client = g_socket_client_new();
    g_autoptr(GSocketConnectable) to = connectable(a);
    gint64 give_up = g_get_monotonic_time() + timeout * G_USEC_PER_SEC;

    g_socket_client_set_enable_proxy(client, FALSE);
    for (;;) {
        g_autoptr(GError) err = NULL;
        GSocketConnection *conn = g_socket_client_connect(client, to, cancel,
                                                          &err);

        if (conn) {
            return conn;
        }
        if (g_cancellable_is_cancelled(cancel) ||
            (timeout && g_get_monotonic_time() >= give_up)) {
            g_propagate_error(errp, g_steal_pointer(&err));
            return NULL;
        }
        g_usleep(RETRY_US);
    }
}

/*
 * Remove a socket that nobody listens at any more; bind() would fail because
 * of it. Anything else that has the name is left alone.
 */
static void remove_stale(const char *path, GSocketAddress *address)
{
    g_autoptr(GSocketClient) client = g_socket_client_new();
    g_autoptr(GSocketConnection) conn = NULL;
    g_autoptr(GError) err = NULL;

    conn = g_socket_client_connect(client, G_SOCKET_CONNECTABLE(address),
                                   NULL, &err);
    if (g_error_matches(err, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED)) {
        unlink(path);
    }
}

static bool add_to_listener(const Address *a, GSocketListener *listener,
                            GCancellable *cancel, GError **errp)
{
    g_autoptr(GSocketConnectable) c = connectable(a);
    g_autoptr(GSocketAddressEnumerator) e =
        g_socket_connectable_enumerate(c);
    g_autoptr(GSocketAddress) address =
        g_socket_address_enumerator_next(e, cancel, errp);

    if (!address) {
        return false;
    }
    if (a->path) {
        remove_stale(a->path, address);
    }
    return g_socket_listener_add_address(listener, address,
                                         G_SOCKET_TYPE_STREAM,
                                         G_SOCKET_PROTOCOL_DEFAULT, NULL,
                                         NULL, errp);
}

static gboolean on_timeout(gpointer cancel)
{
    g_cancellable_cancel(cancel);
    return G_SOURCE_REMOVE;
}

static void on_accepted(GObject *source, GAsyncResult *result, gpointer to)
{
    GAsyncResult **res = to;

    *res = g_object_ref(result);
}

static GSocketConnection *accept_one(const Address *a, unsigned timeout,
                                     GCancellable *cancel, GError **errp)
{
    g_autoptr(GMainContext) context = g_main_context_new();
    g_autoptr(GSocketListener) listener = g_socket_listener_new();
    g_autoptr(GCancellable) both = g_cancellable_new();
    g_autoptr(GAsyncResult) result = NULL;
    GSocketConnection *conn = NULL;
    GSource *timer = NULL;
    gulong handler;

    if (!add_to_listener(a, listener, cancel, errp)) {
        return NULL;
    }
    g_main_context_push_thread_default(context);
    if (timeout) {
        timer = g_timeout_source_new_seconds(timeout);
        g_source_set_callback(timer, on_timeout, both, NULL);
        g_source_attach(timer, context);
    }
    handler = g_cancellable_connect(cancel, G_CALLBACK(g_cancellable_cancel),
                                    both, NULL);
    g_socket_listener_accept_async(listener, both, on_accepted, &result);
    while (!result) {
        g_main_context_iteration(context, TRUE);
    }
    conn = g_socket_listener_accept_finish(listener, result, NULL, errp);
    g_cancellable_disconnect(cancel, handler);
    if (timer) {
        g_source_destroy(timer);
        g_source_unref(timer);
    }
    g_main_context_pop_thread_default(context);
    g_socket_listener_close(listener);
    if (a->path) {
        unlink(a->path);
    }
    return conn;
}

GSocketConnection *address_connect(const Address *a, unsigned timeout,
                                   GCancellable *cancel, GError **errp)
{
    return a->server ? accept_one(a, timeout, cancel, errp)
                     : connect_client(a, timeout, cancel, errp);
}
