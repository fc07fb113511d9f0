/*
 * RISC-V trace: replicator, one stream to several outputs
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/lockable.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "hw/qdev-properties.h"
#include "migration/vmstate.h"
#include "riscv-trace-compat.h"
#include "riscv-trace-replicator.h"

/* Are packets of hart @index for this output, if it takes any? */
static bool riscv_trace_replicator_serves(const RISCVTraceOutput *out,
                                          unsigned index)
{
    return out->harts & (1u << index);
}

static bool riscv_trace_replicator_takes(RISCVTraceOutput *out, unsigned index)
{
    return riscv_trace_replicator_serves(out, index) && out->live &&
           out->ops->enabled(out);
}

/* Harts are to be traced for this output. */
static bool riscv_trace_replicator_output_ready(RISCVTraceOutput *out)
{
    return out->ops->ready ? out->ops->ready(out) : out->ops->enabled(out);
}

/* The lock is held. */
static void riscv_trace_replicator_use(RISCVTraceReplicator *s)
{
    bool used = false;

    for (unsigned i = 0; i < s->num_outputs; i++) {
        used |= s->outputs[i]->chardev && s->outputs[i]->live;
    }
    riscv_trace_session_use_trace(&s->session, used);
}

/* Is there an output that can be read later? */
static bool riscv_trace_replicator_is_resident(const RISCVTraceReplicator *s)
{
    for (unsigned i = 0; i < s->num_outputs; i++) {
        if (!s->outputs[i]->chardev) {
            return true;
        }
    }
    return false;
}

/*
 * Outputs
 */

bool riscv_trace_replicator_add(RISCVTraceReplicator *s,
                                RISCVTraceOutput *out, Error **errp)
{
    if (s->num_outputs == RISCV_TRACE_MAX_OUTPUTS ||
        (out->chardev && s->session.trace)) {
        error_setg(errp, "trace replicator has no free output");
        return false;
    }
    s->outputs[s->num_outputs++] = out;
    if (out->chardev) {
        s->session.trace = out->chardev;
    } else {
        s->session.resident = true;
        riscv_trace_session_request(&s->session);
    }
    return true;
}

void riscv_trace_replicator_remove(RISCVTraceReplicator *s,
                                   RISCVTraceOutput *out)
{
    if (out->chardev) {
        riscv_trace_session_closed(&s->session);
    }
    WITH_QEMU_LOCK_GUARD(&s->lock) {
        unsigned kept = 0;

        for (unsigned i = 0; i < s->num_outputs; i++) {
            if (s->outputs[i] != out) {
                s->outputs[kept++] = s->outputs[i];
            }
        }
        s->num_outputs = kept;
        riscv_trace_replicator_use(s);
    }
    if (out->chardev) {
        s->session.trace = NULL;
    } else {
        s->session.resident = riscv_trace_replicator_is_resident(s);
    }
    riscv_trace_session_update(&s->session);
}

bool riscv_trace_replicator_update(RISCVTraceReplicator *s,
                                   RISCVTraceOutput *out)
{
    bool live, late;

    WITH_QEMU_LOCK_GUARD(&s->lock) {
        late = out->ops->enabled(out) && out->missed;
        out->live = out->ops->enabled(out) && !late &&
                    riscv_trace_session_active(&s->session);
        live = out->live;
        riscv_trace_replicator_use(s);
    }
    if (late) {
        riscv_trace_session_restart(&s->session);
    }
    riscv_trace_session_update(&s->session);
    return live;
}

void riscv_trace_replicator_opened(RISCVTraceReplicator *s,
                                   RISCVTraceOutput *out)
{
    WITH_QEMU_LOCK_GUARD(&s->lock) {
        out->missed = true;
    }
    riscv_trace_session_opened(&s->session);
}

void riscv_trace_replicator_closed(RISCVTraceReplicator *s,
                                   RISCVTraceOutput *out)
{
    riscv_trace_session_closed(&s->session);
    riscv_trace_replicator_update(s, out);
}

/*
 * Sessions
 */

static void riscv_trace_replicator_begin(void *opaque,
                                         const ETraceParams *params)
{
    RISCVTraceReplicator *s = opaque;

    WITH_QEMU_LOCK_GUARD(&s->lock) {
        for (unsigned i = 0; i < s->num_outputs; i++) {
            RISCVTraceOutput *out = s->outputs[i];

            out->live = out->ops->enabled(out);
            out->missed = false;
        }
        riscv_trace_replicator_use(s);
    }
    for (unsigned i = 0; i < s->num_outputs; i++) {
        s->outputs[i]->ops->begin(s->outputs[i], params);
    }
}

