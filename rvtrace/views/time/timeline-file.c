/*
 * Timelines: the packets
 *
 * Numbers of fields are those of Perfetto's public schema: trace.proto,
 * trace_packet.proto, track_event/{track_event,track_descriptor,
 * process_descriptor,thread_descriptor}.proto and
 * interned_data/interned_data.proto, below protos/perfetto/trace of
 * https://github.com/google/perfetto; what they mean is explained in
 * https://perfetto.dev/docs/reference/synthetic-track-event.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/option-error.h"
#include <unistd.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include "base/protobuf.h"
#include "views/time/timeline-private.h"

enum {
    TRACE_PACKET = 1,

    PACKET_TIMESTAMP = 8,
    PACKET_TRUSTED_PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TRACK_DESCRIPTOR = 60,

    EVENT_CATEGORY_IIDS = 3,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK_UUID = 11,

    INTERNED_EVENT_CATEGORIES = 1,
    INTERNED_EVENT_NAMES = 2,
    INTERNED_IID = 1,
    INTERNED_NAME = 2,

    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT_UUID = 5,

    PROCESS_PID = 1,
    PROCESS_NAME = 6,

    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
};

/* TracePacket.SequenceFlags */
enum { SEQ_INCREMENTAL_STATE_CLEARED = 1, SEQ_NEEDS_INCREMENTAL_STATE = 2 };

/* trusted_packet_sequence_id: of the tracks, and of hart 0 */
enum { SEQUENCE_TRACKS = 1, SEQUENCE_HARTS = 2 };

/* What a track's uuid begins with; a hart and a thread's number follow. */
typedef enum TrackKind {
    KIND_ROOT = 1,
    KIND_RUN,
    KIND_PRIV,
    KIND_PROCESS,               /* no hart; tgid */
    KIND_THREAD,                /* no hart */
    KIND_THREAD_ON,             /* what a hart did for it */
    KIND_IDLE,
    KIND_NOBODY,                /* firmware that nobody called, bare metal */
} TrackKind;

static uint64_t uuid(TrackKind kind, unsigned hart, uint32_t number)
{
    return (uint64_t)kind << 56 | (uint64_t)(hart & 0xffffff) << 32 | number;
}

uint64_t timeline_run_track(const TimelineHart *h)
{
    return uuid(KIND_RUN, h->hart, 0);
}

uint64_t timeline_priv_track(const TimelineHart *h)
{
    return uuid(KIND_PRIV, h->hart, 0);
}

uint64_t timeline_task_track(const TimelineHart *h, const Task *task)
{
    if (!task || task->id == TASK_NONE) {
        return uuid(KIND_NOBODY, h->hart, 0);
    }
    return timeline_is_idle(task) ? uuid(KIND_IDLE, h->hart, 0) :
                                    uuid(KIND_THREAD_ON, h->hart, task->tid);
}

bool timeline_file_open(TimelineHart *h, GError **errp)
{
    g_autofree char *name = NULL;
    int fd = g_file_open_tmp("rvtrace-XXXXXX", &name, errp);

    if (fd >= 0) {
        g_unlink(name);
        h->f = fdopen(fd, "w+");
    }
    h->packet = g_byte_array_new();
    h->names = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                     NULL);
    h->tasks = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    return h->f;
}

void timeline_file_close(TimelineHart *h)
{
    g_clear_pointer(&h->f, fclose);
    g_byte_array_unref(h->packet);
    g_hash_table_unref(h->names);
    g_hash_table_unref(h->tasks);
}

/*
 * The interning ID of a name, which a packet brings along when it is the first
 * one with it. They are counted from 1 on, in the order of their use, so that
 * what is written depends on nothing but what happened.
 */
static uint64_t intern(TimelineHart *h, unsigned field, NameSpace space,
                       unsigned number, const char *text)
{
    uint64_t key = (uint64_t)number << 3 | space;
    gpointer found = g_hash_table_lookup(h->names, &key);
    unsigned iid = GPOINTER_TO_UINT(found);
    gsize data, entry;

    if (!iid) {
        iid = g_hash_table_size(h->names) + 1;
        g_hash_table_insert(h->names, g_memdup2(&key, sizeof(key)),
                            GUINT_TO_POINTER(iid));
        data = protobuf_begin(h->packet, PACKET_INTERNED_DATA);
        entry = protobuf_begin(h->packet, field);
        protobuf_uint(h->packet, INTERNED_IID, iid);
        protobuf_string(h->packet, INTERNED_NAME, text);
        protobuf_end(h->packet, entry);
        protobuf_end(h->packet, data);
    }
    return iid;
}

