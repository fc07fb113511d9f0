/*
 * speedscope: what was called, over time and in sum
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/json.h"
#include "views/time/speedscope.h"

/* Of a stack that has more, the outermost frames are left out. */
#define MAX_DEPTH 1024

typedef struct Event {
    uint64_t at;
    unsigned frame;
    bool open;
} Event;

/* A profile of the file */
typedef struct Part {
    char *name;
    uint64_t end;
    GArray *events;         /* Event; or NULL: sampled */
    unsigned skipped;       /* open functions there was no room for */
    /* sampled: stacks, each behind its length, and their weights */
    GArray *stacks;         /* unsigned */
    GArray *weights;        /* uint64_t */
} Part;

struct Speedscope {
    char *name;
    bool virtual_time;
    uint64_t max;           /* events; and frames of stacks */
    uint64_t left;          /* of the events */
    uint64_t lost;
    const LineFinder *lines;    /* or NULL */
    GHashTable *frames;     /* "name\nobject\naddress" -> index + 1 */
    GString *frame_text;    /* the JSON of all of them */
    GPtrArray *parts;
    /* speedscope_add_hart() */
    const Profile *p;
    GArray *known;          /* of p's frames: index + 1; 0: not yet */
};

static void part_free(gpointer opaque)
{
    Part *part = opaque;

    g_free(part->name);
    g_clear_pointer(&part->events, g_array_unref);
    g_clear_pointer(&part->stacks, g_array_unref);
    g_clear_pointer(&part->weights, g_array_unref);
    g_free(part);
}

Speedscope *speedscope_new(const char *name, bool virtual_time,
                           uint64_t max_events, const LineFinder *lines)
{
    Speedscope *s = g_new0(Speedscope, 1);

    s->name = g_strdup(name);
    s->virtual_time = virtual_time;
    s->max = s->left = max_events;
    s->lines = lines;
    s->frames = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    s->frame_text = g_string_new(NULL);
    s->parts = g_ptr_array_new_with_free_func(part_free);
    s->known = g_array_new(false, true, sizeof(unsigned));
    return s;
}

void speedscope_free(Speedscope *s)
{
    g_free(s->name);
    g_hash_table_unref(s->frames);
    g_string_free(s->frame_text, true);
    g_ptr_array_unref(s->parts);
    g_array_unref(s->known);
    g_free(s);
}

/* From here on, frames are those of @p. */
static void set_profile(Speedscope *s, const Profile *p)
{
    s->p = p;
    g_array_set_size(s->known, 0);
    g_array_set_size(s->known, p->frames->len);
}

/* A frame of the file: a function, where it begins in the source */
static void put_frame(Speedscope *s, const ProfileFrame *f)
{
    uint64_t start = profile_frame_start(f);
    const char *file = f->object ? f->object->path : "";
    unsigned line = 0;

    if (s->lines && start &&
        !s->lines->find(s->lines->opaque, f->object, start, &file, &line)) {
        line = 0;
    }
    g_string_append(s->frame_text, s->frame_text->len ? ",\n{\"name\":" :
                                                        "{\"name\":");
    json_string(s->frame_text, f->name, SIZE_MAX);
    if (*file) {
        g_string_append(s->frame_text, ",\"file\":");
        json_string(s->frame_text, file, SIZE_MAX);
    }
    if (line) {
        g_string_append_printf(s->frame_text, ",\"line\":%u", line);
    }
    g_string_append_c(s->frame_text, '}');
}

/*
 * The file's number of frame @i. Functions of one name are different ones if
 * they are at different addresses.
 */
static unsigned frame_number(Speedscope *s, unsigned i)
{
    unsigned *known = &g_array_index(s->known, unsigned, i);
    const ProfileFrame *f = profile_frame(s->p, i);
    g_autofree char *key = NULL;
    gpointer number;

    if (*known) {
        return *known - 1;
    }
    key = g_strdup_printf("%s\n%s\n%" PRIx64, f->name,
                          f->object ? f->object->path : "",
                          profile_frame_start(f));
    number = g_hash_table_lookup(s->frames, key);
    if (!number) {
        number = GUINT_TO_POINTER(g_hash_table_size(s->frames) + 1);
        g_hash_table_insert(s->frames, g_steal_pointer(&key), number);
        put_frame(s, f);
    }
    *known = GPOINTER_TO_UINT(number);
    return *known - 1;
}

static Part *part_of(Speedscope *s, Track *track)
{
    const Task *task = track->task;
    Part *part = track->opaque;

    if (!part) {
        track->opaque = part = g_new0(Part, 1);
        part->name = task_is_known(task) ?
            g_strdup_printf("%s (%u/%u), hart %u", task->name, task->tgid,
                            task->tid, track->hart) :
            g_strdup_printf("%s, hart %u", task->name, track->hart);
        part->events = g_array_new(false, false, sizeof(Event));
        g_ptr_array_add(s->parts, part);
    }
    return part;
}

static void add_event(Part *part, uint64_t at, unsigned frame, bool open)
{
    Event e = { .at = at, .frame = frame, .open = open };

    g_array_append_val(part->events, e);
}

/* Room for a function's beginning is room for its end, too. */
static void on_enter(void *opaque, Track *track, unsigned frame,
                     uint64_t time)
{
    Speedscope *s = opaque;
    Part *part = part_of(s, track);

    if (part->skipped || s->left < 2) {
        part->skipped++;
        s->lost += 2;
        return;
    }
    s->left -= 2;
    add_event(part, time, frame_number(s, frame), true);
}

