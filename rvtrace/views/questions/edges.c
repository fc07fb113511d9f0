/*
 * Edges: which blocks of code ran behind which, in the maps that fuzzers read
 *
 * Moments say which map is the one to count in, and runs what there is to
 * count. A moment is told of before the runs that it is in the middle of, so
 * what follows from it waits until the hart has come to its place.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "etrace/sideband.h"
#include "profile/selection.h"
#include "views/perf/view-folder.h"
#include "views/questions/edges.h"
#include "views/questions/sheet.h"

#define MAP_SIZE    65536
#define KNOWN_BITS  12

/* Of a frame: not looked at yet, or is it of the function? */
enum { FRAME_NEW, FRAME_OTHER, FRAME_MATCHES };

typedef struct Map {
    unsigned number;
    Place from, to;
    bool ended;                 /* to is known */
    const Task *task;
    uint32_t counts[MAP_SIZE];
    GArray *used;               /* uint16_t: counters that are not 0 */
    unsigned before;            /* of the last block: half its number */
    /* Where the last block goes on, if it does; at first, none does. */
    uint64_t next;
    bool in_block;
} Map;

/* From so many instructions on, @map is the one, or @finished is complete. */
typedef struct Step {
    uint64_t insns;
    Map *map;
    bool paused;
    Map *finished;              /* NULL: it is about the other two */
} Step;

/* A map that has been written */
typedef struct MapRow {
    unsigned number, edges;
    Place from, to;
    bool ended;
    const Task *task;
} MapRow;

/* A block that was looked up before */
typedef struct KnownBlock {
    uint64_t pc, address;
    unsigned generation;        /* of the image; 0: the entry is empty */
    unsigned space;
    uint8_t priv;
    bool wanted;
} KnownBlock;

struct EdgesHart {
    Edges *edges;
    unsigned hart;
    const Profile *profile;
    const Names *names;
    Follower *follower;
    GByteArray *matches;        /* by frame */
    GHashTable *open;           /* number + 1 -> Map */
    Map *spare;
    Map *whole;                 /* of the region, or of everything; or NULL */
    unsigned nr_maps;
    uint64_t left_out;
    GArray *rows;               /* MapRow */
    GQueue steps;               /* Step */
    uint64_t moment;            /* instructions before what is told now */
    Map *last_map;              /* of the last step */
    bool last_paused;
    /* What has been done, behind @insns instructions */
    uint64_t insns;
    Map *now;
    bool paused;
    KnownBlock *known;
};

struct Edges {
    EdgesOptions options;
    ViewFolder *folder;
    GMutex lock;                /* of the folder */
    GPtrArray *harts;           /* EdgesHart */
};

static void map_free(gpointer opaque)
{
    Map *m = opaque;

    g_array_unref(m->used);
    g_free(m);
}

static void map_clear(Map *m)
{
    for (guint i = 0; i < m->used->len; i++) {
        m->counts[g_array_index(m->used, uint16_t, i)] = 0;
    }
    g_array_set_size(m->used, 0);
    m->ended = m->in_block = false;
    m->before = 0;
}

/* One more, which begins at @from; NULL: there are too many. */
static Map *map_begin(EdgesHart *h, const Place *from, const Task *task)
{
    Map *m = h->spare;

    if (h->nr_maps == EDGES_MAX_MAPS ||
        g_hash_table_size(h->open) == EDGES_MAX_OPEN) {
        h->left_out++;
        return NULL;
    }
    h->spare = NULL;
    if (!m) {
        m = g_new0(Map, 1);
        m->used = g_array_new(false, false, sizeof(uint16_t));
    }
    m->number = h->nr_maps++;
    m->from = *from;
    m->task = task;
    g_hash_table_insert(h->open, GUINT_TO_POINTER(m->number + 1), m);
    return m;
}

