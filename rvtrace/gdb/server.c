/*
 * A connection to gdb
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "gdb/rsp.h"
#include "gdb/server.h"

/* Bytes that gdb may send while it waits; it sends one, usually. */
#define MAX_WAITING     65536

typedef struct Server {
    GdbTarget *target;
    int in, out;
    bool no_ack, lost;
    gint64 sent;            /* when something was sent last; us */
    bool interrupted;       /* Ctrl-C has come, and nobody has been told */
    RspReader reader;
    GByteArray *waiting;    /* came while a request was answered */
    GString *last;          /* the last packet that was sent */
} Server;

/* GLib's sockets do not block. */
static bool may_go_on(void)
{
    return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
}

/* More bytes into @s->waiting; waits for them if @block. */
static void take_bytes(Server *s, bool block)
{
    struct pollfd fd = { .fd = s->in, .events = POLLIN };
    uint8_t buf[4096];
    ssize_t n;

    if (s->lost || s->waiting->len > MAX_WAITING ||
        poll(&fd, 1, block ? -1 : 0) <= 0) {
        return;
    }
    n = read(s->in, buf, sizeof(buf));
    if (n > 0) {
        g_byte_array_append(s->waiting, buf, n);
    } else if (!n || !may_go_on()) {
        s->lost = true;
    }
}

static void send_bytes(Server *s, const char *data, size_t len)
{
    s->sent = g_get_monotonic_time();
    while (len && !s->lost) {
        /* No SIGPIPE; standard output is a pipe, where main() ignores it. */
        ssize_t n = send(s->out, data, len, MSG_NOSIGNAL);

        if (n < 0 && errno == ENOTSOCK) {
            n = write(s->out, data, len);
        }
        if (n > 0) {
            data += n;
            len -= n;
        } else if (may_go_on()) {
            poll(&(struct pollfd) { .fd = s->out, .events = POLLOUT }, 1, -1);
        } else {
            s->lost = true;
        }
    }
}

static void send_packet(void *opaque, const char *data, size_t len)
{
    Server *s = opaque;

    g_string_truncate(s->last, 0);
    rsp_put_packet(s->last, data, len);
    send_bytes(s, s->last->str, s->last->len);
}

/*
 * While gdb waits for an answer, it sends nothing but Ctrl-C. One that came
 * before counts, too: gdb passes over a breakpoint whose condition is false by
 * going on again, and its Ctrl-C may arrive between the two.
 */
static bool is_interrupted(void *opaque)
{
    Server *s = opaque;
    uint8_t *at = NULL;
    bool before = s->interrupted;

    s->interrupted = false;
    take_bytes(s, false);
    if (s->waiting->len) {
        at = memchr(s->waiting->data, RSP_CTRL_C, s->waiting->len);
    }
    if (at) {
        g_byte_array_remove_index(s->waiting, at - s->waiting->data);
    }
    return before || at || s->lost;
}

/*
 * gdb gives up when nothing has come for so many seconds ("remotetimeout"), and
 * passes over bytes between packets.
 */
static void keep_alive(void *opaque)
{
    Server *s = opaque;
    gint64 now = g_get_monotonic_time();

    if (now - s->sent >= G_USEC_PER_SEC / 2) {
        send_bytes(s, "+", 1);
    }
}

static const GdbTargetOps server_ops = {
    .send = send_packet,
    .poll = is_interrupted,
    .keep_alive = keep_alive,
};

static GdbTargetNext one_byte(Server *s, uint8_t byte)
{
    GdbTargetNext next = GDB_TARGET_GO_ON;

    switch (rsp_reader_put(&s->reader, byte)) {
    case RSP_PACKET:
        if (!s->no_ack) {
            send_bytes(s, "+", 1);
        }
        next = gdb_target_packet(s->target, s->reader.data->str,
                                 s->reader.data->len, &server_ops, s);
        s->no_ack |= next == GDB_TARGET_NO_ACK;
        break;
    case RSP_TOO_LONG:
        if (!s->no_ack) {
            send_bytes(s, "+", 1);
        }
        send_packet(s, "E.the packet is too long",
                    strlen("E.the packet is too long"));
        break;
    case RSP_DAMAGED:
        if (!s->no_ack) {
            send_bytes(s, "-", 1);
        }
        break;
    case RSP_NAK:
        send_bytes(s, s->last->str, s->last->len);
        break;
    case RSP_INTERRUPT:
        s->interrupted = true;
        break;
    default:
        break;
    }
    return next;
}

static GdbTargetNext all_bytes(Server *s)
{
    g_autoptr(GByteArray) bytes = s->waiting;
    GdbTargetNext next = GDB_TARGET_GO_ON;

    s->waiting = g_byte_array_new();
    for (guint i = 0; i < bytes->len; i++) {
        next = one_byte(s, bytes->data[i]);
        if (next == GDB_TARGET_DETACHED || next == GDB_TARGET_KILLED) {
            break;
        }
    }
    return next;
}

GdbServerEnd gdb_serve(GdbTarget *target, int in, int out)
{
    Server s = {
        .target = target,
        .in = in,
        .out = out,
        .waiting = g_byte_array_new(),
        .last = g_string_new(NULL),
    };
    GdbTargetNext next = GDB_TARGET_GO_ON;

    rsp_reader_init(&s.reader);
    gdb_target_connected(target);
    while (!s.lost && next != GDB_TARGET_DETACHED &&
           next != GDB_TARGET_KILLED) {
        if (!s.waiting->len) {
            take_bytes(&s, true);
        }
        next = all_bytes(&s);
    }
    rsp_reader_clear(&s.reader);
    g_byte_array_unref(s.waiting);
    g_string_free(s.last, TRUE);
    return next == GDB_TARGET_DETACHED ? GDB_SERVER_DETACHED :
           next == GDB_TARGET_KILLED ? GDB_SERVER_KILLED : GDB_SERVER_LOST;
}
