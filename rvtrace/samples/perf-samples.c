/*
 * Samples with branch stacks: what perf record -b wrote
 *
 * The file has the records of each CPU in pieces; they are put in order of
 * time here, so that each sample finds what its process had mapped then.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "etrace/etrace.h"
#include "base/little-endian.h"
#include "base/perf-file.h"
#include "samples/perf-samples.h"
#include "base/perf-format.h"

#define HEADER              PERF_FILE_RECORD_HEADER
#define ATTR_SIZE_MIN       80      /* with branch_sample_type */
#define RECORD_LOST         2
#define RECORD_LOST_SAMPLES 13
#define RECORD_COMPRESSED   81
#define RECORD_COMPRESSED2  83
#define MISC_MODE           7
#define MISC_MMAP_DATA      (1u << 13)
#define MAX_CPUS            4096

/* Of sample_type, in the order of a sample's fields */
#define SAMPLE_ADDR         (1u << 3)
#define SAMPLE_READ         (1u << 4)
#define SAMPLE_ID           (1u << 6)
#define SAMPLE_STREAM_ID    (1u << 9)
#define SAMPLE_RAW          (1u << 10)
#define BRANCH_CALL_STACK   (1u << 11)
#define BRANCH_HW_INDEX     (1u << 17)

#define invalid(errp, ...) \
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, __VA_ARGS__)

/* What of perf_event_attr decides how records look */
typedef struct Attr {
    uint32_t type;
    uint64_t config, sample_type, read_format, flags, branch_type;
} Attr;

/* A record and when it was made; by time, then by place in the file */
typedef struct Event {
    uint64_t time;
    const uint8_t *rec;
} Event;

typedef struct Reader {
    PerfFile file;
    Attr attr;
    bool has_attr;
    GArray *events;
    GHashTable *comms;      /* tid -> name */
    PerfSamples *out;
} Reader;

static bool parse_attr(const uint8_t *p, size_t size, Attr *attr)
{
    if (size < ATTR_SIZE_MIN) {
        return false;
    }
    *attr = (Attr) {
        .type = get_le(p, 4),
        .config = get_le(p + 8, 8),
        .sample_type = get_le(p + 24, 8),
        .read_format = get_le(p + 32, 8),
        .flags = get_le(p + 40, 8),
        .branch_type = get_le(p + 72, 8),
    };
    return true;
}

