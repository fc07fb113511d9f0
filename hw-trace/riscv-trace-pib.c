/*
 * RISC-V trace: pin interface block sink, whose pins are a chardev
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "qemu/atomic.h"
#include "qemu/lockable.h"
#include "qemu/module.h"
#include "hw/qdev-properties.h"
#include "hw/qdev-properties-system.h"
#include "migration/vmstate.h"
#include "target/riscv/trace/code.h"
#include "etrace-encap.h"
#include "riscv-trace-pib.h"
#include "trace.h"

/* trPibAsyncFreq at power-up: an alignment sequence every 16 KiB */
#define ASYNC_FREQ_RESET    3

/*
 * Distance of alignment sequences in bytes, which neither the interface nor
 * the encapsulation defines: 1 KiB, 4 KiB, 16 KiB ... 4 MiB; 0 for none.
 */
static uint64_t riscv_trace_pib_align_distance(RISCVTracePIB *s)
{
    uint32_t control = qatomic_read(&s->regs[R_TR_PIB_CONTROL]);
    unsigned freq = FIELD_EX32(control, TR_PIB_CONTROL, ASYNC_FREQ);

    return freq ? 256ULL << (2 * freq) : 0;
}

static void riscv_trace_pib_align(RISCVTracePIB *s)
{
    uint8_t bytes[ETRACE_ALIGN_MAX];
    size_t len = etrace_encap_align(&s->align_params, bytes);
    uint64_t offset;

    if (!riscv_trace_chardev_put(&s->out, bytes, len)) {
        return;
    }
    s->since_align = 0;
    offset = riscv_trace_chardev_offset(&s->out);
    trace_riscv_trace_pib_align(offset);

    QEMU_LOCK_GUARD(&s->align_lock);
    /* A reader that lost its place can do with fewer of them. */
    if (s->num_aligns < RISCV_TRACE_PIB_ALIGNS) {
        RISCVTraceAlign *a = &s->aligns[s->num_aligns++];

        a->offset = offset;
        memcpy(a->packets, s->packets, sizeof(a->packets));
    }
}

/*
 * Put the records of alignment sequences into the sideband stream. From the
 * main loop: a hart may be in the middle of a record of its own.
 */
static void riscv_trace_pib_announce_aligns(RISCVTracePIB *s)
{
    g_autofree RISCVTraceAlign *aligns = NULL;
    unsigned n;

    WITH_QEMU_LOCK_GUARD(&s->align_lock) {
        n = s->num_aligns;
        aligns = g_memdup2(s->aligns, n * sizeof(*aligns));
        s->num_aligns = 0;
    }
    for (unsigned i = 0; i < n; i++) {
        riscv_trace_session_align(aligns[i].offset, aligns[i].packets,
                                  s->session.num_sources);
    }
}

static void riscv_trace_pib_begin(void *opaque, const ETraceParams *params,
                                  unsigned n)
{
    RISCVTracePIB *s = opaque;

    s->align_params = params[0];
    for (unsigned i = 1; i < n; i++) {
        s->align_params.src_bits = MAX(s->align_params.src_bits,
                                       params[i].src_bits);
        s->align_params.ts_bytes = MAX(s->align_params.ts_bytes,
                                       params[i].ts_bytes);
    }
    memset(s->packets, 0, sizeof(s->packets));
    WITH_QEMU_LOCK_GUARD(&s->align_lock) {
        s->num_aligns = 0;
    }
    riscv_trace_pib_align(s);
}

/*
 * RISCVTraceSink
 */

static bool riscv_trace_pib_connect(RISCVTraceSink *sink, unsigned index,
                                    RISCVTraceSource *src, Error **errp)
{
    RISCVTracePIB *s = RISCV_TRACE_PIB(sink);

    return riscv_trace_session_connect(&s->session, index, src, errp);
}

static bool riscv_trace_pib_put(RISCVTraceSink *sink, unsigned index,
                                const uint8_t *bytes, size_t len,
                                unsigned packets)
{
    RISCVTracePIB *s = RISCV_TRACE_PIB(sink);
    uint64_t distance = riscv_trace_pib_align_distance(s);

    /*
     * Not looking at trPibEnable: disabling flushes what is on its way, and
     * the sources are stopped by then.
     */
    if (!riscv_trace_session_active(&s->session) ||
        !riscv_trace_chardev_put(&s->out, bytes, len)) {
        return false;
    }
    s->packets[index] += packets;
    s->since_align += len;
    if (distance && s->since_align >= distance) {
        riscv_trace_pib_align(s);
    }
    return true;
}

