/*
 * TLS for sockets, by what GLib has for it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TLS_H
#define ETRACE_TLS_H

#include "collect/address.h"

/* PEM files; all NULL: no TLS. Without @ca, what the system trusts counts. */
typedef struct TlsFiles {
    char *cert, *key;           /* ours; may be NULL for a client */
    char *ca;                   /* who has signed the other side's */
} TlsFiles;

/*
 * Can it be done? @server: the other side connects to us. Returns false and
 * sets @errp if a file is missing or invalid, or GIO has no TLS backend.
 */
bool tls_check(const TlsFiles *files, bool server, GError **errp);

/*
 * Begin TLS on @conn, as the server or the client that @address has it: @conn
 * itself if there are no @files. Both sides are asked for a certificate, and
 * the other side's has to be signed by @ca and, of a server, to be of the host
 * of @address. Gives up after @timeout seconds in which nothing comes (0:
 * never), or when @cancel is triggered. Returns NULL and sets @errp.
 */
GIOStream *tls_begin(const TlsFiles *files, GSocketConnection *conn,
                     const Address *address, unsigned timeout,
                     GCancellable *cancel, GError **errp);

#endif /* ETRACE_TLS_H */
