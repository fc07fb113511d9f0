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
#include "qapi/error.h"
#include "hw/qdev-properties.h"
#include "hw/qdev-properties-system.h"
#include "migration/vmstate.h"
#include "etrace/encap.h"
#include "etrace/sideband.h"
#include "riscv-trace-compat.h"
#include "riscv-trace-pib.h"
#include "trace.h"

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

/* The session has begun: the trace says which one it is. */
static void riscv_trace_pib_mark_session(RISCVTracePIB *s)
{
    uint8_t mark[ETRACE_SESSION_MARK_SIZE];

    etrace_encap_mark_session(s->replicator->session.id, mark);
    riscv_trace_chardev_put(&s->out, mark, sizeof(mark));
}

/*
 * Put the records of alignment sequences into the sideband stream. From the
 * main loop: a hart may be in the middle of a record of its own.
 */
static void riscv_trace_pib_announce_aligns(RISCVTracePIB *s)
{
    RISCVTraceSession *session = &s->replicator->session;
    g_autofree RISCVTraceAlign *aligns = NULL;
    unsigned n;

    WITH_QEMU_LOCK_GUARD(&s->align_lock) {
        n = s->num_aligns;
        aligns = g_memdup2(s->aligns, n * sizeof(*aligns));
        s->num_aligns = 0;
    }
    for (unsigned i = 0; i < n; i++) {
        uint8_t record[ETRACE_SB_HEADER_SIZE +
                       ETRACE_SB_ALIGN_SIZE(RISCV_TRACE_MAX_SOURCES)];

        riscv_trace_session_put(session, record,
                                etrace_sb_pack_align(record, aligns[i].offset,
                                                     aligns[i].packets,
                                                     session->num_sources));
    }
}

/*
 * RISCVTraceOutputOps
 */

static void riscv_trace_pib_begin(RISCVTraceOutput *out,
                                  const ETraceParams *params)
{
    RISCVTracePIB *s = container_of(out, RISCVTracePIB, output);

    s->align_params = *params;
    memset(s->packets, 0, sizeof(s->packets));
    WITH_QEMU_LOCK_GUARD(&s->align_lock) {
        s->num_aligns = 0;
    }
    riscv_trace_pib_align(s);
    riscv_trace_pib_mark_session(s);
}

static bool riscv_trace_pib_enabled(RISCVTraceOutput *out)
{
    RISCVTracePIB *s = container_of(out, RISCVTracePIB, output);
    uint32_t control = qatomic_read(&s->regs[R_TR_PIB_CONTROL]);

    return riscv_trace_enabled(control) &&
           FIELD_EX32(control, TR_PIB_CONTROL, MODE) != TR_PIB_MODE_OFF &&
           riscv_trace_chardev_is_open(&s->out);
}

static bool riscv_trace_pib_fits(RISCVTraceOutput *out, size_t len)
{
    RISCVTracePIB *s = container_of(out, RISCVTracePIB, output);

    return len <= s->out.capacity - qatomic_read(&s->out.fill);
}

static bool riscv_trace_pib_put(RISCVTraceOutput *out, unsigned index,
                                const uint8_t *bytes, size_t len,
                                unsigned packets)
{
    RISCVTracePIB *s = container_of(out, RISCVTracePIB, output);
    uint32_t control = qatomic_read(&s->regs[R_TR_PIB_CONTROL]);
    uint64_t distance = riscv_trace_align_distance(
        FIELD_EX32(control, TR_PIB_CONTROL, ASYNC_FREQ));

    if (!riscv_trace_chardev_put(&s->out, bytes, len)) {
        return false;
    }
    s->packets[index] += packets;
    s->since_align += len;
    if (distance && s->since_align >= distance) {
        riscv_trace_pib_align(s);
    }
    return true;
}

static bool riscv_trace_pib_room(RISCVTraceOutput *out)
{
    RISCVTracePIB *s = container_of(out, RISCVTracePIB, output);

    return riscv_trace_chardev_low(&s->out);
}