static bool riscv_trace_pib_ready(RISCVTraceSink *sink)
{
    RISCVTracePIB *s = RISCV_TRACE_PIB(sink);

    return riscv_trace_enabled(s->regs[R_TR_PIB_CONTROL]) &&
           riscv_trace_session_active(&s->session);
}

static bool riscv_trace_pib_room(RISCVTraceSink *sink)
{
    RISCVTracePIB *s = RISCV_TRACE_PIB(sink);

    return riscv_trace_session_active(&s->session) &&
           riscv_trace_chardev_low(&s->out);
}

static void riscv_trace_pib_throttle(RISCVTraceSink *sink, unsigned index,
                                     bool lossless)
{
    RISCVTracePIB *s = RISCV_TRACE_PIB(sink);

    riscv_trace_session_throttle(&s->session, index, lossless);
}

static void riscv_trace_pib_restart(RISCVTraceSink *sink)
{
    riscv_trace_session_restart(&RISCV_TRACE_PIB(sink)->session);
}

/*
 * The chardev
 */

static void riscv_trace_pib_opened(void *opaque)
{
    riscv_trace_session_opened(&RISCV_TRACE_PIB(opaque)->session);
}

static void riscv_trace_pib_closed(void *opaque)
{
    riscv_trace_session_closed(&RISCV_TRACE_PIB(opaque)->session);
}

/* What a reader needs to understand the trace goes ahead of it. */
static void riscv_trace_pib_sending(void *opaque)
{
    RISCVTracePIB *s = opaque;

    riscv_trace_pib_announce_aligns(s);
    if (s->sideband) {
        riscv_trace_chardev_send(&s->sideband->out);
    }
}

static void riscv_trace_pib_drained(void *opaque)
{
    riscv_trace_session_drained(&RISCV_TRACE_PIB(opaque)->session);
}

static const RISCVTraceChardevOps riscv_trace_pib_chardev_ops = {
    .opened = riscv_trace_pib_opened,
    .closed = riscv_trace_pib_closed,
    .sending = riscv_trace_pib_sending,
    .drained = riscv_trace_pib_drained,
};

/*
 * Registers
 */

static uint32_t riscv_trace_pib_control_reset(void)
{
    uint32_t val = 0;

    val = FIELD_DP32(val, TR_PIB_CONTROL, MODE, TR_PIB_MODE_SWT_UART);
    val = FIELD_DP32(val, TR_PIB_CONTROL, ASYNC_FREQ, ASYNC_FREQ_RESET);
    return val;
}

static uint64_t riscv_trace_pib_control_pre_write(RegisterInfo *reg,
                                                  uint64_t val)
{
    RISCVTracePIB *s = reg->opaque;

    return riscv_trace_control(s->regs[R_TR_PIB_CONTROL], val,
                               riscv_trace_pib_control_reset());
}

static void riscv_trace_pib_control_post_write(RegisterInfo *reg,
                                               uint64_t val)
{
    RISCVTracePIB *s = reg->opaque;

    riscv_trace_session_update(&s->session);
}

static uint64_t riscv_trace_pib_control_post_read(RegisterInfo *reg,
                                                  uint64_t val)
{
    RISCVTracePIB *s = reg->opaque;

    return FIELD_DP32(val, TR_CONTROL, EMPTY, !qatomic_read(&s->out.fill));
}

static const RegisterAccessInfo riscv_trace_pib_regs_info[] = {
    {   .name = "trPibControl", .addr = A_TR_PIB_CONTROL,
        .ro = R_TR_CONTROL_EMPTY_MASK | R_TR_PIB_CONTROL_MODE_MASK |
              R_TR_PIB_CONTROL_CLK_CENTER_MASK |
              R_TR_PIB_CONTROL_CALIBRATE_MASK |
              R_TR_PIB_CONTROL_DIVIDER_MASK,
        .rsvd = TR_PIB_CONTROL_RSVD,
        .pre_write = riscv_trace_pib_control_pre_write,
        .post_write = riscv_trace_pib_control_post_write,
        .post_read = riscv_trace_pib_control_post_read,
    },{ .name = "trPibImpl", .addr = A_TR_PIB_IMPL,
        .reset = TR_IMPL_VALUE(TR_COMP_PIB),
        .ro = 0xffffffff,
    },
};

/*
 * Device
 */

static void riscv_trace_pib_reset_enter(Object *obj, ResetType type)
{
    RISCVTracePIB *s = RISCV_TRACE_PIB(obj);

    s->regs[R_TR_PIB_CONTROL] = riscv_trace_pib_control_reset();
    s->regs[R_TR_PIB_IMPL] = TR_IMPL_VALUE(TR_COMP_PIB);
}