static bool has_branches(const uint8_t *p, size_t size)
{
    Attr attr;

    return parse_attr(p, size, &attr) &&
           (attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
}

bool perf_samples_in(const char *path, const uint8_t *data, size_t size)
{
    PerfFile f;
    size_t pos;
    const uint8_t *rec;

    if (!perf_file_is(data, size) ||
        !perf_file_open(&f, path, data, size, NULL)) {
        return false;
    }
    if (f.attrs_size) {
        return has_branches(data + f.attrs, f.attr_size);
    }
    for (pos = f.begin; (rec = perf_file_next(&f, &pos, NULL));) {
        if (get_le(rec, 4) == PERF_FILE_HEADER_ATTR) {
            return has_branches(rec + HEADER, get_le(rec + 6, 2) - HEADER);
        }
    }
    return false;
}

/* Only one layout of samples: which event each one is of does not matter. */
static bool take_attr(Reader *r, const uint8_t *p, size_t size, GError **errp)
{
    Attr attr;

    if (!parse_attr(p, size, &attr)) {
        invalid(errp, "%s: an event's attributes are damaged, or of a perf "
                "that is too old", r->file.path);
        return false;
    }
    if (!r->has_attr) {
        r->attr = attr;
        r->has_attr = true;
    } else if (attr.sample_type != r->attr.sample_type ||
               attr.branch_type != r->attr.branch_type ||
               attr.read_format != r->attr.read_format) {
        invalid(errp, "%s: its events were recorded in different ways; record "
                "one event at a time", r->file.path);
        return false;
    }
    return true;
}

static bool check_attr(const Reader *r, GError **errp)
{
    uint64_t need = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                    PERF_SAMPLE_BRANCH_STACK;

    if (!r->has_attr || (r->attr.sample_type & need) != need) {
        invalid(errp, "%s: this perf.data file has no branch stacks; did "
                "perf record have -b?", r->file.path);
        return false;
    }
    if (r->attr.branch_type & BRANCH_CALL_STACK) {
        invalid(errp, "%s: its branch stacks are call stacks (--call-graph "
                "lbr), which do not say what ran; use perf record -b",
                r->file.path);
        return false;
    }
    return true;
}

/* Takes the next @n bytes of a sample: NULL if there are less. */
static const uint8_t *take(const uint8_t **p, size_t *left, uint64_t n)
{
    const uint8_t *at = *p;

    if (n > *left) {
        return NULL;
    }
    *p += n;
    *left -= n;
    return at;
}

static uint64_t take_u64(const uint8_t **p, size_t *left, bool *ok)
{
    const uint8_t *at = take(p, left, 8);

    *ok &= at != NULL;
    return at ? get_le(at, 8) : 0;
}

/* read_format: GROUP is bit 3; ID and LOST are a word for each value */
static void skip_read(const Reader *r, const uint8_t **p, size_t *left,
                      bool *ok)
{
    uint64_t format = r->attr.read_format, n = 1;
    unsigned words = 1 + !!(format & 4) + !!(format & 16);

    if (format & 8) {
        n = take_u64(p, left, ok);
    }
    *ok &= take(p, left, 8 * !!(format & 1) + 8 * !!(format & 2)) != NULL;
    *ok &= n <= *left / 8 && take(p, left, n * words * 8);
}

static uint8_t priv_of(unsigned mode)
{
    switch (mode) {
    case 2: case 5:         /* user; of a guest of the guest */
        return ETRACE_PRIV_U;
    case 3:                 /* what is below */
        return ETRACE_PRIV_M;
    default:
        return ETRACE_PRIV_S;
    }
}

/* The fields of a sample in front of its chain */
static bool parse_head(const Reader *r, const uint8_t **p, size_t *left,
                       PerfSample *s)
{
    uint64_t type = r->attr.sample_type, v;
    bool ok = true;

    s->time = 0;
    if (type & PERF_SAMPLE_IDENTIFIER) {
        take_u64(p, left, &ok);
    }
    s->ip = take_u64(p, left, &ok);
    v = take_u64(p, left, &ok);
    s->pid = v;
    s->tid = v >> 32;
    if (type & PERF_SAMPLE_TIME) {
        s->time = take_u64(p, left, &ok);
    }
    if (type & SAMPLE_ADDR) {
        take_u64(p, left, &ok);
    }
    if (type & SAMPLE_ID) {
        take_u64(p, left, &ok);
    }
    if (type & SAMPLE_STREAM_ID) {
        take_u64(p, left, &ok);
    }
    s->cpu = type & PERF_SAMPLE_CPU ? take_u64(p, left, &ok) : 0;
    s->period = type & PERF_SAMPLE_PERIOD ? take_u64(p, left, &ok) : 1;
    if (type & SAMPLE_READ) {
        skip_read(r, p, left, &ok);
    }
    return ok;
}

/* False if the record makes no sense */
static bool parse_sample(const Reader *r, const uint8_t *rec, PerfSample *s)
{
    const uint8_t *p = rec + HEADER;
    size_t left = get_le(rec + 6, 2) - HEADER;
    uint64_t type = r->attr.sample_type, n;
    bool ok = true;

    *s = (PerfSample) { .priv = priv_of(get_le(rec + 4, 2) & MISC_MODE) };
    if (!parse_head(r, &p, &left, s) || s->cpu >= MAX_CPUS) {
        return false;
    }
    if (type & PERF_SAMPLE_CALLCHAIN) {
        n = take_u64(&p, &left, &ok);
        if (!ok || n > left / 8) {
            return false;
        }
        s->nr_chain = n;
        s->chain = take(&p, &left, n * 8);
    }
    if (type & SAMPLE_RAW) {
        const uint8_t *size = take(&p, &left, 4);

        if (!size || !take(&p, &left, get_le(size, 4))) {
            return false;
        }
    }
    n = take_u64(&p, &left, &ok);
    if (r->attr.branch_type & BRANCH_HW_INDEX) {
        take_u64(&p, &left, &ok);
    }
    if (!ok || n > left / 24) {
        return false;
    }
    s->nr_branches = n;
    s->branches = take(&p, &left, n * 24);
    return true;
}

PerfBranch perf_sample_branch(const PerfSample *s, unsigned i)
{
    const uint8_t *p = s->branches + 24 * (size_t)i;

    return (PerfBranch) { get_le(p, 8), get_le(p + 8, 8), get_le(p + 16, 8) };
}

/* When a record that is no sample was made: sample_id_all is at its end */
static uint64_t side_time(const Reader *r, const uint8_t *rec)
{
    uint64_t type = r->attr.sample_type;
    size_t size = get_le(rec + 6, 2), from_end = 0;

    if (!(r->attr.flags & PERF_ATTR_SAMPLE_ID_ALL) ||
        !(type & PERF_SAMPLE_TIME)) {
        return 0;
    }
    from_end = 8 + 8 * (!!(type & SAMPLE_ID) + !!(type & SAMPLE_STREAM_ID) +
                        !!(type & PERF_SAMPLE_CPU) +
                        !!(type & PERF_SAMPLE_IDENTIFIER));
    return size >= HEADER + from_end ? get_le(rec + size - from_end, 8) : 0;
}

/* The text at @offset of the record; NULL if it does not end there */
static const char *text(const uint8_t *rec, size_t offset)
{
    size_t size = get_le(rec + 6, 2);

    return offset < size && memchr(rec + offset, 0, size - offset) ?
           (const char *)rec + offset : NULL;
}

static void take_map(Reader *r, const uint8_t *rec, bool second)
{
    const uint8_t *p = rec + HEADER;
    const char *path = text(rec, second ? HEADER + 64 : HEADER + 32);
    uint64_t lo, len;

    /* PROT_EXEC; and the kernel's are not a process' */
    if (!path || (get_le(rec + 4, 2) & MISC_MODE) != PERF_MISC_USER ||
        (second ? !(get_le(p + 56, 4) & 4) :
                  get_le(rec + 4, 2) & MISC_MMAP_DATA)) {
        return;
    }
    lo = get_le(p + 8, 8);
    len = get_le(p + 16, 8);
    process_table_map(r->out->processes, get_le(p, 4), &(ProcessMap) {
        .lo = lo,
        .hi = lo + MIN(len, UINT64_MAX - lo),
        .offset = get_le(p + 24, 8),
        .path = path,
    });
}

static void take_comm(Reader *r, const uint8_t *rec)
{
    const char *name = text(rec, HEADER + 8);

    if (!name) {
        return;
    }
    g_hash_table_insert(r->comms,
                        GUINT_TO_POINTER(get_le(rec + HEADER + 4, 4)),
                        g_string_chunk_insert_const(r->out->comms, name));
    if (get_le(rec + 4, 2) & PERF_MISC_COMM_EXEC) {
        process_table_exec(r->out->processes, get_le(rec + HEADER, 4));
    }
}

static void take_fork(Reader *r, const uint8_t *rec)
{
    const uint8_t *p = rec + HEADER;
    gpointer comm;

    if (get_le(rec + 6, 2) < HEADER + 24) {
        return;
    }
    process_table_fork(r->out->processes, get_le(p, 4), get_le(p + 4, 4));
    comm = g_hash_table_lookup(r->comms, GUINT_TO_POINTER(get_le(p + 12, 4)));
    if (comm) {
        g_hash_table_insert(r->comms, GUINT_TO_POINTER(get_le(p + 8, 4)), comm);
    }
}

static bool take_sample(Reader *r, const uint8_t *rec, GError **errp)
{
    PerfSample s;

    if (!parse_sample(r, rec, &s)) {
        invalid(errp, "%s: the sample at byte %zu is damaged", r->file.path,
                (size_t)(rec - r->file.data));
        return false;
    }
    s.comm = g_hash_table_lookup(r->comms, GUINT_TO_POINTER(s.tid));
    s.maps = process_table_use(r->out->processes, s.pid);
    g_array_append_val(r->out->samples, s);
    r->out->nr_cpus = MAX(r->out->nr_cpus, s.cpu + 1);
    return true;
}

/* In the order of time */
static bool take_event(Reader *r, const uint8_t *rec, GError **errp)
{
    switch (get_le(rec, 4)) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        take_map(r, rec, get_le(rec, 4) == PERF_RECORD_MMAP2);
        return true;
    case PERF_RECORD_COMM:
        take_comm(r, rec);
        return true;
    case PERF_RECORD_FORK:
        take_fork(r, rec);
        return true;
    default:
        return take_sample(r, rec, errp);
    }
}