static const char *category_text(TimelineCategory category)
{
    static const char *const texts[] = {
        [CATEGORY_USER] = "user",
        [CATEGORY_SUPERVISOR] = "supervisor",
        [CATEGORY_MACHINE] = "machine",
        [CATEGORY_GUEST] = "guest",
        [CATEGORY_IRQ] = "irq",
        [CATEGORY_SYSCALL] = "syscall",
        [CATEGORY_PAGE_FAULT] = "page-fault",
        [CATEGORY_EXCEPTION] = "exception",
        [CATEGORY_TASK] = "task",
        [CATEGORY_IDLE] = "idle",
        [CATEGORY_PRIVILEGE] = "privilege",
        [CATEGORY_LOSS] = "loss",
    };

    return texts[category];
}

/* A packet's bytes are collected in @b, which is empty. */
static gsize begin_packet(GByteArray *b, unsigned sequence, bool first)
{
    gsize packet = protobuf_begin(b, TRACE_PACKET);

    protobuf_uint(b, PACKET_TRUSTED_PACKET_SEQUENCE_ID, sequence);
    protobuf_uint(b, PACKET_SEQUENCE_FLAGS,
                  first ? SEQ_INCREMENTAL_STATE_CLEARED :
                          SEQ_NEEDS_INCREMENTAL_STATE);
    return packet;
}

static void end_packet(GByteArray *b, gsize packet, FILE *f)
{
    protobuf_end(b, packet);
    fwrite(b->data, 1, b->len, f);
    g_byte_array_set_size(b, 0);
}

void timeline_put(TimelineHart *h, const TimelineEvent *event)
{
    GByteArray *b = h->packet;
    uint64_t name = 0, category = 0, object = 0;
    /* Nothing is an end before there were names. */
    gsize packet = begin_packet(b, SEQUENCE_HARTS + h->hart,
                                !g_hash_table_size(h->names));
    gsize at;

    protobuf_uint(b, PACKET_TIMESTAMP, event->time);
    if (event->type != EVENT_END) {
        name = intern(h, INTERNED_EVENT_NAMES, event->name.space,
                      event->name.number, event->name.text);
        category = intern(h, INTERNED_EVENT_CATEGORIES, NAME_CATEGORY,
                          event->category, category_text(event->category));
        if (event->object) {
            object = intern(h, INTERNED_EVENT_CATEGORIES, NAME_OBJECT,
                            event->object->id, event->object->name);
        }
    }
    at = protobuf_begin(b, PACKET_TRACK_EVENT);
    protobuf_uint(b, EVENT_TYPE, event->type);
    protobuf_uint(b, EVENT_TRACK_UUID, event->track);
    if (event->type != EVENT_END) {
        protobuf_uint(b, EVENT_NAME_IID, name);
        protobuf_uint(b, EVENT_CATEGORY_IIDS, category);
        if (event->object) {
            protobuf_uint(b, EVENT_CATEGORY_IIDS, object);
        }
    }
    protobuf_end(b, at);
    end_packet(b, packet, h->f);
}

/* Descriptors of tracks, which come first in the file */
typedef struct Tracks {
    GByteArray *packet;
    FILE *f;
    bool begun;
} Tracks;

typedef struct TrackText {
    uint64_t uuid, parent;      /* parent: 0, there is none */
    const char *name;           /* or NULL */
    const Task *process, *thread;   /* or NULL */
} TrackText;