static const RISCVTraceOutputOps riscv_trace_pib_output_ops = {
    .enabled = riscv_trace_pib_enabled,
    .fits = riscv_trace_pib_fits,
    .put = riscv_trace_pib_put,
    .room = riscv_trace_pib_room,
    .begin = riscv_trace_pib_begin,
};

/*
 * The chardev
 */

static void riscv_trace_pib_opened(void *opaque)
{
    RISCVTracePIB *s = opaque;

    riscv_trace_replicator_opened(s->replicator, &s->output);
}

static void riscv_trace_pib_closed(void *opaque)
{
    RISCVTracePIB *s = opaque;

    riscv_trace_replicator_closed(s->replicator, &s->output);
}

/* What a reader needs to understand the trace goes ahead of it. */
static void riscv_trace_pib_sending(void *opaque)
{
    RISCVTracePIB *s = opaque;

    riscv_trace_pib_announce_aligns(s);
    if (s->replicator->sideband) {
        riscv_trace_chardev_send(&s->replicator->sideband->out);
    }
}

static void riscv_trace_pib_drained(void *opaque)
{
    RISCVTracePIB *s = opaque;

    riscv_trace_session_drained(&s->replicator->session);
}

static const RISCVTraceChardevOps riscv_trace_pib_chardev_ops = {
    .opened = riscv_trace_pib_opened,
    .closed = riscv_trace_pib_closed,
    .sending = riscv_trace_pib_sending,
    .drained = riscv_trace_pib_drained,
    .failure = "the trace stops until it is opened again",
};

/*
 * Registers
 */

static uint32_t riscv_trace_pib_control_reset(void)
{
    uint32_t val = 0;

    val = FIELD_DP32(val, TR_PIB_CONTROL, MODE, TR_PIB_MODE_SWT_UART);
    val = FIELD_DP32(val, TR_PIB_CONTROL, ASYNC_FREQ, TR_ASYNC_FREQ_RESET);
    return val;
}

/*
 * A chardev has neither pins nor a clock: whichever mode they are set up for,
 * the bytes are the same.
 */
static bool riscv_trace_pib_has_mode(unsigned mode)
{
    return mode == TR_PIB_MODE_OFF || mode == TR_PIB_MODE_SWT_MANCHESTER ||
           mode == TR_PIB_MODE_SWT_UART ||
           (mode >= TR_PIB_MODE_PARALLEL_1 && mode <= TR_PIB_MODE_PARALLEL_16);
}

static uint64_t riscv_trace_pib_control_pre_write(RegisterInfo *reg,
                                                  uint64_t val)
{
    RISCVTracePIB *s = reg->opaque;
    uint32_t old = s->regs[R_TR_PIB_CONTROL];

    if (!riscv_trace_pib_has_mode(FIELD_EX32(val, TR_PIB_CONTROL, MODE))) {
        val = FIELD_DP32(val, TR_PIB_CONTROL, MODE,
                         FIELD_EX32(old, TR_PIB_CONTROL, MODE));
    }
    if (FIELD_EX32(val, TR_PIB_CONTROL, MODE) < TR_PIB_MODE_PARALLEL_1) {
        val = FIELD_DP32(val, TR_PIB_CONTROL, CLK_CENTER, 0);
    }
    return riscv_trace_control(old, val, riscv_trace_pib_control_reset());
}

static void riscv_trace_pib_control_post_write(RegisterInfo *reg,
                                               uint64_t val)
{
    RISCVTracePIB *s = reg->opaque;

    trace_riscv_trace_pib_control(val);
    riscv_trace_replicator_update(s->replicator, &s->output);
}

static uint64_t riscv_trace_pib_control_post_read(RegisterInfo *reg,
                                                  uint64_t val)
{
    RISCVTracePIB *s = reg->opaque;

    return FIELD_DP32(val, TR_CONTROL, EMPTY, !qatomic_read(&s->out.fill));
}

