/*
 * RISC-V trace: sessions of readers
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/lockable.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#include "qapi/error.h"
#include "system/cpus.h"
#include "system/replay.h"
#include "system/runstate.h"
#include "system/runstate-action.h"
#include "system/system.h"
#include "hw/trace/etrace/sideband.h"
#include "riscv-trace-session.h"
#include "hw/trace/trace.h"

/* How long QEMU's end may be held up by a peer that reads nothing. */
#define FINAL_FLUSH_MS      5000

bool riscv_trace_session_connect(RISCVTraceSession *s, unsigned index,
                                 RISCVTraceSource *src, Error **errp)
{
    if (index >= RISCV_TRACE_MAX_SOURCES || s->sources[index]) {
        error_setg(errp, "trace sink has no free input %u", index);
        return false;
    }
    s->sources[index] = src;
    s->num_sources = MAX(s->num_sources, index + 1);
    return true;
}

void riscv_trace_session_disconnect(RISCVTraceSession *s, unsigned index)
{
    QEMU_LOCK_GUARD(&s->stall_lock);
    s->sources[index] = NULL;
}

bool riscv_trace_session_active(RISCVTraceSession *s)
{
    return qatomic_read(&s->active);
}

void riscv_trace_session_update(RISCVTraceSession *s)
{
    for (unsigned i = 0; i < s->num_sources; i++) {
        if (s->sources[i]) {
            s->sources[i]->ops->update(s->sources[i]);
        }
    }
}

static bool riscv_trace_session_has_trace(RISCVTraceSession *s)
{
    return s->trace && riscv_trace_chardev_is_open(s->trace);
}

static bool riscv_trace_session_has_sideband(RISCVTraceSession *s)
{
    return s->sideband && riscv_trace_chardev_is_open(&s->sideband->out);
}

/* True if no reader keeps a hart that waits from going on. */
static bool riscv_trace_session_low(RISCVTraceSession *s)
{
    return (!qatomic_read(&s->trace_used) ||
            riscv_trace_chardev_low(s->trace)) &&
           (!s->sideband || riscv_trace_chardev_low(&s->sideband->out));
}

/* True if a reader is so slow that a hart has to wait. */
static bool riscv_trace_session_over(RISCVTraceSession *s, bool lossless)
{
    return (lossless && qatomic_read(&s->trace_used) &&
            riscv_trace_chardev_over(s->trace)) ||
           (s->sideband && riscv_trace_chardev_over(&s->sideband->out));
}

/* Begin a session as soon as possible, from the main loop. Any thread. */
static void riscv_trace_session_again(RISCVTraceSession *s)
{
    qatomic_set(&s->pending, true);
    timer_mod(s->timer, qemu_clock_get_ms(QEMU_CLOCK_REALTIME));
}

/* A RISCVTraceRecordFn. */
static bool riscv_trace_session_put_record(void *opaque, const uint8_t *record,
                                           size_t len)
{
    RISCVTraceSession *s = opaque;

    /* A reader that has come since the session began knows nothing of it. */
    if (!riscv_trace_session_active(s) || !qatomic_read(&s->begun) ||
        !riscv_trace_session_has_sideband(s)) {
        return false;
    }
    if (!riscv_trace_chardev_put(&s->sideband->out, record, len)) {
        trace_riscv_trace_session_record_lost(
            riscv_trace_reader_session(s->reader));
        riscv_trace_session_again(s);
        return false;
    }
    /* A hart may translate a lot before it retires enough to be asked. */
    for (unsigned i = 0; current_cpu && i < s->num_sources; i++) {
        if (s->sources[i] && s->sources[i]->cpu == current_cpu) {
            riscv_trace_session_throttle(s, i, false);
        }
    }
    return true;
}

/*
 * True if a session is to begin now. What the readers have not read yet must
 * leave room for what they are going to get.
 */
static bool riscv_trace_session_is_due(RISCVTraceSession *s)
{
    return qatomic_read(&s->pending) &&
           (s->resident || riscv_trace_session_has_trace(s)) &&
           (!s->trace || riscv_trace_chardev_low(s->trace)) &&
           (!s->sideband || riscv_trace_chardev_low(&s->sideband->out));
}

/* Widest framing of any source: enough idle bytes for every reader */
static ETraceParams riscv_trace_session_framing(const ETraceParams *params,
                                                unsigned n)
{
    ETraceParams common = params[0];

    for (unsigned i = 1; i < n; i++) {
        common.src_bits = MAX(common.src_bits, params[i].src_bits);
        common.ts_bytes = MAX(common.ts_bytes, params[i].ts_bytes);
    }
    return common;
}

