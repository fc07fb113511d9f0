/*
 * RISC-V trace encoder: the device around the E-Trace encoder of one hart
 *
 * Registers run under the BQL; what the hart retires is encoded in the hart's
 * own thread. They meet in riscv_trace_hart_enable(): the hart switches
 * between two TBs and then tells that it did.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "hw/qdev-properties.h"
#include "migration/vmstate.h"
#include "target/riscv/cpu.h"
#include "target/riscv/trace/hart.h"
#include "riscv-trace-encoder.h"
#include "trace.h"

static uint32_t riscv_trace_encoder_control(RISCVTraceEncoder *s)
{
    return qatomic_read(&s->regs[R_TR_TE_CONTROL]);
}

/*
 * From packets to the sink. In the hart's thread.
 */

static void riscv_trace_encoder_flush(RISCVTraceEncoder *s)
{
    if (!s->batch_len) {
        return;
    }
    if (s->sink_class->put(s->sink, s->hart_index, s->batch, s->batch_len,
                           s->batch_packets)) {
        s->packets += s->batch_packets;
    } else {
        s->lost = true;
        qatomic_set(&s->stall_or_overflow, true);
        trace_riscv_trace_encoder_lost(s->hart_index, s->batch_packets);
    }
    s->batch_len = 0;
    s->batch_packets = 0;
}

static bool riscv_trace_encoder_emit(void *opaque, const ETracePacket *pkt,
                                     const uint8_t *payload, size_t len)
{
    RISCVTraceEncoder *s = opaque;

    if (s->batch_len + ETRACE_ENCAP_MAX > sizeof(s->batch)) {
        riscv_trace_encoder_flush(s);
    }
    if (s->lost) {
        /* The packets of the batch that was lost had been accepted. */
        s->lost = false;
        return false;
    }
    s->batch_len += etrace_encap_wrap(&s->enc.params, payload, len,
                                      s->batch + s->batch_len);
    s->batch_packets++;
    return true;
}

static bool riscv_trace_encoder_ready(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    return s->sink_class->room(s->sink);
}

static const ETraceEncoderOps riscv_trace_encoder_ops = {
    .emit = riscv_trace_encoder_emit,
    .ready = riscv_trace_encoder_ready,
};

/*
 * The hart's end: RISCVTraceHartOps
 */

static void riscv_trace_encoder_hart_retire(void *opaque,
                                            const ETraceBlock *blocks,
                                            size_t n)
{
    RISCVTraceEncoder *s = opaque;

    if (!s->live) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const ETraceBlock *block = &blocks[i];
        uint64_t tval = 0;

        if (etrace_itype_is_trap(block->itype)) {
            tval = blocks[++i].iaddr;
        }
        etrace_encoder_block(&s->enc, block, tval);
    }
    riscv_trace_encoder_flush(s);

    if (current_cpu == s->cpu) {
        s->sink_class->throttle(s->sink, s->hart_index,
                                FIELD_EX32(riscv_trace_encoder_control(s),
                                           TR_TE_CONTROL, INST_STALL_ENA));
    }
}

static void riscv_trace_encoder_hart_start(void *opaque)
{
    RISCVTraceEncoder *s = opaque;
    uint32_t control = riscv_trace_encoder_control(s);

    trace_riscv_trace_encoder_tracing(s->hart_index, true);
    qatomic_set(&s->tracing, true);

    etrace_encoder_init(&s->enc, &s->params, &riscv_trace_encoder_ops, s);
    s->enc.sync_mode = FIELD_EX32(control, TR_TE_CONTROL, INST_SYNC_MODE);
    s->enc.sync_max = 1ULL << (4 + FIELD_EX32(control, TR_TE_CONTROL,
                                              INST_SYNC_MAX));
    s->live = true;
    s->lost = false;
    etrace_encoder_start(&s->enc);
    riscv_trace_encoder_flush(s);
}

static void riscv_trace_encoder_hart_stop(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    if (s->live) {
        etrace_encoder_stop(&s->enc);
        riscv_trace_encoder_flush(s);
        s->live = false;
    }
    qatomic_set(&s->tracing, false);
    trace_riscv_trace_encoder_tracing(s->hart_index, false);
}

static uint64_t riscv_trace_encoder_hart_fence(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    if (s->live) {
        etrace_encoder_end_window(&s->enc);
        riscv_trace_encoder_flush(s);
    }
    return s->packets;
}

static const RISCVTraceHartOps riscv_trace_encoder_hart_ops = {
    .retire = riscv_trace_encoder_hart_retire,
    .start = riscv_trace_encoder_hart_start,
    .stop = riscv_trace_encoder_hart_stop,
    .fence = riscv_trace_encoder_hart_fence,
};

