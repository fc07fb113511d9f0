/*
 * RISC-V control transfer records: samples for the host
 *
 * A timer of virtual time looks at every hart that does not sleep: where it is,
 * and its last transfers. They come from the host's ring (host.c), or else from
 * the guest's own records. The samples wait in memory that is bounded until a
 * client of QMP fetches them; what finds no room is counted.
 *
 * A hart that runs is looked at in its own thread, between two translation
 * blocks, so that its pc and its records belong together. All state here is
 * protected by the BQL.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qapi/qapi-commands-riscv-ctr-sample.h"
#include "qapi/error.h"
#include "qemu/timer.h"
#include "host.h"
#include "ctr/ctr.h"
#include "ctr/cycles.h"
#include "ctr/internal.h"
#include "ctr/packed.h"
#include "ctr/tb-key.h"

#define PERIOD_MIN      1000            /* ns */
#define ENTRIES_DEFAULT 64
#define ENTRIES_MAX     2048
#define BUFFER_DEFAULT  (16u << 20)     /* bytes */
#define BUFFER_MAX      (1u << 30)
#define READ_MAX        (1u << 20)      /* bytes that one read fetches */

/* The client's format: qapi/misc-riscv.json, @RiscvCtrSamples */
#define HEAD_SIZE       48
#define ENTRY_SIZE      24
#define SAMPLE_STACK    0x1             /* entries are those of RASEMU */
#define SAMPLE_FILTERED 0x2             /* transfers have been left out */
#define SAMPLE_GUEST    0x4             /* the guest's records */
#define MODE_KNOWN      0x80
#define MODE_VIRT       0x04
#define ENTRY_NOT_TRIED 0x1

typedef struct Sampler {
    QEMUTimer *timer;                   /* NULL: never started */
    bool running;
    uint64_t period, next;              /* ns */
    uint32_t entries;                   /* of a sample, at most */
    uint64_t room;                      /* bytes of @data, at most */
    GByteArray *data;                   /* whole samples, the oldest first */
    uint32_t samples;                   /* in @data */
    uint64_t lost, late, idle;
} Sampler;

static Sampler sampler;

static void put(GByteArray *b, uint64_t value, unsigned bytes)
{
    uint8_t le[8];

    stq_le_p(le, value);
    g_byte_array_append(b, le, bytes);
}

static bool has_transfers(CPURISCVState *env)
{
    return env->ctr_host.entries || riscv_ctr_present(env);
}

static uint8_t mode(target_ulong priv, bool virt)
{
    return MODE_KNOWN | (virt ? MODE_VIRT : 0) | priv;
}

static void put_entry(GByteArray *b, CPURISCVState *env,
                      const RISCVCTREntry *e, uint8_t from_mode, uint8_t flags)
{
    uint32_t cycles = 0;

    if (!(flags & ENTRY_NOT_TRIED) && riscv_ctr_has_cycles(&env->ctr)) {
        cycles = riscv_ctr_cycles_encode(e->cycles);
    }
    put(b, e->source & ~(uint64_t)CTRSOURCE_VALID, 8);
    put(b, e->target, 8);
    put(b, cycles, 4);
    put(b, e->type & CTRDATA_TYPE_MASK, 1);
    put(b, from_mode, 1);
    put(b, flags, 2);
}

/*
 * From the ring. Only traps and their returns have the mode that they left;
 * what is before one of them was in that mode, too.
 */
