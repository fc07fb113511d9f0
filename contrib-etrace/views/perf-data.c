/*
 * perf.data: samples as a file of Linux' perf
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "perf-data.h"
#include "perf-format.h"
#include "perf-maps.h"
#include "view-file.h"

#define BUILD_ID_MAX 20
#define COMM_MAX 15
#define PROT_READ_EXEC 5
#define MAP_PRIVATE 2

typedef struct PerfData {
    const PerfDataOptions *o;
    PerfMaps *maps;
    GHashTable *named;      /* tid -> Task that perf was told of last */
    GByteArray *record;
    FILE *body;
    uint64_t size;          /* of the body */
} PerfData;

const PerfEvent perf_event_instructions = {
    PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions",
};

const PerfEvent perf_event_cpu_clock = {
    PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "cpu-clock",
};

static const PerfEvent *event_of(const PerfDataOptions *o)
{
    return o->event ?: &perf_event_instructions;
}

static const Task *task_of(const PerfData *p, const Sample *sample)
{
    return task_get(p->o->tasks, sample->task);
}

/* Nobody is a process, too: it has what is bare metal. */
static uint32_t pid_of(const Task *task)
{
    return task->id == TASK_NONE ? TASK_MADE_UP : task->tgid;
}

static uint32_t tid_of(const Task *task)
{
    return task->id == TASK_NONE ? TASK_MADE_UP : task->tid;
}

static void begin_record(PerfData *p, uint32_t type, uint16_t misc)
{
    g_byte_array_set_size(p->record, 0);
    view_put32(p->record, type);
    view_put16(p->record, misc);
    view_put16(p->record, 0);
}

static void end_record(PerfData *p)
{
    p->record->data[6] = p->record->len;
    p->record->data[7] = p->record->len >> 8;
    fwrite(p->record->data, 1, p->record->len, p->body);
    p->size += p->record->len;
}

/* What follows each record that is no sample: sample_id_all */
static void end_with_id(PerfData *p, uint32_t pid, uint32_t tid,
                        const Sample *sample)
{
    view_put32(p->record, pid);
    view_put32(p->record, tid);
    view_put64(p->record, sample ? sample->time : 0);
    view_put32(p->record, sample ? sample->hart : 0);
    view_put32(p->record, 0);
    end_record(p);
}

/*
 * Where in the kernel is what perf finds its symbols by; 0: not known
 */
static uint64_t kernel_text(const ObjectTable *objects)
{
    for (unsigned i = 0; i < object_table_size(objects); i++) {
        const Object *o = object_get(objects, i);
        unsigned n;
        const Symbol *s = symbols_all(o->symbols, &n);

        for (unsigned k = 0; o->kind == OBJECT_KERNEL && k < n; k++) {
            if (g_str_equal(s[k].linkage, "_text")) {
                return s[k].start;
            }
        }
    }
    return 0;
}

static void put_kernel_map(PerfData *p, const SpoolSummary *summary)
{
    uint64_t lo = summary->kernel_lo & ~0xfffull;
    uint64_t hi = summary->kernel_hi | 0xfff;
    uint64_t text = kernel_text(p->o->objects);

    if (summary->kernel_lo > summary->kernel_hi) {
        return;
    }
    if (text) {
        text += summary->kernel_bias;
        /* Before it had an address space of its own, it ran far below. */
        lo = text >> 63 ? text : MIN(lo, text);
    }
    begin_record(p, PERF_RECORD_MMAP, PERF_MISC_KERNEL);
    view_put32(p->record, UINT32_MAX);
    view_put32(p->record, 0);
    view_put64(p->record, lo);
    view_put64(p->record, hi - lo + 1);
    view_put64(p->record, text);
    view_put_string(p->record, "[kernel.kallsyms]_text", 8);
    end_with_id(p, UINT32_MAX, 0, NULL);
}

/* Returns how many bytes it has: 0 if there is none or if it is not one. */
static unsigned build_id_bytes(const Object *o, uint8_t *bytes)
{
    size_t len = o->build_id ? strlen(o->build_id) : 0;

    if (len % 2 || len / 2 > BUILD_ID_MAX) {
        return 0;
    }
    memset(bytes, 0, BUILD_ID_MAX);
    for (size_t i = 0; i < len; i++) {
        int digit = g_ascii_xdigit_value(o->build_id[i]);

        if (digit < 0) {
            return 0;
        }
        bytes[i / 2] |= digit << (i % 2 ? 0 : 4);
    }
    return len / 2;
}