/*
 * The sink's end: RISCVTraceSourceOps. BQL.
 */

static void riscv_trace_encoder_update(RISCVTraceSource *src)
{
    RISCVTraceEncoder *s = container_of(src, RISCVTraceEncoder, source);
    uint32_t control = riscv_trace_encoder_control(s);

    riscv_trace_hart_enable(s->cpu,
                            riscv_trace_enabled(control) &&
                            FIELD_EX32(control, TR_TE_CONTROL, INST_TRACING) &&
                            s->sink_class->ready(s->sink));
}

static void riscv_trace_encoder_close(RISCVTraceSource *src)
{
    RISCVTraceEncoder *s = container_of(src, RISCVTraceEncoder, source);

    riscv_trace_hart_drain(s->cpu);
    riscv_trace_encoder_hart_fence(s);
}

static const ETraceParams *riscv_trace_encoder_begin(RISCVTraceSource *src)
{
    RISCVTraceEncoder *s = container_of(src, RISCVTraceEncoder, source);
    uint32_t control = riscv_trace_encoder_control(s);

    etrace_params_init(&s->params, riscv_cpu_mxl_bits(cpu_env(s->cpu)));
    if (!FIELD_EX32(control, TR_TE_CONTROL, INHIBIT_SRC)) {
        s->params.src_bits = s->src_bits;
        s->params.src_id = s->src_id;
    }

    /* Blocks are dropped until the hart starts anew. */
    s->live = false;
    s->packets = 0;
    s->batch_len = 0;
    s->batch_packets = 0;
    return &s->params;
}

static void riscv_trace_encoder_stall(RISCVTraceSource *src, bool stalled)
{
    RISCVTraceEncoder *s = container_of(src, RISCVTraceEncoder, source);

    trace_riscv_trace_encoder_stall(s->hart_index, stalled);
    if (stalled) {
        qatomic_set(&s->stall_or_overflow, true);
    }
    riscv_trace_hart_stall(s->cpu, stalled);
}

static const RISCVTraceSourceOps riscv_trace_encoder_source_ops = {
    .update = riscv_trace_encoder_update,
    .close = riscv_trace_encoder_close,
    .begin = riscv_trace_encoder_begin,
    .stall = riscv_trace_encoder_stall,
};

/*
 * Registers
 */

static uint32_t riscv_trace_encoder_control_reset(RISCVTraceEncoder *s)
{
    uint32_t val = 0;

    val = FIELD_DP32(val, TR_TE_CONTROL, INST_MODE, TR_TE_INST_MODE_HISTORY);
    val = FIELD_DP32(val, TR_TE_CONTROL, INST_STALL_ENA, s->stall);
    val = FIELD_DP32(val, TR_TE_CONTROL, INHIBIT_SRC, !s->src_bits);
    val = FIELD_DP32(val, TR_TE_CONTROL, INST_SYNC_MODE, s->sync_mode);
    val = FIELD_DP32(val, TR_TE_CONTROL, INST_SYNC_MAX, s->sync_max);
    return val;
}

static bool riscv_trace_encoder_has_sync_mode(unsigned mode)
{
    return mode == ETRACE_SYNC_OFF || mode == ETRACE_SYNC_PACKETS ||
           mode == ETRACE_SYNC_HALFWORDS;
}

static uint64_t riscv_trace_encoder_control_pre_write(RegisterInfo *reg,
                                                      uint64_t val64)
{
    RISCVTraceEncoder *s = reg->opaque;
    uint32_t old = s->regs[R_TR_TE_CONTROL];
    uint32_t val = val64;

    /* Kept apart, because the hart's thread sets it. */
    if (FIELD_EX32(val, TR_TE_CONTROL, INST_STALL_OR_OVERFLOW)) {
        qatomic_set(&s->stall_or_overflow, false);
        val = FIELD_DP32(val, TR_TE_CONTROL, INST_STALL_OR_OVERFLOW, 0);
    }
    if (!riscv_trace_encoder_has_sync_mode(
            FIELD_EX32(val, TR_TE_CONTROL, INST_SYNC_MODE))) {
        val = FIELD_DP32(val, TR_TE_CONTROL, INST_SYNC_MODE,
                         FIELD_EX32(old, TR_TE_CONTROL, INST_SYNC_MODE));
    }
    if (!s->src_bits) {
        val = FIELD_DP32(val, TR_TE_CONTROL, INHIBIT_SRC, 1);
    }
    val = riscv_trace_control(old, val, riscv_trace_encoder_control_reset(s));
    if (!riscv_trace_enabled(old) && riscv_trace_enabled(val)) {
        qatomic_set(&s->stall_or_overflow, false);
    }
    if ((old ^ val) & R_TR_TE_CONTROL_INHIBIT_SRC_MASK) {
        s->sink_class->restart(s->sink);
    }
    return val;
}

