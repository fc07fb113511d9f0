/*
 * uftrace: what was called, as a folder of that tool
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/time/uftrace.h"
#include "views/perf/view-file.h"
#include "views/perf/view-folder.h"

/* struct uftrace_file_header */
#define MAGIC           "Ftrace!"
#define VERSION         4
#define HEADER_SIZE     40
#define LITTLE_ENDIAN_  1
#define ELF_CLASS_64    2
#define FEAT_TASK_SESSION   (1u << 1)
#define FEAT_SYM_REL_ADDR   (1u << 5)
#define FEAT_MAX_STACK      (1u << 6)
#define INFO_EXE_NAME       (1u << 0)
#define INFO_EXIT_STATUS    (1u << 2)
#define INFO_CMDLINE        (1u << 3)
#define INFO_TASKINFO       (1u << 7)

/* struct uftrace_record: type, magic, depth, address */
#define RECORD_ENTRY    0
#define RECORD_EXIT     1
#define RECORD_MAGIC    5
#define RECORD_MAGIC_SHIFT  3
#define RECORD_DEPTH_SHIFT  6
#define RECORD_ADDR_SHIFT   16
#define MAX_STACK       1024

#define NS_PER_SEC      1000000000
/* Records of a task that are collected before they are written */
#define CHUNK           65536
/* Made-up addresses: of the first module, and how far each is from the next */
#define MODULE_BASE     UINT64_C(0x100000000)
#define MODULE_STEP     UINT64_C(0x10000000)
#define FUNCTION_STEP   16
#define HART_TIDS       8388608
/* Idle tasks are all number 0, which is none to uftrace. */
#define IDLE_TID        (TASK_MADE_UP - 1)

/* Functions of an object, or frames of no object */
typedef struct Module {
    unsigned number;
    char *name;
    GPtrArray *functions;   /* names, not ours; by address */
    GHashTable *index;      /* name -> index + 1 */
} Module;

typedef struct Process {
    unsigned pid;
    char *name;
} Process;

/*
 * A file of records. A thread that runs another program, or takes another name,
 * is another task, whose clock begins at 0; the file has one clock for all.
 */
typedef struct Part Part;
typedef struct Writer {
    unsigned tid, pid;
    uint64_t time;              /* of the last record */
    Part *current;              /* whose that was */
    GByteArray *records;
} Writer;

/* What a task has in a Writer */
struct Part {
    Writer *w;
    uint64_t last;              /* by its own clock */
    GArray *open;               /* uint64_t: functions that it is in */
};

struct Uftrace {
    ViewFolder *folder;
    GPtrArray *modules;
    GHashTable *module_index;   /* name -> Module */
    GPtrArray *writers;
    GHashTable *by_tid;         /* the same */
    GPtrArray *parts;
    GArray *processes;          /* Process */
    GHashTable *pids;
    GStringChunk *names;
    /* uftrace_add_hart() */
    const Profile *p;
    GArray *addresses;          /* of p's frames; 0: none yet */
};

static void module_free(gpointer opaque)
{
    Module *m = opaque;

    g_free(m->name);
    g_ptr_array_unref(m->functions);
    g_hash_table_unref(m->index);
    g_free(m);
}

static void writer_free(gpointer opaque)
{
    Writer *w = opaque;

    g_byte_array_unref(w->records);
    g_free(w);
}

static void part_free(gpointer opaque)
{
    Part *part = opaque;

    g_array_unref(part->open);
    g_free(part);
}

Uftrace *uftrace_new(const char *path, GError **errp)
{
    ViewFolder *folder = view_folder_new(path, errp);
    Uftrace *u;

    if (!folder) {
        return NULL;
    }
    u = g_new0(Uftrace, 1);
    u->folder = folder;
    u->modules = g_ptr_array_new_with_free_func(module_free);
    u->module_index = g_hash_table_new(g_str_hash, g_str_equal);
    u->writers = g_ptr_array_new_with_free_func(writer_free);
    u->by_tid = g_hash_table_new(NULL, NULL);
    u->parts = g_ptr_array_new_with_free_func(part_free);
    u->processes = g_array_new(false, false, sizeof(Process));
    u->pids = g_hash_table_new(NULL, NULL);
    u->names = g_string_chunk_new(65536);
    u->addresses = g_array_new(false, true, sizeof(uint64_t));
    return u;
}

