/*
 * Write a report and flame graphs of a small profile with ugly names
 *
 *   html-write FOLDER
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/report/flamegraph.h"
#include "views/html/html-report.h"

#define HOSTILE "<img src=x onerror=alert(1)>"
#define SCRIPT  "</script><script>alert(2)</script>"

static const CallStackLayer order[] = {
    CALLSTACK_LAYER_COMM, CALLSTACK_LAYER_PROCESS, CALLSTACK_LAYER_THREAD,
    CALLSTACK_LAYER_PRIV,
};

static Symbol symbols[] = {
    { .name = (char *)"main", .start = 0x1000 },
    { .name = (char *)"work", .start = 0x1100 },
    { .name = (char *)"leaf", .start = 0x1200 },
    { .name = (char *)SCRIPT, .start = 0x1300 },
};

enum { MAIN, WORK, LEAF, UGLY };

static unsigned label(Profile *p, unsigned node, const char *name)
{
    return profile_child(p, node, profile_label(p, FRAME_GROUP, name));
}

/* Of @program, in U-mode */
static unsigned thread(Profile *p, const char *hart, const char *comm,
                       unsigned pid, unsigned tid)
{
    g_autofree char *process = g_strdup_printf("%s (%u)", comm, pid);
    g_autofree char *name = g_strdup_printf("%s (%u/%u)", comm, pid, tid);
    unsigned node = label(p, label(p, PROFILE_ROOT, hart), comm);

    return label(p, label(p, label(p, node, process), name), "U-mode");
}

static unsigned call(Profile *p, unsigned node, const Object *program,
                     unsigned function, uint64_t self)
{
    NamePlace place = { .object = program, .symbol = &symbols[function] };
    unsigned child = profile_child(p, node,
        profile_function(p, FRAME_USER, &place, 0, true));

    profile_node(p, child)->self += self;
    return child;
}

/* 1000 instructions in all. The process 12 has another thread. */
static void fill(Profile *p, const Object *program, const Object *library)
{
    unsigned node = thread(p, "hart 0", "sh", 10, 10);

    node = call(p, node, program, MAIN, 100);
    node = call(p, node, program, WORK, 300);
    call(p, node, library, LEAF, 200);
    node = thread(p, "hart 1", "sh", 11, 11);
    node = call(p, node, program, MAIN, 50);
    call(p, node, program, WORK, 50);
    call(p, thread(p, "hart 0", HOSTILE, 12, 12), program, UGLY, 150);
    call(p, thread(p, "hart 0", HOSTILE, 12, 13), program, UGLY, 50);
    node = label(p, label(p, PROFILE_ROOT, "hart 0"), "M-mode");
    node = profile_child(p, node, profile_label(p, FRAME_MACHINE, "boot"));
    profile_node(p, node)->self += 100;
}

/* Until @insns, @task is in @node. */
static void go_on(Activity *a, uint64_t *at, const Task *task, unsigned node,
                  uint64_t insns)
{
    activity_moment(a, &(CallStackMoment) {
        .insns = *at, .time = *at, .node = node, .task = task,
    });
    *at += insns;
}

/* The node of @p with the label @above somewhere above it and this name */
static unsigned find_node(const Profile *p, const char *above,
                          const char *name)
{
    for (guint i = 1; i < p->nodes->len; i++) {
        const ProfileNode *n = profile_node(p, i);
        bool found = false;

        for (unsigned up = i; up != PROFILE_ROOT;
             up = profile_node(p, up)->parent) {
            found |= g_str_equal(profile_frame(p, profile_node(p, up)->frame)
                                 ->name, above);
        }
        if (found && g_str_equal(profile_frame(p, n->frame)->name, name)) {
            return i;
        }
    }
    g_error("no %s below %s", name, above);
}

/*
 * A hart's part of @all: nodes are numbered as they are there, but without the
 * label of the hart, which is put above them again.
 */