static gint compare_events(gconstpointer pa, gconstpointer pb)
{
    const Event *a = pa, *b = pb;

    if (a->time != b->time) {
        return a->time < b->time ? -1 : 1;
    }
    return a->rec < b->rec ? -1 : a->rec > b->rec;
}

static bool note_record(Reader *r, const uint8_t *rec, GError **errp)
{
    Event event = { .rec = rec };
    PerfSample s;

    switch (get_le(rec, 4)) {
    case PERF_RECORD_SAMPLE:
        event.time = parse_sample(r, rec, &s) ? s.time : 0;
        break;
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
    case PERF_RECORD_COMM:
    case PERF_RECORD_FORK:
        event.time = side_time(r, rec);
        break;
    case RECORD_LOST:
        r->out->lost += get_le(rec + 6, 2) >= HEADER + 16 ?
                        get_le(rec + HEADER + 8, 8) : 1;
        return true;
    case RECORD_LOST_SAMPLES:
        r->out->lost += get_le(rec + 6, 2) >= HEADER + 8 ?
                        get_le(rec + HEADER, 8) : 1;
        return true;
    case RECORD_COMPRESSED:
    case RECORD_COMPRESSED2:
        invalid(errp, "%s: its records are compressed; leave out perf record "
                "-z, or write it again with 'perf inject'", r->file.path);
        return false;
    default:
        return true;
    }
    g_array_append_val(r->events, event);
    return true;
}

