/*
 * Calls and traps of a hart, from the moments of its call stacks
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/questions/follow.h"

/* What a task, or nobody, has done on the hart */
typedef struct Strand {
    const Task *task;
    GArray *calls;              /* OpenCall */
    unsigned top;               /* outermost node of the last moment */
    Place left;                 /* when another one went on */
    Place away;                 /* what others have had, in all */
} Strand;

/* A trap that was taken, whose handler has not begun */
typedef struct PendingTrap {
    TrapKind kind;
    Place at;
} PendingTrap;

struct Follower {
    const Profile *profile;
    const TaskTable *tasks;
    const FollowOps *ops;
    void *opaque;
    GHashTable *strands;        /* Task.tid + 1, 0 of nobody -> Strand */
    Strand *now;                /* NULL: there was no moment */
    GHashTable *suspended;      /* node -> OpenCall */
    GArray *path;               /* unsigned: nodes of the moment's stack */
    Place at;                   /* of the last moment or mark */
    SyscallQueue numbers;       /* of system calls that marks will come for */
    PendingTrap pending[FOLLOW_TRAPS];  /* the oldest one first */
    unsigned nr_pending;
    unsigned traps;             /* taken there, each in the handler before */
    uint64_t trapped_at;        /* instructions before the last of them */
    uint64_t dropped;
};

static void strand_free(gpointer opaque)
{
    Strand *s = opaque;

    g_array_unref(s->calls);
    g_free(s);
}

Follower *follow_new(const Profile *profile, const TaskTable *tasks,
                     const FollowOps *ops, void *opaque)
{
    Follower *f = g_new0(Follower, 1);

    f->profile = profile;
    f->tasks = tasks;
    f->ops = ops;
    f->opaque = opaque;
    f->strands = g_hash_table_new_full(NULL, NULL, NULL, strand_free);
    f->suspended = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    f->path = g_array_new(false, false, sizeof(unsigned));
    syscall_queue_init(&f->numbers);
    return f;
}

void follow_free(Follower *f)
{
    g_hash_table_unref(f->strands);
    g_hash_table_unref(f->suspended);
    g_array_unref(f->path);
    syscall_queue_clear(&f->numbers);
    g_free(f);
}

uint64_t follow_dropped(const Follower *f)
{
    return f->dropped;
}

static OpenCall *open_call(const Strand *s, unsigned i)
{
    return &g_array_index(s->calls, OpenCall, i);
}

static const ProfileFrame *node_frame(const Follower *f, unsigned node)
{
    return profile_frame(f->profile, profile_node(f->profile, node)->frame);
}

static CallKind kind_of(const ProfileFrame *frame)
{
    if (frame->kind != FRAME_TRAP) {
        return CALL_FUNCTION;
    }
    if (strstr(frame->name, "interrupt")) {
        return CALL_INTERRUPT;
    }
    if (g_str_equal(frame->name, "[ecall from U]")) {
        return CALL_SYSCALL;
    }
    return strstr(frame->name, "page fault") ||
           strstr(frame->name, "guest-page fault") ? CALL_PAGE_FAULT :
                                                     CALL_EXCEPTION;
}

OpenCall *follow_trap(OpenCall *calls, unsigned n)
{
    while (n && calls[n - 1].kind == CALL_FUNCTION) {
        n--;
    }
    return n ? &calls[n - 1] : NULL;
}

bool text_is_like(const char *text, const char *glob)
{
    return !glob || g_pattern_match_simple(glob, text);
}

bool frame_is_like(const ProfileFrame *frame, const char *sym,
                   const char *dso)
{
    return (text_is_like(frame->name, sym) ||
            (frame->symbol && text_is_like(frame->symbol->linkage, sym))) &&
           (!dso || (frame->object && text_is_like(frame->object->name, dso)));
}

/* The stack that leads to @node, without what groups it; returns its top. */
static unsigned find_path(Follower *f, unsigned node)
{
    unsigned top = node;
    guint n;

    g_array_set_size(f->path, 0);
    while (node != PROFILE_ROOT) {
        top = node;
        if (node_frame(f, node)->kind != FRAME_GROUP) {
            g_array_append_val(f->path, node);
        }
        node = profile_node(f->profile, node)->parent;
    }
    n = f->path->len;
    for (guint i = 0; i < n / 2; i++) {
        unsigned *a = &g_array_index(f->path, unsigned, i);
        unsigned *b = &g_array_index(f->path, unsigned, n - 1 - i);
        unsigned was = *a;

        *a = *b;
        *b = was;
    }
    return top;
}

static Strand *strand_of(Follower *f, const Task *task)
{
    guint64 number = task->id == TASK_NONE ? 0 : (guint64)task->tid + 1;
    gpointer key = GSIZE_TO_POINTER(number);
    Strand *s = g_hash_table_lookup(f->strands, key);

    if (!s) {
        s = g_new0(Strand, 1);
        s->calls = g_array_new(false, false, sizeof(OpenCall));
        g_hash_table_insert(f->strands, key, s);
    }
    s->task = task;
    return s;
}

