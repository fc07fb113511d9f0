/*
 * Samples of control transfers that QEMU took
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "samples/ctr-samples.h"
#include "etrace/etrace.h"
#include "base/little-endian.h"

#define HEAD_SIZE       48
#define ENTRY_SIZE      24
#define FLAG_STACK      0x1
#define FLAG_FILTERED   0x2
#define MODE_KNOWN      0x80
#define MODE_PRIV       0x03
#define CCV             (1u << 15)      /* ctrdata */
#define CC_MANTISSA     0xfffu
#define CC_EXPONENT(cc) ((cc) >> 28)
#define MAX_HARTS       4096
/* A cause of the kind that perf reports of an exception, which is: a fault */
#define CAUSE_FAULT     13

static void free_spool(gpointer spool)
{
    if (spool) {
        spool_free(spool);
    }
}

CtrSamples *ctr_samples_new(void)
{
    CtrSamples *c = g_new0(CtrSamples, 1);

    c->objects = object_table_new();
    c->tasks = task_table_new();
    c->spaces = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                      NULL);
    c->spools = g_ptr_array_new_with_free_func(free_spool);
    return c;
}

void ctr_samples_free(CtrSamples *c)
{
    g_ptr_array_unref(c->spools);
    g_hash_table_unref(c->spaces);
    task_table_free(c->tasks);
    object_table_free(c->objects);
    g_free(c);
}

/* Who runs is not known, but whose addresses these are */
static unsigned task_of(CtrSamples *c, uint64_t satp)
{
    const Task *task = satp ? g_hash_table_lookup(c->spaces, &satp) : NULL;
    g_autofree char *name = NULL;
    unsigned n;

    if (!satp) {
        return TASK_NONE;
    }
    if (!task) {
        n = g_hash_table_size(c->spaces) + 1;
        name = g_strdup_printf("space %u", n);
        task = task_intern(c->tasks, false, TASK_MADE_UP + n, TASK_MADE_UP + n,
                           name);
        g_hash_table_insert(c->spaces, g_memdup2(&satp, sizeof(satp)),
                            (gpointer)task);
    }
    return task->id;
}

static SampleAddr addr(uint64_t pc, uint8_t mode)
{
    static const SampleMode modes[] = {
        SAMPLE_USER, SAMPLE_KERNEL, SAMPLE_KERNEL, SAMPLE_MONITOR,
    };

    return (SampleAddr) {
        .pc = pc,
        .mode = modes[mode & MODE_PRIV],
    };
}

/* Where it is not known: Linux has the upper half. */
static uint8_t guess_mode(uint8_t mode, uint64_t pc, uint64_t at, uint8_t now)
{
    return mode & MODE_KNOWN ? mode : pc >> 63 == at >> 63 ? now :
           MODE_KNOWN | (pc >> 63 ? ETRACE_PRIV_S : ETRACE_PRIV_U);
}

/* CC is 4 bits of exponent and 12 of mantissa (6.3); perf has 16 bits. */
static uint16_t cycles_of(uint32_t data)
{
    unsigned exponent = CC_EXPONENT(data);
    uint64_t value = data >> 16 & CC_MANTISSA;

    if (!(data & CCV)) {
        return 0;
    }
    if (exponent) {
        value = (value | (CC_MANTISSA + 1)) << (exponent - 1);
    }
    return MIN(value, UINT16_MAX);
}

static void take_entries(const uint8_t *p, unsigned n, uint64_t pc,
                         uint8_t now, Sample *sample)
{
    uint8_t to_mode = now;

    sample->nr_branches = MIN(n, SAMPLE_MAX_BRANCHES);
    for (unsigned i = 0; i < sample->nr_branches; i++, p += ENTRY_SIZE) {
        uint64_t from = get_le(p, 8), to = get_le(p + 8, 8);
        uint8_t from_mode = guess_mode(p[21], from, pc, now);

        to_mode = i ? guess_mode(to_mode, to, pc, now) : now;
        sample->branches[i] = (SampleBranch) {
            .from = addr(from, from_mode),
            .to = addr(to, to_mode),
            .itype = p[20] & 15,
            .cause = CAUSE_FAULT,
            .cycles = cycles_of(get_le(p + 16, 4)),
        };
        to_mode = p[21];
    }
}

static Spool *spool_of(CtrSamples *c, unsigned hart, GError **errp)
{
    if (hart >= c->spools->len) {
        g_ptr_array_set_size(c->spools, hart + 1);
    }
    if (!c->spools->pdata[hart]) {
        c->spools->pdata[hart] = spool_new(errp);
    }
    return c->spools->pdata[hart];
}

static bool take_sample(CtrSamples *c, const uint8_t *p, unsigned n,
                        GError **errp)
{
    g_autofree Sample *sample = g_new0(Sample, 1);
    uint8_t flags = p[41], mode = p[40];
    uint64_t pc = get_le(p + 16, 8);
    Spool *spool;

    sample->hart = get_le(p + 4, 4);
    sample->time = get_le(p + 8, 8);
    sample->period = get_le(p + 32, 8);
    sample->task = task_of(c, get_le(p + 24, 8));
    sample->nr_chain = 1;
    sample->chain[0] = addr(pc, mode);
    if (flags & FLAG_STACK) {
        c->stacks++;
        return true;
    }
    c->filtered |= flags & FLAG_FILTERED;
    take_entries(p + HEAD_SIZE, n, pc, mode, sample);
    spool = spool_of(c, sample->hart, errp);
    if (!spool) {
        return false;
    }
    spool_put(spool, sample);
    c->first = c->samples ? MIN(c->first, sample->time) : sample->time;
    c->last = MAX(c->last, sample->time);
    c->samples++;
    c->entries += sample->nr_branches;
    return true;
}

bool ctr_samples_add(CtrSamples *c, const uint8_t *data, size_t size,
                     GError **errp)
{
    while (size) {
        uint64_t len = size < HEAD_SIZE ? 0 : get_le(data, 4);
        uint64_t n = len < HEAD_SIZE ? 0 : get_le(data + 44, 4);

        if (len < HEAD_SIZE || len > size ||
            n != (len - HEAD_SIZE) / ENTRY_SIZE ||
            len != HEAD_SIZE + n * ENTRY_SIZE ||
            get_le(data + 4, 4) >= MAX_HARTS) {
            g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                        "QEMU's samples make no sense; is it of the same "
                        "release as rvtrace?");
            return false;
        }
        if (!take_sample(c, data, n, errp)) {
            return false;
        }
        data += len;
        size -= len;
    }
    return true;
}

bool ctr_samples_write(const CtrSamples *c, uint64_t period, FILE *f,
                       GError **errp)
{
    static const char *const command[] = { "rvtrace", "ctr-sample", NULL };

    return perf_data_write((Spool **)c->spools->pdata, c->spools->len,
                           &(PerfDataOptions) {
        .objects = c->objects,
        .tasks = c->tasks,
        .nr_harts = c->spools->len,
        .period = period,
        .no_chains = true,
        .filtered = c->filtered,
        .event = &perf_event_cpu_clock,
        .command = command,
    }, f, errp);
}