static void put_track(Tracks *tracks, const TrackText *track)
{
    GByteArray *b = tracks->packet;
    gsize packet = begin_packet(b, SEQUENCE_TRACKS, !tracks->begun);
    gsize at = protobuf_begin(b, PACKET_TRACK_DESCRIPTOR), inner;

    protobuf_uint(b, TRACK_UUID, track->uuid);
    if (track->parent) {
        protobuf_uint(b, TRACK_PARENT_UUID, track->parent);
    }
    if (track->name) {
        protobuf_string(b, TRACK_NAME, track->name);
    }
    if (track->process) {
        inner = protobuf_begin(b, TRACK_PROCESS);
        protobuf_uint(b, PROCESS_PID, track->process->tgid);
        protobuf_string(b, PROCESS_NAME, track->process->name);
        protobuf_end(b, inner);
    }
    if (track->thread) {
        inner = protobuf_begin(b, TRACK_THREAD);
        protobuf_uint(b, THREAD_PID, track->thread->tgid);
        protobuf_uint(b, THREAD_TID, track->thread->tid);
        protobuf_string(b, THREAD_NAME, track->thread->name);
        protobuf_end(b, inner);
    }
    protobuf_end(b, at);
    tracks->begun = true;
    end_packet(b, packet, tracks->f);
}

static void put_named(Tracks *tracks, uint64_t uuid, uint64_t parent,
                      const char *format, unsigned hart)
{
    g_autoptr(GString) name = g_string_new(NULL);

    g_string_printf(name, format, hart);
    put_track(tracks, &(TrackText) {
        .uuid = uuid, .parent = parent, .name = name->str,
    });
}

/* A thread that has spans, on one hart; or on another one, too */
typedef struct Use {
    const Task *task;
    unsigned hart;
    uint64_t last;          /* when the last span began */
} Use;

/*
 * By process, thread and hart, the last one of several names first: tasks have
 * their numbers in the order in which they were found, which threads of ours
 * and an index may change
 */
static int compare_uses(gconstpointer a, gconstpointer b)
{
    const Use *x = a, *y = b;
    const Task *s = x->task, *t = y->task;

    if (s->tgid != t->tgid) {
        return s->tgid < t->tgid ? -1 : 1;
    }
    if (s->tid != t->tid) {
        return s->tid < t->tid ? -1 : 1;
    }
    if (x->hart != y->hart) {
        return x->hart < y->hart ? -1 : 1;
    }
    if (x->last != y->last) {
        return x->last > y->last ? -1 : 1;
    }
    return strcmp(s->name, t->name);
}

/* The tracks of @h, and the threads that have some on it to @uses */
static void put_hart(Tracks *tracks, const TimelineHart *h, GArray *uses)
{
    uint64_t root = uuid(KIND_ROOT, 0, 0);
    uint64_t nobody = timeline_task_track(h, NULL);
    bool has_nobody = false, has_idle = false;
    GHashTableIter iter;
    gpointer key, last;

    put_named(tracks, timeline_run_track(h), root, "hart %u: tasks", h->hart);
    put_named(tracks, timeline_priv_track(h), root, "hart %u: privilege",
              h->hart);
    g_hash_table_iter_init(&iter, h->tasks);
    while (g_hash_table_iter_next(&iter, &key, &last)) {
        Use use = {
            .task = key,
            .hart = h->hart,
            .last = *(const uint64_t *)last,
        };

        if (timeline_task_track(h, use.task) == nobody) {
            has_nobody = true;
        } else if (timeline_is_idle(use.task)) {
            has_idle = true;
        } else {
            g_array_append_val(uses, use);
        }
    }
    if (has_nobody) {
        put_named(tracks, nobody, root, "hart %u: no task", h->hart);
    }
    if (has_idle) {
        put_named(tracks, uuid(KIND_IDLE, h->hart, 0), root, "hart %u: idle",
                  h->hart);
    }
}

static const Use *get_use(const GArray *uses, unsigned i)
{
    return &g_array_index(uses, Use, i);
}

/* Behind the last one of the thread whose first one is @first */
static unsigned end_of_thread(const GArray *uses, unsigned first)
{
    const Task *task = get_use(uses, first)->task;
    unsigned end = first + 1;

    while (end < uses->len && get_use(uses, end)->task->tid == task->tid &&
           get_use(uses, end)->task->tgid == task->tgid) {
        end++;
    }
    return end;
}

/* A thread has the name that it had last. */
static const Task *name_thread(const GArray *uses, unsigned first)
{
    unsigned end = end_of_thread(uses, first);
    const Use *use = get_use(uses, first);

    for (unsigned i = first; i < end; i++) {
        use = get_use(uses, i)->last > use->last ? get_use(uses, i) : use;
    }
    return use->task;
}