/*
 * Whose moment it is. Where no task is known, the kernel or the firmware works
 * for the one that ran before if their stacks hang below its.
 */
static Strand *whose(Follower *f, const CallStackMoment *m, unsigned top)
{
    if (m->task) {
        return strand_of(f, m->task);
    }
    if (f->now && f->now->top == top) {
        return f->now;
    }
    return strand_of(f, task_get(f->tasks, TASK_NONE));
}

static void end_call(Follower *f, const Strand *s, const OpenCall *call,
                     CallEnd end)
{
    EndedCall ended = {
        .call = call,
        .task = s->task,
        .to = f->at,
        .away = {
            s->away.insns - call->away.insns, s->away.time - call->away.time,
        },
        .end = end,
    };

    if (f->ops->end && call->began && !call->handled) {
        f->ops->end(f->opaque, &ended);
    }
}

/* All but the @left outermost ones have ended. */
static void end_calls(Follower *f, Strand *s, unsigned left, CallEnd end)
{
    for (guint i = s->calls->len; i > left; i--) {
        end_call(f, s, open_call(s, i - 1), end);
    }
    g_array_set_size(s->calls, left);
}

/* Another task runs: what interrupted this one has been handled. */
static void end_interrupts(Follower *f, Strand *s, unsigned from)
{
    for (guint i = s->calls->len; i > from; i--) {
        OpenCall *call = open_call(s, i - 1);

        if (call->kind == CALL_INTERRUPT && !call->handled) {
            end_call(f, s, call, CALL_SWITCHED);
            call->handled = true;
        }
    }
}

static void forget_suspended(Follower *f)
{
    f->dropped += g_hash_table_size(f->suspended);
    g_hash_table_remove_all(f->suspended);
}

/* Another stack is switched to, without a task that says so. */
static void suspend(Follower *f, Strand *s, unsigned left)
{
    end_interrupts(f, s, left);
    if (g_hash_table_size(f->suspended) + s->calls->len - left >
        FOLLOW_SUSPENDED) {
        forget_suspended(f);
    }
    for (guint i = left; i < s->calls->len; i++) {
        OpenCall *call = open_call(s, i);

        if (call->began) {
            g_hash_table_replace(f->suspended, GUINT_TO_POINTER(call->node),
                                 g_memdup2(call, sizeof(*call)));
        }
    }
    g_array_set_size(s->calls, left);
}

/* What the trap is whose handler begins, as they do in the order of traps */
static TrapKind take_pending(Follower *f)
{
    TrapKind kind = { CAUSE_UNKNOWN, SYSCALL_UNKNOWN };

    if (f->nr_pending) {
        kind = f->pending[0].kind;
        memmove(f->pending, f->pending + 1,
                --f->nr_pending * sizeof(f->pending[0]));
    }
    return kind;
}

/* Only the @n last ones have handlers on the call stack. */
static void skip_pending(Follower *f, unsigned n)
{
    while (f->nr_pending > n) {
        take_pending(f);
    }
}

/* Call number @i of the path; if it is not @fresh, it has been there before. */
static void begin_call(Follower *f, Strand *s, unsigned i, bool fresh)
{
    unsigned node = g_array_index(f->path, unsigned, i);
    gpointer key = GUINT_TO_POINTER(node);
    OpenCall *was = fresh ? NULL : g_hash_table_lookup(f->suspended, key);
    OpenCall call = {
        .node = node,
        .frame = profile_node(f->profile, node)->frame,
        .kind = kind_of(node_frame(f, node)),
        .trap = { CAUSE_UNKNOWN, SYSCALL_UNKNOWN },
        .began = fresh,
        .from = f->at,
        .away = s->away,
    };

    if (was) {
        call = *was;
        g_hash_table_remove(f->suspended, key);
    }
    if (fresh && call.kind != CALL_FUNCTION) {
        call.trap = take_pending(f);
    }
    g_array_append_val(s->calls, call);
    if (fresh && f->ops->begin) {
        f->ops->begin(f->opaque, open_call(s, 0), s->calls->len, s->task);
    }
}

/* How many calls of the path are those that are open, from the outermost on */
static unsigned common_calls(const Follower *f, const Strand *s)
{
    unsigned n = 0;

    while (n < s->calls->len && n < f->path->len &&
           profile_node(f->profile,
                        g_array_index(f->path, unsigned, n))->frame ==
           open_call(s, n)->frame) {
        n++;
    }
    return n;
}

/*
 * Where the handlers of the last traps begin in the path; its end: nowhere.
 * What is pending is of them, afterwards.
 */
static unsigned first_trap(Follower *f)
{
    unsigned first = f->path->len, found = 0;

    for (unsigned i = first; i && found < f->traps; i--) {
        if (node_frame(f, g_array_index(f->path, unsigned, i - 1))->kind ==
            FRAME_TRAP) {
            first = i - 1;
            found++;
        }
    }
    skip_pending(f, found);
    return first;
}

