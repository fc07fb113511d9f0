/*
 * RISC-V trace: what a reader of the sideband gets, and where in the trace
 *
 * Packets lag behind retirement. Therefore whatever replaces something that a
 * hart's reader may still need is put behind a fence, at a TB boundary of the
 * hart, where its packet window is closed.
 *
 * Bytes that change concern every hart. CHANGE announces them; each hart's
 * PLACE says where in its packets that is. Whatever a hart adds to the stream
 * behind CHANGE its reader sees only behind its PLACE. Therefore the lock is
 * held from CHANGE until every other hart has been kicked, so that no TB which
 * is published later can run before its hart's PLACE; and a hart puts its
 * PLACE before it puts anything else.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/lockable.h"
#include "exec/tb-flush.h"
#include "hw/trace/etrace/sideband.h"
#include "hooks.h"
#include "internal.h"

/* Mostly less than a million instructions, from one record to the next */
#define RINGS_PER_REGS  256

#define SESSIONS    (1u << RISCV_TRACE_KEY_SESSION_BITS)

/* All there are. BQL */
static QLIST_HEAD(, RISCVTraceReader) readers = QLIST_HEAD_INITIALIZER(readers);

RISCVTraceReader *riscv_trace_reader_new(RISCVTraceRecordFn *put, void *opaque)
{
    RISCVTraceReader *reader = g_new0(RISCVTraceReader, 1);

    qemu_mutex_init(&reader->lock);
    reader->put = put;
    reader->opaque = opaque;
    reader->deaf = true;
    reader->pages = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL,
                                          g_free);
    QLIST_INSERT_HEAD(&readers, reader, next);
    return reader;
}

void riscv_trace_reader_free(RISCVTraceReader *reader)
{
    RISCVTraceHart *hart;

    QLIST_FOREACH(hart, &reader->harts, next) {
        hart->reader = NULL;
    }
    QLIST_REMOVE(reader, next);
    g_hash_table_destroy(reader->pages);
    qemu_mutex_destroy(&reader->lock);
    g_free(reader);
}

void riscv_trace_reader_record(RISCVTraceReader *reader, const uint8_t *record,
                               size_t len)
{
    if (!reader->deaf && !reader->put(reader->opaque, record, len)) {
        qatomic_set(&reader->deaf, true);
    }
}

void riscv_trace_reader_put(RISCVTraceReader *reader, const uint8_t *record,
                            size_t len)
{
    QEMU_LOCK_GUARD(&reader->lock);
    riscv_trace_reader_record(reader, record, len);
}

/* Sessions */

uint32_t riscv_trace_reader_session(const RISCVTraceReader *reader)
{
    return reader ? qatomic_read(&reader->session) : 0;
}

/*
 * The next session of any reader. Its lower bits are part of the key of its
 * TBs, which are found by every hart. So they are neither those of a session
 * that goes on nor of one whose TBs may be left, and not 0.
 */
static uint32_t next_session(void)
{
    static DECLARE_BITMAP(taken, SESSIONS);     /* BQL, as the next one */
    static uint32_t last;
    RISCVTraceReader *reader;

    set_bit(0, taken);
    if (find_first_zero_bit(taken, SESSIONS) == SESSIONS) {
        bitmap_zero(taken, SESSIONS);
        set_bit(0, taken);
        QLIST_FOREACH(reader, &readers, next) {
            set_bit(reader->session % SESSIONS, taken);
        }
        queue_tb_flush(first_cpu);
    }
    do {
        last++;
    } while (test_bit(last % SESSIONS, taken));
    set_bit(last % SESSIONS, taken);
    return last;
}

