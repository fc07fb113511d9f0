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
#include "riscv-trace-encoder-private.h"
#include "trace.h"

/* Is the instruction of a trigger in this block? */
static bool riscv_trace_encoder_has_pc(const ETraceBlock *b, uint64_t pc)
{
    return !etrace_itype_is_trap(b->itype) &&
           (pc == UINT64_MAX ||
            (pc >= b->iaddr && pc <= etrace_block_last(b)));
}

static void riscv_trace_encoder_trigger_event(RISCVTraceEncoder *s,
                                              const ETraceEvent *event)
{
    RISCVTraceEncoderTriggers *t = &s->triggers;

    switch (event->sub) {
    case ETRACE_TRIGGER_ON:
        t->on = true;
        t->on_pc = event->value;
        break;
    case ETRACE_TRIGGER_OFF:
        t->off = true;
        t->off_pc = event->value;
        break;
    case ETRACE_TRIGGER_NOTIFY:
        t->notify = true;
        t->notify_pc = event->value;
        break;
    }
}

static void riscv_trace_encoder_event(RISCVTraceEncoder *s,
                                      const ETraceEvent *event)
{
    riscv_trace_encoder_filters_event(s, event);
    switch (event->type) {
    case ETRACE_EVENT_CONTEXT:
        if (s->context_on) {
            etrace_encoder_context(&s->enc, event->value, event->sub);
        }
        break;
    case ETRACE_EVENT_TIME:
        etrace_encoder_time(&s->enc, event->value);
        break;
    case ETRACE_EVENT_TRIGGER:
        riscv_trace_encoder_trigger_event(s, event);
        break;
    case ETRACE_EVENT_NEXT:
        s->next = event->value;
        break;
    case ETRACE_EVENT_HALTED:
    case ETRACE_EVENT_RESET:
        etrace_encoder_end_window(&s->enc);
        break;
    default:
        break;
    }
}

/*
 * Trace-on and trace-off around a block: "tracing starts from the oldest
 * instruction retired in the cycle that Trace-on is asserted, and stops
 * following the newest". The end waits for the next block, because "if
 * trace-off occurs on the cycle before trace-on, then tracing will continue
 * unimpeded".
 */
static void riscv_trace_encoder_triggers_before(RISCVTraceEncoder *s,
                                                const ETraceBlock *b)
{
    RISCVTraceEncoderTriggers *t = &s->triggers;

    if (t->on && riscv_trace_encoder_has_pc(b, t->on_pc)) {
        riscv_trace_encoder_trigger_tracing(s, true);
        if (FIELD_EX32(riscv_trace_encoder_control(s), TR_TE_CONTROL,
                       INST_TRACING)) {
            riscv_trace_encoder_inst_on(s);
        }
        s->data.due = true;
    } else if (s->off_due) {
        riscv_trace_encoder_inst_off(s);
    }
    if (t->notify && riscv_trace_encoder_has_pc(b, t->notify_pc)) {
        s->notify_due = true;
    }
}

static void riscv_trace_encoder_triggers_after(RISCVTraceEncoder *s,
                                               const ETraceBlock *b)
{
    RISCVTraceEncoderTriggers *t = &s->triggers;

    if (t->off && riscv_trace_encoder_has_pc(b, t->off_pc)) {
        riscv_trace_encoder_trigger_tracing(s, false);
        s->off_due = !FIELD_EX32(riscv_trace_encoder_control(s),
                                 TR_TE_CONTROL, INST_TRACING);
        s->data.due = true;
    }
    *t = (RISCVTraceEncoderTriggers) { };
}

/*
 * A jump through a register that the block before it ends in loading is
 * sequentially inferable: the hart could not see that in one TB.
 */
static bool riscv_trace_encoder_is_sijump(RISCVTraceEncoder *s,
                                          const ETraceBlock *b)
{
    return !etrace_itype_is_trap(b->itype) && b->itype != ETRACE_ITYPE_NONE &&
           b->cause && b->cause == s->upper_rd && b->iaddr == s->upper_end;
}

/* Does @b, behind which something else comes, end in loading a register? */
static void riscv_trace_encoder_keep_upper(RISCVTraceEncoder *s,
                                           const ETraceBlock *b)
{
    s->upper_rd = b->itype == ETRACE_ITYPE_NONE ? b->cause : 0;
    s->upper_end = b->iaddr + 2 * b->iretire;
}

static void riscv_trace_encoder_block(RISCVTraceEncoder *s,
                                      const ETraceBlock *b, uint64_t tval)
{
    bool triggers = s->triggers.on || s->triggers.off || s->triggers.notify;
    bool trap = etrace_itype_is_trap(b->itype);
    bool qualified = true;
    ETraceBlock sijump;
    unsigned accesses = 0;

    if (riscv_trace_encoder_is_sijump(s, b)) {
        sijump = *b;
        sijump.flags |= ETRACE_BLOCK_SIJUMP;
        b = &sijump;
    }
    riscv_trace_encoder_keep_upper(s, b);
    if (triggers || s->off_due) {
        riscv_trace_encoder_triggers_before(s, b);
    }
    if (s->data.due && riscv_trace_encoder_data_apply(s)) {
        etrace_encoder_support(&s->enc);
    }
    if (s->accesses->len) {
        accesses = riscv_trace_encoder_data_count(s, b);
    }
    if (s->filtered) {
        ETraceFilterResult r =
            riscv_trace_encoder_filters_block(s, b, tval, accesses);

        qualified = r.qualified;
        s->notify_due |= r.notify;
    }
    if (trap) {
        riscv_trace_encoder_data_send_kept(s, accesses);
    }
    if (s->tracing) {
        if (qualified) {
            etrace_encoder_block(&s->enc, b, tval);
            if (s->notify_due) {
                etrace_encoder_notify(&s->enc);
            }
        } else {
            etrace_encoder_end_window(&s->enc);
        }
    }
    if (s->accesses->len) {
        if (!trap) {
            riscv_trace_encoder_data_send_kept(s, accesses);
        }
        riscv_trace_encoder_data_done(s, accesses);
    }
    s->notify_due = false;
    if (triggers) {
        riscv_trace_encoder_triggers_after(s, b);
    }
}