/* The file as this machine knows it, since perf is to open it here */
static const char *file_name(const Object *o)
{
    return o->file ? o->file : o->path;
}

static void put_map(PerfData *p, const Object *o, const Segment *s,
                    uint64_t bias, const Sample *sample)
{
    const Task *task = task_of(p, sample);
    uint8_t id[BUILD_ID_MAX];
    unsigned len = build_id_bytes(o, id);

    begin_record(p, PERF_RECORD_MMAP2,
                 PERF_MISC_USER | (len ? PERF_MISC_MMAP_BUILD_ID : 0));
    view_put32(p->record, pid_of(task));
    view_put32(p->record, pid_of(task));
    view_put64(p->record, s->addr + bias);
    view_put64(p->record, s->size);
    view_put64(p->record, s->offset);
    if (len) {
        view_put32(p->record, len);
        g_byte_array_append(p->record, id, BUILD_ID_MAX);
    } else {
        /* major, minor; inode, which tells files apart; its generation */
        view_put32(p->record, 0);
        view_put32(p->record, 0);
        view_put64(p->record, o->id);
        view_put64(p->record, 0);
    }
    view_put32(p->record, PROT_READ_EXEC);
    view_put32(p->record, MAP_PRIVATE);
    view_put_string(p->record, file_name(o), 8);
    end_with_id(p, pid_of(task), tid_of(task), sample);
}

/* Modules are in the kernel's map, whoever runs. */
static void put_module(PerfData *p, const Object *o, const GArray *segments,
                       uint64_t bias, const Sample *sample)
{
    const Segment *first, *last;

    if (!segments->len) {
        return;
    }
    first = &g_array_index(segments, Segment, 0);
    last = &g_array_index(segments, Segment, segments->len - 1);
    begin_record(p, PERF_RECORD_MMAP, PERF_MISC_KERNEL);
    view_put32(p->record, UINT32_MAX);
    view_put32(p->record, 0);
    view_put64(p->record, first->addr + bias);
    view_put64(p->record, last->addr + last->size - first->addr);
    view_put64(p->record, 0);
    view_put_string(p->record, file_name(o), 8);
    end_with_id(p, UINT32_MAX, 0, sample);
}

static void see_addr(PerfData *p, const SampleAddr *a, const Sample *sample)
{
    const Object *o = object_get(p->o->objects, a->object);
    bool module = a->mode == SAMPLE_KERNEL && o->kind == OBJECT_MODULE;
    const GArray *segments;
    uint32_t pid;

    if (a->object == OBJECT_UNKNOWN || (a->mode != SAMPLE_USER && !module)) {
        return;
    }
    pid = module ? PERF_MAPS_KERNEL : pid_of(task_of(p, sample));
    segments = perf_maps_see(p->maps, pid, a->object, a->bias);
    if (!segments) {
        return;
    }
    if (module) {
        put_module(p, o, segments, a->bias, sample);
        return;
    }
    for (guint i = 0; i < segments->len; i++) {
        put_map(p, o, &g_array_index(segments, Segment, i), a->bias, sample);
    }
}

/*
 * perf keeps 15 characters of a name; the last words of longer ones tell more
 * than the first: they are made up, of the number of an address space.
 */
static const char *comm_of(const Task *task)
{
    const char *name = task->name, *space;

    while (strlen(name) > COMM_MAX && (space = strchr(name, ' '))) {
        name = space + 1;
    }
    return name;
}

static void see_task(PerfData *p, const Sample *sample)
{
    const Task *task = task_of(p, sample);
    gpointer tid = GUINT_TO_POINTER(tid_of(task));
    const Task *before = g_hash_table_lookup(p->named, tid);

    if (before == task) {
        return;
    }
    g_hash_table_insert(p->named, tid, (gpointer)task);
    begin_record(p, PERF_RECORD_COMM, before ? PERF_MISC_COMM_EXEC : 0);
    view_put32(p->record, pid_of(task));
    view_put32(p->record, tid_of(task));
    view_put_string(p->record, comm_of(task), 8);
    end_with_id(p, pid_of(task), tid_of(task), sample);
}