static void on_leave(void *opaque, Track *track, unsigned frame,
                     uint64_t time)
{
    Speedscope *s = opaque;
    Part *part = part_of(s, track);

    if (part->skipped) {
        part->skipped--;
        return;
    }
    add_event(part, time, frame_number(s, frame), false);
}

bool speedscope_add_hart(Speedscope *s, Moments *m, unsigned hart,
                         const Profile *p, uint64_t end,
                         const TaskTable *tasks, uint64_t min_duration,
                         GError **errp)
{
    SpanOps ops = {
        .enter = on_enter, .leave = on_leave, .min_duration = min_duration,
    };
    g_autoptr(GPtrArray) tracks = tracks_new();

    set_profile(s, p);
    if (!moments_spans(m, hart, p, end, tasks, tracks, &ops, s, errp)) {
        return false;
    }
    for (guint i = 0; i < tracks->len; i++) {
        Track *t = tracks->pdata[i];

        if (t->opaque) {
            ((Part *)t->opaque)->end = t->time;
        }
    }
    return true;
}

static void add_stack(Speedscope *s, Part *part, unsigned node)
{
    unsigned path[MAX_DEPTH], n = 0;

    for (unsigned i = node; i != PROFILE_ROOT && n < MAX_DEPTH;
         i = profile_node(s->p, i)->parent) {
        path[n++] = frame_number(s, profile_node(s->p, i)->frame);
    }
    if (part->stacks->len + n + 1 > s->max) {
        s->lost += n;
        return;
    }
    g_array_append_val(part->stacks, n);
    while (n) {
        g_array_append_val(part->stacks, path[--n]);
    }
    g_array_append_val(part->weights, profile_node(s->p, node)->self);
    part->end += profile_node(s->p, node)->self;
}

/* The heaviest ones first: if there is no room for all, they matter most. */
static int compare_weights(gconstpointer a, gconstpointer b, gpointer opaque)
{
    const Profile *p = opaque;
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    uint64_t v = profile_node(p, x)->self, w = profile_node(p, y)->self;

    return v != w ? (v > w ? -1 : 1) : x < y ? -1 : x > y;
}

void speedscope_add_profile(Speedscope *s, const Profile *p)
{
    g_autoptr(GArray) nodes = g_array_new(false, false, sizeof(unsigned));
    Part *part = g_new0(Part, 1);

    part->name = g_strdup("all");
    part->stacks = g_array_new(false, false, sizeof(unsigned));
    part->weights = g_array_new(false, false, sizeof(uint64_t));
    g_ptr_array_add(s->parts, part);
    set_profile(s, p);
    for (guint i = 1; i < p->nodes->len; i++) {
        if (profile_node(p, i)->self) {
            g_array_append_val(nodes, i);
        }
    }
    g_array_sort_with_data(nodes, compare_weights, (gpointer)p);
    for (guint i = 0; i < nodes->len; i++) {
        add_stack(s, part, g_array_index(nodes, unsigned, i));
    }
}

static void write_events(const Part *part, FILE *f)
{
    fputs(",\"events\":[", f);
    for (guint i = 0; i < part->events->len; i++) {
        const Event *e = &g_array_index(part->events, Event, i);

        fprintf(f, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%" PRIu64 "}",
                i ? ",\n" : "\n", e->open ? 'O' : 'C', e->frame, e->at);
    }
    fputs("]}", f);
}

static void write_samples(const Part *part, FILE *f)
{
    guint at = 0;

    fputs(",\"samples\":[", f);
    while (at < part->stacks->len) {
        unsigned n = g_array_index(part->stacks, unsigned, at);

        fputs(at ? ",\n" : "\n", f);
        at++;
        for (unsigned i = 0; i < n; i++) {
            fprintf(f, "%c%u", i ? ',' : '[',
                    g_array_index(part->stacks, unsigned, at++));
        }
        fputc(']', f);
    }
    fputs("],\"weights\":[", f);
    for (guint i = 0; i < part->weights->len; i++) {
        fprintf(f, "%s%" PRIu64, i ? "," : "",
                g_array_index(part->weights, uint64_t, i));
    }
    fputs("]}", f);
}

static void write_part(const Speedscope *s, const Part *part, FILE *f)
{
    g_autoptr(GString) name = g_string_new(NULL);

    json_string(name, part->name, SIZE_MAX);
    fprintf(f, "{\"type\":\"%s\",\"name\":%s,\"unit\":\"%s\","
            "\"startValue\":0,\"endValue\":%" PRIu64,
            part->events ? "evented" : "sampled", name->str,
            part->events && s->virtual_time ? "nanoseconds" : "none",
            part->end);
    if (part->events) {
        write_events(part, f);
    } else {
        write_samples(part, f);
    }
}

uint64_t speedscope_write(Speedscope *s, FILE *f)
{
    g_autoptr(GString) name = g_string_new(NULL);

    json_string(name, s->name, SIZE_MAX);
    fprintf(f, "{\"$schema\":"
            "\"https://www.speedscope.app/file-format-schema.json\",\n"
            "\"exporter\":\"rvtrace\",\"name\":%s,\"activeProfileIndex\":0,\n"
            "\"shared\":{\"frames\":[\n%s]},\n\"profiles\":[\n", name->str,
            s->frame_text->str);
    for (guint i = 0; i < s->parts->len; i++) {
        fputs(i ? ",\n" : "", f);
        write_part(s, s->parts->pdata[i], f);
    }
    fputs("]}\n", f);
    return s->lost;
}