/* The attributes come first, in the header or as records. */
static bool find_attrs(Reader *r, GError **errp)
{
    GError *err = NULL;
    size_t pos = r->file.begin;
    const uint8_t *rec;

    for (size_t at = 0; r->file.attr_size &&
         at + r->file.attr_size <= r->file.attrs_size;
         at += r->file.attr_size) {
        if (!take_attr(r, r->file.data + r->file.attrs + at,
                       r->file.attr_size, errp)) {
            return false;
        }
    }
    while (!r->file.attrs_size && (rec = perf_file_next(&r->file, &pos,
                                                        &err))) {
        if (get_le(rec, 4) == PERF_FILE_HEADER_ATTR &&
            !take_attr(r, rec + HEADER, get_le(rec + 6, 2) - HEADER, errp)) {
            return false;
        }
    }
    if (err) {
        g_propagate_error(errp, err);
        return false;
    }
    return check_attr(r, errp);
}

static bool read_all(Reader *r, GError **errp)
{
    GError *err = NULL;
    size_t pos = r->file.begin;
    const uint8_t *rec;

    if (!find_attrs(r, errp)) {
        return false;
    }
    while ((rec = perf_file_next(&r->file, &pos, &err))) {
        if (!note_record(r, rec, errp)) {
            return false;
        }
    }
    if (err) {
        g_propagate_error(errp, err);
        return false;
    }
    g_array_sort(r->events, compare_events);
    for (guint i = 0; i < r->events->len; i++) {
        if (!take_event(r, g_array_index(r->events, Event, i).rec, errp)) {
            return false;
        }
        if (process_table_is_full(r->out->processes)) {
            invalid(errp, "%s: processes map more than any machine has room "
                    "for; is the file damaged?", r->file.path);
            return false;
        }
    }
    if (!r->out->samples->len) {
        invalid(errp, "%s: this perf.data file has no samples",
                r->file.path);
        return false;
    }
    return true;
}

/* As perf calls the events that there are everywhere */
static const char *event_name(const Attr *attr)
{
    static const char *const names[2][2] = {
        { "cycles", "instructions" }, { "cpu-clock", "task-clock" },
    };

    return attr->type < 2 && attr->config < 2 ?
           names[attr->type][attr->config] : "samples";
}

PerfSamples *perf_samples_read(const char *path, const uint8_t *data,
                               size_t size, GError **errp)
{
    g_autoptr(PerfSamples) out = g_new0(PerfSamples, 1);
    Reader r = { .out = out };
    bool ok;

    out->samples = g_array_new(false, false, sizeof(PerfSample));
    out->processes = process_table_new();
    out->comms = g_string_chunk_new(4096);
    if (!perf_file_open(&r.file, path, data, size, errp)) {
        return NULL;
    }
    r.events = g_array_new(false, false, sizeof(Event));
    r.comms = g_hash_table_new(NULL, NULL);
    ok = read_all(&r, errp);
    g_array_unref(r.events);
    g_hash_table_unref(r.comms);
    if (!ok) {
        return NULL;
    }
    out->contiguous = r.attr.branch_type & PERF_SAMPLE_BRANCH_ANY;
    out->event = (PerfEvent) {
        .type = r.attr.type,
        .config = r.attr.config,
        .name = event_name(&r.attr),
    };
    return g_steal_pointer(&out);
}

void perf_samples_free(PerfSamples *s)
{
    g_array_unref(s->samples);
    process_table_free(s->processes);
    g_string_chunk_free(s->comms);
    g_free(s);
}
