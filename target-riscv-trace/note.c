/*
 * RISC-V trace: notes in the sideband, at the place that each hart has come to
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/main-loop.h"
#include "block/aio.h"
#include "internal.h"

/* A note that harts have to take; the last one frees it. */
typedef struct RISCVTraceNote {
    unsigned waiting;           /* harts, and who asks them; atomic */
    uint64_t kind;
    size_t len;
    void (*done)(void *opaque);
    void *opaque;
    char text[];
} RISCVTraceNote;

static void note_done(void *opaque)
{
    RISCVTraceNote *note = opaque;

    note->done(note->opaque);
    g_free(note);
}

static void note_put(RISCVTraceNote *note)
{
    if (qatomic_fetch_dec(&note->waiting) == 1) {
        aio_bh_schedule_oneshot(qemu_get_aio_context(), note_done, note);
    }
}

/* In the hart's thread, between two TBs */
static void note_work(CPUState *cs, run_on_cpu_data data)
{
    RISCVTraceNote *note = data.host_ptr;
    RISCVTraceHart *hart = riscv_trace_hart(cs);

    if (riscv_trace_has_reader(hart)) {
        g_autofree uint8_t *record =
            g_malloc(ETRACE_SB_HEADER_SIZE + ETRACE_SB_NOTE_SIZE(note->len));
        RISCVTraceReader *reader = riscv_trace_reader_lock_behind_fence(hart);

        riscv_trace_reader_record(reader, record,
                                  etrace_sb_pack_note(record, hart->index,
                                                      note->kind, note->text,
                                                      note->len));
        qemu_mutex_unlock(&reader->lock);
    }
    note_put(note);
}

/* Of all harts of a reader, at no place */
static void put_text(const char *text, size_t len)
{
    g_autofree uint8_t *record =
        g_malloc(ETRACE_SB_HEADER_SIZE + ETRACE_SB_NOTE_SIZE(len));
    size_t size = etrace_sb_pack_note(record, ETRACE_SB_ALL_HARTS,
                                      ETRACE_SB_NOTE_TEXT, text, len);
    RISCVTraceReader *last = NULL;
    CPUState *cs;

    CPU_FOREACH(cs) {
        RISCVTraceHart *hart = riscv_trace_hart(cs);

        if (hart && hart->reader && hart->reader != last) {
            last = hart->reader;
            riscv_trace_reader_put(last, record, size);
        }
    }
}

void riscv_trace_note(ETraceSbNoteKind kind, const char *text, size_t len,
                      void (*done)(void *opaque), void *opaque)
{
    RISCVTraceNote *note = g_malloc(sizeof(*note) + len);
    CPUState *cs;

    *note = (RISCVTraceNote) {
        .waiting = 1, .kind = kind, .len = len, .done = done, .opaque = opaque,
    };
    memcpy(note->text, text, len);
    if (kind == ETRACE_SB_NOTE_TEXT) {
        put_text(text, len);
    } else {
        CPU_FOREACH(cs) {
            if (riscv_trace_hart(cs)) {
                qatomic_inc(&note->waiting);
                async_run_on_cpu(cs, note_work, RUN_ON_CPU_HOST_PTR(note));
            }
        }
    }
    note_put(note);
}

bool riscv_trace_is_stalled(void)
{
    CPUState *cs;

    CPU_FOREACH(cs) {
        RISCVTraceHart *hart = riscv_trace_hart(cs);

        if (hart && qatomic_read(&hart->stall) == RISCV_TRACE_STALLED) {
            return true;
        }
    }
    return false;
}
