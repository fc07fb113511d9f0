/*
 * RISC-V trace encoder: from the hart's port to the encoder
 *
 * Everything here runs in the hart's own thread, or in another while the VM
 * is stopped.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/host-utils.h"
#include "qemu/timer.h"
#include "exec/icount.h"
#include "system/cpu-timers.h"
#include "target/riscv/cpu.h"
#include "target/riscv/trace/reader.h"
#include "riscv-trace-encoder-private.h"
#include "hw/trace/trace.h"

/* What runs now is not traced. */
static void riscv_trace_encoder_pass(RISCVTraceEncoder *s)
{
    etrace_encoder_end_window(&s->enc);
    s->passed = true;
}

/* What runs now is traced. */
static void riscv_trace_encoder_resume(RISCVTraceEncoder *s)
{
    if (s->passed) {
        s->passed = false;
        riscv_trace_reader_resume(s->cpu, s->packets + s->batch.packets);
    }
}

static void riscv_trace_encoder_event(RISCVTraceEncoder *s,
                                      const ETraceEvent *event)
{
    RISCV_TRACE_CALL_UNITS(event, s, event);
    switch (event->type) {
    case ETRACE_EVENT_CONTEXT:
        s->context = event->value;
        if (s->context_on) {
            etrace_encoder_context(&s->enc, event->value, event->sub);
        }
        break;
    case ETRACE_EVENT_TIME:
        etrace_encoder_time(&s->enc, event->value, event->sub);
        break;
    case ETRACE_EVENT_NEXT:
        s->next = event->value;
        break;
    case ETRACE_EVENT_HALTED:
    case ETRACE_EVENT_RESET:
        riscv_trace_encoder_pass(s);
        break;
    default:
        break;
    }
}

static void riscv_trace_encoder_encode(RISCVTraceEncoder *s,
                                       const ETraceBlock *b, uint64_t tval,
                                       bool qualified)
{
    if (!s->tracing) {
        s->passed = true;
        return;
    }
    if (qualified) {
        riscv_trace_encoder_resume(s);
        etrace_encoder_block(&s->enc, b, tval);
        if (s->notify_due) {
            etrace_encoder_notify(&s->enc);
        }
    } else {
        riscv_trace_encoder_pass(s);
    }
}

/* A block that units wait for */
static void riscv_trace_encoder_block_units(RISCVTraceEncoder *s,
                                            const ETraceBlock *b,
                                            uint64_t tval)
{
    const RISCVTraceEncoderUnit *data =
        riscv_trace_encoder_units[RISCV_TRACE_UNIT_DATA];
    RISCVTraceEncoderBlock ub = { .block = b, .tval = tval, .qualified = true };
    bool trap = etrace_itype_is_trap(b->itype);

    RISCV_TRACE_CALL_UNITS(before, s, &ub);
    if (ub.num_accesses && trap) {
        data->send_kept(s, &ub);
    }
    riscv_trace_encoder_encode(s, b, tval, ub.qualified);
    if (ub.num_accesses && !trap) {
        data->send_kept(s, &ub);
    }
    s->notify_due = false;
    RISCV_TRACE_CALL_UNITS(after, s, &ub);
}

static void riscv_trace_encoder_block(RISCVTraceEncoder *s,
                                      const ETraceBlock *b, uint64_t tval)
{
    ETraceBlock sijump;

    b = etrace_upper_next(&s->upper, b, &sijump);
    if (s->pending || s->filtered) {
        riscv_trace_encoder_block_units(s, b, tval);
    } else {
        riscv_trace_encoder_encode(s, b, tval, true);
    }
}

/*
 * A resynchronisation is late by a ring of packets at most while the hart
 * reports branch history, which is to be little for who asked for it.
 */
#define SYNC_PACKETS_MIN    4096

/*
 * THE gate: how much detail do the encoder and its units need? Filters that
 * look at more than privilege, context and address, triggers and data look at
 * each block.
 */