static void riscv_trace_pib_reset_exit(Object *obj, ResetType type)
{
    RISCVTracePIB *s = RISCV_TRACE_PIB(obj);

    if (s->autostart) {
        s->regs[R_TR_PIB_CONTROL] |= R_TR_CONTROL_ACTIVE_MASK |
                                     R_TR_CONTROL_ENABLE_MASK;
    }
    riscv_trace_session_update(&s->session);
}

static void riscv_trace_pib_realize(DeviceState *dev, Error **errp)
{
    RISCVTracePIB *s = RISCV_TRACE_PIB(dev);

    qemu_mutex_init(&s->align_lock);
    s->session.trace = &s->out;
    s->session.sideband = s->sideband;
    s->session.begin = riscv_trace_pib_begin;
    s->session.opaque = s;
    riscv_trace_session_init(&s->session);
    if (!riscv_trace_chardev_init(&s->out, &riscv_trace_pib_chardev_ops, s,
                                  errp)) {
        riscv_trace_session_cleanup(&s->session);
        qemu_mutex_destroy(&s->align_lock);
    }
}

static void riscv_trace_pib_init(Object *obj)
{
    RISCVTracePIB *s = RISCV_TRACE_PIB(obj);

    s->reg_array = register_init_block32(DEVICE(obj),
                                         riscv_trace_pib_regs_info,
                                         ARRAY_SIZE(riscv_trace_pib_regs_info),
                                         s->regs_info, s->regs,
                                         &riscv_trace_mmio_ops, false,
                                         RISCV_TRACE_MMIO_SIZE);
    sysbus_init_mmio(SYS_BUS_DEVICE(obj), &s->reg_array->mem);
}

static void riscv_trace_pib_finalize(Object *obj)
{
    register_finalize_block(RISCV_TRACE_PIB(obj)->reg_array);
}

static int riscv_trace_pib_post_load(void *opaque, int version_id)
{
    riscv_trace_session_update(&RISCV_TRACE_PIB(opaque)->session);
    return 0;
}

static const VMStateDescription vmstate_riscv_trace_pib = {
    .name = TYPE_RISCV_TRACE_PIB,
    .version_id = 1,
    .minimum_version_id = 1,
    .post_load = riscv_trace_pib_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(regs[R_TR_PIB_CONTROL], RISCVTracePIB),
        VMSTATE_END_OF_LIST()
    }
};

static const Property riscv_trace_pib_properties[] = {
    DEFINE_PROP_CHR("chardev", RISCVTracePIB, out.chr),
    DEFINE_PROP_SIZE32("buffer-size", RISCVTracePIB, out.capacity,
                       RISCV_TRACE_BUFFER_DEFAULT),
    DEFINE_PROP_BOOL("autostart", RISCVTracePIB, autostart, false),
    DEFINE_PROP_LINK("sideband", RISCVTracePIB, sideband,
                     TYPE_RISCV_TRACE_SIDEBAND, RISCVTraceSideband *),
};

static void riscv_trace_pib_class_init(ObjectClass *oc, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    ResettableClass *rc = RESETTABLE_CLASS(oc);
    RISCVTraceSinkClass *sc = RISCV_TRACE_SINK_CLASS(oc);

    dc->desc = "RISC-V trace pin interface block (chardev sink)";
    dc->realize = riscv_trace_pib_realize;
    dc->vmsd = &vmstate_riscv_trace_pib;
    device_class_set_props(dc, riscv_trace_pib_properties);
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
    /* Reason: has to be connected to encoders */
    dc->user_creatable = false;
    rc->phases.enter = riscv_trace_pib_reset_enter;
    rc->phases.exit = riscv_trace_pib_reset_exit;
    sc->connect = riscv_trace_pib_connect;
    sc->put = riscv_trace_pib_put;
    sc->ready = riscv_trace_pib_ready;
    sc->room = riscv_trace_pib_room;
    sc->throttle = riscv_trace_pib_throttle;
    sc->restart = riscv_trace_pib_restart;
}

static const TypeInfo riscv_trace_pib_info = {
    .name = TYPE_RISCV_TRACE_PIB,
    .parent = TYPE_SYS_BUS_DEVICE,
    .instance_size = sizeof(RISCVTracePIB),
    .instance_init = riscv_trace_pib_init,
    .instance_finalize = riscv_trace_pib_finalize,
    .class_init = riscv_trace_pib_class_init,
    .interfaces = (InterfaceInfo[]) {
        { TYPE_RISCV_TRACE_SINK },
        { }
    },
};

static void riscv_trace_pib_register_types(void)
{
    type_register_static(&riscv_trace_pib_info);
}

type_init(riscv_trace_pib_register_types)
