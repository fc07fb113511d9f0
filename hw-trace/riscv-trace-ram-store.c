/*
 * RISC-V trace: how the RAM sink stores
 *
 * Trace is stored in words of four bytes; what does not fill one waits, and
 * is filled up with null.idle when the sink is disabled or the VM stops.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/lockable.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "etrace/encap.h"
#include "etrace/sideband.h"
#include "riscv-trace-memory.h"
#include "riscv-trace-ram.h"
#include "trace.h"

unsigned riscv_trace_ram_mode(RISCVTraceRAM *s)
{
    return FIELD_EX32(qatomic_read(&s->regs[R_TR_RAM_CONTROL]),
                      TR_RAM_CONTROL, MODE);
}

RISCVTraceRing *riscv_trace_ram_current(RISCVTraceRAM *s)
{
    return &s->rings[riscv_trace_ram_mode(s)];
}

uint64_t riscv_trace_ram_size(const RISCVTraceRing *ring)
{
    return ring->limit + RISCV_TRACE_RAM_WORD - ring->start;
}

/*
 * Storing. The lock is held.
 */

static bool riscv_trace_ram_store(RISCVTraceRAM *s, uint64_t addr,
                                  const uint8_t *bytes, size_t len)
{
    if (riscv_trace_ram_mode(s) == TR_RAM_MODE_SMEM) {
        return riscv_trace_memory_store(&s->as, addr, bytes, len);
    }
    memcpy((uint8_t *)memory_region_get_ram_ptr(&s->sram) + addr, bytes, len);
    memory_region_set_dirty(&s->sram, addr, len);
    return true;
}

static void riscv_trace_ram_stop(RISCVTraceRAM *s)
{
    qatomic_set(&s->storing, false);
    qatomic_set(&s->stopped, true);
    s->fill = 0;
    qemu_bh_schedule(s->bh);
}

/* @len is a multiple of the word's. Nothing is stored once it has stopped. */
static void riscv_trace_ram_store_words(RISCVTraceRAM *s,
                                        const uint8_t *bytes, size_t len)
{
    RISCVTraceRing *ring = riscv_trace_ram_current(s);

    while (len && s->storing) {
        size_t n = MIN(len, ring->limit + RISCV_TRACE_RAM_WORD - ring->wp);

        if (!riscv_trace_ram_store(s, ring->wp, bytes, n)) {
            qemu_log_mask(LOG_GUEST_ERROR, "riscv-trace-ram: no RAM at "
                          "0x%" PRIx64 ", the sink stops\n", ring->wp);
            trace_riscv_trace_ram_stop("no RAM", ring->wp);
            riscv_trace_ram_stop(s);
            return;
        }
        s->bytes += n;
        bytes += n;
        len -= n;
        ring->wp += n;
        if (ring->wp > ring->limit) {
            ring->wp = ring->start;
            ring->wrapped = true;
            if (FIELD_EX32(s->regs[R_TR_RAM_CONTROL], TR_RAM_CONTROL,
                           STOP_ON_WRAP)) {
                trace_riscv_trace_ram_stop("full", ring->limit);
                riscv_trace_ram_stop(s);
            }
        }
    }
}

static void riscv_trace_ram_append(RISCVTraceRAM *s, const uint8_t *bytes,
                                   size_t len)
{
    size_t whole;

    s->since_align += len;
    while (s->fill && len) {
        s->word[s->fill++] = *bytes++;
        len--;
        if (s->fill == sizeof(s->word)) {
            s->fill = 0;
            riscv_trace_ram_store_words(s, s->word, sizeof(s->word));
        }
    }
    whole = QEMU_ALIGN_DOWN(len, sizeof(s->word));
    riscv_trace_ram_store_words(s, bytes, whole);
    if (s->storing && len > whole) {
        s->fill = len - whole;
        memcpy(s->word, bytes + whole, s->fill);
    }
}

/* Append @len bytes of null.idle. */
static void riscv_trace_ram_idle(RISCVTraceRAM *s, size_t len)
{
    static const uint8_t idle[256];

    while (len) {
        size_t n = MIN(len, sizeof(idle));

        riscv_trace_ram_append(s, idle, n);
        len -= n;
    }
}

void riscv_trace_ram_pad(RISCVTraceRAM *s)
{
    if (s->fill) {
        riscv_trace_ram_idle(s, sizeof(s->word) - s->fill);
    }
}

