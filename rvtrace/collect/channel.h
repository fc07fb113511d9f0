/*
 * Collecting a stream: from a socket to a file, by a thread of its own
 *
 * A thread for each stream: neither may hold up the other, because QEMU may
 * wait until both have room.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_COLLECT_H
#define ETRACE_COLLECT_H

#include "collect/address.h"
#include "collect/sink.h"
#include "collect/tls.h"

/* The first six are the caller's to set; the strings have to stay. */
typedef struct Channel {
    const char *what;           /* "trace", "sideband" */
    char *from;                 /* address */
    char *to;                   /* file */
    SinkOptions sink_options;
    Cutter *cutter;             /* of another channel, to be told; or NULL */
    TlsFiles tls;
    unsigned timeout;
    Address *address;
    Sink *sink;
    GThread *thread;
    GCancellable *cancel;       /* of all channels */
    GCancellable *stop;         /* of this one */
    GError *error;
    GSocketConnection *conn;    /* valid when @connected */
    GIOStream *io;              /* what is read: @conn itself, or TLS over it */
    /* atomic: */
    gint connected, done, shown;
    gint64 bytes;
} Channel;

/*
 * See whether it can be collected, and open the file, which takes the place of
 * an older one with the first byte that comes; gives up after @timeout
 * seconds without a connection, 0: never. Prints what is wrong and returns
 * false. An error triggers @cancel, which ends all channels that have it.
 */
bool channel_open(Channel *c, GCancellable *cancel, unsigned timeout);

/* Collect until the other side closes the stream, or until it is cancelled. */
void channel_start(Channel *c);

/*
 * Have the other side close a channel that is connected: what it has sent
 * before it sees that still comes.
 */
void channel_hang_up(Channel *c);

/* End it, as if the other side had closed the stream. */
void channel_stop(Channel *c);

/* Any thread may ask, from channel_start() on: */
bool channel_is_connected(Channel *c);
bool channel_is_done(Channel *c);
bool channel_is_shown(Channel *c);      /* the file is there */
gint64 channel_bytes(Channel *c);

/*
 * Wait until it is done. Prints what went wrong and returns false. Also closes
 * a channel that was opened and not started.
 */
bool channel_finish(Channel *c);

#endif /* ETRACE_COLLECT_H */