static Profile *hart_part(const Profile *all, const char *hart,
                          unsigned *numbers)
{
    Profile *p = profile_new();

    for (guint i = 1; i < all->nodes->len; i++) {
        const ProfileNode *n = profile_node(all, i);
        const ProfileFrame *f = profile_frame(all, n->frame);

        if (n->parent == PROFILE_ROOT) {
            numbers[i] = g_str_equal(f->name, hart) ? PROFILE_ROOT : UINT_MAX;
        } else if (numbers[n->parent] == UINT_MAX) {
            numbers[i] = UINT_MAX;
        } else {
            numbers[i] = profile_child(p, numbers[n->parent],
                                       profile_take_frame(p, f));
        }
    }
    return p;
}

static const MomentMark marks[] = {
    { .kind = MOMENT_NOTE, .number = ETRACE_SB_NOTE_BEGIN,
      .text = HOSTILE, .len = sizeof(HOSTILE) - 1 },
    { .kind = MOMENT_NOTE, .number = ETRACE_SB_NOTE_END,
      .text = HOSTILE, .len = sizeof(HOSTILE) - 1 },
    { .kind = MOMENT_LOST, .text = "some", .len = 4 },
    { .kind = MOMENT_TRAP, .number = 8 },
    { .kind = MOMENT_TRAP, .number = MOMENT_INTERRUPT + 5 },
    { .kind = MOMENT_RESET, .text = "" },
};

/*
 * hart 0: boot 100, main 100, work 300, leaf 200, the other one 150 and 50;
 * hart 1: main 50, work 50
 */
static void fill_harts(Activity *harts[2], Profile *parts[2], const Profile *p,
                       TaskTable *tasks)
{
    const Task *sh = task_intern(tasks, TASK_KNOWN, 10, 10, "sh");
    const Task *ugly = task_intern(tasks, TASK_KNOWN, 12, 12, HOSTILE);
    const Task *second = task_intern(tasks, TASK_KNOWN, 13, 12, HOSTILE);
    const Task *other = task_intern(tasks, TASK_KNOWN, 11, 11, "sh");
    g_autofree unsigned *n = g_new0(unsigned, p->nodes->len);
    uint64_t at = 0;
    Activity *a;

    parts[0] = hart_part(p, "hart 0", n);
    a = harts[0] = activity_new(0, parts[0], false);
    go_on(a, &at, NULL, n[find_node(p, "M-mode", "boot")], 100);
    activity_mark(a, at, &marks[0]);
    go_on(a, &at, sh, n[find_node(p, "sh (10)", "main")], 100);
    activity_mark(a, at, &marks[3]);
    go_on(a, &at, sh, n[find_node(p, "sh (10)", "work")], 300);
    activity_mark(a, at, &marks[1]);
    activity_mark(a, at, &marks[3]);
    go_on(a, &at, sh, n[find_node(p, "sh (10)", "leaf")], 200);
    activity_mark(a, at, &marks[4]);
    activity_mark(a, at, &marks[5]);
    go_on(a, &at, ugly, n[find_node(p, HOSTILE " (12/12)", SCRIPT)], 150);
    go_on(a, &at, second, n[find_node(p, HOSTILE " (12/13)", SCRIPT)], 50);
    activity_end(a, at, at);
    at = 0;
    parts[1] = hart_part(p, "hart 1", n);
    a = harts[1] = activity_new(1, parts[1], false);
    go_on(a, &at, other, n[find_node(p, "sh (11)", "main")], 50);
    activity_mark(a, at, &marks[0]);
    activity_mark(a, at, &marks[1]);
    activity_mark(a, at, &marks[2]);
    go_on(a, &at, other, n[find_node(p, "sh (11)", "work")], 50);
    activity_end(a, at, at);
}

/* main calls work twice. */
static void fill_counts(Counts *c, const Object *program)
{
    unsigned place = counts_place(c, &(CountPlace) { .object = program->id });

    counts_add_edge(c, &(CountEdge) {
        .from_place = place, .to_place = place, .from = 0x1010, .to = 0x1100,
        .itype = ETRACE_ITYPE_INFERABLE_CALL,
    }, 2);
    counts_add_edge(c, &(CountEdge) {
        .from_place = place, .to_place = place, .from = 0x1020, .to = 0x1100,
        .itype = ETRACE_ITYPE_TAKEN_BRANCH,
    }, 40);
}

