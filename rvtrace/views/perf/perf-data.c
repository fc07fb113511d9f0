/*
 * perf.data: samples as a file of Linux' perf
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <errno.h>
#include <gio/gio.h>
#include "views/perf/perf-data-private.h"
#include "base/perf-format.h"
#include "views/perf/view-file.h"

#define COMM_MAX 15
#define PROT_READ_EXEC 5
#define PERF_MAP_PRIVATE 2

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

static void put_map(PerfData *p, const Object *o, const Segment *s,
                    uint64_t bias, const Sample *sample)
{
    const Task *task = task_of(p, sample);
    uint8_t id[PERF_BUILD_ID_SIZE];
    unsigned len = perf_build_id(o, id);

    begin_record(p, PERF_RECORD_MMAP2,
                 PERF_MISC_USER | (len ? PERF_MISC_MMAP_BUILD_ID : 0));
    view_put32(p->record, pid_of(task));
    view_put32(p->record, pid_of(task));
    view_put64(p->record, s->addr + bias);
    view_put64(p->record, s->size);
    view_put64(p->record, s->offset);
    if (len) {
        view_put32(p->record, len);
        g_byte_array_append(p->record, id, PERF_BUILD_ID_SIZE);
    } else {
        /* major, minor; inode, which distinguishes files; its generation */
        view_put32(p->record, 0);
        view_put32(p->record, 0);
        view_put64(p->record, o->id);
        view_put64(p->record, 0);
    }
    view_put32(p->record, PROT_READ_EXEC);
    view_put32(p->record, PERF_MAP_PRIVATE);
    view_put_string(p->record, perf_file_name(o), 8);
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
    view_put_string(p->record, perf_file_name(o), 8);
    end_with_id(p, UINT32_MAX, 0, sample);
}

static void see_addr(PerfData *p, const SampleAddr *a, const Sample *sample)
{
    const Object *o = object_get(p->o->objects, a->object);
    bool module = a->mode == SAMPLE_KERNEL && o->kind == OBJECT_MODULE;
    const GArray *segments;
    uint32_t pid;

    if (o->kind == OBJECT_NONE || (a->mode != SAMPLE_USER && !module)) {
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
 * perf keeps 15 characters of a name; the last words of longer ones say more
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

/* FORK and EXIT; of whom is not known but of threads */
static void put_task(PerfData *p, uint32_t type, const Task *task,
                     uint32_t parent, const Sample *sample)
{
    begin_record(p, type, 0);
    view_put32(p->record, pid_of(task));
    view_put32(p->record, parent);
    view_put32(p->record, tid_of(task));
    view_put32(p->record, parent);
    view_put64(p->record, sample->time);
    end_with_id(p, pid_of(task), tid_of(task), sample);
}

static bool is_thread(const Task *task)
{
    return task_is_known(task) && task->tid != task->tgid;
}

static void see_task(PerfData *p, const Sample *sample)
{
    const Task *task = task_of(p, sample);
    gpointer tid = GUINT_TO_POINTER(tid_of(task));
    const Task *before = g_hash_table_lookup(p->named, tid);
    /* A thread that runs another program becomes its process' first one. */
    bool exec = before && !is_thread(task);

    if (before == task) {
        return;
    }
    g_hash_table_insert(p->named, tid, (gpointer)task);
    if (!before && is_thread(task)) {
        /* Which of its threads made it is not known; perf asks for one. */
        put_task(p, PERF_RECORD_FORK, task, task->tgid, sample);
    }
    begin_record(p, PERF_RECORD_COMM, exec ? PERF_MISC_COMM_EXEC : 0);
    view_put32(p->record, pid_of(task));
    view_put32(p->record, tid_of(task));
    view_put_string(p->record, comm_of(task), 8);
    end_with_id(p, pid_of(task), tid_of(task), sample);
}

/* The sample was the last one of its thread. */
static void see_end(PerfData *p, const Sample *sample)
{
    const Task *task = task_of(p, sample);

    put_task(p, PERF_RECORD_EXIT, task, is_thread(task) ? task->tgid : 0,
             sample);
    g_hash_table_remove(p->named, GUINT_TO_POINTER(tid_of(task)));
    if (!is_thread(task)) {
        perf_maps_forget(p->maps, pid_of(task));
    }
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

    /*
     * Nothing predicts in QEMU. perf takes a branch without this bit for one
     * that was mispredicted, and says "predicted: 0.0 %".
     */
    return PERF_BRANCH_PREDICTED |
           (uint64_t)b->cycles << PERF_BRANCH_CYCLES_SHIFT |
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
    if (perf_lives_over(p->lives)) {
        see_end(p, sample);
    }
}

bool perf_data_write(Spool **spools, unsigned n, const PerfDataOptions *o,
                     FILE *f, GError **errp)
{
    SpoolSummary summary = spool_summary(spools, n);
    PerfData p = { .o = o };
    bool ok;

    p.lives = perf_lives_new(spools, n, o->tasks, o->ends, errp);
    if (!p.lives) {
        return false;
    }
    p.body = view_temporary(errp);
    if (!p.body) {
        perf_lives_free(p.lives);
        return false;
    }
    p.maps = perf_maps_new(o->objects);
    p.named = g_hash_table_new(NULL, NULL);
    p.record = g_byte_array_new();
    put_kernel_map(&p, &summary);
    ok = spool_merge(spools, n, put_sample, &p, errp);
    perf_write_header(&p, f);
    if (ok && !view_copy(p.body, f)) {
        g_set_error(errp, G_IO_ERROR, g_io_error_from_errno(errno),
                    "%s: %s", ferror(f) ? "cannot write the result" :
                    "the folder of temporary files (TMPDIR)",
                    g_strerror(errno));
        ok = false;
    }
    perf_write_features(&p, &summary, f);
    perf_maps_free(p.maps);
    perf_lives_free(p.lives);
    g_hash_table_unref(p.named);
    g_byte_array_unref(p.record);
    fclose(p.body);
    return ok;
}