static void riscv_trace_replicator_flush(void *opaque)
{
    RISCVTraceReplicator *s = opaque;

    for (unsigned i = 0; i < s->num_outputs; i++) {
        if (s->outputs[i]->ops->flush) {
            s->outputs[i]->ops->flush(s->outputs[i]);
        }
    }
}

/*
 * RISCVTraceSink
 */

static bool riscv_trace_replicator_connect(RISCVTraceSink *sink,
                                           unsigned index,
                                           RISCVTraceSource *src, Error **errp)
{
    return riscv_trace_session_connect(&RISCV_TRACE_REPLICATOR(sink)->session,
                                       index, src, errp);
}

/* Which outputs have taken the packets, a bit each. The lock is held. */
static uint32_t riscv_trace_replicator_put_all(RISCVTraceReplicator *s,
                                               unsigned index,
                                               const uint8_t *bytes,
                                               size_t len, unsigned packets)
{
    uint32_t taken = 0;

    for (unsigned i = 0; i < s->num_outputs; i++) {
        RISCVTraceOutput *out = s->outputs[i];

        if (riscv_trace_replicator_takes(out, index) &&
            !out->ops->fits(out, len)) {
            return 0;
        }
    }
    for (unsigned i = 0; i < s->num_outputs; i++) {
        RISCVTraceOutput *out = s->outputs[i];

        if (riscv_trace_replicator_takes(out, index) &&
            out->ops->put(out, index, bytes, len, packets)) {
            taken |= 1u << i;
        }
    }
    for (unsigned i = 0; taken && i < s->num_outputs; i++) {
        RISCVTraceOutput *out = s->outputs[i];

        out->missed |= riscv_trace_replicator_serves(out, index) &&
                       !(taken & (1u << i));
    }
    return taken;
}

/*
 * Is there an output that packets of hart @index are for? If not, the guest
 * has disabled them, or nobody reads. The lock is held.
 */
static bool riscv_trace_replicator_wants(RISCVTraceReplicator *s,
                                         unsigned index)
{
    for (unsigned i = 0; i < s->num_outputs; i++) {
        RISCVTraceOutput *out = s->outputs[i];

        if (riscv_trace_replicator_serves(out, index) && out->live &&
            riscv_trace_replicator_output_ready(out)) {
            return true;
        }
    }
    return false;
}

static void riscv_trace_replicator_disconnect(RISCVTraceSink *sink,
                                              unsigned index)
{
    riscv_trace_session_disconnect(&RISCV_TRACE_REPLICATOR(sink)->session,
                                   index);
}

static bool riscv_trace_replicator_put(RISCVTraceSink *sink, unsigned index,
                                       const uint8_t *bytes, size_t len,
                                       unsigned packets)
{
    RISCVTraceReplicator *s = RISCV_TRACE_REPLICATOR(sink);
    bool taken;

    if (!riscv_trace_session_active(&s->session)) {
        return false;
    }
    QEMU_LOCK_GUARD(&s->lock);
    taken = riscv_trace_replicator_put_all(s, index, bytes, len, packets);
    if (taken || riscv_trace_replicator_wants(s, index)) {
        riscv_trace_counts_add(&s->session.counts, index, packets, taken);
    }
    return taken;
}

static bool riscv_trace_replicator_ready(RISCVTraceSink *sink, unsigned index)
{
    RISCVTraceReplicator *s = RISCV_TRACE_REPLICATOR(sink);

    for (unsigned i = 0; i < s->num_outputs; i++) {
        RISCVTraceOutput *out = s->outputs[i];

        if (riscv_trace_replicator_serves(out, index) &&
            riscv_trace_replicator_output_ready(out)) {
            return riscv_trace_session_active(&s->session);
        }
    }
    return false;
}

static bool riscv_trace_replicator_room(RISCVTraceSink *sink,
                                        unsigned index)
{
    RISCVTraceReplicator *s = RISCV_TRACE_REPLICATOR(sink);
    bool any = false;

    QEMU_LOCK_GUARD(&s->lock);
    for (unsigned i = 0; i < s->num_outputs; i++) {
        RISCVTraceOutput *out = s->outputs[i];

        if (riscv_trace_replicator_takes(out, index)) {
            if (!out->ops->room(out)) {
                return false;
            }
            any = true;
        }
    }
    return any && riscv_trace_session_active(&s->session);
}

