/*
 * RISC-V trace: a virtio-serial port by which a guest takes notes
 *
 *     -device virtio-serial-pci -device rvtrace-port
 *
 * The guest writes lines to /dev/virtio-ports/org.rvtrace.guest.0. "begin
 * NAME", "end NAME" and "mark NAME" become notes in the sideband, at the
 * place that each traced hart has come to by then; "text TEXT", or any other
 * line, becomes a text, which is of no place. "start" and "stop" switch
 * tracing on and off, as QMP's x-riscv-trace-start and -stop do, for guests
 * without a driver for trace components. What is written is read on when all
 * this is done: "ok" is answered, or "error REASON", to all but texts, so
 * that the guest can wait. That bounds how fast notes can come; while a hart
 * stands because the reader of the sideband does not keep up, none are taken.
 * One line is in memory.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/qapi-commands-riscv-trace.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/timer.h"
#include "hw/qdev-properties.h"
#include "hw/virtio/virtio-serial.h"
#include "target/riscv/cpu.h"
#include "target/riscv/trace/reader.h"
#include "riscv-trace-compat.h"

#define TYPE_RVTRACE_PORT   "rvtrace-port"
OBJECT_DECLARE_SIMPLE_TYPE(RVTracePort, RVTRACE_PORT)

#define RVTRACE_PORT_NAME   "org.rvtrace.guest.0"
/* Longer lines are cut off. */
#define RVTRACE_PORT_LINE   1024
/* How long to wait for a reader before looking again, ms */
#define RVTRACE_PORT_WAIT   5

struct RVTracePort {
    VirtIOSerialPort parent_obj;

    size_t len;                 /* of the line that is being read */
    char line[RVTRACE_PORT_LINE];
    QEMUTimer *timer;           /* the reader may have caught up */
    bool busy;                  /* a line is being dealt with */
    bool answer;                /* ... and the guest gets an answer to it */
    bool start;                 /* ... which switches tracing on; or off */
};

static const struct {
    const char *word;
    ETraceSbNoteKind kind;
} words[] = {
    { "begin ", ETRACE_SB_NOTE_BEGIN },
    { "end ", ETRACE_SB_NOTE_END },
    { "mark ", ETRACE_SB_NOTE_MARK },
    { "text ", ETRACE_SB_NOTE_TEXT },
};

/* Read on, if there is room for what is read. */
static void rvtrace_port_go_on(void *opaque)
{
    RVTracePort *s = opaque;

    if (riscv_trace_is_stalled()) {
        timer_mod(s->timer, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) +
                            RVTRACE_PORT_WAIT);
    } else {
        virtio_serial_throttle_port(VIRTIO_SERIAL_PORT(s), false);
    }
}

static void rvtrace_port_answer(RVTracePort *s, const char *text)
{
    VirtIOSerialPort *port = VIRTIO_SERIAL_PORT(s);

    s->busy = false;
    if (DEVICE(s)->realized) {
        if (s->answer && port->guest_connected) {
            virtio_serial_write(port, (const uint8_t *)text, strlen(text));
        }
        rvtrace_port_go_on(s);
    }
    object_unref(OBJECT(s));
}

static void rvtrace_port_done(void *opaque)
{
    rvtrace_port_answer(opaque, "ok\n");
}

/*
 * In the main loop, where QMP's commands run: they wait for every hart, and the
 * one that wrote to the port may be in the middle of that.
 */
static void rvtrace_port_switch(void *opaque)
{
    RVTracePort *s = opaque;
    Error *err = NULL;
    g_autofree char *text = NULL;

    if (s->start) {
        qmp_x_riscv_trace_start(false, 0, &err);
    } else {
        qmp_x_riscv_trace_stop(&err);
    }
    if (err) {
        text = g_strdup_printf("error %s\n", error_get_pretty(err));
        error_free(err);
    }
    rvtrace_port_answer(s, text ?: "ok\n");
}

/* Is the line this word alone? */
static bool rvtrace_port_is(const RVTracePort *s, const char *word)
{
    return s->len == strlen(word) && !memcmp(s->line, word, s->len);
}

static void rvtrace_port_line(RVTracePort *s)
{
    ETraceSbNoteKind kind = ETRACE_SB_NOTE_TEXT;
    const char *text = s->line;
    size_t len = s->len;
    bool start = rvtrace_port_is(s, "start");

    if (start || rvtrace_port_is(s, "stop")) {
        s->len = 0;
        s->busy = s->answer = true;
        s->start = start;
        object_ref(OBJECT(s));
        aio_bh_schedule_oneshot(qemu_get_aio_context(), rvtrace_port_switch,
                                s);
        return;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
        size_t n = strlen(words[i].word);

        if (len >= n && !memcmp(text, words[i].word, n)) {
            kind = words[i].kind;
            text += n;
            len -= n;
            break;
        }
    }
    s->len = 0;
    s->busy = true;
    s->answer = kind != ETRACE_SB_NOTE_TEXT;
    object_ref(OBJECT(s));
    riscv_trace_note(kind, text, len, rvtrace_port_done, s);
}

/* Takes up to one line; the rest comes again when its note has been taken. */
static ssize_t rvtrace_port_have_data(VirtIOSerialPort *port,
                                      const uint8_t *buf, ssize_t len)
{
    RVTracePort *s = RVTRACE_PORT(port);
    ssize_t i;

    for (i = 0; i < len && !s->busy; i++) {
        if (buf[i] == '\n') {
            rvtrace_port_line(s);
        } else if (s->len < sizeof(s->line)) {
            s->line[s->len++] = buf[i];
        }
    }
    if (s->busy) {
        virtio_serial_throttle_port(port, true);
    }
    return i;
}

/* Who opens it anew begins with a line. */
static void rvtrace_port_set_guest_connected(VirtIOSerialPort *port,
                                             int guest_connected)
{
    RVTRACE_PORT(port)->len = 0;
}

static void rvtrace_port_realize(DeviceState *dev, Error **errp)
{
    VirtIOSerialPort *port = VIRTIO_SERIAL_PORT(dev);

    if (port->id == 0) {
        error_setg(errp, "port 0 of a virtio-serial device is for a "
                   "virtconsole: give rvtrace-port another nr");
        return;
    }
    if (!port->name) {
        port->name = g_strdup(RVTRACE_PORT_NAME);
    }
    RVTRACE_PORT(dev)->timer = timer_new_ms(QEMU_CLOCK_REALTIME,
                                            rvtrace_port_go_on, dev);
    virtio_serial_open(port);
}

static void rvtrace_port_unrealize(DeviceState *dev)
{
    timer_free(RVTRACE_PORT(dev)->timer);
}

static void rvtrace_port_class_init(ObjectClass *oc, RISCVTraceClassData data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    VirtIOSerialPortClass *k = VIRTIO_SERIAL_PORT_CLASS(oc);

    dc->desc = "Notes of the guest in the RISC-V trace";
    k->realize = rvtrace_port_realize;
    k->unrealize = rvtrace_port_unrealize;
    k->have_data = rvtrace_port_have_data;
    k->set_guest_connected = rvtrace_port_set_guest_connected;
}

static const TypeInfo rvtrace_port_info = {
    .name          = TYPE_RVTRACE_PORT,
    .parent        = TYPE_VIRTIO_SERIAL_PORT,
    .instance_size = sizeof(RVTracePort),
    .class_init    = rvtrace_port_class_init,
};

static void rvtrace_port_register_types(void)
{
    type_register_static(&rvtrace_port_info);
}

type_init(rvtrace_port_register_types)