static const RegisterAccessInfo riscv_trace_pib_regs_info[] = {
    {   .name = "trPibControl", .addr = A_TR_PIB_CONTROL,
        .ro = R_TR_CONTROL_EMPTY_MASK | R_TR_PIB_CONTROL_CALIBRATE_MASK,
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
    riscv_trace_replicator_update(s->replicator, &s->output);
}

static void riscv_trace_pib_realize(DeviceState *dev, Error **errp)
{
    RISCVTracePIB *s = RISCV_TRACE_PIB(dev);

    if (!s->replicator) {
        error_setg(errp, "trace PIB needs a \"replicator\"");
        return;
    }
    qemu_mutex_init(&s->align_lock);
    s->output.harts = RISCV_TRACE_ALL_SOURCES;
    s->output.ops = &riscv_trace_pib_output_ops;
    s->output.chardev = &s->out;
    if (!riscv_trace_replicator_add(s->replicator, &s->output, errp)) {
        qemu_mutex_destroy(&s->align_lock);
        return;
    }
    if (!riscv_trace_chardev_init(&s->out, &riscv_trace_pib_chardev_ops, s,
                                  errp)) {
        riscv_trace_replicator_remove(s->replicator, &s->output);
        qemu_mutex_destroy(&s->align_lock);
    }
}

static void riscv_trace_pib_unrealize(DeviceState *dev)
{
    RISCVTracePIB *s = RISCV_TRACE_PIB(dev);

    riscv_trace_replicator_remove(s->replicator, &s->output);
    riscv_trace_chardev_cleanup(&s->out);
    qemu_mutex_destroy(&s->align_lock);
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
    riscv_trace_finalize_block(RISCV_TRACE_PIB(obj)->reg_array);
}

static int riscv_trace_pib_post_load(void *opaque, int version_id)
{
    RISCVTracePIB *s = opaque;

    riscv_trace_replicator_update(s->replicator, &s->output);
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
    DEFINE_PROP_LINK("replicator", RISCVTracePIB, replicator,
                     TYPE_RISCV_TRACE_REPLICATOR, RISCVTraceReplicator *),
};

static void riscv_trace_pib_class_init(ObjectClass *oc,
                                       RISCVTraceClassData data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    ResettableClass *rc = RESETTABLE_CLASS(oc);

    dc->desc = "RISC-V trace pin interface block (chardev sink)";
    dc->realize = riscv_trace_pib_realize;
    dc->unrealize = riscv_trace_pib_unrealize;
    dc->vmsd = &vmstate_riscv_trace_pib;
    device_class_set_props(dc, riscv_trace_pib_properties);
    object_class_property_set_description(oc, "chardev",
        "gets the trace");
    object_class_property_set_description(oc, "buffer-size",
        "bytes that wait for the reader at most (2M to 1G)");
    object_class_property_set_description(oc, "autostart",
        "trace from reset");
    object_class_property_set_description(oc, "replicator",
        "replicator that gives the packets");
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
    /* Reason: has to be connected to a replicator */
    dc->user_creatable = false;
    rc->phases.enter = riscv_trace_pib_reset_enter;
    rc->phases.exit = riscv_trace_pib_reset_exit;
}

static const TypeInfo riscv_trace_pib_info = {
    .name = TYPE_RISCV_TRACE_PIB,
    .parent = TYPE_SYS_BUS_DEVICE,
    .instance_size = sizeof(RISCVTracePIB),
    .instance_init = riscv_trace_pib_init,
    .instance_finalize = riscv_trace_pib_finalize,
    .class_init = riscv_trace_pib_class_init,
};

static void riscv_trace_pib_register_types(void)
{
    type_register_static(&riscv_trace_pib_info);
}

type_init(riscv_trace_pib_register_types)