static bool riscv_trace_replicator_lost(RISCVTraceSink *sink, unsigned index)
{
    RISCVTraceReplicator *s = RISCV_TRACE_REPLICATOR(sink);

    return riscv_trace_counts_lost(&s->session.counts, index);
}

static void riscv_trace_replicator_throttle(RISCVTraceSink *sink,
                                            unsigned index, bool lossless)
{
    riscv_trace_session_throttle(&RISCV_TRACE_REPLICATOR(sink)->session,
                                 index, lossless);
}

static void riscv_trace_replicator_restart(RISCVTraceSink *sink)
{
    riscv_trace_session_restart(&RISCV_TRACE_REPLICATOR(sink)->session);
}

/*
 * Device
 */

static void riscv_trace_replicator_realize(DeviceState *dev, Error **errp)
{
    RISCVTraceReplicator *s = RISCV_TRACE_REPLICATOR(dev);

    qemu_mutex_init(&s->lock);
    s->session.sideband = s->sideband;
    s->session.begin = riscv_trace_replicator_begin;
    s->session.flush = riscv_trace_replicator_flush;
    s->session.opaque = s;
    riscv_trace_session_init(&s->session);
}

static void riscv_trace_replicator_unrealize(DeviceState *dev)
{
    RISCVTraceReplicator *s = RISCV_TRACE_REPLICATOR(dev);

    riscv_trace_session_cleanup(&s->session);
    qemu_mutex_destroy(&s->lock);
}

/* What the encoders had reported is not known here: a new session begins. */
static int riscv_trace_replicator_post_load(void *opaque, int version_id)
{
    riscv_trace_session_request(&RISCV_TRACE_REPLICATOR(opaque)->session);
    return 0;
}

static const VMStateDescription vmstate_riscv_trace_replicator = {
    .name = TYPE_RISCV_TRACE_REPLICATOR,
    .version_id = 1,
    .minimum_version_id = 1,
    .post_load = riscv_trace_replicator_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(session.id, RISCVTraceReplicator),
        VMSTATE_END_OF_LIST()
    }
};

static const Property riscv_trace_replicator_properties[] = {
    DEFINE_PROP_LINK("sideband", RISCVTraceReplicator, sideband,
                     TYPE_RISCV_TRACE_SIDEBAND, RISCVTraceSideband *),
};

static void riscv_trace_replicator_class_init(ObjectClass *oc,
                                              RISCVTraceClassData data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    RISCVTraceSinkClass *sc = RISCV_TRACE_SINK_CLASS(oc);

    dc->desc = "RISC-V trace replicator";
    dc->realize = riscv_trace_replicator_realize;
    dc->unrealize = riscv_trace_replicator_unrealize;
    dc->vmsd = &vmstate_riscv_trace_replicator;
    device_class_set_props(dc, riscv_trace_replicator_properties);
    object_class_property_set_description(oc, "sideband",
        "stream that gets the code that ran");
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
    /* Reason: has to be connected to a funnel and outputs */
    dc->user_creatable = false;
    sc->connect = riscv_trace_replicator_connect;
    sc->disconnect = riscv_trace_replicator_disconnect;
    sc->put = riscv_trace_replicator_put;
    sc->ready = riscv_trace_replicator_ready;
    sc->room = riscv_trace_replicator_room;
    sc->lost = riscv_trace_replicator_lost;
    sc->throttle = riscv_trace_replicator_throttle;
    sc->restart = riscv_trace_replicator_restart;
}

static const TypeInfo riscv_trace_replicator_info = {
    .name = TYPE_RISCV_TRACE_REPLICATOR,
    .parent = TYPE_DEVICE,
    .instance_size = sizeof(RISCVTraceReplicator),
    .class_init = riscv_trace_replicator_class_init,
    .interfaces = (InterfaceInfo[]) {
        { TYPE_RISCV_TRACE_SINK },
        { }
    },
};

static void riscv_trace_replicator_register_types(void)
{
    type_register_static(&riscv_trace_replicator_info);
}

type_init(riscv_trace_replicator_register_types)
