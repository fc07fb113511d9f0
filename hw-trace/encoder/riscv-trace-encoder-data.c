/*
 * RISC-V trace encoder: data trace
 *
 * Which accesses are traced, and when their packets are sent. In the hart's
 * own thread, or in another while the VM is stopped.
 *
 * Accesses follow the instruction packets of their block, so that those of
 * the instruction that a synchronization packet reports come behind it, and
 * those of the instructions before it do not. That is what a decoder has to
 * go by to put accesses to their instructions. What an instruction accessed
 * that then trapped comes before the trap.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "hw/trace/etrace/data-short.h"
#include "riscv-trace-encoder-private.h"

struct RISCVTraceEncoderData {
    bool stall_or_overflow;     /* trTeDataStallOrOverflow; atomic */
    bool drop;                  /* trTeDataDrop; atomic */

    ETraceDataState state;
    ETraceDataShort quick;
    uint8_t compress;           /* trTeDataAddrCompress */
    bool may_drop;              /* trTeDataDropEna */
    bool lossless;              /* trTeDataStallEna */
    GArray *accesses;           /* ETraceAccess: wait for their block */
    GArray *traced;             /* bool: accesses that filters qualify */
};

/*
 * From the registers
 */

static uint32_t data_control(RISCVTraceEncoder *s)
{
    return qatomic_read(&s->regs[R_TR_TE_DATA_CONTROL]);
}

/* Do the registers ask for accesses, now or when a trigger fires? */
static bool data_wanted(RISCVTraceEncoder *s)
{
    return data_control(s) & (R_TR_TE_DATA_CONTROL_TRACING_MASK |
                              R_TR_TE_DATA_CONTROL_TRIG_ENABLE_MASK);
}

static uint8_t data_options(uint32_t control)
{
    uint8_t doptions = 0;

    if (FIELD_EX32(control, TR_TE_DATA_CONTROL, NO_VALUE)) {
        doptions |= ETRACE_DOPT_NO_DATA;
    }
    if (FIELD_EX32(control, TR_TE_DATA_CONTROL, NO_ADDR)) {
        doptions |= ETRACE_DOPT_NO_ADDRESS;
    }
    if (FIELD_EX32(control, TR_TE_DATA_CONTROL, ADDR_COMPRESS) ==
        TR_TE_DATA_ADDR_FULL) {
        doptions |= ETRACE_DOPT_FULL_ADDRESS | ETRACE_DOPT_FULL_DATA;
    }
    return doptions;
}

static void data_configure(RISCVTraceEncoder *s)
{
    s->needs_data |= s->cfg.data_width && data_wanted(s);
}

static bool data_apply(RISCVTraceEncoder *s)
{
    RISCVTraceEncoderData *d = s->data;
    uint32_t control = s->cfg.data_width ? data_control(s) : 0;
    bool on = FIELD_EX32(control, TR_TE_DATA_CONTROL, TRACING);
    uint8_t doptions = s->cfg.data_width ? data_options(control) : 0;
    bool changed;

    s->moved = false;
    d->compress = FIELD_EX32(control, TR_TE_DATA_CONTROL, ADDR_COMPRESS);
    d->may_drop = FIELD_EX32(control, TR_TE_DATA_CONTROL, DROP_ENA);
    d->lossless = FIELD_EX32(control, TR_TE_DATA_CONTROL, STALL_ENA);
    changed = s->enc.denable != on || s->enc.params.doptions != doptions;
    if (changed) {
        s->enc.denable = on;
        s->enc.params.doptions = doptions;
        etrace_data_reset(&d->state);
    }
    etrace_data_short_init(&d->quick, &s->enc.params, d->compress);
    s->stalls_for_data = on && d->lossless;
    return changed;
}

static void data_start(RISCVTraceEncoder *s)
{
    g_array_set_size(s->data->accesses, 0);
    etrace_data_reset(&s->data->state);
    data_apply(s);
}

/*
 * From the port
 */

QEMU_BUILD_BUG_ON(sizeof(ETraceAccess) != sizeof(ETraceSlot));

static bool data_take(RISCVTraceEncoder *s, const ETraceSlot *slots, size_t n,
                      const ETraceBlock *b)
{
    GArray *accesses = s->data->accesses;

    if (b && !accesses->len && !s->filtered &&
        !etrace_itype_is_trap(b->itype) &&
        slots[n - 1].access.offset < b->iretire) {
        return true;
    }
    g_array_append_vals(accesses, slots, n);
    s->pending |= 1u << RISCV_TRACE_UNIT_DATA;
    return false;
}