/* The name of a process is that of its first thread, if that is known. */
static const Task *name_process(const GArray *uses, unsigned first)
{
    const Task *task = get_use(uses, first)->task;

    for (unsigned i = first; i < uses->len; i = end_of_thread(uses, i)) {
        const Task *other = get_use(uses, i)->task;

        if (other->tgid != task->tgid) {
            break;
        }
        if (other->tid == other->tgid) {
            return name_thread(uses, i);
        }
    }
    return name_thread(uses, first);
}

/* The uses from @first to @end are all of one thread. */
static void put_thread(Tracks *tracks, const GArray *uses, unsigned first,
                       unsigned end)
{
    const Use *use = get_use(uses, first);
    const Task *task = name_thread(uses, first);
    bool several = use->hart != get_use(uses, end - 1)->hart;
    uint64_t thread = several ? uuid(KIND_THREAD, 0, task->tid) :
                                uuid(KIND_THREAD_ON, use->hart, task->tid);

    put_track(tracks, &(TrackText) {
        .uuid = thread,
        .parent = uuid(KIND_PROCESS, 0, task->tgid),
        .thread = task,
    });
    for (unsigned i = first; several && i < end; i++) {
        unsigned hart = get_use(uses, i)->hart;

        if (i == first || get_use(uses, i - 1)->hart != hart) {
            put_named(tracks, uuid(KIND_THREAD_ON, hart, task->tid), thread,
                      "on hart %u", hart);
        }
    }
}

static void put_threads(Tracks *tracks, GArray *uses)
{
    unsigned end;

    g_array_sort(uses, compare_uses);
    for (unsigned i = 0; i < uses->len; i = end) {
        const Task *task = get_use(uses, i)->task;

        if (!i || get_use(uses, i - 1)->task->tgid != task->tgid) {
            put_track(tracks, &(TrackText) {
                .uuid = uuid(KIND_PROCESS, 0, task->tgid),
                .process = name_process(uses, i),
            });
        }
        end = end_of_thread(uses, i);
        put_thread(tracks, uses, i, end);
    }
}

static void put_tracks(const Timeline *t, FILE *f)
{
    g_autoptr(GByteArray) packet = g_byte_array_new();
    g_autoptr(GArray) uses = g_array_new(false, false, sizeof(Use));
    g_autofree char *name = g_strdup_printf("%s%sharts, %s",
        t->title ?: "", t->title ? ": " : "",
        t->options.virtual_time ? "virtual time" :
                                  "1 ns is 1 instruction of a hart");
    Tracks tracks = { .packet = packet, .f = f };

    put_track(&tracks, &(TrackText) {
        .uuid = uuid(KIND_ROOT, 0, 0), .name = name,
    });
    for (guint i = 0; i < t->harts->len; i++) {
        put_hart(&tracks, t->harts->pdata[i], uses);
    }
    put_threads(&tracks, uses);
}

static void set_error(GError **errp)
{
    int code = errno;

    g_set_error(errp, OPTION_ERROR, OPTION_NEEDS_ROOM,
                "a temporary file in %s does not hold the timeline: %s",
                g_get_tmp_dir(), g_strerror(code));
}

static bool append_file(FILE *from, FILE *to, GError **errp)
{
    g_autofree char *buffer = g_malloc(1 << 16);
    size_t n;

    /* What could not be written before is an error of this file, too. */
    if (fflush(from) || ferror(from) || fseek(from, 0, SEEK_SET)) {
        set_error(errp);
        return false;
    }
    while ((n = fread(buffer, 1, 1 << 16, from)) > 0) {
        fwrite(buffer, 1, n, to);
    }
    if (ferror(from)) {
        set_error(errp);
        return false;
    }
    return true;
}

static int compare_harts(gconstpointer a, gconstpointer b)
{
    const TimelineHart *x = *(TimelineHart *const *)a;
    const TimelineHart *y = *(TimelineHart *const *)b;

    return x->hart < y->hart ? -1 : x->hart > y->hart;
}

bool timeline_write(Timeline *t, FILE *f, GError **errp)
{
    g_ptr_array_sort(t->harts, compare_harts);
    put_tracks(t, f);
    for (guint i = 0; i < t->harts->len; i++) {
        const TimelineHart *h = t->harts->pdata[i];

        if (!append_file(h->f, f, errp)) {
            return false;
        }
    }
    return true;
}
