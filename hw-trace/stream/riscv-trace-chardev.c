/*
 * RISC-V trace: a bounded byte FIFO in front of a character device
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "qemu/atomic.h"
#include "qemu/error-report.h"
#include "qemu/lockable.h"
#include "qemu/main-loop.h"
#include "qapi/error.h"
#include "riscv-trace-chardev.h"
#include "hw/trace/trace.h"

/* Wake the main loop for this many bytes, or for fewer after a while. */
#define KICK_BYTES      (64 * KiB)
#define KICK_MS         20

/* A socket signals that its peer has left, maybe after a failed write. */
#define FAILED_MS       200

/* Bounds the time that the main loop spends here in one go. */
#define SEND_CHUNK      (256 * KiB)
#define SEND_MAX        (1 * MiB)

static const char *riscv_trace_chardev_label(RISCVTraceChardev *c)
{
    return qemu_chr_fe_get_driver(&c->chr)->label;
}

static void riscv_trace_chardev_unwatch(RISCVTraceChardev *c)
{
    if (c->watch) {
        g_source_remove(c->watch);
        c->watch = 0;
    }
}

static void riscv_trace_chardev_open(RISCVTraceChardev *c)
{
    WITH_QEMU_LOCK_GUARD(&c->lock) {
        if (c->open) {
            return;
        }
        c->in = 0;
        c->out = 0;
        qatomic_set(&c->fill, 0);
        qatomic_set(&c->kicked, false);
        qatomic_set(&c->open, true);
    }
    trace_riscv_trace_chardev_open(riscv_trace_chardev_label(c));
    c->ops->opened(c->opaque);
}

/* Returns the number of bytes that nobody has read. */
static uint32_t riscv_trace_chardev_close(RISCVTraceChardev *c)
{
    uint32_t dropped;

    WITH_QEMU_LOCK_GUARD(&c->lock) {
        if (!c->open) {
            return 0;
        }
        dropped = c->fill;
        c->out = c->in;
        qatomic_set(&c->fill, 0);
        qatomic_set(&c->open, false);
    }
    riscv_trace_chardev_unwatch(c);
    c->failed = false;
    trace_riscv_trace_chardev_close(riscv_trace_chardev_label(c), dropped);
    c->ops->closed(c->opaque);
    return dropped;
}

static gboolean riscv_trace_chardev_writable(void *do_not_use,
                                             GIOCondition cond, void *opaque)
{
    RISCVTraceChardev *c = opaque;

    c->watch = 0;
    riscv_trace_chardev_send(c);
    return G_SOURCE_REMOVE;
}

static void riscv_trace_chardev_wait(RISCVTraceChardev *c)
{
    if (c->watch) {
        return;
    }
    c->watch = qemu_chr_fe_add_watch(&c->chr, G_IO_OUT | G_IO_HUP,
                                     riscv_trace_chardev_writable, c);
    trace_riscv_trace_chardev_wait(riscv_trace_chardev_label(c), c->fill);
    if (!c->watch) {
        /* A backend that cannot be waited for is asked again. */
        timer_mod(c->timer, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) + KICK_MS);
    }
}

size_t riscv_trace_chardev_send(RISCVTraceChardev *c)
{
    size_t sent = 0, left = 0;
    bool blocked = false;

    if (c->failed) {
        return qatomic_read(&c->fill);
    }
    if (c->ops->sending && qatomic_read(&c->fill)) {
        c->ops->sending(c->opaque);
    }
    qatomic_set(&c->kicked, false);

    while (!blocked && sent < SEND_MAX) {
        uint64_t pos;
        size_t n;
        int ret;

        WITH_QEMU_LOCK_GUARD(&c->lock) {
            pos = c->out % c->capacity;
            left = c->fill;
        }
        n = MIN(MIN(left, c->capacity - pos), SEND_CHUNK);
        if (!n) {
            break;
        }

        /* Producers append behind these bytes: no lock needed to read them. */
        ret = qemu_chr_fe_write(&c->chr, c->buf + pos, n);
        if (!qatomic_read(&c->open)) {
            /* The write has shown that the peer has gone. */
            return 0;
        }
        if (ret < 0 && errno != EAGAIN) {
            c->failed = true;
            qatomic_set(&c->kicked, true);
            timer_mod(c->timer,
                      qemu_clock_get_ms(QEMU_CLOCK_REALTIME) + FAILED_MS);
            return left;
        }
        if (ret <= 0) {
            blocked = true;
            break;
        }
        WITH_QEMU_LOCK_GUARD(&c->lock) {
            c->out += ret;
            left = c->in - c->out;
            qatomic_set(&c->fill, left);
        }
        sent += ret;
    }

    if (blocked) {
        qatomic_set(&c->kicked, true);
        riscv_trace_chardev_wait(c);
    } else if (left) {
        qemu_bh_schedule(c->bh);
    }
    if (sent) {
        c->ops->drained(c->opaque);
    }
    return left;
}