static ETraceAccess *kept(RISCVTraceEncoder *s, unsigned i)
{
    return &g_array_index(s->data->accesses, ETraceAccess, i);
}

/* How many of those that were kept are those of the block or trap @b */
static unsigned count_kept(RISCVTraceEncoder *s, const ETraceBlock *b)
{
    unsigned n = s->data->accesses->len;

    if (!etrace_itype_is_trap(b->itype)) {
        while (n && kept(s, n - 1)->offset >= b->iretire) {
            n--;
        }
    }
    return n;
}

static void data_before(RISCVTraceEncoder *s, RISCVTraceEncoderBlock *b)
{
    RISCVTraceEncoderData *d = s->data;

    if (s->moved && data_apply(s)) {
        etrace_encoder_support(&s->enc);
    }
    if (d->accesses->len) {
        b->num_accesses = count_kept(s, b->block);
        if (d->traced->len < b->num_accesses) {
            g_array_set_size(d->traced, b->num_accesses);
        }
        b->accesses = (const ETraceAccess *)d->accesses->data;
        b->traced = (bool *)d->traced->data;
    }
}

static void data_after(RISCVTraceEncoder *s, const RISCVTraceEncoderBlock *b)
{
    GArray *accesses = s->data->accesses;

    if (b->num_accesses) {
        g_array_remove_range(accesses, 0, b->num_accesses);
    }
    /* Those of an instruction that did not get to its end: it comes next. */
    for (unsigned i = 0; i < accesses->len; i++) {
        kept(s, i)->offset = 0;
    }
    if (!accesses->len) {
        s->pending &= ~(1u << RISCV_TRACE_UNIT_DATA);
    }
}

/*
 * To the sink
 */

static void data_resync(RISCVTraceEncoder *s)
{
    etrace_data_reset(&s->data->state);
}

static void data_lost(RISCVTraceEncoder *s)
{
    etrace_data_reset(&s->data->state);
    qatomic_set(&s->data->stall_or_overflow, true);
}

/*
 * False if data packets cannot be sent now; that is reported when it can be.
 * The sink takes batches, so it is asked once for each.
 */
static bool data_ready(RISCVTraceEncoder *s)
{
    bool room;

    if (s->asked) {
        return !s->enc.dloss;
    }
    s->asked = true;
    room = s->sink_class->room(s->sink, s->hart_index);
    if (!room && (s->data->may_drop || !s->data->lossless) && !s->enc.dloss) {
        etrace_data_reset(&s->data->state);
        s->enc.dloss = true;
        if (s->data->may_drop) {
            qatomic_set(&s->data->drop, true);
        } else {
            qatomic_set(&s->data->stall_or_overflow, true);
        }
    }
    if (s->enc.dloss && room) {
        etrace_encoder_support(&s->enc);
    }
    return !s->enc.dloss;
}

/* The way that any access can take */
static void send_access(RISCVTraceEncoder *s, const ETraceSlot *slot)
{
    ETraceDataAccess access = {
        .address = slot->access.daddr,
        .data = slot->access.data,
        .operand = slot->access.sdata,
        .dtype = slot->access.dtype,
        .size = slot->access.dsize,
        .multi = slot->access.multi,
    };
    uint8_t payload[ETRACE_PACKET_MAX];
    ETraceDataPacket pkt;
    size_t len;

    if (!etrace_data_encode(&s->data->state, &s->enc.params, s->data->compress,
                            &access, &pkt)) {
        return;
    }
    len = etrace_data_packet_pack(&s->enc.params, NULL, &pkt, payload);
    if (!riscv_trace_encoder_put(s, true, payload, len)) {
        riscv_trace_encoder_data_lost(s);
    }
}

static void data_send(RISCVTraceEncoder *s, const ETraceSlot *slots, size_t n)
{
    if (!s->enc.denable) {
        return;
    }
    while (n && data_ready(s)) {
        size_t done = 0;

        if (!s->timestamps && !s->lost) {
            done = n;
            s->batch.len += etrace_data_short(&s->data->quick, &s->data->state,
                                              slots, &done,
                                              s->batch.bytes + s->batch.len,
                                              RISCV_TRACE_ENCODER_BATCH -
                                              s->batch.len,
                                              &s->batch.packets);
        }
        if (!done) {
            if (etrace_slot_type(slots) == ETRACE_SLOT_ACCESS) {
                send_access(s, slots);
            }
            done = 1;
        }
        slots += done;
        n -= done;
    }
}