/* End and begin what it takes to get to the path. */
static void go_to(Follower *f, Strand *s, const CallStackMoment *m)
{
    unsigned n = f->path->len, known = s->calls->len;
    unsigned common = common_calls(f, s);
    unsigned fresh = first_trap(f);     /* what is behind it is new */
    bool trapped = fresh < n;

    /* The same handler may have returned and have begun again. */
    common = MIN(common, fresh);
    if (!trapped && m->begins && n) {
        fresh = n - 1;
    }
    if (common && common == known && fresh < n) {
        /* All of it was called, even if the first instruction has trapped. */
        fresh = common;
    }
    if (common == n || trapped || (fresh == common && known - common <= 1)) {
        end_calls(f, s, common, CALL_RETURNED);
    } else {
        suspend(f, s, common);
    }
    for (unsigned i = common; i < n; i++) {
        begin_call(f, s, i, i >= fresh);
    }
}

/* @s runs, or all that is there is over: it has waited for so long. */
static void come_back(Follower *f, Strand *s)
{
    s->away.insns += f->at.insns - s->left.insns;
    s->away.time += f->at.time - s->left.time;
    s->left = f->at;
}

static void switch_to(Follower *f, Strand *s)
{
    Strand *was = f->now;

    if (was) {
        was->left = f->at;
        end_interrupts(f, was, 0);
        if (f->ops->leave) {
            f->ops->leave(f->opaque, (OpenCall *)was->calls->data,
                          was->calls->len, was->task, s->task, &f->at);
        }
        if (s->calls->len) {
            come_back(f, s);
        }
    }
    f->now = s;
}

static void forget_traps(Follower *f)
{
    f->traps = f->nr_pending = 0;
}

void follow_moment(Follower *f, const CallStackMoment *m)
{
    unsigned top = find_path(f, m->node);
    Strand *s;

    f->at = (Place) { m->place, m->time };
    if (f->trapped_at != m->place) {
        forget_traps(f);        /* their handlers are not traced */
    }
    s = whose(f, m, top);
    if (s != f->now) {
        switch_to(f, s);
    }
    go_to(f, s, m);
    s->top = top;
    forget_traps(f);
}

const OpenCall *follow_open(const Follower *f, unsigned *n)
{
    *n = f->now ? f->now->calls->len : 0;
    return *n ? open_call(f->now, 0) : NULL;
}

/* Nothing is known of any stack any more. */
static void forget(Follower *f)
{
    GHashTableIter iter;
    gpointer key, value;

    g_hash_table_iter_init(&iter, f->strands);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        if (value != f->now) {
            come_back(f, value);
        }
        end_calls(f, value, 0, CALL_UNSEEN);
    }
    g_hash_table_iter_init(&iter, f->suspended);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        end_call(f, f->now, value, CALL_UNSEEN);
    }
    g_hash_table_remove_all(f->suspended);
    forget_traps(f);
}

/* The handlers are not traced, and have @returned: what was trapped goes on. */
static void pass_traps(Follower *f, bool returned)
{
    for (unsigned i = 0; f->ops->passed && i < f->nr_pending; i++) {
        const PendingTrap *p = &f->pending[i];

        f->ops->passed(f->opaque, &(PassedTrap) {
            .trap = p->kind, .from = p->at, .to = f->at,
            .task = f->now ? f->now->task : task_get(f->tasks, TASK_NONE),
            .returned = returned,
        });
    }
    f->nr_pending = 0;
}

/*
 * At the place of the trap before, without an instruction in between, it hits
 * the handler's first one, or the program that this one has returned to: a
 * signal may come before a system call's next instruction.
 */
static void note_trap(Follower *f, const MomentMark *trap)
{
    bool again = f->trapped_at == f->at.insns;
    bool call = trap->number == SYSCALL_CAUSE;

    if (again && !trap->nested) {
        pass_traps(f, true);
    }
    if (!again || !trap->nested) {
        forget_traps(f);
    }
    skip_pending(f, FOLLOW_TRAPS - 1);
    f->pending[f->nr_pending++] = (PendingTrap) {
        .kind = {
            .cause = trap->number,
            .syscall = call ? syscall_queue_take(&f->numbers) :
                              SYSCALL_UNKNOWN,
        },
        .at = f->at,
    };
    f->traps++;
    f->trapped_at = f->at.insns;
}

void follow_taken(Follower *f, const FlowTrap *trap, const CallStackSite *site)
{
    syscall_queue_put(&f->numbers, site->image, trap);
}

void follow_mark(Follower *f, const CallStackMoment *when,
                 const MomentMark *mark)
{
    f->at = (Place) { when->place, when->time };
    if (mark->kind == MOMENT_TRAP) {
        note_trap(f, mark);
    } else if (mark->kind == MOMENT_RESUMED || mark->kind == MOMENT_ENDED) {
        pass_traps(f, mark->kind == MOMENT_RESUMED);
    } else if (mark->kind == MOMENT_LOST || mark->kind == MOMENT_RESET) {
        forget(f);
    }
}

void follow_end(Follower *f, const CallStackMoment *when)
{
    f->at = (Place) { when->place, when->time };
    forget(f);
}