/* True if storing @len bytes overwrites no trace that is to be kept. */
static bool riscv_trace_ram_has_space(RISCVTraceRAM *s, size_t len)
{
    const RISCVTraceRing *ring = riscv_trace_ram_current(s);

    return !FIELD_EX32(s->regs[R_TR_RAM_CONTROL], TR_RAM_CONTROL,
                       STOP_ON_WRAP) ||
           s->fill + len <= ring->limit + RISCV_TRACE_RAM_WORD - ring->wp;
}

/*
 * Distance of alignment sequences, bytes; 0 for none. However small the ring
 * is, some must be in it for it to be readable after it has wrapped.
 */
static uint64_t riscv_trace_ram_align_distance(RISCVTraceRAM *s)
{
    unsigned freq = FIELD_EX32(s->regs[R_TR_RAM_CONTROL], TR_RAM_CONTROL,
                               ASYNC_FREQ);

    return MIN(riscv_trace_align_distance(freq),
               riscv_trace_ram_size(riscv_trace_ram_current(s)) / 8);
}

void riscv_trace_ram_align(RISCVTraceRAM *s)
{
    uint8_t bytes[ETRACE_ALIGN_MAX];
    size_t len = etrace_encap_align(&s->align_params, bytes);

    if (s->storing && riscv_trace_ram_has_space(s, len)) {
        riscv_trace_ram_append(s, bytes, len);
        s->since_align = 0;
    }
}

/* Read @len bytes of the ring at @addr, which are not wrapped. */
static bool riscv_trace_ram_load(RISCVTraceRAM *s, uint64_t addr,
                                 uint8_t *bytes, size_t len)
{
    if (riscv_trace_ram_mode(s) == TR_RAM_MODE_SMEM) {
        return riscv_trace_memory_load(&s->as, addr, bytes, len);
    }
    memcpy(bytes, (uint8_t *)memory_region_get_ram_ptr(&s->sram) + addr, len);
    return true;
}

/*
 * The last bytes of the session that are in the ring, @most at most. Returns
 * how many, 0 if the guest has taken the memory away. The lock is held.
 */
static size_t riscv_trace_ram_tail(RISCVTraceRAM *s, uint8_t *tail,
                                   size_t most)
{
    const RISCVTraceRing *ring = riscv_trace_ram_current(s);
    uint64_t size = riscv_trace_ram_size(ring);
    size_t len = MIN(most, MIN(s->bytes, size));
    size_t behind = MIN(len, ring->wp - ring->start);
    size_t before = len - behind;

    if (!ring->wrapped) {
        before = 0;
    }
    if ((before && !riscv_trace_ram_load(s, ring->limit + RISCV_TRACE_RAM_WORD -
                                            before, tail, before)) ||
        !riscv_trace_ram_load(s, ring->wp - behind, tail + before, behind)) {
        return 0;
    }
    return before + behind;
}

void riscv_trace_ram_announce(RISCVTraceRAM *s)
{
    uint8_t record[ETRACE_SB_HEADER_SIZE +
                   ETRACE_SB_RAM_SIZE(RISCV_TRACE_MAX_SOURCES) +
                   ETRACE_SB_RAM_TAIL + ETRACE_SB_RAM_SUM_SIZE];
    g_autofree uint8_t *last = g_malloc(ETRACE_SB_RAM_SUMMED);
    RISCVTraceSession *session = &s->replicator->session;
    size_t most, len, tail;

    WITH_QEMU_LOCK_GUARD(&s->lock) {
        const RISCVTraceRing *ring = riscv_trace_ram_current(s);

        if (s->bytes == s->announced) {
            return;
        }
        most = MIN(s->bytes - s->announced, ETRACE_SB_RAM_SUMMED);
        s->announced = s->bytes;
        len = riscv_trace_ram_tail(s, last, MAX(most, ETRACE_SB_RAM_TAIL));
        most = MIN(most, len);
        tail = MIN(len, ETRACE_SB_RAM_TAIL);
        len = etrace_sb_pack_ram(record, &(ETraceSbRam) {
            .bytes = s->bytes,
            .start = ring->start,
            .limit = ring->limit,
            .wp = ring->wp,
            .wrapped = ring->wrapped,
            .summed = most,
            .sum = etrace_sb_sum(last + len - most, most),
        }, s->hart < 0 ? ETRACE_SB_ALL_HARTS : s->hart, s->packets,
        session->num_sources, last + len - tail, tail);
    }
    riscv_trace_session_put(session, record, len);
}

