/*
 * Where to connect to or to listen: unix:PATH, tcp:HOST:PORT
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_ADDRESS_H
#define ETRACE_ADDRESS_H

#include <gio/gio.h>

typedef struct Address {
    char *path;             /* of a UNIX socket; or NULL */
    char *host;
    uint16_t port;
    bool server;            /* ",server": wait for the other side to connect */
} Address;

/*
 * Parse "unix:PATH[,server]" or "tcp:HOST:PORT[,server]"; HOST may be an IPv6
 * address in brackets. Returns NULL and sets @errp if it is neither.
 */
Address *address_parse(const char *text, GError **errp);
void address_free(Address *a);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Address, address_free)

/*
 * A connection: as a server, to whoever connects; as a client, tried again
 * until it succeeds. Gives up after @timeout seconds, 0: never, or when
 * @cancel is triggered.
 */
GSocketConnection *address_connect(const Address *a, unsigned timeout,
                                   GCancellable *cancel, GError **errp);

#endif /* ETRACE_ADDRESS_H */