/*
 * Give the session an id; report it and the one before. Not a guest's random
 * number: the two sides of a migration may have the same -seed.
 */
static void riscv_trace_session_put_origin(RISCVTraceSession *s)
{
    uint8_t record[ETRACE_SB_HEADER_SIZE + ETRACE_SB_ORIGIN_SIZE];
    ETraceSbOrigin origin = { .before = s->id };

    do {
        s->id = (uint64_t)g_random_int() << 32 | g_random_int();
    } while (!s->id);
    origin.id = s->id;
    riscv_trace_session_put_record(s, record,
                                   etrace_sb_pack_origin(record, &origin));
}

void riscv_trace_session_put(RISCVTraceSession *s, const uint8_t *record,
                             size_t len)
{
    riscv_trace_reader_put(s->reader, record, len);
}

/*
 * The end of a session, or of QEMU
 */

static void riscv_trace_session_close_windows(RISCVTraceSession *s)
{
    for (unsigned i = 0; i < s->num_sources; i++) {
        if (s->sources[i]) {
            s->sources[i]->ops->close(s->sources[i]);
        }
    }
}

/*
 * The VM is stopped: end all windows, report losses where there is room for
 * that, and have nothing wait in an output.
 */
static void riscv_trace_session_settle(RISCVTraceSession *s)
{
    riscv_trace_session_close_windows(s);
    s->flush(s->opaque);
    for (unsigned i = 0; i < s->num_sources; i++) {
        if (riscv_trace_counts_lost(&s->counts, i)) {
            /* There may be room by now to report it. */
            if (s->trace) {
                riscv_trace_chardev_send(s->trace);
            }
            riscv_trace_session_close_windows(s);
            s->flush(s->opaque);
            return;
        }
    }
}

/* Record in the sideband where the trace ends by now, if there is room. */
static void riscv_trace_session_put_end(RISCVTraceSession *s)
{
    uint8_t record[RISCV_TRACE_COUNTS_RECORD];
    size_t len;

    if (!riscv_trace_session_active(s) || !qatomic_read(&s->begun)) {
        return;
    }
    for (unsigned i = 0; i < s->num_sources; i++) {
        if (s->sources[i]) {
            riscv_trace_counts_set_ticks(&s->counts, i,
                                         s->sources[i]->ops->ticks(
                                             s->sources[i]));
        }
    }
    len = riscv_trace_counts_pack(&s->counts, record,
                                  s->trace_left ? s->trace_end :
                                  riscv_trace_chardev_offset(s->trace),
                                  s->num_sources);
    if (len && !riscv_trace_chardev_put(&s->sideband->out, record, len)) {
        /* Without it, the reader does not know the end. */
        riscv_trace_counts_not_written(&s->counts);
    }
}

/*
 * Send what @c has. Adds the number of bytes that are left to *@left; true if
 * its reader may still take them.
 */
static bool riscv_trace_session_send(RISCVTraceChardev *c, size_t *left)
{
    size_t n = riscv_trace_chardev_send(c);

    *left += n;
    return n && !c->failed;
}

/*
 * Empty both FIFOs, as long as one of their readers takes something every
 * @patience ms. Returns the number of bytes that nobody has taken.
 */
static size_t riscv_trace_session_empty(RISCVTraceSession *s, int patience)
{
    int64_t deadline = qemu_clock_get_ms(QEMU_CLOCK_REALTIME) + patience;
    size_t before = SIZE_MAX;

    for (;;) {
        int64_t now;
        size_t left = 0;
        bool more = false;

        if (s->trace) {
            more |= riscv_trace_session_send(s->trace, &left);
        }
        if (s->sideband) {
            more |= riscv_trace_session_send(&s->sideband->out, &left);
        }
        if (!more) {
            return left;
        }
        now = qemu_clock_get_ms(QEMU_CLOCK_REALTIME);
        if (left < before) {
            deadline = now + patience;
        } else if (now >= deadline) {
            return left;
        } else {
            g_usleep(1000);
        }
        before = left;
    }
}

/*
 * QEMU is about to end: have the readers take what waits for them, as long as
 * they do, and warn of what is lost. The VM is stopped.
 */
static void riscv_trace_session_final_flush(RISCVTraceSession *s)
{
    size_t left = riscv_trace_session_empty(s, FINAL_FLUSH_MS);

    riscv_trace_session_settle(s);
    riscv_trace_session_put_end(s);
    riscv_trace_session_empty(s, left ? 0 : FINAL_FLUSH_MS);
    /* That the readers are going to leave is no news. */
    qatomic_set(&s->begun, false);
    if (s->trace) {
        riscv_trace_chardev_drop(s->trace);
    }
    if (s->sideband) {
        riscv_trace_chardev_drop(&s->sideband->out);
    }
    riscv_trace_counts_warn(&s->counts);
}