static gint compare_indexes(gconstpointer a, gconstpointer b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* AFL's class of a counter, which it compares maps by */
static unsigned class_of(uint32_t count)
{
    static const uint8_t first[] = { 1, 2, 3, 4, 8, 16, 32, 128 };
    unsigned class = ARRAY_SIZE(first);

    while (first[class - 1] > count) {
        class--;
    }
    return class;
}

static char *map_name(const EdgesHart *h, unsigned number)
{
    return g_strdup_printf("%u-%06u", h->hart, number);
}

static void map_write(EdgesHart *h, Map *m)
{
    g_autofree char *name = map_name(h, m->number);
    ViewFolder *folder = h->edges->folder;
    FILE *f;

    g_array_sort(m->used, compare_indexes);
    g_mutex_lock(&h->edges->lock);
    f = view_folder_open(folder, name, "w");
    for (guint i = 0; f && i < m->used->len; i++) {
        unsigned index = g_array_index(m->used, uint16_t, i);
        uint32_t count = m->counts[index];

        fprintf(f, "%06u:%u\n", index, h->edges->options.exact ? count :
                                       class_of(count));
    }
    if (f) {
        view_folder_close(folder, f);
    }
    g_mutex_unlock(&h->edges->lock);
}

static void map_finish(EdgesHart *h, Map *m)
{
    MapRow row = {
        .number = m->number, .edges = m->used->len, .from = m->from,
        .to = m->to, .ended = m->ended, .task = m->task,
    };

    map_write(h, m);
    g_array_append_val(h->rows, row);
    h->now = h->now == m ? NULL : h->now;
    g_hash_table_steal(h->open, GUINT_TO_POINTER(m->number + 1));
    if (h->spare) {
        map_free(m);
    } else {
        map_clear(m);
        h->spare = m;
    }
}

static void push_step(EdgesHart *h, const Step *step)
{
    g_queue_push_tail(&h->steps, g_memdup2(step, sizeof(*step)));
}

/* @m has all of its runs behind those that are told next, or has no end. */
static void finish_later(EdgesHart *h, Map *m, const Place *to, bool ended)
{
    m->to = *to;
    m->ended = ended;
    h->last_map = h->last_map == m ? NULL : h->last_map;
    push_step(h, &(Step) { .insns = h->moment, .finished = m });
}

static bool is_function(EdgesHart *h, unsigned frame)
{
    guint known = h->matches->len;
    const ProfileFrame *f = profile_frame(h->profile, frame);

    if (frame >= known) {
        g_byte_array_set_size(h->matches, frame + 1);
        memset(h->matches->data + known, FRAME_NEW, frame + 1 - known);
    }
    if (h->matches->data[frame] == FRAME_NEW) {
        h->matches->data[frame] =
            f->kind != FRAME_TRAP && f->kind != FRAME_GROUP &&
            frame_is_like(f, h->edges->options.function, NULL) ?
            FRAME_MATCHES : FRAME_OTHER;
    }
    return h->matches->data[frame] == FRAME_MATCHES;
}

static void on_begin(void *opaque, OpenCall *calls, unsigned n,
                     const Task *task)
{
    EdgesHart *h = opaque;
    OpenCall *call = &calls[n - 1];
    Map *m;

    if (!h->edges->options.function || !is_function(h, call->frame) ||
        !text_is_like(task->name, h->edges->options.comm)) {
        return;
    }
    for (unsigned i = 0; i + 1 < n; i++) {
        if (calls[i].number) {
            return;             /* it calls itself */
        }
    }
    m = map_begin(h, &call->from, task);
    call->number = m ? m->number + 1 : 0;
}

static void on_end(void *opaque, const EndedCall *e)
{
    EdgesHart *h = opaque;
    Map *m = e->call->number ?
             g_hash_table_lookup(h->open, GUINT_TO_POINTER(e->call->number)) :
             NULL;

    if (m) {
        finish_later(h, m, &e->to, e->end != CALL_UNSEEN);
    }
}

static const FollowOps follow_ops = { .begin = on_begin, .end = on_end };

/* Which map is the one now, by the calls that are open; handlers have none. */
static void choose_map(EdgesHart *h)
{
    Step step = { .insns = h->moment, .map = h->whole };
    unsigned n;
    const OpenCall *calls = follow_open(h->follower, &n);

    for (unsigned i = 0; i < n; i++) {
        if (calls[i].number) {
            step.map = g_hash_table_lookup(
                h->open, GUINT_TO_POINTER(calls[i].number));
            step.paused = false;
        }
        step.paused |= calls[i].kind == CALL_INTERRUPT && !calls[i].handled;
    }
    if (step.map != h->last_map || step.paused != h->last_paused) {
        h->last_map = step.map;
        h->last_paused = step.paused;
        push_step(h, &step);
    }
}

void edges_moment(void *hart, const CallStackMoment *moment)
{
    EdgesHart *h = hart;
    const EdgesOptions *o = &h->edges->options;

    h->moment = moment->insns;
    if (!h->nr_maps && !o->function && !o->region) {
        h->whole = map_begin(h, &(Place) { moment->place, moment->time }, NULL);
    }
    follow_moment(h->follower, moment);
    choose_map(h);
}

static void note_region(EdgesHart *h, const CallStackMoment *when,
                        const MomentMark *note)
{
    const char *region = h->edges->options.region;
    Place at = { when->place, when->time };

    if (!region || strlen(region) != note->len ||
        memcmp(region, note->text, note->len)) {
        return;
    }
    if (note->number == ETRACE_SB_NOTE_BEGIN && !h->whole) {
        h->whole = map_begin(h, &at, NULL);
    } else if (note->number == ETRACE_SB_NOTE_END && h->whole) {
        finish_later(h, h->whole, &at, true);
        h->whole = NULL;
    }
}

void edges_mark(void *hart, const CallStackMoment *when,
                const MomentMark *mark)
{
    EdgesHart *h = hart;

    h->moment = when->insns;
    follow_mark(h->follower, when, mark);
    if (mark->kind == MOMENT_NOTE) {
        note_region(h, when, mark);
    }
    choose_map(h);
}

/* Do what waits for so many instructions as there have been. */
static void take_steps(EdgesHart *h)
{
    Step *step;

    while ((step = g_queue_peek_head(&h->steps)) && step->insns <= h->insns) {
        if (step->finished) {
            map_finish(h, step->finished);
        } else {
            h->now = step->map;
            h->paused = step->paused;
        }
        g_free(g_queue_pop_head(&h->steps));
    }
}

/* The block at @pc: is it wanted, and where is it in its object? */
static const KnownBlock *look_up(EdgesHart *h, uint64_t pc, unsigned priv,
                                 const CallStackSite *site)
{
    const EdgesOptions *o = &h->edges->options;
    unsigned generation = site->image ? site->image->generation : 1;
    KnownBlock *k = &h->known[(pc ^ priv) * UINT64_C(0x9e3779b97f4a7c15) >>
                              (64 - KNOWN_BITS)];
    NamePlace place;

    if (k->generation != generation || k->pc != pc ||
        k->space != site->space || k->priv != priv) {
        names_find(h->names, site->image, priv, pc, &place);
        *k = (KnownBlock) {
            .pc = pc, .address = pc - place.bias, .generation = generation,
            .space = site->space, .priv = priv,
            .wanted = text_is_like(place.object->name, o->dso) &&
                      (!o->sym || (place.symbol &&
                       (text_is_like(place.symbol->name, o->sym) ||
                        text_is_like(place.symbol->linkage, o->sym)))),
        };
    }
    return k;
}

static void count_block(Map *m, uint64_t address)
{
    uint16_t number = address >> 4 ^ address << 8;
    uint16_t index = number ^ m->before;

    if (!m->counts[index]) {
        g_array_append_val(m->used, index);
    }
    m->counts[index] += m->counts[index] < UINT32_MAX;
    m->before = number >> 1;
}

/* Does something else than the next instruction follow the last one of @run? */
static bool ends_block(const FlowRun *run, const uint8_t *last,
                       const CallStackSite *site)
{
    InsnIsa isa = site->image ? site->image->isa : (InsnIsa) { 0 };
    Insn insn;

    /*
     * It may have been a branch in front of an interrupt: which way that went
     * is not said. Its first half tells what it is.
     */
    insn_classify(&isa, lduw_le_p(last), &insn);
    return insn.kind != INSN_SEQUENTIAL ||
           run->itype >= ETRACE_ITYPE_TRAP_RETURN;
}

static void put_run(EdgesHart *h, const FlowRun *run,
                    const CallStackSite *site)
{
    Map *m = h->paused ? NULL : h->now;
    const uint8_t *code = run->code, *last = code;

    if (!m) {
        return;
    }
    if (!m->in_block || m->next != run->pc) {
        const KnownBlock *block = look_up(h, run->pc, run->priv, site);

        if (!block->wanted) {
            return;
        }
        count_block(m, block->address);
    }
    for (unsigned i = 0; i < run->count; i++) {
        last = code;
        code += flow_insn_length(code);
    }
    m->in_block = !ends_block(run, last, site);
    m->next = run->pc + (code - run->code);
}

void edges_runs(void *hart, const FlowRun *runs, unsigned n,
                const CallStackSite *site)
{
    EdgesHart *h = hart;
    bool wanted = text_is_like(site->task ? site->task->name : "",
                               h->edges->options.comm);

    for (unsigned i = 0; i < n; i++) {
        FlowRun rest = runs[i];

        while (rest.count) {
            const Step *step;
            FlowRun part;

            take_steps(h);
            step = g_queue_peek_head(&h->steps);
            if (step && step->insns - h->insns < rest.count) {
                part = selection_split(&rest, step->insns - h->insns);
            } else {
                part = rest;
                rest.count = 0;
            }
            if (wanted) {
                put_run(h, &part, site);
            }
            h->insns += part.count;
        }
    }
}

void edges_end(void *hart, const CallStackMoment *when)
{
    EdgesHart *h = hart;

    h->moment = when->insns;
    follow_end(h->follower, when);
    if (h->whole) {
        finish_later(h, h->whole, &(Place) { when->place, when->time },
                     !h->edges->options.region);
        h->whole = NULL;
    }
    h->insns = UINT64_MAX;
    take_steps(h);
}

static void hart_free(gpointer opaque)
{
    EdgesHart *h = opaque;

    follow_free(h->follower);
    g_byte_array_unref(h->matches);
    g_hash_table_unref(h->open);
    g_clear_pointer(&h->spare, map_free);
    g_array_unref(h->rows);
    g_queue_clear_full(&h->steps, g_free);
    g_free(h->known);
    g_free(h);
}

Edges *edges_new(const char *path, const EdgesOptions *options, GError **errp)
{
    ViewFolder *folder = view_folder_new(path, errp);
    Edges *e;

    if (!folder) {
        return NULL;
    }
    e = g_new0(Edges, 1);
    e->options = *options;
    e->folder = folder;
    g_mutex_init(&e->lock);
    e->harts = g_ptr_array_new_with_free_func(hart_free);
    return e;
}

void edges_free(Edges *e)
{
    g_ptr_array_unref(e->harts);
    view_folder_free(e->folder);
    g_mutex_clear(&e->lock);
    g_free(e);
}

EdgesHart *edges_hart(Edges *e, unsigned hart, const Profile *profile,
                      const Names *names, const TaskTable *tasks)
{
    EdgesHart *h = g_new0(EdgesHart, 1);

    h->edges = e;
    h->hart = hart;
    h->profile = profile;
    h->names = names;
    h->follower = follow_new(profile, tasks, &follow_ops, h);
    h->matches = g_byte_array_new();
    h->open = g_hash_table_new_full(NULL, NULL, NULL, map_free);
    h->rows = g_array_new(false, false, sizeof(MapRow));
    h->known = g_new0(KnownBlock, 1u << KNOWN_BITS);
    g_queue_init(&h->steps);
    g_ptr_array_add(e->harts, h);
    return h;
}

static gint compare_rows(gconstpointer a, gconstpointer b)
{
    const MapRow *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

static void add_rows(Sheet *s, EdgesHart *h)
{
    g_array_sort(h->rows, compare_rows);
    for (guint i = 0; i < h->rows->len; i++) {
        const MapRow *row = &g_array_index(h->rows, MapRow, i);
        g_autofree char *name = map_name(h, row->number);

        sheet_text(s, name);
        sheet_number(s, h->hart);
        sheet_number(s, row->from.insns);
        if (row->ended) {
            sheet_number(s, row->to.insns);
        } else {
            sheet_none(s);
        }
        sheet_number(s, row->edges);
        sheet_task(s, row->task);
    }
}

bool edges_finish(Edges *e, uint64_t *maps, uint64_t *left_out,
                  GError **errp)
{
    g_autoptr(Sheet) s = sheet_new(TABLE_TSV);
    FILE *f;

    *maps = *left_out = 0;
    sheet_column(s, "file", false);
    sheet_column(s, "hart", true);
    sheet_column(s, "from", true);
    sheet_column(s, "to", true);
    sheet_column(s, "edges", true);
    sheet_task_columns(s);
    for (guint i = 0; i < e->harts->len; i++) {
        EdgesHart *h = e->harts->pdata[i];

        add_rows(s, h);
        *maps += h->rows->len;
        *left_out += h->left_out;
    }
    f = view_folder_open(e->folder, "maps.tsv", "w");
    if (f) {
        sheet_write(s, f);
        view_folder_close(e->folder, f);
    }
    return view_folder_finish(e->folder, errp);
}