void uftrace_free(Uftrace *u)
{
    for (guint i = 0; i < u->processes->len; i++) {
        g_free(g_array_index(u->processes, Process, i).name);
    }
    view_folder_free(u->folder);
    g_hash_table_unref(u->module_index);
    g_ptr_array_unref(u->modules);
    g_ptr_array_unref(u->parts);
    g_hash_table_unref(u->by_tid);
    g_ptr_array_unref(u->writers);
    g_array_unref(u->processes);
    g_hash_table_unref(u->pids);
    g_string_chunk_free(u->names);
    g_array_unref(u->addresses);
    g_free(u);
}

/*
 * Modules have names like files, without blanks and brackets, and their
 * symbols are in a file named after the last part.
 */
static char *module_name(const Object *o)
{
    g_autofree char *base = NULL;

    if (!o) {
        return g_strdup("/traps");
    }
    base = g_strdup(o->name);
    g_strcanon(base, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._+-", '_');
    return o->id == OBJECT_UNKNOWN ? g_strdup("/unknown") :
           g_strdup_printf("/%u-%s", o->id, base);
}

static Module *module_of(Uftrace *u, const Object *o)
{
    g_autofree char *name = module_name(o);
    Module *m = g_hash_table_lookup(u->module_index, name);

    if (!m) {
        m = g_new0(Module, 1);
        m->number = u->modules->len;
        m->name = g_steal_pointer(&name);
        m->functions = g_ptr_array_new();
        m->index = g_hash_table_new(g_str_hash, g_str_equal);
        g_ptr_array_add(u->modules, m);
        g_hash_table_insert(u->module_index, m->name, m);
    }
    return m;
}

static uint64_t base_of(const Module *m)
{
    return MODULE_BASE + m->number * MODULE_STEP;
}

/* The made-up address of frame @i of u->p */
static uint64_t address_of(Uftrace *u, unsigned i)
{
    uint64_t *known = &g_array_index(u->addresses, uint64_t, i);
    const ProfileFrame *f = profile_frame(u->p, i);
    gpointer number;
    Module *m;

    if (*known) {
        return *known;
    }
    m = module_of(u, f->object);
    number = g_hash_table_lookup(m->index, f->name);
    if (!number) {
        char *name = g_string_chunk_insert(u->names, f->name);

        g_ptr_array_add(m->functions, name);
        number = GUINT_TO_POINTER(m->functions->len);
        g_hash_table_insert(m->index, name, number);
    }
    *known = base_of(m) + GPOINTER_TO_UINT(number) * FUNCTION_STEP;
    return *known;
}

static void flush(Uftrace *u, Writer *w)
{
    g_autofree char *name = g_strdup_printf("%u.dat", w->tid);
    FILE *f = view_folder_open(u->folder, name, "ab");

    if (f) {
        fwrite(w->records->data, 1, w->records->len, f);
        view_folder_close(u->folder, f);
    }
    g_byte_array_set_size(w->records, 0);
}

static unsigned number_of(unsigned tid, unsigned hart)
{
    return (tid ? tid : IDLE_TID) + hart * HART_TIDS;
}

static Writer *writer_of(Uftrace *u, const Task *task, unsigned hart)
{
    bool nobody = task->id == TASK_NONE;
    unsigned tid = number_of(nobody ? TASK_MADE_UP : task->tid, hart);
    Writer *w = g_hash_table_lookup(u->by_tid, GUINT_TO_POINTER(tid));
    Process process;

    if (w) {
        return w;
    }
    w = g_new0(Writer, 1);
    w->tid = tid;
    w->pid = number_of(nobody ? TASK_MADE_UP : task->tgid, hart);
    w->records = g_byte_array_new();
    g_ptr_array_add(u->writers, w);
    g_hash_table_insert(u->by_tid, GUINT_TO_POINTER(tid), w);
    process.pid = w->pid;
    if (g_hash_table_add(u->pids, GUINT_TO_POINTER(w->pid))) {
        process.name = g_strdup(task->name);
        g_strcanon(process.name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS
                   "._+-/", '_');
        g_array_append_val(u->processes, process);
    }
    return w;
}

/* Of a function that is called by those that @part is in */
static void put_record(Uftrace *u, const Part *part, unsigned type,
                       uint64_t addr)
{
    Writer *w = part->w;

    if (part->open->len >= MAX_STACK) {
        return;
    }
    view_put64(w->records, w->time);
    view_put64(w->records, type | RECORD_MAGIC << RECORD_MAGIC_SHIFT |
                           part->open->len << RECORD_DEPTH_SHIFT |
                           addr << RECORD_ADDR_SHIFT);
    if (w->records->len >= CHUNK) {
        flush(u, w);
    }
}

/* The task before this one has left everything, whatever it says later. */
static void leave_all(Uftrace *u, Part *part)
{
    while (part->open->len) {
        uint64_t addr = g_array_index(part->open, uint64_t,
                                      part->open->len - 1);

        g_array_set_size(part->open, part->open->len - 1);
        put_record(u, part, RECORD_EXIT, addr);
    }
}

/* The task's part, where it is @time now */
static Part *part_at(Uftrace *u, Track *track, uint64_t time)
{
    Part *part = track->opaque;
    Writer *w;

    if (!part) {
        track->opaque = part = g_new0(Part, 1);
        part->w = writer_of(u, track->task, track->hart);
        part->open = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        g_ptr_array_add(u->parts, part);
    }
    w = part->w;
    if (w->current && w->current != part) {
        leave_all(u, w->current);
    }
    w->current = part;
    w->time += MAX(time, part->last) - part->last;
    part->last = MAX(time, part->last);
    return part;
}

static void on_enter(void *opaque, Track *track, unsigned frame,
                     uint64_t time)
{
    Part *part = part_at(opaque, track, time);
    uint64_t addr = address_of(opaque, frame);

    put_record(opaque, part, RECORD_ENTRY, addr);
    g_array_append_val(part->open, addr);
}

static void on_leave(void *opaque, Track *track, unsigned frame,
                     uint64_t time)
{
    Part *part = track->opaque;

    /* What it was in when another task went on in its place has been left. */
    if (!part || !part->open->len) {
        return;
    }
    part = part_at(opaque, track, time);
    g_array_set_size(part->open, part->open->len - 1);
    put_record(opaque, part, RECORD_EXIT, address_of(opaque, frame));
}

bool uftrace_add_hart(Uftrace *u, Moments *m, unsigned hart,
                      const Profile *p, uint64_t end,
                      const TaskTable *tasks, uint64_t min_duration,
                      GError **errp)
{
    SpanOps ops = {
        .enter = on_enter, .leave = on_leave, .min_duration = min_duration,
    };
    g_autoptr(GPtrArray) tracks = tracks_new();

    u->p = p;
    g_array_set_size(u->addresses, 0);
    g_array_set_size(u->addresses, p->frames->len);
    if (!moments_spans(m, hart, p, end, tasks, tracks, &ops, u, errp)) {
        return false;
    }
    for (guint i = 0; i < u->writers->len; i++) {
        flush(u, u->writers->pdata[i]);
    }
    return view_folder_check(u->folder, errp);
}

static void write_info(Uftrace *u)
{
    g_autoptr(GByteArray) header = g_byte_array_new();
    FILE *f = view_folder_open(u->folder, "info", "wb");

    if (!f) {
        return;
    }
    view_put_string(header, MAGIC, 8);
    view_put32(header, VERSION);
    view_put16(header, HEADER_SIZE);
    view_put8(header, LITTLE_ENDIAN_);
    view_put8(header, ELF_CLASS_64);
    view_put64(header, FEAT_TASK_SESSION | FEAT_SYM_REL_ADDR |
                       FEAT_MAX_STACK);
    view_put64(header, INFO_EXE_NAME | INFO_EXIT_STATUS | INFO_CMDLINE |
                       INFO_TASKINFO);
    view_put16(header, MAX_STACK);
    view_put16(header, 0);
    view_put32(header, 0);
    assert(header->len == HEADER_SIZE);
    fwrite(header->data, 1, header->len, f);
    fprintf(f, "exename:rvtrace\nexit_status:0\ncmdline:rvtrace uftrace\n"
            "taskinfo:lines=2\ntaskinfo:nr_tid=%u\ntaskinfo:tids=",
            u->writers->len);
    for (guint i = 0; i < u->writers->len; i++) {
        const Writer *w = u->writers->pdata[i];

        fprintf(f, "%s%u", i ? "," : "", w->tid);
    }
    fputc('\n', f);
    view_folder_close(u->folder, f);
}

static void write_tasks(Uftrace *u)
{
    FILE *f = view_folder_open(u->folder, "task.txt", "w");

    if (!f) {
        return;
    }
    for (guint i = 0; i < u->processes->len; i++) {
        const Process *p = &g_array_index(u->processes, Process, i);

        fprintf(f, "SESS timestamp=0.000000000 pid=%u sid=%016x "
                "exename=\"/%s\"\n", p->pid, p->pid, p->name);
    }
    for (guint i = 0; i < u->writers->len; i++) {
        const Writer *w = u->writers->pdata[i];

        fprintf(f, "TASK timestamp=0.000000000 tid=%u pid=%u\n", w->tid,
                w->pid);
    }
    view_folder_close(u->folder, f);
}

/* uftrace takes what is above the stack for the kernel's. */
static void write_map(Uftrace *u, unsigned pid)
{
    g_autofree char *name = g_strdup_printf("sid-%016x.map", pid);
    FILE *f = view_folder_open(u->folder, name, "w");

    if (!f) {
        return;
    }
    for (guint i = 0; i < u->modules->len; i++) {
        const Module *m = u->modules->pdata[i];

        fprintf(f, "%012" PRIx64 "-%012" PRIx64 " r-xp 00000000 00:00 %u "
                "                      %s\n", base_of(m),
                base_of(m) + MODULE_STEP, i + 1, m->name);
    }
    fputs("7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 "
          "                      [stack]\n", f);
    view_folder_close(u->folder, f);
}

static void write_symbols(Uftrace *u, const Module *m)
{
    g_autofree char *name = g_strdup_printf("%s.sym", m->name + 1);
    FILE *f = view_folder_open(u->folder, name, "w");

    if (!f) {
        return;
    }
    fprintf(f, "# symbols: %u\n# path name: %s\n", m->functions->len,
            m->name);
    for (guint i = 0; i < m->functions->len; i++) {
        fprintf(f, "%016x T %s\n", (i + 1) * FUNCTION_STEP,
                (const char *)m->functions->pdata[i]);
    }
    fprintf(f, "%016x ? __sym_end\n",
            (m->functions->len + 1) * FUNCTION_STEP);
    view_folder_close(u->folder, f);
}

bool uftrace_finish(Uftrace *u, GError **errp)
{
    write_info(u);
    write_tasks(u);
    for (guint i = 0; i < u->processes->len; i++) {
        write_map(u, g_array_index(u->processes, Process, i).pid);
    }
    for (guint i = 0; i < u->modules->len; i++) {
        write_symbols(u, u->modules->pdata[i]);
    }
    return view_folder_finish(u->folder, errp);
}