void riscv_trace_chardev_drop(RISCVTraceChardev *c)
{
    uint32_t dropped;

    WITH_QEMU_LOCK_GUARD(&c->lock) {
        dropped = c->fill;
        c->out = c->in;
        qatomic_set(&c->fill, 0);
    }
    if (dropped) {
        warn_report("riscv-trace: the last %" PRIu32 " bytes for chardev '%s' "
                    "were not taken and are lost", dropped,
                    riscv_trace_chardev_label(c));
    }
}

static void riscv_trace_chardev_bh(void *opaque)
{
    RISCVTraceChardev *c = opaque;

    if (!c->watch) {
        riscv_trace_chardev_send(c);
    }
}

static void riscv_trace_chardev_timer(void *opaque)
{
    RISCVTraceChardev *c = opaque;

    if (c->failed) {
        warn_report("riscv-trace: chardev '%s' cannot be written: %s",
                    riscv_trace_chardev_label(c), c->ops->failure);
        riscv_trace_chardev_close(c);
    } else {
        riscv_trace_chardev_bh(c);
    }
}

bool riscv_trace_chardev_put(RISCVTraceChardev *c, const uint8_t *bytes,
                             size_t len)
{
    bool kick, first;

    WITH_QEMU_LOCK_GUARD(&c->lock) {
        uint64_t pos = c->in % c->capacity;
        size_t n = MIN(len, c->capacity - pos);

        if (!c->open || len > c->capacity - c->fill) {
            return false;
        }
        memcpy(c->buf + pos, bytes, n);
        memcpy(c->buf, bytes + n, len - n);
        first = !c->fill;
        c->in += len;
        qatomic_set(&c->fill, c->fill + len);
        kick = c->fill >= KICK_BYTES && !c->kicked;
        if (kick) {
            qatomic_set(&c->kicked, true);
        }
    }

    if (kick) {
        qemu_bh_schedule(c->bh);
    } else if (first && !timer_pending(c->timer)) {
        timer_mod(c->timer, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) + KICK_MS);
    }
    return true;
}

bool riscv_trace_chardev_is_open(RISCVTraceChardev *c)
{
    return qatomic_read(&c->open);
}

uint64_t riscv_trace_chardev_offset(RISCVTraceChardev *c)
{
    QEMU_LOCK_GUARD(&c->lock);
    return c->in;
}

bool riscv_trace_chardev_over(RISCVTraceChardev *c)
{
    return qatomic_read(&c->fill) > c->capacity - RISCV_TRACE_HEADROOM;
}

bool riscv_trace_chardev_low(RISCVTraceChardev *c)
{
    return qatomic_read(&c->fill) < (c->capacity - RISCV_TRACE_HEADROOM) / 2;
}

/* What a peer sends has no meaning, but must be read to see it leave. */
static int riscv_trace_chardev_can_read(void *opaque)
{
    return 4096;
}

static void riscv_trace_chardev_read(void *opaque, const uint8_t *buf,
                                     int size)
{
}

static void riscv_trace_chardev_event(void *opaque, QEMUChrEvent event)
{
    RISCVTraceChardev *c = opaque;
    uint32_t dropped;

    switch (event) {
    case CHR_EVENT_OPENED:
        riscv_trace_chardev_open(c);
        break;
    case CHR_EVENT_CLOSED:
        dropped = riscv_trace_chardev_close(c);
        if (dropped) {
            warn_report("riscv-trace: the reader of chardev '%s' has left; "
                        "%" PRIu32 " bytes were not read and are lost",
                        riscv_trace_chardev_label(c), dropped);
        }
        break;
    default:
        break;
    }
}

bool riscv_trace_chardev_init(RISCVTraceChardev *c,
                              const RISCVTraceChardevOps *ops, void *opaque,
                              Error **errp)
{
    if (c->capacity < RISCV_TRACE_BUFFER_MIN ||
        c->capacity > RISCV_TRACE_BUFFER_MAX) {
        error_setg(errp, "buffer-size %" PRIu32 " is not between %" PRIu64
                   " and %" PRIu64 " bytes", c->capacity,
                   (uint64_t)RISCV_TRACE_BUFFER_MIN,
                   (uint64_t)RISCV_TRACE_BUFFER_MAX);
        return false;
    }

    c->ops = ops;
    c->opaque = opaque;
    qemu_mutex_init(&c->lock);
    c->buf = g_malloc(c->capacity);
    c->bh = qemu_bh_new(riscv_trace_chardev_bh, c);
    c->timer = timer_new_ms(QEMU_CLOCK_REALTIME, riscv_trace_chardev_timer, c);
    qemu_chr_fe_set_handlers(&c->chr, riscv_trace_chardev_can_read,
                             riscv_trace_chardev_read,
                             riscv_trace_chardev_event, NULL, c, NULL, true);
    return true;
}

void riscv_trace_chardev_cleanup(RISCVTraceChardev *c)
{
    riscv_trace_chardev_unwatch(c);
    qemu_chr_fe_deinit(&c->chr, false);
    timer_free(c->timer);
    qemu_bh_delete(c->bh);
    g_free(c->buf);
    qemu_mutex_destroy(&c->lock);
}
