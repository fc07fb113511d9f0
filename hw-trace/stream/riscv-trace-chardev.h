/*
 * RISC-V trace: a bounded byte FIFO in front of a character device
 *
 * Filled by any thread, emptied by the main loop as fast as the peer reads,
 * without ever waiting for it. The memory is allocated once.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_CHARDEV_H
#define HW_TRACE_RISCV_TRACE_CHARDEV_H

#include "chardev/char-fe.h"
#include "qemu/thread.h"
#include "qemu/timer.h"

/*
 * A producer is asked to wait when less than this is free. It has to hold
 * what harts pass on before they stop: one ring of blocks each.
 */
#define RISCV_TRACE_HEADROOM        (1 * MiB)
#define RISCV_TRACE_BUFFER_MIN      (2 * MiB)
#define RISCV_TRACE_BUFFER_DEFAULT  (4 * MiB)
#define RISCV_TRACE_BUFFER_MAX      (1 * GiB)

/* Called in the main loop's thread with the BQL held. */
typedef struct RISCVTraceChardevOps {
    void (*opened)(void *opaque);       /* a peer is there; FIFO is empty */
    void (*closed)(void *opaque);       /* it left; FIFO was dropped */
    /* Bytes are going to be written. May be NULL. */
    void (*sending)(void *opaque);
    void (*drained)(void *opaque);      /* some bytes left the FIFO */
    /* If it cannot be written: what follows from that, for people */
    const char *failure;
} RISCVTraceChardevOps;

typedef struct RISCVTraceChardev {
    CharFrontend chr;            /* DEFINE_PROP_CHR */
    uint32_t capacity;          /* bytes; a property */

    const RISCVTraceChardevOps *ops;
    void *opaque;
    uint8_t *buf;
    QEMUBH *bh;
    QEMUTimer *timer;
    guint watch;                /* waits for the peer; 0: none */
    bool failed;                /* a write failed; the peer may be leaving */

    QemuMutex lock;             /* protects what follows */
    bool open;
    bool kicked;                /* the main loop was asked to empty it */
    uint64_t in;                /* bytes accepted since the peer came */
    uint64_t out;               /* bytes written since then */
    uint32_t fill;              /* in - out; may be read without the lock */
} RISCVTraceChardev;

/*
 * Allocate the buffer and connect to the chardev, if there is one. opened()
 * is called from here if its peer is there already. Returns false with @errp
 * set if the capacity is out of bounds.
 */
bool riscv_trace_chardev_init(RISCVTraceChardev *c,
                              const RISCVTraceChardevOps *ops, void *opaque,
                              Error **errp);
void riscv_trace_chardev_cleanup(RISCVTraceChardev *c);

/*
 * Append @len bytes, all or none. Returns false if they do not fit or no peer
 * is there. Any thread.
 */
bool riscv_trace_chardev_put(RISCVTraceChardev *c, const uint8_t *bytes,
                             size_t len);

/* A peer is there. Any thread. */
bool riscv_trace_chardev_is_open(RISCVTraceChardev *c);

/*
 * Bytes accepted since the peer came: where the next one is in its stream.
 * When it has left: up to then.
 */
uint64_t riscv_trace_chardev_offset(RISCVTraceChardev *c);

/* So full that producers have to wait. Any thread. */
bool riscv_trace_chardev_over(RISCVTraceChardev *c);

/* So empty that waiting producers may go on. Any thread. */
bool riscv_trace_chardev_low(RISCVTraceChardev *c);

/*
 * Write what the peer takes now. Returns the number of bytes that are left.
 * Nothing is written any more after a failure, see @failed. Main loop's
 * thread, BQL held.
 */
size_t riscv_trace_chardev_send(RISCVTraceChardev *c);

/* Nobody takes any more: drop what is left, with a warning. BQL. */
void riscv_trace_chardev_drop(RISCVTraceChardev *c);

#endif /* HW_TRACE_RISCV_TRACE_CHARDEV_H */