static unsigned put_host(GByteArray *b, CPURISCVState *env)
{
    const RISCVCTRHost *h = &env->ctr_host;
    uint32_t ring = h->entries, n = 0;
    size_t head = h->head - h->ring;
    uint8_t now = mode(env->priv, env->virt_enabled);

    while (n < MIN(ring, sampler.entries)) {
        RISCVCTREntry e = h->ring[(head - n - 1) & (ring - 1)];

        riscv_ctr_unpack(&e);
        /* A reset, as the beginning of all, leads from nowhere. */
        if (!(e.source & CTRSOURCE_VALID) ||
            (e.type & RISCV_CTR_HOST_START) ||
            (e.type & CTRDATA_TYPE_MASK) == CTRDATA_TYPE_NONE) {
            break;
        }
        if (e.type & RISCV_CTR_HOST_MODE) {
            now = mode(extract64(e.type, RISCV_CTR_HOST_PRIV_SHIFT,
                                 RISCV_CTR_HOST_PRIV_BITS),
                       e.type & RISCV_CTR_HOST_VIRT);
        }
        /* cycles is something else in the ring */
        e.cycles = RISCV_CTR_CYCLES_INVALID;
        put_entry(b, env, &e, now,
                  e.type & (RISCV_CTR_HOST_NOT_TRIED | RISCV_CTR_HOST_FETCH)
                  ? ENTRY_NOT_TRIED : 0);
        n++;
    }
    return n;
}

/*
 * The guest's records, unless it does not record at present: nobody knows how
 * the hart got from the last one to where it is.
 */
static unsigned put_guest(GByteArray *b, CPURISCVState *env)
{
    RISCVCTRState *s = &env->ctr;
    unsigned n = 0;

    if (!(s->key & RISCV_CTR_KEY_ACTIVE)) {
        return 0;
    }
    while (n < MIN(riscv_ctr_depth(s), sampler.entries)) {
        RISCVCTREntry e = *riscv_ctr_entry(s, n);

        riscv_ctr_unpack(&e);
        if (!(e.source & CTRSOURCE_VALID)) {
            break;
        }
        put_entry(b, env, &e, 0, 0);
        n++;
    }
    return n;
}

/* What the guest's controls leave out: types of transfers, or modes */
static uint8_t guest_flags(CPURISCVState *env)
{
    uint64_t inhibited = XCTRCTL_EXCINH | XCTRCTL_INTRINH | XCTRCTL_TRETINH |
                         XCTRCTL_TKBRINH | XCTRCTL_INDCALLINH |
                         XCTRCTL_DIRCALLINH | XCTRCTL_INDJMPINH |
                         XCTRCTL_DIRJMPINH | XCTRCTL_CORSWAPINH |
                         XCTRCTL_RETINH | XCTRCTL_INDLJMPINH |
                         XCTRCTL_DIRLJMPINH;
    uint64_t ctl = env->ctr.mctrctl | env->ctr.vsctrctl;

    return SAMPLE_GUEST | (ctl & XCTRCTL_RASEMU ? SAMPLE_STACK : 0) |
           (ctl & inhibited ? SAMPLE_FILTERED : 0);
}

/* Where the present mode's addresses are translated: xatp, 0 if they are not */
static uint64_t space(CPURISCVState *env)
{
    return env->priv == PRV_M ? 0 : env->satp;
}

/* In the hart's thread, or where no hart runs */
static void take_sample(CPUState *cs, run_on_cpu_data unused)
{
    CPURISCVState *env = cpu_env(cs);
    GByteArray *b = sampler.data;
    guint at;
    unsigned n;
    bool host = env->ctr_host.entries;

    if (!sampler.running) {
        return;
    }
    if (cs->halted) {
        sampler.idle++;
        return;
    }
    if (b->len + HEAD_SIZE + (uint64_t)sampler.entries * ENTRY_SIZE >
        sampler.room) {
        sampler.lost++;
        return;
    }
    at = b->len;
    put(b, 0, 4);                       /* size, see below */
    put(b, env->mhartid, 4);
    put(b, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL), 8);
    put(b, riscv_cpu_mxl(env) == MXL_RV32 ? (uint32_t)env->pc : env->pc, 8);
    put(b, space(env), 8);
    put(b, sampler.period, 8);
    put(b, mode(env->priv, env->virt_enabled), 1);
    put(b, host ? 0 : guest_flags(env), 1);
    put(b, 0, 2);
    put(b, 0, 4);                       /* entries */
    n = host ? put_host(b, env) : put_guest(b, env);
    stl_le_p(b->data + at, b->len - at);
    stl_le_p(b->data + at + HEAD_SIZE - 4, n);
    sampler.samples++;
}