static void see_all(PerfData *p, const Sample *sample)
{
    see_task(p, sample);
    for (unsigned i = 0; i < sample->nr_chain; i++) {
        see_addr(p, &sample->chain[i], sample);
    }
    for (unsigned i = 0; i < sample->nr_branches; i++) {
        see_addr(p, &sample->branches[i].from, sample);
        see_addr(p, &sample->branches[i].to, sample);
    }
}

static void put_chain(PerfData *p, const Sample *sample)
{
    static const uint64_t contexts[] = {
        [SAMPLE_USER] = PERF_CONTEXT_USER,
        [SAMPLE_KERNEL] = PERF_CONTEXT_KERNEL,
        [SAMPLE_MONITOR] = PERF_CONTEXT_HV,
    };
    unsigned at = p->record->len;
    uint64_t n = 0;

    view_put64(p->record, 0);
    for (unsigned i = 0; i < sample->nr_chain; i++) {
        const SampleAddr *a = &sample->chain[i];

        if (!i || a->mode != a[-1].mode) {
            view_put64(p->record, contexts[a->mode]);
            n++;
        }
        view_put64(p->record, a->pc);
        n++;
    }
    p->record->data[at] = n;
}

/* The type of an exception's entry, with its new type where it has one */
static uint64_t exception_type(unsigned cause)
{
    static const uint8_t faults[] = {
        [0] = PERF_BR_NEW_FAULT_ALGN, [1] = PERF_BR_NEW_FAULT_INST,
        [4] = PERF_BR_NEW_FAULT_ALGN, [5] = PERF_BR_NEW_FAULT_DATA,
        [6] = PERF_BR_NEW_FAULT_ALGN, [7] = PERF_BR_NEW_FAULT_DATA,
        [12] = PERF_BR_NEW_FAULT_INST, [13] = PERF_BR_NEW_FAULT_DATA,
        [15] = PERF_BR_NEW_FAULT_DATA, [20] = PERF_BR_NEW_FAULT_INST,
        [21] = PERF_BR_NEW_FAULT_DATA, [23] = PERF_BR_NEW_FAULT_DATA,
    };

    switch (cause) {
    case 8 ... 11:                      /* ecall from U, S, VS, M */
        return PERF_BR_SYSCALL;
    case 0: case 1: case 4 ... 7:       /* misaligned, access faults */
    case 12: case 13: case 15:          /* page faults */
    case 20: case 21: case 23:          /* guest-page faults */
        return PERF_BR_EXTEND_ABI | (uint64_t)faults[cause] <<
               (PERF_BRANCH_NEW_TYPE_SHIFT - PERF_BRANCH_TYPE_SHIFT);
    default:
        return PERF_BR_UNKNOWN;
    }
}

uint64_t perf_branch_flags(const SampleBranch *b)
{
    static const uint8_t types[16] = {
        [ETRACE_ITYPE_INTERRUPT] = PERF_BR_IRQ,
        [ETRACE_ITYPE_TRAP_RETURN] = PERF_BR_ERET,
        [ETRACE_ITYPE_TAKEN_BRANCH] = PERF_BR_COND,
        [ETRACE_ITYPE_UNINFERABLE_CALL] = PERF_BR_IND_CALL,
        [ETRACE_ITYPE_INFERABLE_CALL] = PERF_BR_CALL,
        [ETRACE_ITYPE_UNINFERABLE_JUMP] = PERF_BR_IND,
        [ETRACE_ITYPE_INFERABLE_JUMP] = PERF_BR_UNCOND,
        [ETRACE_ITYPE_COROUTINE_SWAP] = PERF_BR_IND,
        [ETRACE_ITYPE_RETURN] = PERF_BR_RET,
        [ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP] = PERF_BR_IND,
        [ETRACE_ITYPE_OTHER_INFERABLE_JUMP] = PERF_BR_UNCOND,
    };
    static const uint8_t privs[] = {
        [SAMPLE_USER] = PERF_BR_PRIV_USER,
        [SAMPLE_KERNEL] = PERF_BR_PRIV_KERNEL,
        [SAMPLE_MONITOR] = PERF_BR_PRIV_HV,
    };
    uint64_t type = b->itype == ETRACE_ITYPE_EXCEPTION ?
                    exception_type(b->cause) : types[b->itype & 15];

    return (uint64_t)b->cycles << PERF_BRANCH_CYCLES_SHIFT |
           type << PERF_BRANCH_TYPE_SHIFT |
           (uint64_t)privs[b->to.mode] << PERF_BRANCH_PRIV_SHIFT;
}