/*
 * Beginnings
 */

/*
 * Begin a session if one is due. The VM is stopped, so that no hart is
 * between one session and the next.
 */
static void riscv_trace_session_begin_due(RISCVTraceSession *s)
{
    ETraceParams params[RISCV_TRACE_MAX_SOURCES] = { };
    CPUState *harts[RISCV_TRACE_MAX_SOURCES] = { };
    bool sideband = riscv_trace_session_has_sideband(s);
    ETraceParams framing;
    uint64_t offset;

    if (!riscv_trace_session_is_due(s)) {
        return;
    }
    qatomic_set(&s->pending, false);

    riscv_trace_session_settle(s);
    riscv_trace_session_put_end(s);
    qatomic_set(&s->active, true);
    qatomic_set(&s->begun, sideband);
    s->trace_left = !riscv_trace_session_has_trace(s);
    s->trace_end = 0;
    riscv_trace_counts_clear(&s->counts);
    offset = riscv_trace_session_has_trace(s) ?
             riscv_trace_chardev_offset(s->trace) : 0;
    for (unsigned i = 0; i < s->num_sources; i++) {
        if (s->sources[i]) {
            params[i] = *s->sources[i]->ops->begin(s->sources[i]);
            harts[i] = s->sources[i]->cpu;
        }
    }
    riscv_trace_reader_begin(s->reader, harts, params, s->num_sources, offset,
                             !sideband);
    trace_riscv_trace_session_begin(riscv_trace_reader_session(s->reader),
                                    s->num_sources, offset, sideband);
    riscv_trace_session_put_origin(s);
    framing = riscv_trace_session_framing(params, s->num_sources);
    s->begin(s->opaque, &framing);
    riscv_trace_session_update(s);
}

static void riscv_trace_session_timer(void *opaque)
{
    RISCVTraceSession *s = opaque;

    if (!riscv_trace_session_is_due(s)) {
        return;
    }
    if (!runstate_is_running()) {
        riscv_trace_session_begin_due(s);
        return;
    }
    pause_all_vcpus();
    riscv_trace_session_begin_due(s);
    resume_all_vcpus();
}

void riscv_trace_session_opened(RISCVTraceSession *s)
{
    riscv_trace_session_again(s);
}

/* Harts that wait for room in a FIFO which is dropped must not wait on. */
static void riscv_trace_session_release(RISCVTraceSession *s)
{
    QEMU_LOCK_GUARD(&s->stall_lock);

    for (unsigned i = 0; i < s->num_sources; i++) {
        if (s->sources[i]) {
            s->sources[i]->ops->stall(s->sources[i], false);
        }
    }
}

void riscv_trace_session_drained(RISCVTraceSession *s)
{
    if (riscv_trace_session_low(s)) {
        riscv_trace_session_release(s);
    }
    if (riscv_trace_session_is_due(s)) {
        timer_mod(s->timer, qemu_clock_get_ms(QEMU_CLOCK_REALTIME));
    }
}

void riscv_trace_session_use_trace(RISCVTraceSession *s, bool used)
{
    qatomic_set(&s->trace_used, used);
    if (!used && riscv_trace_session_low(s)) {
        riscv_trace_session_release(s);
    }
}

void riscv_trace_session_request(RISCVTraceSession *s)
{
    qatomic_set(&s->pending, true);
}

/* No hart is in the middle of anything, nor between two sessions. */
static void riscv_trace_session_begin_work(CPUState *cs, run_on_cpu_data data)
{
    BQL_LOCK_GUARD();
    riscv_trace_session_begin_due(data.host_ptr);
}

void riscv_trace_session_restart(RISCVTraceSession *s)
{
    if (!riscv_trace_session_active(s)) {
        return;
    }
    if (current_cpu) {
        /*
         * Software writes a register: what it traces next belongs to the new
         * session. When the main loop would come to that nobody knows, and it
         * would not be the same in a replay.
         */
        qatomic_set(&s->pending, true);
        async_safe_run_on_cpu(current_cpu, riscv_trace_session_begin_work,
                              RUN_ON_CPU_HOST_PTR(s));
    } else {
        riscv_trace_session_again(s);
    }
}

