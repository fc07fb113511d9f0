/*
 * RISC-V trace: how a session ends, and what is missing then
 *
 * Whatever is lost is reported: by the encoder in the trace, if anything can
 * still be put behind the loss; by the sideband's END, which a decoder compares
 * with what it has got; and by a warning when QEMU ends.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/error-report.h"
#include "qemu/lockable.h"
#include "qemu/timer.h"
#include "etrace/sideband.h"
#include "riscv-trace-session.h"
#include "trace.h"

/* How long QEMU's end may be held up by a peer that reads nothing. */
#define FINAL_FLUSH_MS      5000

void riscv_trace_session_count(RISCVTraceSession *s, unsigned index,
                               unsigned packets, bool put)
{
    RISCVTraceCount *count = &s->counts[index];

    QEMU_LOCK_GUARD(&s->count_lock);
    s->end_due = true;
    if (put) {
        /* An encoder reports a loss ahead of everything else. */
        count->put += packets;
        count->lost_last = 0;
    } else {
        count->lost += packets;
        count->lost_last += packets;
    }
}

bool riscv_trace_session_lost(RISCVTraceSession *s, unsigned index)
{
    QEMU_LOCK_GUARD(&s->count_lock);
    return s->counts[index].lost_last;
}

static void riscv_trace_session_close_windows(RISCVTraceSession *s)
{
    for (unsigned i = 0; i < s->num_sources; i++) {
        if (s->sources[i]) {
            s->sources[i]->ops->close(s->sources[i]);
        }
    }
}

void riscv_trace_session_settle(RISCVTraceSession *s)
{
    riscv_trace_session_close_windows(s);
    s->flush(s->opaque);
    for (unsigned i = 0; i < s->num_sources; i++) {
        if (riscv_trace_session_lost(s, i)) {
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

void riscv_trace_session_put_end(RISCVTraceSession *s)
{
    uint8_t record[ETRACE_SB_HEADER_SIZE +
                   ETRACE_SB_END_SIZE(RISCV_TRACE_MAX_SOURCES)];
    ETraceSbEnd ends[RISCV_TRACE_MAX_SOURCES];
    uint64_t end;
    size_t len;

    if (!riscv_trace_session_active(s) || !qatomic_read(&s->told)) {
        return;
    }
    end = s->trace_left ? s->trace_end : riscv_trace_chardev_offset(s->trace);
    WITH_QEMU_LOCK_GUARD(&s->count_lock) {
        if (!s->end_due) {
            return;
        }
        for (unsigned i = 0; i < s->num_sources; i++) {
            const RISCVTraceCount *count = &s->counts[i];

            trace_riscv_trace_session_counts(i, count->put, count->lost,
                                             count->lost_last);
            ends[i] = (ETraceSbEnd) {
                .put = count->put,
                .lost = count->lost,
                .lost_last = count->lost_last,
            };
        }
        len = etrace_sb_pack_end(record, end, ends, s->num_sources);
        /* Without room for it, the reader does not know the end. */
        s->end_due = !riscv_trace_chardev_put(&s->sideband->out, record, len);
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

static void riscv_trace_session_warn(RISCVTraceSession *s)
{
    QEMU_LOCK_GUARD(&s->count_lock);
    for (unsigned i = 0; i < s->num_sources; i++) {
        const RISCVTraceCount *count = &s->counts[i];

        if (count->lost) {
            warn_report("riscv-trace: hart %u: %" PRIu64 " packets were lost, "
                        "%" PRIu64 " of them at the end of the trace",
                        i, count->lost, count->lost_last);
        }
    }
}

void riscv_trace_session_final_flush(RISCVTraceSession *s)
{
    size_t left = riscv_trace_session_empty(s, FINAL_FLUSH_MS);

    riscv_trace_session_settle(s);
    riscv_trace_session_put_end(s);
    riscv_trace_session_empty(s, left ? 0 : FINAL_FLUSH_MS);
    /* That the readers are going to leave is no news. */
    qatomic_set(&s->told, false);
    if (s->trace) {
        riscv_trace_chardev_drop(s->trace);
    }
    if (s->sideband) {
        riscv_trace_chardev_drop(&s->sideband->out);
    }
    riscv_trace_session_warn(s);
}
