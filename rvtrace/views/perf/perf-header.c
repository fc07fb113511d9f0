/*
 * perf.data: what stands before the records, and the features behind them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "elf/build-id.h"
#include "views/perf/perf-data-private.h"
#include "base/perf-format.h"
#include "views/perf/view-file.h"

const PerfEvent perf_event_instructions = {
    PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions",
};

const PerfEvent perf_event_cpu_clock = {
    PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "cpu-clock",
};

unsigned perf_build_id(const Object *o, uint8_t *bytes)
{
    uint8_t all[BUILD_ID_MAX] = { 0 };
    size_t len = build_id_bytes(o->build_id, all);

    memcpy(bytes, all, PERF_BUILD_ID_SIZE);
    return len <= PERF_BUILD_ID_SIZE ? len : 0;
}

const char *perf_file_name(const Object *o)
{
    return o->file ? o->file : o->path;
}

static const PerfEvent *event_of(const PerfDataOptions *o)
{
    return o->event ?: &perf_event_instructions;
}

/* struct perf_event_attr, as of PERF_ATTR_SIZE_VER5 */
static void put_attr(GByteArray *b, const PerfDataOptions *o)
{
    unsigned start = b->len;

    view_put32(b, event_of(o)->type);
    view_put32(b, PERF_ATTR_SIZE_VER5);
    view_put64(b, event_of(o)->config);
    view_put64(b, o->period);
    view_put64(b, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                  (o->no_chains ? 0 : PERF_SAMPLE_CALLCHAIN) |
                  PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                  PERF_SAMPLE_BRANCH_STACK);
    view_put64(b, 0);                               /* read_format */
    view_put64(b, PERF_ATTR_MMAP | PERF_ATTR_COMM | PERF_ATTR_TASK |
                  PERF_ATTR_SAMPLE_ID_ALL | PERF_ATTR_MMAP2 |
                  PERF_ATTR_COMM_EXEC);
    view_put32(b, 0);                               /* wakeup_events */
    view_put32(b, 0);                               /* bp_type */
    view_put64(b, 0);                               /* config1 */
    view_put64(b, 0);                               /* config2 */
    view_put64(b, (o->filtered ? PERF_SAMPLE_BRANCH_SOME :
                                 PERF_SAMPLE_BRANCH_ANY) |
                  PERF_SAMPLE_BRANCH_TYPE_SAVE);
    while (b->len < start + PERF_ATTR_SIZE_VER5) {
        view_put32(b, 0);
    }
}

/* A string of a feature: its length, then so many bytes */
static void put_name(GByteArray *b, const char *name)
{
    unsigned at = b->len;

    view_put32(b, 0);
    view_put_string(b, name, PERF_NAME_ALIGN);
    b->data[at] = b->len - at - 4;
    b->data[at + 1] = (b->len - at - 4) >> 8;
    b->data[at + 2] = (b->len - at - 4) >> 16;
}

/*
 * The kernel that perf is to find by its build-id, since it takes its own
 * machine's else: the one that ran, or NULL if that has none
 */
static const Object *kernel_of(const ObjectTable *objects,
                               const SpoolSummary *summary)
{
    const Object *best = NULL;

    for (unsigned i = 1; i < object_table_size(objects); i++) {
        const Object *o = object_get(objects, i);

        if (o->kind == OBJECT_KERNEL && o->build_id &&
            (!best || summary->kernel_object == i)) {
            best = o;
        }
    }
    return best;
}

static void put_build_id(GByteArray *b, const Object *o, uint16_t misc,
                         const char *name)
{
    uint8_t id[PERF_BUILD_ID_SIZE];
    unsigned len = perf_build_id(o, id), at = b->len;

    if (!len) {
        return;
    }
    view_put32(b, 0);
    view_put16(b, misc | PERF_MISC_BUILD_ID_SIZE);
    view_put16(b, 0);
    view_put32(b, UINT32_MAX);                      /* the host's */
    g_byte_array_append(b, id, PERF_BUILD_ID_SIZE);
    view_put32(b, len);
    view_put_string(b, name, PERF_NAME_ALIGN);
    b->data[at + 6] = b->len - at;
    b->data[at + 7] = (b->len - at) >> 8;
}