static void on_timer(void *opaque)
{
    uint64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    CPUState *cs;

    CPU_FOREACH(cs) {
        if (has_transfers(cpu_env(cs))) {
            async_run_on_cpu(cs, take_sample, RUN_ON_CPU_NULL);
        }
    }
    sampler.next += sampler.period;
    if (sampler.next <= now) {
        uint64_t missed = (now - sampler.next) / sampler.period + 1;

        sampler.late += missed;
        sampler.next += missed * sampler.period;
    }
    timer_mod(sampler.timer, sampler.next);
}

static bool check(uint64_t value, uint64_t min, uint64_t max, const char *what,
                  Error **errp)
{
    if (value >= min && value <= max) {
        return true;
    }
    error_setg(errp, "%s must be from %" PRIu64 " to %" PRIu64, what, min,
               max);
    return false;
}

void qmp_x_riscv_ctr_sample_start(uint64_t period, bool has_entries,
                                  uint32_t entries, bool has_buffer,
                                  uint64_t buffer, Error **errp)
{
    bool any = false;
    CPUState *cs;

    entries = has_entries ? entries : ENTRIES_DEFAULT;
    buffer = has_buffer ? buffer : BUFFER_DEFAULT;
    if (!check(period, PERIOD_MIN, INT64_MAX / 4, "period (ns)", errp) ||
        !check(entries, 1, ENTRIES_MAX, "entries", errp) ||
        !check(buffer, HEAD_SIZE + entries * ENTRY_SIZE, BUFFER_MAX, "buffer",
               errp)) {
        return;
    }
    CPU_FOREACH(cs) {
        any |= has_transfers(cpu_env(cs));
    }
    if (!any) {
        error_setg(errp, "no hart keeps its transfers: use -cpu ...,"
                   "ctr-host=4096, or smctr=on for a guest that records");
        return;
    }
    if (sampler.running) {
        error_setg(errp, "samples are taken already: "
                   "x-riscv-ctr-sample-stop ends that");
        return;
    }
    if (!sampler.timer) {
        /* The guest cannot see it, so that it is no matter of replay. */
        sampler.timer = timer_new_full(NULL, QEMU_CLOCK_VIRTUAL, SCALE_NS,
                                       QEMU_TIMER_ATTR_EXTERNAL, on_timer,
                                       NULL);
        sampler.data = g_byte_array_new();
    }
    g_byte_array_set_size(sampler.data, 0);
    sampler.samples = 0;
    sampler.lost = sampler.late = sampler.idle = 0;
    sampler.period = period;
    sampler.entries = entries;
    sampler.room = buffer;
    sampler.running = true;
    sampler.next = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + period;
    timer_mod(sampler.timer, sampler.next);
}

void qmp_x_riscv_ctr_sample_stop(Error **errp)
{
    if (!sampler.running) {
        error_setg(errp, "no samples are taken: x-riscv-ctr-sample-start "
                   "begins");
        return;
    }
    sampler.running = false;
    timer_del(sampler.timer);
}

RiscvCtrSamples *qmp_x_riscv_ctr_sample_read(Error **errp)
{
    RiscvCtrSamples *result;
    guint len = 0;
    uint32_t n = 0;

    if (!sampler.timer) {
        error_setg(errp, "no samples were taken: x-riscv-ctr-sample-start "
                   "begins");
        return NULL;
    }
    while (len < sampler.data->len) {
        uint32_t size = ldl_le_p(sampler.data->data + len);

        if (n && len + size > READ_MAX) {
            break;
        }
        len += size;
        n++;
    }
    result = g_new0(RiscvCtrSamples, 1);
    result->data = g_base64_encode(sampler.data->data, len);
    result->samples = n;
    sampler.samples -= n;
    result->left = sampler.samples;
    result->lost = sampler.lost;
    result->late = sampler.late;
    result->idle = sampler.idle;
    result->running = sampler.running;
    if (len) {
        g_byte_array_remove_range(sampler.data, 0, len);
    }
    return result;
}