static void put_branches(PerfData *p, const Sample *sample)
{
    view_put64(p->record, sample->nr_branches);
    for (unsigned i = 0; i < sample->nr_branches; i++) {
        const SampleBranch *b = &sample->branches[i];

        view_put64(p->record, b->from.pc);
        view_put64(p->record, b->to.pc);
        view_put64(p->record, perf_branch_flags(b));
    }
}

static void put_sample(void *opaque, const Sample *sample)
{
    static const uint16_t modes[] = {
        [SAMPLE_USER] = PERF_MISC_USER,
        [SAMPLE_KERNEL] = PERF_MISC_KERNEL,
        [SAMPLE_MONITOR] = PERF_MISC_HYPERVISOR,
    };
    PerfData *p = opaque;
    const Task *task = task_of(p, sample);

    see_all(p, sample);
    begin_record(p, PERF_RECORD_SAMPLE,
                 modes[sample->chain[0].mode] | PERF_MISC_EXACT_IP);
    view_put64(p->record, sample->chain[0].pc);
    view_put32(p->record, pid_of(task));
    view_put32(p->record, tid_of(task));
    view_put64(p->record, sample->time);
    view_put32(p->record, sample->hart);
    view_put32(p->record, 0);
    view_put64(p->record, sample->period);
    if (!p->o->no_chains) {
        put_chain(p, sample);
    }
    put_branches(p, sample);
    end_record(p);
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

static void put_build_ids(GByteArray *b, const PerfData *p)
{
    for (unsigned i = 1; i < object_table_size(p->o->objects); i++) {
        const Object *o = object_get(p->o->objects, i);
        bool kernel = o->kind == OBJECT_KERNEL;
        uint8_t id[BUILD_ID_MAX];
        unsigned len = build_id_bytes(o, id), at = b->len;

        if (!len || (!kernel && !perf_maps_seen(p->maps, i))) {
            continue;
        }
        view_put32(b, 0);
        view_put16(b, (kernel || o->kind == OBJECT_MODULE ?
                       PERF_MISC_KERNEL : PERF_MISC_USER) |
                      PERF_MISC_BUILD_ID_SIZE);
        view_put16(b, 0);
        view_put32(b, UINT32_MAX);                  /* the host's */
        g_byte_array_append(b, id, BUILD_ID_MAX);
        view_put32(b, len);
        view_put_string(b, kernel ? "[kernel.kallsyms]" : file_name(o),
                        PERF_NAME_ALIGN);
        b->data[at + 6] = b->len - at;
        b->data[at + 7] = (b->len - at) >> 8;
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
        put_build_ids(b, p);
        break;
    case PERF_HEADER_ARCH:
        put_name(b, "riscv64");
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

static void write_header(const PerfData *p, FILE *f)
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
static void write_features(const PerfData *p, const SpoolSummary *summary,
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

bool perf_data_write(Spool **spools, unsigned n, const PerfDataOptions *o,
                     FILE *f, GError **errp)
{
    SpoolSummary summary = spool_summary(spools, n);
    PerfData p = { .o = o, .body = view_temporary(errp) };
    bool ok;

    if (!p.body) {
        return false;
    }
    p.maps = perf_maps_new(o->objects);
    p.named = g_hash_table_new(NULL, NULL);
    p.record = g_byte_array_new();
    put_kernel_map(&p, &summary);
    ok = spool_merge(spools, n, put_sample, &p, errp);
    write_header(&p, f);
    if (ok && !view_copy(p.body, f)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
                    "no room in the folder of temporary files (TMPDIR), or "
                    "for the result");
        ok = false;
    }
    write_features(&p, &summary, f);
    perf_maps_free(p.maps);
    g_hash_table_unref(p.named);
    g_byte_array_unref(p.record);
    fclose(p.body);
    return ok;
}
