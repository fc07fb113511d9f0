/*
 * RISC-V trace of programs: data accesses
 *
 * An access comes before the block that its instruction retires in. Its packet
 * follows those of the block, or stands in front of the trap if the instruction
 * did not get to its end: decoders put accesses to instructions by that. As for
 * harts of machines (riscv-trace-encoder-data.c), but that nothing is lost.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "private.h"

QEMU_BUILD_BUG_ON(sizeof(ETraceAccess) != sizeof(ETraceSlot));

void riscv_trace_user_data_init(RISCVTraceUserData *d)
{
    d->kept = g_array_new(false, false, sizeof(ETraceAccess));
}

void riscv_trace_user_data_free(RISCVTraceUserData *d)
{
    g_array_free(d->kept, true);
}

void riscv_trace_user_data_start(RISCVTraceUserThread *t)
{
    g_array_set_size(t->data.kept, 0);
    etrace_data_reset(&t->data.state);
    etrace_data_short_init(&t->data.quick, &t->enc.params,
                           ETRACE_DATA_COMPRESS_BEST);
}

/* The way that any access can take */
static void send_access(RISCVTraceUserThread *t, const ETraceAccess *a)
{
    ETraceDataAccess access = {
        .address = a->daddr,
        .data = a->data,
        .operand = a->sdata,
        .dtype = a->dtype,
        .size = a->dsize,
        .multi = a->multi,
    };
    uint8_t payload[ETRACE_PACKET_MAX];
    ETraceDataPacket pkt;
    size_t len;

    if (etrace_data_encode(&t->data.state, &t->enc.params,
                           ETRACE_DATA_COMPRESS_BEST, &access, &pkt)) {
        len = etrace_data_packet_pack(&t->enc.params, NULL, &pkt, payload);
        riscv_trace_user_put(t, true, payload, len);
    }
}

void riscv_trace_user_data_send(RISCVTraceUserThread *t,
                                const ETraceSlot *slots, size_t n)
{
    while (n) {
        size_t done = 0;
        unsigned packets = 0;

        if (!t->enc.params.ts_bytes) {
            done = n;
            t->len += etrace_data_short(&t->data.quick, &t->data.state, slots,
                                        &done, t->batch + t->len,
                                        sizeof(t->batch) - t->len, &packets);
            t->packets += packets;
        }
        if (!done) {
            if (etrace_slot_type(slots) == ETRACE_SLOT_ACCESS) {
                send_access(t, &slots->access);
            }
            done = 1;
        }
        slots += done;
        n -= done;
    }
}

size_t riscv_trace_user_data_keep(RISCVTraceUserThread *t,
                                  const ETraceSlot *slots, size_t n)
{
    size_t i = 0;

    while (i < n && etrace_slot_type(&slots[i]) == ETRACE_SLOT_ACCESS) {
        i++;
    }
    g_array_append_vals(t->data.kept, slots, i);
    return i;
}

size_t riscv_trace_user_data_count(RISCVTraceUserThread *t,
                                   const ETraceBlock *b)
{
    const ETraceAccess *kept = (const ETraceAccess *)t->data.kept->data;
    size_t n = t->data.kept->len;

    if (!etrace_itype_is_trap(b->itype)) {
        while (n && kept[n - 1].offset >= b->iretire) {
            n--;
        }
    }
    return n;
}

void riscv_trace_user_data_send_kept(RISCVTraceUserThread *t, size_t n,
                                     const bool *traced)
{
    const ETraceSlot *kept = (const ETraceSlot *)t->data.kept->data;

    if (!traced) {
        riscv_trace_user_data_send(t, kept, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (traced[i]) {
            riscv_trace_user_data_send(t, &kept[i], 1);
        }
    }
}

void riscv_trace_user_data_done(RISCVTraceUserThread *t, size_t n)
{
    GArray *kept = t->data.kept;

    g_array_remove_range(kept, 0, n);
    /* Those of an instruction that did not get to its end: it comes next. */
    for (unsigned i = 0; i < kept->len; i++) {
        g_array_index(kept, ETraceAccess, i).offset = 0;
    }
}
