/*
 * RISC-V trace: packets of each source that were put into the stream, or lost
 *
 * Whatever is lost is reported: by the encoder in the trace, if anything can
 * still be put behind the loss; by the sideband's END, which a decoder compares
 * with what it has got; and by a warning when QEMU ends.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/lockable.h"
#include "riscv-trace-counts.h"
#include "trace.h"

void riscv_trace_counts_init(RISCVTraceCounts *c)
{
    qemu_mutex_init(&c->lock);
}

void riscv_trace_counts_cleanup(RISCVTraceCounts *c)
{
    qemu_mutex_destroy(&c->lock);
}

void riscv_trace_counts_clear(RISCVTraceCounts *c)
{
    QEMU_LOCK_GUARD(&c->lock);
    memset(c->sources, 0, sizeof(c->sources));
    c->changed = true;
}

void riscv_trace_counts_add(RISCVTraceCounts *c, unsigned index,
                            unsigned packets, bool put)
{
    ETraceSbEnd *source = &c->sources[index];

    QEMU_LOCK_GUARD(&c->lock);
    c->changed = true;
    if (put) {
        /* An encoder reports a loss ahead of everything else. */
        source->put += packets;
        source->lost_last = 0;
    } else {
        source->lost += packets;
        source->lost_last += packets;
    }
}

void riscv_trace_counts_set_ticks(RISCVTraceCounts *c, unsigned index,
                                  uint64_t ticks)
{
    QEMU_LOCK_GUARD(&c->lock);
    c->sources[index].ticks = ticks;
}

bool riscv_trace_counts_lost(RISCVTraceCounts *c, unsigned index)
{
    QEMU_LOCK_GUARD(&c->lock);
    return c->sources[index].lost_last;
}

size_t riscv_trace_counts_pack(RISCVTraceCounts *c, uint8_t *record,
                               uint64_t end, unsigned n)
{
    QEMU_LOCK_GUARD(&c->lock);
    if (!c->changed) {
        return 0;
    }
    c->changed = false;
    for (unsigned i = 0; i < n; i++) {
        trace_riscv_trace_counts(i, c->sources[i].put, c->sources[i].lost,
                                 c->sources[i].lost_last);
    }
    return etrace_sb_pack_end(record, end, c->sources, n);
}

void riscv_trace_counts_not_written(RISCVTraceCounts *c)
{
    QEMU_LOCK_GUARD(&c->lock);
    c->changed = true;
}

void riscv_trace_counts_warn(RISCVTraceCounts *c)
{
    QEMU_LOCK_GUARD(&c->lock);
    for (unsigned i = 0; i < RISCV_TRACE_MAX_SOURCES; i++) {
        const ETraceSbEnd *source = &c->sources[i];

        if (source->lost) {
            warn_report("riscv-trace: hart %u: %" PRIu64 " packets were lost, "
                        "%" PRIu64 " of them at the end of the trace",
                        i, source->lost, source->lost_last);
        }
    }
}