ETraceDetail riscv_trace_encoder_hart_detail(void *opaque, ETracePriv priv,
                                             uint64_t pc,
                                             ETraceHistoryModes *modes,
                                             ETraceRanges *ranges)
{
    RISCVTraceEncoder *s = opaque;
    const RISCVTraceEncoderUnit *triggers =
        riscv_trace_encoder_units[RISCV_TRACE_UNIT_TRIGGERS];
    ETraceDetail detail;

    if (!s->live ||
        (s->filtered &&
         !riscv_trace_encoder_units[RISCV_TRACE_UNIT_FILTERS]->ranges(
             s, priv, ranges)) ||
        s->needs_data || s->pending || (triggers && triggers->armed(s))) {
        return ETRACE_DETAIL_BLOCKS;
    }
    if (!s->tracing) {
        ranges->n = 0;
    }
    if (!s->tracing ||
        (s->filtered && !etrace_ranges_qualify(ranges, pc))) {
        if (s->enc.started || s->enc.lost || s->lost) {
            return ETRACE_DETAIL_BLOCKS;
        }
        s->passed = true;
        return ETRACE_DETAIL_NOTHING;
    }
    if (s->enc.sync_mode != ETRACE_SYNC_OFF &&
        s->enc.sync_max < SYNC_PACKETS_MIN) {
        return ETRACE_DETAIL_BLOCKS;
    }
    detail = etrace_encoder_detail(&s->enc, modes);
    if (detail == ETRACE_DETAIL_HISTORY && modes->sijump && s->upper.rd) {
        /* The next instruction may be a sequentially inferable jump. */
        return ETRACE_DETAIL_BLOCK;
    }
    return detail;
}

uint64_t riscv_trace_encoder_cycles(void)
{
    return icount_enabled() ? icount_get() : cpu_get_host_ticks();
}

/* How many of the @n slots from the first on are accesses */
static size_t riscv_trace_encoder_accesses(const ETraceSlot *slots, size_t n)
{
    size_t i = 0;

    while (i < n && etrace_slot_type(&slots[i]) == ETRACE_SLOT_ACCESS) {
        i++;
    }
    return i;
}

/*
 * The blocks that the @n slots begin with, as long as no packet follows from
 * them, and their accesses. Returns how many of the slots these are.
 */
static size_t riscv_trace_encoder_plain(RISCVTraceEncoder *s,
                                        const ETraceSlot *slots, size_t n)
{
    size_t done;

    if (!s->tracing || s->filtered || s->pending ||
        s->enc.sync_mode == ETRACE_SYNC_CYCLES) {
        return 0;
    }
    done = etrace_encoder_plain_blocks(&s->enc, slots, n);
    if (done) {
        etrace_upper_keep(&s->upper, &slots[done - 1].block);
        if (s->needs_data) {
            riscv_trace_encoder_units[RISCV_TRACE_UNIT_DATA]->send(s, slots,
                                                                   done);
        }
    }
    return done;
}

void riscv_trace_encoder_hart_retire(void *opaque, const ETraceSlot *slots,
                                     size_t n)
{
    RISCVTraceEncoder *s = opaque;
    const RISCVTraceEncoderUnit *data =
        riscv_trace_encoder_units[RISCV_TRACE_UNIT_DATA];
    uint64_t cycles = 0, counted = 0;

    if (!s->live) {
        return;
    }
    if (s->enc.sync_mode == ETRACE_SYNC_CYCLES) {
        uint64_t now = riscv_trace_encoder_cycles();

        cycles = now - s->cycles;
        s->cycles = now;
    }
    s->asked = false;
    for (size_t i = 0; i < n; i++) {
        const ETraceSlot *slot = &slots[i], *direct = NULL;
        size_t run = riscv_trace_encoder_plain(s, slot, n - i);

        if (run) {
            i += run - 1;
            continue;
        }
        switch (etrace_slot_type(slot)) {
        case ETRACE_SLOT_HISTORY:
            riscv_trace_encoder_resume(s);
            i += etrace_encoder_history(&s->enc, slot, n - i, &s->next) - 1;
            etrace_upper_keep_history(&s->upper, &slots[i].history);
            continue;
        case ETRACE_SLOT_ACCESS:
            run = riscv_trace_encoder_accesses(slot, n - i);
            if (s->needs_data &&
                data->take(s, slot, run, i + run < n &&
                           etrace_slot_is_block(&slots[i + run])
                           ? &slots[i + run].block : NULL)) {
                direct = slot;
                i += run;
                slot = &slots[i];
                break;
            }
            i += run - 1;
            continue;
        default:
            break;
        }
        if (!etrace_slot_is_block(slot)) {
            riscv_trace_encoder_event(s, &slot->event);
            continue;
        }
        riscv_trace_encoder_block(s, &slot->block,
                                  slot->block.itype == ETRACE_ITYPE_EXCEPTION
                                  ? slot->tval : 0);
        if (direct) {
            data->send(s, direct, run);
        }
        if (cycles) {
            /* Nobody looked at the clock in between: an even share each. */
            uint64_t share = muldiv64(cycles, i + 1, n);

            etrace_encoder_cycles(&s->enc, share - counted);
            counted = share;
        }
    }
    riscv_trace_encoder_flush(s);
    if (current_cpu == s->cpu) {
        bool lossless = FIELD_EX32(riscv_trace_encoder_control(s),
                                   TR_TE_CONTROL, INST_STALL_ENA) ||
                        s->stalls_for_data;

        s->sink_class->throttle(s->sink, s->hart_index, lossless);
    }
}