/*
 * A resynchronisation is late by a ring of packets at most while the hart
 * reports branch history, which is to be little for who asked for it.
 */
#define SYNC_PACKETS_MIN    4096

/* Is something pending that is about the next block? */
static bool riscv_trace_encoder_is_pending(const RISCVTraceEncoder *s)
{
    return s->accesses->len || s->data.due || s->off_due || s->notify_due ||
           s->triggers.on || s->triggers.off || s->triggers.notify;
}

/*
 * THE gate: how much detail do the encoder and what stands before it need?
 * Filters that look at more than privilege, context and address, triggers and
 * data look at each block.
 */
ETraceDetail riscv_trace_encoder_hart_detail(void *opaque, ETracePriv priv,
                                             uint64_t pc,
                                             ETraceHistoryModes *modes,
                                             ETraceRanges *ranges)
{
    RISCVTraceEncoder *s = opaque;
    ETraceDetail detail;

    if (!s->live || s->needs_data || riscv_trace_encoder_is_pending(s) ||
        s->filter.scope == ETRACE_FILTER_BY_BLOCK ||
        s->expr_filter.scope == ETRACE_FILTER_BY_BLOCK) {
        return ETRACE_DETAIL_BLOCKS;
    }
    if (s->tracing && s->filtered) {
        ETraceFilter *filters[ETRACE_RANGES_FILTERS] = {
            &s->filter, &s->expr_filter,
        };

        etrace_filter_ranges(filters, ARRAY_SIZE(filters), priv, ranges);
    }
    if (!s->tracing ||
        (s->filtered && !etrace_ranges_qualify(ranges, pc))) {
        return s->enc.started || s->enc.lost || s->lost
               ? ETRACE_DETAIL_BLOCKS : ETRACE_DETAIL_NOTHING;
    }
    if (s->enc.sync_mode != ETRACE_SYNC_OFF &&
        s->enc.sync_max < SYNC_PACKETS_MIN) {
        return ETRACE_DETAIL_BLOCKS;
    }
    detail = etrace_encoder_detail(&s->enc, modes);
    if (detail == ETRACE_DETAIL_HISTORY && modes->sijump && s->upper_rd) {
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

    if (!s->tracing || s->filtered || riscv_trace_encoder_is_pending(s) ||
        s->enc.sync_mode == ETRACE_SYNC_CYCLES) {
        return 0;
    }
    done = etrace_encoder_plain_blocks(&s->enc, slots, n);
    if (done) {
        riscv_trace_encoder_keep_upper(s, &slots[done - 1].block);
        if (s->needs_data) {
            riscv_trace_encoder_data_send(s, slots, done);
        }
    }
    return done;
}

void riscv_trace_encoder_hart_retire(void *opaque, const ETraceSlot *slots,
                                     size_t n)
{
    RISCVTraceEncoder *s = opaque;
    uint64_t cycles = 0, counted = 0;

    if (!s->live) {
        return;
    }
    if (s->enc.sync_mode == ETRACE_SYNC_CYCLES) {
        uint64_t now = riscv_trace_encoder_cycles();

        cycles = now - s->cycles;
        s->cycles = now;
    }
    s->data.asked = false;
    for (size_t i = 0; i < n; i++) {
        const ETraceSlot *slot = &slots[i], *direct = NULL;
        size_t run = riscv_trace_encoder_plain(s, slot, n - i);

        if (run) {
            i += run - 1;
            continue;
        }
        switch (etrace_slot_type(slot)) {
        case ETRACE_SLOT_HISTORY:
            i += etrace_encoder_history(&s->enc, slot, n - i, &s->next) - 1;
            s->upper_rd = slots[i].history.itype == ETRACE_ITYPE_NONE
                          ? slots[i].history.irdepth : 0;
            s->upper_end = slots[i].history.next;
            continue;
        case ETRACE_SLOT_ACCESS:
            run = riscv_trace_encoder_accesses(slot, n - i);
            if (s->needs_data && i + run < n &&
                etrace_slot_is_block(&slots[i + run]) &&
                riscv_trace_encoder_data_direct(s, slot, run,
                                                &slots[i + run].block)) {
                direct = slot;
                i += run;
                slot = &slots[i];
                break;
            }
            if (s->needs_data) {
                riscv_trace_encoder_data_keep(s, slot, run);
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
            riscv_trace_encoder_data_send(s, direct, run);
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
                        (s->enc.denable && s->data.lossless);

        s->sink_class->throttle(s->sink, s->hart_index, lossless);
    }
}

/* The hart is not traced, and so its encoder sees no more than that. */
void riscv_trace_encoder_hart_trigger(void *opaque, ETraceTrigger action)
{
    RISCVTraceEncoder *s = opaque;

    if (riscv_trace_enabled(riscv_trace_encoder_control(s)) &&
        action != ETRACE_TRIGGER_NOTIFY) {
        riscv_trace_encoder_trigger_tracing(s, action == ETRACE_TRIGGER_ON);
    }
}