static void put_params(RISCVTraceReader *reader, unsigned index,
                       const ETraceParams *params, CPURISCVState *env)
{
    const RISCVCPUConfig *cfg = riscv_cpu_cfg(env);
    ETraceSbParams record = {
        .params = *params,
#ifdef CONFIG_USER_ONLY
        .mhartid = index,
#else
        .mhartid = env->mhartid,
#endif
        .isa = (cfg->ext_zcmp ? ETRACE_SB_ISA_ZCMP : 0) |
               (cfg->ext_zcmt ? ETRACE_SB_ISA_ZCMT : 0) |
               (cfg->ext_smmpm || cfg->ext_smnpm || cfg->ext_ssnpm ?
                ETRACE_SB_ISA_TAGS : 0),
    };
    uint8_t bytes[ETRACE_SB_HEADER_SIZE + ETRACE_SB_PARAMS_SIZE];

    riscv_trace_reader_record(reader, bytes,
                              etrace_sb_pack_params(bytes, index, &record));
}

static void add_hart(RISCVTraceReader *reader, CPUState *cs, unsigned index,
                     const ETraceParams *params)
{
    RISCVTraceHart *hart = riscv_trace_hart(cs);

    if (!hart->reader) {
        hart->reader = reader;
        QLIST_INSERT_HEAD(&reader->harts, hart, next);
    }
    /* What was announced before is of no use to the hart. */
    hart->change = reader->change;
    put_params(reader, index, params, cpu_env(cs));
}

void riscv_trace_reader_begin(RISCVTraceReader *reader, CPUState *const *harts,
                              const ETraceParams *params, unsigned nharts,
                              uint64_t trace_offset, bool deaf)
{
    ETraceSbSession record = {
        .major = ETRACE_SB_VERSION_MAJOR,
        .minor = ETRACE_SB_VERSION_MINOR,
        .harts = nharts,
#ifdef CONFIG_USER_ONLY
        .flags = ETRACE_SB_SESSION_PROCESS,
#endif
        .trace_offset = trace_offset,
    };
    uint8_t bytes[ETRACE_SB_HEADER_SIZE + ETRACE_SB_SESSION_SIZE];

    QEMU_LOCK_GUARD(&reader->lock);
    qatomic_set(&reader->session, next_session());
    qatomic_set(&reader->deaf, deaf);
    g_hash_table_remove_all(reader->pages);
    reader->n_ranges = 0;
    record.number = reader->session;
    riscv_trace_reader_record(reader, bytes,
                              etrace_sb_pack_session(bytes, &record));
    for (unsigned i = 0; i < nharts; i++) {
        if (harts[i]) {
            add_hart(reader, harts[i], i, &params[i]);
        }
    }
}

static void put_place(RISCVTraceReader *reader, unsigned index,
                      const ETraceSbPlace *place)
{
    uint8_t bytes[ETRACE_SB_HEADER_SIZE + ETRACE_SB_PLACE_SIZE];

    riscv_trace_reader_record(reader, bytes,
                              etrace_sb_pack_place(bytes, index, place));
}

void riscv_trace_reader_add(RISCVTraceReader *reader, CPUState *cs,
                            unsigned index, const ETraceParams *params,
                            const ETraceSbPlace *left)
{
    QEMU_LOCK_GUARD(&reader->lock);
    add_hart(reader, cs, index, params);
    if (left->id != reader->change) {
        /*
         * What was announced meanwhile holds from its first instruction on, and
         * not from the place of the next change, which counts for all before.
         */
        put_place(reader, index, &(ETraceSbPlace) {
            .id = reader->change,
            .packets = left->packets,
        });
    }
}

void riscv_trace_reader_end(RISCVTraceReader *reader)
{
    QEMU_LOCK_GUARD(&reader->lock);
    qatomic_set(&reader->deaf, true);
}

bool riscv_trace_has_reader(RISCVTraceHart *hart)
{
    return hart && hart->active && hart->reader &&
           !qatomic_read(&hart->reader->deaf) &&
           hart->session == riscv_trace_reader_session(hart->reader);
}

/* Places and fences */

/*
 * Everything that @hart retired so far has been put into packets; the reader
 * is to consume them before it reads on. In the hart's thread, between TBs.
 */
static uint64_t close_window(RISCVTraceHart *hart)
{
    uint64_t packets;
    bool can_do_io;

    riscv_trace_flush(hart);
    if (riscv_trace_key_is_sparse(cpu_env(hart->cs)->trace.key)) {
        /* A TB that is being looked up or translated has the old key. */
        cpu_exit(hart->cs);
    }
    riscv_trace_history_off(hart);
    can_do_io = riscv_trace_clock_begin(hart);
    packets = hart->ops->fence(hart->opaque);
    hart->fenced = packets;
    riscv_trace_clock_end(hart, can_do_io);
    return packets;
}