static void riscv_trace_encoder_control_post_write(RegisterInfo *reg,
                                                   uint64_t val)
{
    RISCVTraceEncoder *s = reg->opaque;

    trace_riscv_trace_encoder_control(s->hart_index, val);
    riscv_trace_encoder_update(&s->source);
}

static uint64_t riscv_trace_encoder_control_post_read(RegisterInfo *reg,
                                                      uint64_t val)
{
    RISCVTraceEncoder *s = reg->opaque;

    val = FIELD_DP32(val, TR_TE_CONTROL, EMPTY, !qatomic_read(&s->tracing));
    return FIELD_DP32(val, TR_TE_CONTROL, INST_STALL_OR_OVERFLOW,
                      qatomic_read(&s->stall_or_overflow));
}

static const RegisterAccessInfo riscv_trace_encoder_regs_info[] = {
    {   .name = "trTeControl", .addr = A_TR_TE_CONTROL,
        .ro = R_TR_TE_CONTROL_EMPTY_MASK | R_TR_TE_CONTROL_INST_MODE_MASK |
              R_TR_TE_CONTROL_CONTEXT_MASK |
              R_TR_TE_CONTROL_INST_TRIG_ENABLE_MASK |
              R_TR_TE_CONTROL_FORMAT_MASK,
        .rsvd = TR_TE_CONTROL_RSVD,
        .pre_write = riscv_trace_encoder_control_pre_write,
        .post_write = riscv_trace_encoder_control_post_write,
        .post_read = riscv_trace_encoder_control_post_read,
    },{ .name = "trTeImpl", .addr = A_TR_TE_IMPL,
        .ro = 0xffffffff,
    },{ .name = "trTeInstFeatures", .addr = A_TR_TE_INST_FEATURES,
        .ro = 0xffffffff,
    },
};

/*
 * Device
 */

static void riscv_trace_encoder_reset_enter(Object *obj, ResetType type)
{
    RISCVTraceEncoder *s = RISCV_TRACE_ENCODER(obj);
    uint32_t features = 0;

    /* What retired before the reset is still to be seen. */
    riscv_trace_encoder_close(&s->source);

    features = FIELD_DP32(features, TR_TE_INST_FEATURES, SRC_ID, s->src_id);
    features = FIELD_DP32(features, TR_TE_INST_FEATURES, SRC_BITS,
                          s->src_bits);
    qatomic_set(&s->regs[R_TR_TE_CONTROL],
                riscv_trace_encoder_control_reset(s));
    s->regs[R_TR_TE_IMPL] = TR_IMPL_VALUE(TR_COMP_ENCODER);
    s->regs[R_TR_TE_INST_FEATURES] = features;
    qatomic_set(&s->stall_or_overflow, false);
}

static void riscv_trace_encoder_reset_exit(Object *obj, ResetType type)
{
    RISCVTraceEncoder *s = RISCV_TRACE_ENCODER(obj);

    if (s->autostart) {
        qatomic_or(&s->regs[R_TR_TE_CONTROL],
                   R_TR_TE_CONTROL_ACTIVE_MASK | R_TR_TE_CONTROL_ENABLE_MASK |
                   R_TR_TE_CONTROL_INST_TRACING_MASK);
    }
    riscv_trace_encoder_update(&s->source);
}

static bool riscv_trace_encoder_check(RISCVTraceEncoder *s, Error **errp)
{
    ERRP_GUARD();

    if (!s->cpu) {
        error_setg(errp, "trace encoder needs a \"cpu\"");
        return false;
    }
    if (!s->sink_obj) {
        error_setg(errp, "trace encoder needs a \"sink\"");
        return false;
    }
    if (s->wire_format && strcmp(s->wire_format, "2.0")) {
        error_setg(errp, "wire-format '%s' is not known", s->wire_format);
        error_append_hint(errp, "Known: 2.0\n");
        return false;
    }
    if (s->src_bits != 0 && s->src_bits != 8) {
        error_setg(errp, "src-bits of a trace encoder is 0 or 8, not %u",
                   s->src_bits);
        return false;
    }
    if (s->src_id >> s->src_bits) {
        error_setg(errp, "src-id %u does not fit into src-bits %u",
                   s->src_id, s->src_bits);
        return false;
    }
    if (!riscv_trace_encoder_has_sync_mode(s->sync_mode)) {
        error_setg(errp, "sync-mode of a trace encoder is 0 (off), "
                   "1 (packets) or 3 (half-words), not %u", s->sync_mode);
        return false;
    }
    if (s->sync_max > 15) {
        error_setg(errp, "sync-max of a trace encoder is 0 to 15, not %u",
                   s->sync_max);
        return false;
    }
    return true;
}