static void data_send_kept(RISCVTraceEncoder *s,
                           const RISCVTraceEncoderBlock *b)
{
    const ETraceSlot *slots = (const ETraceSlot *)b->accesses;

    if (!s->filtered) {
        data_send(s, slots, b->num_accesses);
        return;
    }
    for (unsigned i = 0; i < b->num_accesses; i++) {
        if (b->traced[i]) {
            data_send(s, &slots[i], 1);
        }
    }
}

/*
 * Registers
 */

static uint64_t data_control_pre_write(RegisterInfo *reg, uint64_t val64)
{
    RISCVTraceEncoder *s = reg->opaque;
    uint32_t old = s->regs[R_TR_TE_DATA_CONTROL];
    uint32_t val = val64;

    if (riscv_trace_encoder_in_reset(s, reg) || !s->cfg.data_width) {
        return old;
    }
    if (FIELD_EX32(val, TR_TE_DATA_CONTROL, STALL_OR_OVERFLOW)) {
        qatomic_set(&s->data->stall_or_overflow, false);
        val = FIELD_DP32(val, TR_TE_DATA_CONTROL, STALL_OR_OVERFLOW, 0);
    }
    if (FIELD_EX32(val, TR_TE_DATA_CONTROL, DROP)) {
        qatomic_set(&s->data->drop, false);
        val = FIELD_DP32(val, TR_TE_DATA_CONTROL, DROP, 0);
    }
    return val;
}

static void data_control_post_write(RegisterInfo *reg, uint64_t val)
{
    riscv_trace_encoder_update(reg->opaque);
    riscv_trace_encoder_changed(reg->opaque);
}

static uint64_t data_control_post_read(RegisterInfo *reg, uint64_t val)
{
    RISCVTraceEncoder *s = reg->opaque;

    val = FIELD_DP32(val, TR_TE_DATA_CONTROL, STALL_OR_OVERFLOW,
                     qatomic_read(&s->data->stall_or_overflow));
    return FIELD_DP32(val, TR_TE_DATA_CONTROL, DROP,
                      qatomic_read(&s->data->drop));
}

static const RegisterAccessInfo data_regs[] = {
    {   .name = "trTeDataControl", .addr = A_TR_TE_DATA_CONTROL,
        .ro = R_TR_TE_DATA_CONTROL_IMPLEMENTED_MASK,
        .rsvd = 0xfff0ff80,
        .pre_write = data_control_pre_write,
        .post_write = data_control_post_write,
        .post_read = data_control_post_read,
    },
};

static void clear_status(RISCVTraceEncoder *s)
{
    qatomic_set(&s->data->stall_or_overflow, false);
    qatomic_set(&s->data->drop, false);
}

static void data_reset(RISCVTraceEncoder *s)
{
    const RISCVTraceEncoderConfig *cfg = &s->cfg;
    uint32_t val = 0;

    if (cfg->data_width) {
        val = FIELD_DP32(val, TR_TE_DATA_CONTROL, IMPLEMENTED, 1);
        val = FIELD_DP32(val, TR_TE_DATA_CONTROL, STALL_ENA, cfg->stall);
        val = FIELD_DP32(val, TR_TE_DATA_CONTROL, DROP_ENA, cfg->data_drop);
        val = FIELD_DP32(val, TR_TE_DATA_CONTROL, NO_VALUE,
                         cfg->data_no_value);
        val = FIELD_DP32(val, TR_TE_DATA_CONTROL, NO_ADDR, cfg->data_no_addr);
        val = FIELD_DP32(val, TR_TE_DATA_CONTROL, ADDR_COMPRESS,
                         cfg->data_compress);
    }
    qatomic_set(&s->regs[R_TR_TE_DATA_CONTROL], val);
    clear_status(s);
}

static void data_trace_control(RISCVTraceEncoder *s, uint32_t old,
                               uint32_t val)
{
    if (!riscv_trace_enabled(old) && riscv_trace_enabled(val)) {
        clear_status(s);
    }
}