static FILE *open_file(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    FILE *f = fopen(path, "we");

    if (!f) {
        g_error("%s: %s", path, g_strerror(errno));
    }
    return f;
}

static void write_report(Profile *p, const Counts *counts, TaskTable *tasks,
                         FILE *f)
{
    static const char *const columns[] = { "", "Number", NULL };
    static const HtmlCodeLine lines[] = {
        { .line = 12, .text = "for (i = 0; i < n; i++) {", .count = 300 },
        { .address = 0x1100, .text = "addi a0,a0,-1", .count = 100 },
        { .address = 0x1104, .text = "bnez a0,1100 <work>", .count = 100,
          .branch = true, .taken = 98, .not_taken = 2,
          .note = "taken 98, not taken 2; then 3 interrupts" },
        { .address = 0x1108, .text = "jal ra,1200 <leaf>", .count = 2000,
          .note = "calls leaf 2000" },
        { .address = 0x110c, .text = "ebreak" },
    };
    const HtmlCode code = {
        .function = "work", .object = "prog", .file = "w&rk.c",
        .insns = 350, .lines = lines, .nr_lines = ARRAY_SIZE(lines),
    };
    const HtmlFact facts[] = {
        { "Instructions", "1,000", "on 2 harts", HTML_NEUTRAL },
        { "Compared", "identical", NULL, HTML_GOOD },
        { "Losses", HOSTILE, SCRIPT, HTML_BAD },
    };
    g_autoptr(GPtrArray) rows = g_ptr_array_new();
    char *row[] = { (char *)HOSTILE, (char *)"7", NULL };
    const HtmlTable table = { SCRIPT, columns, rows };
    Activity *harts[2];
    Profile *parts[2];

    g_ptr_array_add(rows, row);
    fill_harts(harts, parts, p, tasks);
    html_report_write(&(HtmlReport) {
        .title = "ugly " SCRIPT " & names",
        .unit = "instructions",
        .facts = facts,
        .nr_facts = ARRAY_SIZE(facts),
        .profile = p,
        .layers = {
            .hart = true, .layers = order, .nr_layers = ARRAY_SIZE(order),
        },
        .harts = harts,
        .nr_harts = ARRAY_SIZE(harts),
        .tasks = tasks,
        .counts = counts,
        .code = &code,
        .nr_code = 1,
        .tables = &table,
        .nr_tables = 1,
    }, f);
    for (size_t i = 0; i < ARRAY_SIZE(harts); i++) {
        activity_free(harts[i]);
        profile_free(parts[i]);
    }
    fclose(f);
}

static void write_flames(Profile *p, bool icicle, FILE *f)
{
    flamegraph_write(p, &(FlameOptions) {
        .title = "ugly " SCRIPT, .width = 1000, .icicle = icicle,
    }, f);
    fclose(f);
}

int main(int argc, char **argv)
{
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(Profile) all = profile_new(), few = NULL;
    g_autoptr(Counts) counts = counts_new(objects, tasks);
    const Object *program = object_new(objects, OBJECT_PROGRAM, "/bin/prog",
                                       NULL);
    const Object *library = object_new(objects, OBJECT_LIBRARY,
                                       "/lib/lib<b>.so", NULL);
    g_autofree uint8_t *is = NULL;

    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    fill(all, program, library);
    fill_counts(counts, program);
    write_report(all, counts, tasks, open_file(argv[1], "report.html"));
    is = layers_find(all, &(Layers) {
        .hart = true, .layers = order, .nr_layers = ARRAY_SIZE(order),
    });
    few = layers_keep(all, is, 1u << LAYER_COMM);
    write_flames(few, false, open_file(argv[1], "flames.svg"));
    write_flames(few, true, open_file(argv[1], "icicle.svg"));
    return 0;
}