static void put_build_ids(GByteArray *b, const PerfData *p,
                          const SpoolSummary *summary)
{
    const Object *kernel = kernel_of(p->o->objects, summary);

    if (kernel) {
        put_build_id(b, kernel, PERF_MISC_KERNEL, "[kernel.kallsyms]");
    }
    for (unsigned i = 1; i < object_table_size(p->o->objects); i++) {
        const Object *o = object_get(p->o->objects, i);

        if (o->kind != OBJECT_KERNEL && perf_maps_seen(p->maps, i)) {
            put_build_id(b, o, o->kind == OBJECT_MODULE ? PERF_MISC_KERNEL :
                                                          PERF_MISC_USER,
                         perf_file_name(o));
        }
    }
}

static void put_command(GByteArray *b, const PerfData *p)
{
    const char *const *words = p->o->command;
    unsigned n = 0;

    while (words && words[n]) {
        n++;
    }
    view_put32(b, n);
    for (unsigned i = 0; i < n; i++) {
        put_name(b, words[i]);
    }
}

static void put_event_desc(GByteArray *b, const PerfData *p)
{
    view_put32(b, 1);
    view_put32(b, PERF_ATTR_SIZE_VER5);
    put_attr(b, p->o);
    view_put32(b, 0);                               /* ids */
    put_name(b, event_of(p->o)->name);
}

static void put_feature(GByteArray *b, unsigned feature, const PerfData *p,
                        const SpoolSummary *summary)
{
    switch (feature) {
    case PERF_HEADER_BUILD_ID:
        put_build_ids(b, p, summary);
        break;
    case PERF_HEADER_ARCH:
        put_name(b, p->o->arch ?: "riscv64");
        break;
    case PERF_HEADER_NRCPUS:
        view_put32(b, p->o->nr_harts);
        view_put32(b, p->o->nr_harts);
        break;
    case PERF_HEADER_CMDLINE:
        put_command(b, p);
        break;
    case PERF_HEADER_EVENT_DESC:
        put_event_desc(b, p);
        break;
    case PERF_HEADER_SAMPLE_TIME:
        view_put64(b, summary->first);
        view_put64(b, summary->last);
        break;
    }
}

/* By number, as the file has them */
static const unsigned features[] = {
    PERF_HEADER_BUILD_ID, PERF_HEADER_ARCH, PERF_HEADER_NRCPUS,
    PERF_HEADER_CMDLINE, PERF_HEADER_EVENT_DESC, PERF_HEADER_BRANCH_STACK,
    PERF_HEADER_SAMPLE_TIME,
};

#define ATTR_ENTRY_SIZE (PERF_ATTR_SIZE_VER5 + 16)

void perf_write_header(const PerfData *p, FILE *f)
{
    g_autoptr(GByteArray) b = g_byte_array_new();
    uint64_t bits[PERF_HEADER_FEAT_BITS / 64] = { 0 };

    g_byte_array_append(b, (const guint8 *)PERF_MAGIC, 8);
    view_put64(b, PERF_FILE_HEADER_SIZE);
    view_put64(b, ATTR_ENTRY_SIZE);
    view_put64(b, PERF_FILE_HEADER_SIZE);           /* attrs */
    view_put64(b, ATTR_ENTRY_SIZE);
    view_put64(b, PERF_FILE_HEADER_SIZE + ATTR_ENTRY_SIZE);     /* data */
    view_put64(b, p->size);
    view_put64(b, 0);                               /* event_types */
    view_put64(b, 0);
    for (unsigned i = 0; i < ARRAY_SIZE(features); i++) {
        bits[features[i] / 64] |= 1ull << features[i] % 64;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(bits); i++) {
        view_put64(b, bits[i]);
    }
    assert(b->len == PERF_FILE_HEADER_SIZE);
    put_attr(b, p->o);
    view_put64(b, 0);                               /* ids */
    view_put64(b, 0);
    fwrite(b->data, 1, b->len, f);
}

/* Behind the data: where each feature is and how long, then each one */
void perf_write_features(const PerfData *p, const SpoolSummary *summary,
                         FILE *f)
{
    g_autoptr(GByteArray) table = g_byte_array_new();
    g_autoptr(GByteArray) b = g_byte_array_new();
    uint64_t start = PERF_FILE_HEADER_SIZE + ATTR_ENTRY_SIZE + p->size +
                     ARRAY_SIZE(features) * 16;

    for (unsigned i = 0; i < ARRAY_SIZE(features); i++) {
        unsigned at = b->len;

        put_feature(b, features[i], p, summary);
        view_put64(table, start + at);
        view_put64(table, b->len - at);
    }
    fwrite(table->data, 1, table->len, f);
    fwrite(b->data, 1, b->len, f);
}
