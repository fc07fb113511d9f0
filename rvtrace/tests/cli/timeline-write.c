/*
 * Write a timeline of moments that are made up, and what they were
 *
 *   timeline-write SEED MIN-INSNS TIME FILE
 *
 * TIME: how many nanoseconds an instruction takes; 0: instructions are the
 * clock. Each moment is a line "HART INSNS TASK PRIV FRAME;FRAME...", where a
 * frame is NODE:KIND:NAME and a task its number, or -1; the last line of a hart
 * is "HART INSNS end".
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/time/timeline.h"

#define HARTS       2
#define MOMENTS     1500

/* As nobody would call his functions, but somebody may */
static const char *const names[] = {
    "main", "work", "operator<<(std::ostream&, \"x\")", "a;b c", "\xff\xfe",
    "line\nbreak", "leaf", ("gr\xc3\xb6\xc3\x9f" "e"),
};

typedef struct Maker {
    GRand *rand;
    Profile *profile;
    ObjectTable *objects;
    const Task *tasks[6];
    unsigned stacks[6];         /* node that a task is at */
    unsigned time;
} Maker;

static uint64_t clock_time(const Maker *m, unsigned hart, uint64_t insns)
{
    return !m->time ? insns : 1000 * (hart + 1) + insns * m->time;
}

static void print_path(const Profile *p, unsigned node)
{
    const ProfileFrame *frame = profile_frame(p, profile_node(p, node)->frame);
    g_autofree char *name = g_base64_encode((const guchar *)frame->name,
                                            strlen(frame->name));

    if (node == PROFILE_ROOT) {
        return;
    }
    print_path(p, profile_node(p, node)->parent);
    printf("%u:%d:%s;", node, frame->kind, name);
}

static unsigned a_function(Maker *m, FrameKind kind)
{
    NamePlace place = {
        .object = object_get(m->objects, kind == FRAME_USER ? 1 : 2),
    };
    unsigned i = g_rand_int_range(m->rand, 0, ARRAY_SIZE(names));
    Symbol symbol = { .name = (char *)names[i], .start = 0x1000 + i };
    static Symbol symbols[ARRAY_SIZE(names)];

    symbols[i] = symbol;
    place.symbol = &symbols[i];
    return profile_function(m->profile, kind, &place, symbol.start, true);
}

/* Somewhere else from @node on: into a call, out of some */
static unsigned wander(Maker *m, unsigned node, unsigned base)
{
    FrameKind kind = profile_frame(m->profile,
        profile_node(m->profile, node)->frame)->kind;
    int what = g_rand_int_range(m->rand, 0, 10);

    if (kind == FRAME_GROUP) {
        return profile_child(m->profile, node, a_function(m, FRAME_USER));
    }
    if (kind == FRAME_TRAP) {
        return profile_child(m->profile, node,
                             a_function(m, FRAME_SUPERVISOR));
    }
    if (what < 4 && profile_node(m->profile, node)->depth < 12) {
        return profile_child(m->profile, node, a_function(m, kind));
    }
    if (what == 4) {
        static const char *const traps[] = {
            "[ecall from U]", "[load page fault]", "[breakpoint]",
            "[supervisor timer interrupt]",
        };
        unsigned trap = profile_label(m->profile, FRAME_TRAP,
            traps[g_rand_int_range(m->rand, 0, ARRAY_SIZE(traps))]);

        return wander(m, profile_child(m->profile, node, trap), base);
    }
    for (int up = g_rand_int_range(m->rand, 1, 3); up; up--) {
        unsigned parent = profile_node(m->profile, node)->parent;

        if (parent == base) {
            break;
        }
        node = parent;
    }
    return profile_frame(m->profile,
                         profile_node(m->profile, node)->frame)->kind ==
           FRAME_TRAP ? wander(m, node, base) : node;
}