void riscv_trace_session_closed(RISCVTraceSession *s)
{
    if (!riscv_trace_session_active(s)) {
        return;
    }
    if (!s->trace_left) {
        s->trace_left = true;
        s->trace_end = riscv_trace_chardev_offset(s->trace);
    }
    riscv_trace_session_put_end(s);
    if (!s->resident) {
        trace_riscv_trace_session_end(riscv_trace_reader_session(s->reader));
        qatomic_set(&s->active, false);
        riscv_trace_reader_end(s->reader);
    }
    riscv_trace_session_update(s);
    riscv_trace_session_release(s);
}

static void riscv_trace_session_sideband_opened(void *opaque)
{
    riscv_trace_session_again(opaque);
}

static void riscv_trace_session_sideband_closed(void *opaque)
{
    RISCVTraceSession *s = opaque;

    /* The trace goes on for whoever has the program from elsewhere. */
    qatomic_set(&s->begun, false);
    riscv_trace_session_drained(s);
}

static void riscv_trace_session_sideband_drained(void *opaque)
{
    riscv_trace_session_drained(opaque);
}

static const RISCVTraceChardevOps riscv_trace_session_sideband_ops = {
    .opened = riscv_trace_session_sideband_opened,
    .closed = riscv_trace_session_sideband_closed,
    .drained = riscv_trace_session_sideband_drained,
};

void riscv_trace_session_throttle(RISCVTraceSession *s, unsigned index,
                                  bool lossless)
{
    if (!riscv_trace_session_over(s, lossless)) {
        return;
    }

    /*
     * Look again under the lock: whatever empties a FIFO that is seen full
     * here comes to riscv_trace_session_release() afterwards.
     */
    QEMU_LOCK_GUARD(&s->stall_lock);
    if (riscv_trace_session_over(s, lossless)) {
        s->sources[index]->ops->stall(s->sources[index], true);
    }
}

static void riscv_trace_session_vm_state(void *opaque, bool running,
                                         RunState state)
{
    RISCVTraceSession *s = opaque;

    if (running) {
        riscv_trace_session_begin_due(s);
        return;
    }
    riscv_trace_session_settle(s);
    if (state == RUN_STATE_SHUTDOWN &&
        shutdown_action != SHUTDOWN_ACTION_PAUSE) {
        riscv_trace_session_final_flush(s);
    } else {
        riscv_trace_session_put_end(s);
    }
}

static void riscv_trace_session_shutdown(Notifier *notifier, void *data)
{
    RISCVTraceSession *s = container_of(notifier, RISCVTraceSession, shutdown);

    /* The VM-state handler above runs first if the VM runs. */
    if (shutdown_action != SHUTDOWN_ACTION_PAUSE &&
        !runstate_is_live(runstate_get())) {
        riscv_trace_session_final_flush(s);
    }
}

/*
 * exit() while the machine runs: semihosting does that, from the hart's thread,
 * and neither stops the VM nor shuts it down. (It cannot be stopped here while
 * that is recorded or replayed.)
 */
static void riscv_trace_session_exit(Notifier *notifier, void *data)
{
    RISCVTraceSession *s = container_of(notifier, RISCVTraceSession, exit);

    if (bql_locked() && runstate_is_running() &&
        replay_mode == REPLAY_MODE_NONE) {
        vm_shutdown();
        if (shutdown_action == SHUTDOWN_ACTION_PAUSE) {
            riscv_trace_session_final_flush(s);
        }
    }
}

void riscv_trace_session_init(RISCVTraceSession *s)
{
    qemu_mutex_init(&s->stall_lock);
    riscv_trace_counts_init(&s->counts);
    s->reader = riscv_trace_reader_new(riscv_trace_session_put_record, s);
    s->timer = timer_new_ms(QEMU_CLOCK_REALTIME, riscv_trace_session_timer, s);
    s->vmstate = qemu_add_vm_change_state_handler(riscv_trace_session_vm_state,
                                                  s);
    s->shutdown.notify = riscv_trace_session_shutdown;
    qemu_register_shutdown_notifier(&s->shutdown);
    s->exit.notify = riscv_trace_session_exit;
    qemu_add_exit_notifier(&s->exit);
    if (s->sideband) {
        riscv_trace_sideband_listen(s->sideband,
                                    &riscv_trace_session_sideband_ops, s);
    }
}

void riscv_trace_session_cleanup(RISCVTraceSession *s)
{
    qemu_del_vm_change_state_handler(s->vmstate);
    notifier_remove(&s->shutdown);
    qemu_remove_exit_notifier(&s->exit);
    timer_free(s->timer);
    if (s->sideband) {
        riscv_trace_sideband_listen(s->sideband, NULL, NULL);
    }
    riscv_trace_reader_free(s->reader);
    riscv_trace_counts_cleanup(&s->counts);
    qemu_mutex_destroy(&s->stall_lock);
}