/*
 * RISCVTraceOutputOps
 */

static bool riscv_trace_ram_enabled(RISCVTraceOutput *out)
{
    return qatomic_read(&container_of(out, RISCVTraceRAM, output)->storing);
}

static bool riscv_trace_ram_ready(RISCVTraceOutput *out)
{
    RISCVTraceRAM *s = container_of(out, RISCVTraceRAM, output);

    return qatomic_read(&s->storing) || qatomic_read(&s->stopped);
}

/* True if code was translated from where the next @len bytes go. */
static bool riscv_trace_ram_hits_code(RISCVTraceRAM *s, size_t len)
{
    const RISCVTraceRing *ring = riscv_trace_ram_current(s);
    uint64_t room = ring->limit + RISCV_TRACE_RAM_WORD - ring->wp;
    size_t n = MIN(room, len);

    return riscv_trace_memory_look(&s->as, ring->wp, n) ==
           RISCV_TRACE_MEMORY_CODE ||
           (len > n && riscv_trace_memory_look(&s->as, ring->start, len - n) ==
            RISCV_TRACE_MEMORY_CODE);
}

static bool riscv_trace_ram_fits(RISCVTraceOutput *out, size_t len)
{
    RISCVTraceRAM *s = container_of(out, RISCVTraceRAM, output);

    QEMU_LOCK_GUARD(&s->lock);
    /* An alignment sequence may follow, a word may be waiting. */
    if (riscv_trace_ram_mode(s) == TR_RAM_MODE_SMEM &&
        riscv_trace_ram_hits_code(s, len + ETRACE_ALIGN_MAX +
                                     RISCV_TRACE_RAM_WORD)) {
        qatomic_set(&s->evicting, true);
        qemu_bh_schedule(s->bh);
        return false;
    }
    return true;
}

static bool riscv_trace_ram_put(RISCVTraceOutput *out, unsigned index,
                                const uint8_t *bytes, size_t len,
                                unsigned packets)
{
    RISCVTraceRAM *s = container_of(out, RISCVTraceRAM, output);
    uint64_t distance;

    QEMU_LOCK_GUARD(&s->lock);
    if (!s->storing) {
        return false;
    }
    if (!riscv_trace_ram_has_space(s, len)) {
        /* Packets are stored as a whole: idle up to the end, which stops. */
        const RISCVTraceRing *ring = riscv_trace_ram_current(s);

        riscv_trace_ram_idle(s, ring->limit + RISCV_TRACE_RAM_WORD -
                                ring->wp - s->fill);
        return false;
    }
    riscv_trace_ram_append(s, bytes, len);
    s->packets[index] += packets;
    distance = riscv_trace_ram_align_distance(s);
    if (distance && s->since_align >= distance) {
        riscv_trace_ram_align(s);
    }
    return true;
}

static bool riscv_trace_ram_room(RISCVTraceOutput *out)
{
    return !qatomic_read(&container_of(out, RISCVTraceRAM, output)->evicting);
}

static void riscv_trace_ram_begin(RISCVTraceOutput *out,
                                  const ETraceParams *params)
{
    RISCVTraceRAM *s = container_of(out, RISCVTraceRAM, output);

    QEMU_LOCK_GUARD(&s->lock);
    s->align_params = *params;
    s->bytes = 0;
    s->announced = 0;
    memset(s->packets, 0, sizeof(s->packets));
    riscv_trace_ram_align(s);
}

static void riscv_trace_ram_flush(RISCVTraceOutput *out)
{
    RISCVTraceRAM *s = container_of(out, RISCVTraceRAM, output);

    WITH_QEMU_LOCK_GUARD(&s->lock) {
        riscv_trace_ram_pad(s);
    }
    riscv_trace_ram_announce(s);
}

const RISCVTraceOutputOps riscv_trace_ram_output_ops = {
    .enabled = riscv_trace_ram_enabled,
    .ready = riscv_trace_ram_ready,
    .fits = riscv_trace_ram_fits,
    .put = riscv_trace_ram_put,
    .room = riscv_trace_ram_room,
    .begin = riscv_trace_ram_begin,
    .flush = riscv_trace_ram_flush,
};