static void riscv_trace_encoder_realize(DeviceState *dev, Error **errp)
{
    RISCVTraceEncoder *s = RISCV_TRACE_ENCODER(dev);

    if (!riscv_trace_encoder_check(s, errp)) {
        return;
    }
    s->sink = RISCV_TRACE_SINK(s->sink_obj);
    s->sink_class = RISCV_TRACE_SINK_GET_CLASS(s->sink);
    s->source.ops = &riscv_trace_encoder_source_ops;
    s->source.cpu = s->cpu;
    if (!s->sink_class->connect(s->sink, s->hart_index, &s->source, errp)) {
        return;
    }
    riscv_trace_hart_attach(s->cpu, &riscv_trace_encoder_hart_ops, s,
                            s->hart_index);
}

static void riscv_trace_encoder_init(Object *obj)
{
    RISCVTraceEncoder *s = RISCV_TRACE_ENCODER(obj);

    s->reg_array =
        register_init_block32(DEVICE(obj), riscv_trace_encoder_regs_info,
                              ARRAY_SIZE(riscv_trace_encoder_regs_info),
                              s->regs_info, s->regs, &riscv_trace_mmio_ops,
                              false, RISCV_TRACE_MMIO_SIZE);
    sysbus_init_mmio(SYS_BUS_DEVICE(obj), &s->reg_array->mem);
}

static void riscv_trace_encoder_finalize(Object *obj)
{
    register_finalize_block(RISCV_TRACE_ENCODER(obj)->reg_array);
}

static int riscv_trace_encoder_post_load(void *opaque, int version_id)
{
    RISCVTraceEncoder *s = opaque;

    riscv_trace_encoder_update(&s->source);
    return 0;
}

/*
 * The encoder itself has nothing to migrate: its window was ended when the VM
 * stopped, and the reader of the destination has a session of its own.
 */
static const VMStateDescription vmstate_riscv_trace_encoder = {
    .name = TYPE_RISCV_TRACE_ENCODER,
    .version_id = 1,
    .minimum_version_id = 1,
    .post_load = riscv_trace_encoder_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(regs[R_TR_TE_CONTROL], RISCVTraceEncoder),
        VMSTATE_BOOL(stall_or_overflow, RISCVTraceEncoder),
        VMSTATE_END_OF_LIST()
    }
};

static const Property riscv_trace_encoder_properties[] = {
    DEFINE_PROP_LINK("cpu", RISCVTraceEncoder, cpu, TYPE_RISCV_CPU,
                     CPUState *),
    DEFINE_PROP_LINK("sink", RISCVTraceEncoder, sink_obj,
                     TYPE_RISCV_TRACE_SINK, Object *),
    DEFINE_PROP_UINT32("hart-index", RISCVTraceEncoder, hart_index, 0),
    DEFINE_PROP_STRING("wire-format", RISCVTraceEncoder, wire_format),
    DEFINE_PROP_UINT16("src-id", RISCVTraceEncoder, src_id, 0),
    DEFINE_PROP_UINT8("src-bits", RISCVTraceEncoder, src_bits, 0),
    DEFINE_PROP_UINT8("sync-mode", RISCVTraceEncoder, sync_mode,
                      ETRACE_SYNC_HALFWORDS),
    DEFINE_PROP_UINT8("sync-max", RISCVTraceEncoder, sync_max, 15),
    DEFINE_PROP_BOOL("stall", RISCVTraceEncoder, stall, true),
    DEFINE_PROP_BOOL("autostart", RISCVTraceEncoder, autostart, false),
};

static void riscv_trace_encoder_class_init(ObjectClass *oc, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    ResettableClass *rc = RESETTABLE_CLASS(oc);

    dc->desc = "RISC-V trace encoder";
    dc->realize = riscv_trace_encoder_realize;
    dc->vmsd = &vmstate_riscv_trace_encoder;
    device_class_set_props(dc, riscv_trace_encoder_properties);
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
    /* Reason: has to be connected to a hart and a sink */
    dc->user_creatable = false;
    rc->phases.enter = riscv_trace_encoder_reset_enter;
    rc->phases.exit = riscv_trace_encoder_reset_exit;
}

static const TypeInfo riscv_trace_encoder_info = {
    .name = TYPE_RISCV_TRACE_ENCODER,
    .parent = TYPE_SYS_BUS_DEVICE,
    .instance_size = sizeof(RISCVTraceEncoder),
    .instance_init = riscv_trace_encoder_init,
    .instance_finalize = riscv_trace_encoder_finalize,
    .class_init = riscv_trace_encoder_class_init,
};

static void riscv_trace_encoder_register_types(void)
{
    type_register_static(&riscv_trace_encoder_info);
}

type_init(riscv_trace_encoder_register_types)