/*
 * The unit
 */

static void data_init(RISCVTraceEncoder *s)
{
    s->data = g_new0(RISCVTraceEncoderData, 1);
    s->data->accesses = g_array_new(false, false, sizeof(ETraceAccess));
    s->data->traced = g_array_new(false, false, sizeof(bool));
}

static void data_finalize(RISCVTraceEncoder *s)
{
    g_array_free(s->data->accesses, true);
    g_array_free(s->data->traced, true);
    g_free(s->data);
}

static bool data_check(RISCVTraceEncoder *s, Error **errp)
{
    if (s->cfg.data && !s->cfg.data_width) {
        error_setg(errp, "data of a trace encoder needs data-width");
        return false;
    }
    return true;
}

static bool data_needed(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    return s->cfg.data_width;
}

static const VMStateDescription vmstate_data_state = {
    .name = TYPE_RISCV_TRACE_ENCODER "/data/state",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_BOOL(stall_or_overflow, RISCVTraceEncoderData),
        VMSTATE_BOOL(drop, RISCVTraceEncoderData),
        VMSTATE_END_OF_LIST()
    }
};

static const VMStateDescription vmstate_data = {
    .name = TYPE_RISCV_TRACE_ENCODER "/data",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = data_needed,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(regs[R_TR_TE_DATA_CONTROL], RISCVTraceEncoder),
        VMSTATE_UINT32(regs[R_TR_TE_DATA_FILTERS], RISCVTraceEncoder),
        VMSTATE_STRUCT_POINTER(data, RISCVTraceEncoder, vmstate_data_state,
                               RISCVTraceEncoderData),
        VMSTATE_END_OF_LIST()
    }
};

static const Property data_props[] = {
    DEFINE_PROP_BOOL("data", RISCVTraceEncoder, cfg.data, false),
    DEFINE_PROP_BOOL("data-drop", RISCVTraceEncoder, cfg.data_drop, false),
    DEFINE_PROP_BOOL("data-no-value", RISCVTraceEncoder, cfg.data_no_value,
                     false),
    DEFINE_PROP_BOOL("data-no-addr", RISCVTraceEncoder, cfg.data_no_addr,
                     false),
    DEFINE_PROP_UINT8("data-compress", RISCVTraceEncoder, cfg.data_compress,
                      ETRACE_DATA_COMPRESS_BEST),
    DEFINE_PROP_UINT8("data-width", RISCVTraceEncoder, cfg.data_width, 0),
    DEFINE_PROP_UINT8("daddress-width", RISCVTraceEncoder,
                      cfg.daddress_width, 64),
};

static const RISCVTraceEncoderProp data_texts[] = {
    { "data", "autostart is of data trace, too" },
    { "data-drop", "trTeDataDropEna at power-up" },
    { "data-no-value", "trTeDataNoValue at power-up" },
    { "data-no-addr", "trTeDataNoAddr at power-up" },
    { "data-compress", "trTeDataAddrCompress at power-up (0: none, 1: XOR, "
      "2: differential, 3: whichever is shorter)",
      RISCV_TRACE_LIMITS(data_compress, 0, ETRACE_DATA_COMPRESS_BEST) },
    { "data-width", "width of data (8, 16, 32, 64 or 128), 0: no data trace" },
    { "daddress-width", "width of data addresses (1 to 64)",
      RISCV_TRACE_LIMITS(daddress_width, 1, 64) },
};

static const RISCVTraceEncoderUnit data_unit = {
    .props = data_props,
    .num_props = ARRAY_SIZE(data_props),
    .texts = data_texts,
    .num_texts = ARRAY_SIZE(data_texts),
    .regs = data_regs,
    .num_regs = ARRAY_SIZE(data_regs),
    .vmsd = &vmstate_data,
    .init = data_init,
    .finalize = data_finalize,
    .check = data_check,
    .reset = data_reset,
    .control = data_trace_control,
    .configure = data_configure,
    .start = data_start,
    .apply = data_apply,
    .before = data_before,
    .after = data_after,
    .take = data_take,
    .send = data_send,
    .send_kept = data_send_kept,
    .resync = data_resync,
    .lost = data_lost,
};

static void register_data(void)
{
    riscv_trace_encoder_add_unit(RISCV_TRACE_UNIT_DATA, &data_unit);
}

type_init(register_data)
