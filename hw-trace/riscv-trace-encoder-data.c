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
#include "riscv-trace-encoder-private.h"

static uint32_t data_control(RISCVTraceEncoder *s)
{
    return qatomic_read(&s->regs[R_TR_TE_DATA_CONTROL]);
}

bool riscv_trace_encoder_data_wanted(RISCVTraceEncoder *s)
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

bool riscv_trace_encoder_data_apply(RISCVTraceEncoder *s)
{
    uint32_t control = s->cfg.data_width ? data_control(s) : 0;
    bool on = FIELD_EX32(control, TR_TE_DATA_CONTROL, TRACING);
    uint8_t doptions = s->cfg.data_width ? data_options(control) : 0;
    bool changed;

    s->data.due = false;
    s->data.compress = FIELD_EX32(control, TR_TE_DATA_CONTROL, ADDR_COMPRESS);
    s->data.may_drop = FIELD_EX32(control, TR_TE_DATA_CONTROL, DROP_ENA);
    s->data.lossless = FIELD_EX32(control, TR_TE_DATA_CONTROL, STALL_ENA);
    changed = s->enc.denable != on || s->enc.params.doptions != doptions;
    if (changed) {
        s->enc.denable = on;
        s->enc.params.doptions = doptions;
        etrace_data_reset(&s->data.state);
    }
    etrace_data_short_init(&s->data.quick, &s->enc.params, s->data.compress);
    return changed;
}

void riscv_trace_encoder_data_start(RISCVTraceEncoder *s)
{
    g_array_set_size(s->accesses, 0);
    etrace_data_reset(&s->data.state);
    riscv_trace_encoder_data_apply(s);
}

bool riscv_trace_encoder_data_direct(RISCVTraceEncoder *s,
                                     const ETraceSlot *slots, size_t n,
                                     const ETraceBlock *b)
{
    return !s->accesses->len && !s->filtered &&
           !etrace_itype_is_trap(b->itype) &&
           slots[n - 1].access.offset < b->iretire;
}

QEMU_BUILD_BUG_ON(sizeof(ETraceAccess) != sizeof(ETraceSlot));

void riscv_trace_encoder_data_keep(RISCVTraceEncoder *s,
                                   const ETraceSlot *slots, size_t n)
{
    g_array_append_vals(s->accesses, slots, n);
}

static ETraceAccess *kept(RISCVTraceEncoder *s, unsigned i)
{
    return &g_array_index(s->accesses, ETraceAccess, i);
}

unsigned riscv_trace_encoder_data_count(RISCVTraceEncoder *s,
                                        const ETraceBlock *b)
{
    unsigned n = s->accesses->len;

    if (!etrace_itype_is_trap(b->itype)) {
        while (n && kept(s, n - 1)->offset >= b->iretire) {
            n--;
        }
    }
    if (s->data.traced->len < n) {
        g_array_set_size(s->data.traced, n);
    }
    return n;
}

void riscv_trace_encoder_data_done(RISCVTraceEncoder *s, unsigned n)
{
    if (n) {
        g_array_remove_range(s->accesses, 0, n);
    }
    /* Those of an instruction that did not get to its end: it comes next. */
    for (unsigned i = 0; i < s->accesses->len; i++) {
        kept(s, i)->offset = 0;
    }
}

/*
 * False if data packets cannot be sent now; that is reported when it can be.
 * The sink takes batches, so it is asked once for each.
 */
static bool data_ready(RISCVTraceEncoder *s)
{
    bool room;

    if (s->data.asked) {
        return !s->enc.dloss;
    }
    s->data.asked = true;
    room = s->sink_class->room(s->sink, s->hart_index);
    if (!room && (s->data.may_drop || !s->data.lossless) && !s->enc.dloss) {
        etrace_data_reset(&s->data.state);
        s->enc.dloss = true;
        if (s->data.may_drop) {
            qatomic_set(&s->data_drop, true);
        } else {
            qatomic_set(&s->data_stall_or_overflow, true);
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

    if (!etrace_data_encode(&s->data.state, &s->enc.params, s->data.compress,
                            &access, &pkt)) {
        return;
    }
    len = etrace_data_packet_pack(&s->enc.params, NULL, &pkt, payload);
    if (!riscv_trace_encoder_put(s, true, payload, len)) {
        riscv_trace_encoder_data_lost(s);
    }
}

void riscv_trace_encoder_data_send(RISCVTraceEncoder *s,
                                   const ETraceSlot *slots, size_t n)
{
    if (!s->enc.denable) {
        return;
    }
    while (n && data_ready(s)) {
        size_t done = 0;

        if (!s->timestamps && !s->lost) {
            done = n;
            s->batch.len += etrace_data_short(&s->data.quick, &s->data.state,
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

void riscv_trace_encoder_data_send_kept(RISCVTraceEncoder *s, unsigned n)
{
    const ETraceSlot *slots = (const ETraceSlot *)s->accesses->data;

    if (!s->filtered) {
        riscv_trace_encoder_data_send(s, slots, n);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        if (g_array_index(s->data.traced, bool, i)) {
            riscv_trace_encoder_data_send(s, &slots[i], 1);
        }
    }
}