static void make_hart(Maker *m, TimelineHart *h, unsigned hart)
{
    unsigned now = g_rand_int_range(m->rand, 0, ARRAY_SIZE(m->tasks));
    unsigned bases[ARRAY_SIZE(m->tasks)];
    uint64_t insns = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(m->tasks); i++) {
        const char *name = m->tasks[i] ? m->tasks[i]->name : NULL;

        bases[i] = name ? profile_child(m->profile, PROFILE_ROOT,
            profile_label(m->profile, FRAME_GROUP, name)) : PROFILE_ROOT;
        m->stacks[i] = wander(m, bases[i], bases[i]);
    }
    for (int i = 0; i < MOMENTS; i++) {
        CallStackMoment moment = {
            .insns = insns, .time = clock_time(m, hart, insns),
        };

        if (g_rand_int_range(m->rand, 0, 12) == 0) {
            now = g_rand_int_range(m->rand, 0, ARRAY_SIZE(m->tasks));
        } else {
            m->stacks[now] = wander(m, m->stacks[now], bases[now]);
        }
        moment.node = m->stacks[now];
        moment.task = m->tasks[now];
        if (g_rand_int_range(m->rand, 0, 6) == 0) {
            /* The firmware, called by what runs */
            moment.node = profile_child(m->profile, moment.node,
                profile_label(m->profile, FRAME_TRAP, "[ecall from S]"));
            moment.node = profile_child(m->profile, moment.node,
                                        a_function(m, FRAME_MACHINE));
            moment.priv = ETRACE_PRIV_M;
            moment.task = NULL;
        }
        timeline_moment(h, &moment);
        printf("%u %" PRIu64 " %d %u ", hart, insns,
               moment.task ? (int)moment.task->id : -1, moment.priv);
        print_path(m->profile, moment.node);
        printf("\n");
        /* Some are short, and a few are long. */
        insns += 1 + g_rand_int_range(m->rand, 0,
            g_rand_int_range(m->rand, 0, 20) ? 30 : 5000);
    }
    timeline_lost(h, clock_time(m, hart, insns), "something \"was\" lost");
    timeline_end(h, clock_time(m, hart, insns));
    printf("%u %" PRIu64 " end\n", hart, insns);
}

int main(int argc, char **argv)
{
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(GError) err = NULL;
    g_autoptr(Timeline) t = NULL;
    Profile *profiles[HARTS];
    Maker m = { 0 };
    FILE *f;

    if (argc != 5) {
        fprintf(stderr, "usage: %s SEED MIN-INSNS TIME FILE\n", argv[0]);
        return 2;
    }
    m.rand = g_rand_new_with_seed(atoi(argv[1]));
    m.time = atoi(argv[3]);
    m.objects = object_table_new();
    object_new(m.objects, OBJECT_PROGRAM, "/bin/sh", NULL);
    object_new(m.objects, OBJECT_KERNEL, "[kernel]", NULL);
    m.tasks[0] = task_intern(tasks, TASK_KNOWN, 100, 100, "sh");
    m.tasks[1] = task_intern(tasks, TASK_KNOWN, 101, 100, "wor\"ker");
    m.tasks[2] = task_intern(tasks, TASK_KNOWN, 0, 0, "swapper/0");
    m.tasks[3] = task_intern(tasks, false, TASK_MADE_UP + 7, TASK_MADE_UP + 7,
                             "address space 7");
    m.tasks[4] = task_intern(tasks, TASK_KNOWN, 100, 100, "ls");
    t = timeline_new(&(TimelineOptions) {
        .title = "made up", .virtual_time = m.time,
        .min_duration = atoi(argv[2]) * MAX(m.time, 1),
    });
    for (unsigned i = 0; i < HARTS; i++) {
        TimelineHart *h;

        m.profile = profiles[i] = profile_new();
        h = timeline_hart(t, i, m.profile, &err);
        if (!h) {
            g_error("%s", err->message);
        }
        /* The last one ran on one hart only. */
        m.tasks[5] = i ? NULL :
            task_intern(tasks, TASK_KNOWN, 200, 200, "only here");
        make_hart(&m, h, i);
    }
    f = fopen(argv[4], "we");
    if (!timeline_write(t, f, &err)) {
        g_error("%s", err->message);
    }
    fclose(f);
    for (unsigned i = 0; i < HARTS; i++) {
        profile_free(profiles[i]);
    }
    g_rand_free(m.rand);
    object_table_free(m.objects);
    return 0;
}
