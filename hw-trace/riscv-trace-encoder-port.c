/*
 * RISC-V trace encoder: from the hart's port to the sink
 *
 * Everything here runs in the hart's own thread, or in another while the VM
 * is stopped. Registers are looked at between two TBs only: in start(), and in
 * riscv_trace_encoder_apply(), which a change of any register asks for.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/host-utils.h"
#include "qemu/timer.h"
#include "system/cpu-timers.h"
#include "target/riscv/cpu.h"
#include "riscv-trace-encoder.h"
#include "trace.h"

/*
 * Instruction trace on and off
 */

static void riscv_trace_encoder_inst_on(RISCVTraceEncoder *s)
{
    s->off_due = false;
    if (!s->tracing) {
        qatomic_set(&s->tracing, true);
        trace_riscv_trace_encoder_tracing(s->hart_index, true);
        etrace_encoder_start(&s->enc);
    }
}

static void riscv_trace_encoder_inst_off(RISCVTraceEncoder *s)
{
    s->off_due = false;
    if (s->tracing) {
        etrace_encoder_stop(&s->enc);
        riscv_trace_encoder_flush(s);
        qatomic_set(&s->tracing, false);
        trace_riscv_trace_encoder_tracing(s->hart_index, false);
    }
}

/*
 * What comes through the port
 */

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
    bool trap = etrace_itype_is_trap(b->itype);
    bool plain = b->itype == ETRACE_ITYPE_NONE;
    bool sijump = !trap && !plain && b->cause && b->cause == s->upper_rd &&
                  b->iaddr == s->upper_end;

    s->upper_rd = plain ? b->cause : 0;
    s->upper_end = b->iaddr + 2 * b->iretire;
    return sijump;
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
    if (triggers || s->off_due) {
        riscv_trace_encoder_triggers_before(s, b);
    }
    if (s->data.due && riscv_trace_encoder_data_apply(s)) {
        etrace_encoder_support(&s->enc);
    }
    if (s->accesses->len) {
        accesses = riscv_trace_encoder_data_count(s, b);
    }
    if (riscv_trace_encoder_filters_active(s)) {
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

/* Is something pending that is about the next block, or about each? */
static bool riscv_trace_encoder_is_pending(const RISCVTraceEncoder *s)
{
    return s->needs_data || s->accesses->len || s->data.due || s->off_due ||
           s->notify_due || s->triggers.on || s->triggers.off ||
           s->triggers.notify;
}

/*
 * THE gate: how much detail do the encoder and what stands before it need?
 * Filters that look at more than privilege and context, triggers and data look
 * at each block.
 */
static ETraceDetail riscv_trace_encoder_detail(void *opaque, ETracePriv priv,
                                               ETraceHistoryModes *modes)
{
    RISCVTraceEncoder *s = opaque;
    const ETraceBlock next = { .iretire = 1, .priv = priv };

    if (!s->live || riscv_trace_encoder_is_pending(s) ||
        !s->filter.constant || !s->expr_filter.constant) {
        return ETRACE_DETAIL_BLOCKS;
    }
    if (!s->tracing ||
        (riscv_trace_encoder_filters_active(s) &&
         !riscv_trace_encoder_filters_block(s, &next, 0, 0).qualified)) {
        return s->enc.started || s->enc.lost || s->lost
               ? ETRACE_DETAIL_BLOCKS : ETRACE_DETAIL_NOTHING;
    }
    if ((s->enc.sync_mode == ETRACE_SYNC_OFF ||
         s->enc.sync_max >= SYNC_PACKETS_MIN) &&
        etrace_encoder_takes_history(&s->enc, modes) &&
        /* else the next instruction may be a sequentially inferable jump */
        !(modes->sijump && s->upper_rd)) {
        return ETRACE_DETAIL_HISTORY;
    }
    return ETRACE_DETAIL_BLOCKS;
}

/* What mcycle counts */
static uint64_t riscv_trace_encoder_cycles(void)
{
    return icount_enabled() ? icount_get() : cpu_get_host_ticks();
}

QEMU_BUILD_BUG_ON(sizeof(ETraceAccess) != sizeof(ETraceSlot));

/* How many of the @n slots from the first on are accesses */
static size_t riscv_trace_encoder_accesses(const ETraceSlot *slots, size_t n)
{
    size_t i = 0;

    while (i < n && etrace_slot_type(&slots[i]) == ETRACE_SLOT_ACCESS) {
        i++;
    }
    return i;
}

static void riscv_trace_encoder_hart_retire(void *opaque,
                                            const ETraceSlot *slots, size_t n)
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
        const ETraceSlot *slot = &slots[i];
        const ETraceAccess *direct = NULL;
        size_t run = 0;

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
                riscv_trace_encoder_data_direct(s, &slot->access, run,
                                                &slots[i + run].block)) {
                direct = &slot->access;
                i += run;
                slot = &slots[i];
                break;
            }
            for (size_t k = 0; s->needs_data && k < run; k++) {
                riscv_trace_encoder_data_keep(s, &slot[k].access);
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
static void riscv_trace_encoder_hart_trigger(void *opaque,
                                             ETraceTrigger action)
{
    RISCVTraceEncoder *s = opaque;

    if (riscv_trace_enabled(riscv_trace_encoder_control(s)) &&
        action != ETRACE_TRIGGER_NOTIFY) {
        riscv_trace_encoder_trigger_tracing(s, action == ETRACE_TRIGGER_ON);
    }
}

/*
 * From the registers to the encoder. In the hart's thread, with the BQL.
 */

static RISCVTraceHartConfig riscv_trace_encoder_port(RISCVTraceEncoder *s)
{
    const RISCVTraceEncoderConfig *cfg = &s->cfg;
    RISCVTraceHartConfig port = { };

    if (cfg->context_width || s->expr.num_contexts) {
        if (!g_strcmp0(cfg->context_source, "mcontext")) {
            port.context = RISCV_TRACE_CONTEXT_MCONTEXT;
        } else if (!g_strcmp0(cfg->context_source, "scontext")) {
            port.context = RISCV_TRACE_CONTEXT_SCONTEXT;
        } else {
            port.context = RISCV_TRACE_CONTEXT_ASID;
        }
        port.ctype = cfg->ctype;
    }
    port.time = cfg->time_width;
    port.tvec = riscv_trace_encoder_ioptions(s) & ETRACE_IOPT_IMPLICIT_EXCEPT;
    port.data = s->needs_data;
    return port;
}

static bool riscv_trace_encoder_same_port(const RISCVTraceHartConfig *a,
                                          const RISCVTraceHartConfig *b)
{
    return a->context == b->context && a->ctype == b->ctype &&
           a->time == b->time && a->tvec == b->tvec && a->data == b->data;
}

/* trTeContext: while it is 0, packets have the context 0. */
static void riscv_trace_encoder_set_context(RISCVTraceEncoder *s, bool on)
{
    if (s->context_on == on) {
        return;
    }
    s->context_on = on;
    etrace_encoder_context(&s->enc, on ? s->filter.context : 0,
                           ETRACE_CTYPE_IMPRECISE);
}

/* All but the modes and the port, which others have to be told about */
static void riscv_trace_encoder_configure(RISCVTraceEncoder *s)
{
    uint32_t control = riscv_trace_encoder_control(s);
    unsigned sync_mode = FIELD_EX32(control, TR_TE_CONTROL, INST_SYNC_MODE);

    if (sync_mode == ETRACE_SYNC_CYCLES && s->enc.sync_mode != sync_mode) {
        s->cycles = riscv_trace_encoder_cycles();
    }
    s->enc.sync_mode = sync_mode;
    s->enc.sync_max = 1ULL << (4 + FIELD_EX32(control, TR_TE_CONTROL,
                                              INST_SYNC_MAX));
    riscv_trace_encoder_set_context(s, FIELD_EX32(control, TR_TE_CONTROL,
                                                  CONTEXT));
    s->timestamps = riscv_trace_timestamp_enabled(&s->ts);
    riscv_trace_encoder_filters_apply(s);
    riscv_trace_encoder_expr_apply(s);
    if (s->filter_reset) {
        etrace_filter_reset(&s->filter);
        s->filter_reset = false;
    }
    etrace_filter_event(&s->filter, &(ETraceEvent) {
        .value = qatomic_read(&s->impdef),
        .type = ETRACE_EVENT_IMPDEF,
    });
    s->needs_data = s->cfg.data_width &&
                    (riscv_trace_encoder_data_wanted(s) ||
                     etrace_filter_needs_data(&s->filter));
}

static void riscv_trace_encoder_hart_start(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    etrace_encoder_init(&s->enc, &s->params, &riscv_trace_encoder_ops, s);
    s->enc.itype_width = s->cfg.itype_width;
    /* It was not reported when the hart stopped. */
    s->enc.lost = s->sink_class->lost(s->sink, s->hart_index);
    /* The hart tells its context first of all. */
    s->context_on = false;
    riscv_trace_encoder_configure(s);
    s->enc.ioptions = riscv_trace_encoder_ioptions(s);
    s->hart_config = riscv_trace_encoder_port(s);
    riscv_trace_hart_configure(s->cpu, &s->hart_config);
    s->triggers = (RISCVTraceEncoderTriggers) { };
    s->off_due = false;
    s->notify_due = false;
    s->upper_rd = 0;
    s->live = true;
    s->lost = false;
    riscv_trace_encoder_data_start(s);
    if (FIELD_EX32(riscv_trace_encoder_control(s), TR_TE_CONTROL,
                   INST_TRACING)) {
        riscv_trace_encoder_inst_on(s);
    } else if (s->enc.denable) {
        etrace_encoder_support(&s->enc);
    }
    riscv_trace_encoder_flush(s);
}

static void riscv_trace_encoder_hart_stop(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    if (s->live) {
        bool data_only = s->enc.denable && !s->tracing;

        s->enc.denable = false;
        riscv_trace_encoder_inst_off(s);
        if (data_only) {
            etrace_encoder_support(&s->enc);
            riscv_trace_encoder_flush(s);
        }
        riscv_trace_encoder_report_loss(s);
        s->live = false;
    }
    qatomic_set(&s->tracing, false);
}

static void riscv_trace_encoder_apply(CPUState *cs, run_on_cpu_data data)
{
    RISCVTraceEncoder *s = data.host_ptr;
    RISCVTraceHartConfig port;
    uint8_t ioptions;
    bool tell;

    qatomic_set(&s->apply_pending, false);
    if (!s->live) {
        /* start() is going to see to it. */
        return;
    }
    riscv_trace_hart_drain(cs);
    riscv_trace_encoder_configure(s);
    port = riscv_trace_encoder_port(s);
    if (!riscv_trace_encoder_same_port(&port, &s->hart_config)) {
        riscv_trace_hart_restart(cs);
        return;
    }
    tell = riscv_trace_encoder_data_apply(s);
    ioptions = riscv_trace_encoder_ioptions(s);
    if (ioptions != s->enc.ioptions) {
        trace_riscv_trace_encoder_modes(s->hart_index, ioptions);
        s->enc.ioptions = ioptions;
        etrace_encoder_reconfigure(&s->enc);
    } else if (tell) {
        etrace_encoder_support(&s->enc);
    }
    if (FIELD_EX32(riscv_trace_encoder_control(s), TR_TE_CONTROL,
                   INST_TRACING)) {
        riscv_trace_encoder_inst_on(s);
    } else {
        riscv_trace_encoder_inst_off(s);
    }
    riscv_trace_encoder_flush(s);
}

void riscv_trace_encoder_changed(RISCVTraceEncoder *s)
{
    if (!qatomic_xchg(&s->apply_pending, true)) {
        async_run_on_cpu(s->cpu, riscv_trace_encoder_apply,
                         RUN_ON_CPU_HOST_PTR(s));
    }
}

typedef struct RISCVTraceEncoderExternal {
    RISCVTraceEncoder *s;
    ETraceTrigger action;
} RISCVTraceEncoderExternal;

static void riscv_trace_encoder_external_work(CPUState *cs,
                                              run_on_cpu_data data)
{
    g_autofree RISCVTraceEncoderExternal *work = data.host_ptr;
    RISCVTraceEncoder *s = work->s;

    if (!s->live) {
        riscv_trace_encoder_hart_trigger(s, work->action);
        return;
    }
    /* Between two TBs: no block is partly before and partly behind it. */
    riscv_trace_hart_drain(cs);
    if (work->action == ETRACE_TRIGGER_NOTIFY) {
        s->notify_due = true;
        return;
    }
    riscv_trace_encoder_trigger_tracing(s, work->action == ETRACE_TRIGGER_ON);
    if (FIELD_EX32(riscv_trace_encoder_control(s), TR_TE_CONTROL,
                   INST_TRACING)) {
        riscv_trace_encoder_inst_on(s);
    } else {
        riscv_trace_encoder_inst_off(s);
    }
    if (riscv_trace_encoder_data_apply(s)) {
        etrace_encoder_support(&s->enc);
    }
    riscv_trace_encoder_flush(s);
}

void riscv_trace_encoder_external(RISCVTraceEncoder *s, ETraceTrigger action)
{
    RISCVTraceEncoderExternal *work = g_new(RISCVTraceEncoderExternal, 1);

    *work = (RISCVTraceEncoderExternal) { s, action };
    async_run_on_cpu(s->cpu, riscv_trace_encoder_external_work,
                     RUN_ON_CPU_HOST_PTR(work));
}

uint64_t riscv_trace_encoder_fence(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    if (s->live) {
        etrace_encoder_end_window(&s->enc);
        riscv_trace_encoder_flush(s);
        riscv_trace_encoder_report_loss(s);
    }
    return s->packets;
}

const RISCVTraceHartOps riscv_trace_encoder_hart_ops = {
    .retire = riscv_trace_encoder_hart_retire,
    .start = riscv_trace_encoder_hart_start,
    .stop = riscv_trace_encoder_hart_stop,
    .fence = riscv_trace_encoder_fence,
    .detail = riscv_trace_encoder_detail,
    .trigger = riscv_trace_encoder_hart_trigger,
};

void riscv_trace_encoder_drain(RISCVTraceEncoder *s)
{
    riscv_trace_hart_drain(s->cpu);
}