void riscv_trace_reader_place(RISCVTraceHart *hart)
{
    RISCVTraceReader *reader = hart->reader;
    ETraceSbPlace place;

    if (!reader || hart->change == qatomic_read_u64(&reader->change)) {
        return;
    }
    place.packets = close_window(hart);
    QEMU_LOCK_GUARD(&reader->lock);
    while (hart->change != reader->change) {
        place.id = ++hart->change;
        put_place(reader, hart->index, &place);
    }
}

RISCVTraceReader *riscv_trace_reader_lock(RISCVTraceHart *hart)
{
    RISCVTraceReader *reader = hart->reader;

    for (;;) {
        riscv_trace_reader_place(hart);
        qemu_mutex_lock(&reader->lock);
        if (hart->change == reader->change) {
            return reader;
        }
        qemu_mutex_unlock(&reader->lock);
    }
}

RISCVTraceReader *riscv_trace_reader_lock_behind_fence(RISCVTraceHart *hart)
{
    uint8_t bytes[ETRACE_SB_HEADER_SIZE + 8];
    uint64_t packets = close_window(hart);
    RISCVTraceReader *reader = riscv_trace_reader_lock(hart);

    riscv_trace_reader_record(reader, bytes,
                              etrace_sb_pack_fence(bytes, hart->index,
                                                   packets));
    return reader;
}

/* The reader's lock is not held. */
static void put_of_hart(RISCVTraceHart *hart, const uint8_t *record, size_t len)
{
    if (riscv_trace_has_reader(hart)) {
        riscv_trace_reader_put(hart->reader, record, len);
    }
}

void riscv_trace_reader_fence(CPUState *cs, uint64_t packets)
{
    RISCVTraceHart *hart = riscv_trace_hart(cs);
    uint8_t bytes[ETRACE_SB_HEADER_SIZE + 8];

    put_of_hart(hart, bytes, etrace_sb_pack_fence(bytes, hart->index, packets));
}

void riscv_trace_reader_resume(CPUState *cs, uint64_t packets)
{
    RISCVTraceHart *hart = riscv_trace_hart(cs);
    uint8_t bytes[ETRACE_SB_HEADER_SIZE + 8];

    if (packets == hart->fenced) {
        put_of_hart(hart, bytes,
                    etrace_sb_pack_gap(bytes, hart->index, packets));
    }
}

void riscv_trace_reader_registers(RISCVTraceHart *hart, bool amid)
{
    CPURISCVState *env = cpu_env(hart->cs);
    ETraceSbRegs record = {
        .pc = env->pc,
        .priv = riscv_trace_priv_now(env),
        .flags = (riscv_has_ext(env, RVF) ? ETRACE_SB_REGS_F : 0) |
                 (amid ? ETRACE_SB_REGS_AMID : 0) |
                 env->frm << ETRACE_SB_REGS_FRM_SHIFT,
    };
    uint8_t bytes[ETRACE_SB_HEADER_SIZE + ETRACE_SB_REGS_SIZE];
    RISCVTraceReader *reader;

    hart->rings = 0;
    if (!hart->config.data || !riscv_trace_has_reader(hart)) {
        return;
    }
    for (unsigned i = 0; i < 32; i++) {
        record.x[i] = env->gpr[i];
        record.f[i] = env->fpr[i];
    }
    reader = riscv_trace_reader_lock_behind_fence(hart);
    riscv_trace_reader_record(reader, bytes,
                              etrace_sb_pack_regs(bytes, hart->index,
                                                  &record));
    qemu_mutex_unlock(&reader->lock);
}

void riscv_trace_reader_ring(RISCVTraceHart *hart)
{
    if (hart->config.data && ++hart->rings >= RINGS_PER_REGS) {
        riscv_trace_reader_registers(hart, true);
    }
}
