/*
 * Call stacks for which there is no room
 *
 * The same is told to a profile that has room for all, and to one that has not.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/callstack.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/profile-fixture.h"

#define FUNCTIONS   60
#define SIZE        0x100
#define PROGRAM     0x1000
#define KERNEL      UINT64_C(0xffffffff80000000)

#define CALL    ETRACE_ITYPE_INFERABLE_CALL
#define RET     ETRACE_ITYPE_RETURN
#define XRET    ETRACE_ITYPE_TRAP_RETURN

typedef struct Side {
    Profile *profile;
    CallStack *stack;
} Side;

typedef struct Fixture {
    ObjectTable *objects;
    TaskTable *tasks;
    Names *names;
    const Task *task[3];
    Side all, few;
    CallStackSite site;
    uint64_t insns;
    GRand *random;
} Fixture;

static void side_init(Side *s, const Names *names)
{
    s->profile = profile_new();
    s->stack = callstack_new(s->profile, PROFILE_ROOT, &(CallStackOptions) {
        .names = names,
        .layers = { CALLSTACK_LAYER_COMM }, .nr_layers = 1,
    });
}

static void side_clear(Side *s)
{
    callstack_free(s->stack);
    profile_free(s->profile);
}

static void set_up(Fixture *f, unsigned limit, unsigned seed)
{
    g_autoptr(GString) symbols = g_string_new(NULL);

    *f = (Fixture) { .random = g_rand_new_with_seed(seed) };
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        uint64_t at = SIZE * i;

        g_string_append_printf(symbols, "%016" PRIx64 " T u%u\n",
                               PROGRAM + at, i);
        g_string_append_printf(symbols, "%016" PRIx64 " T k%u\n",
                               KERNEL + at, i);
    }
    f->objects = object_table_new();
    f->names = names_new(f->objects);
    fixture_object(f->objects, f->names, OBJECT_KERNEL, "[kernel]",
                   symbols->str, 0);
    f->tasks = task_table_new();
    for (unsigned i = 0; i < G_N_ELEMENTS(f->task); i++) {
        g_autofree char *name = g_strdup_printf("task%u", i);

        f->task[i] = task_intern(f->tasks, TASK_KNOWN, 10 + i, 10 + i, name);
    }
    f->site.task = f->task[0];
    side_init(&f->all, f->names);
    side_init(&f->few, f->names);
    f->few.profile->limit = limit;
}

static void tear_down(Fixture *f)
{
    side_clear(&f->all);
    side_clear(&f->few);
    names_free(f->names);
    task_table_free(f->tasks);
    object_table_free(f->objects);
    g_rand_free(f->random);
}

static void run(Fixture *f, uint64_t pc, unsigned count, unsigned itype)
{
    FlowRun run = {
        .pc = pc,
        .end = pc + 4 * count,
        .count = count,
        .priv = pc < KERNEL ? ETRACE_PRIV_U : ETRACE_PRIV_S,
        .itype = itype,
    };

    f->site.space = pc < KERNEL;
    callstack_run(f->all.stack, &run, &f->site);
    callstack_run(f->few.stack, &run, &f->site);
    f->insns += count;
}

static void trap_at(Fixture *f, uint64_t epc)
{
    FlowTrap trap = {
        .cause = 8, .epc = epc, .epc_known = true, .priv = ETRACE_PRIV_U,
    };

    f->site.space = 1;
    callstack_trap(f->all.stack, &trap, &f->site);
    callstack_trap(f->few.stack, &trap, &f->site);
}

/* Both are to go on: a round was repeated only if both can tell. */
static void repeat(Fixture *f)
{
    if (callstack_can_repeat(f->all.stack) &&
        callstack_can_repeat(f->few.stack)) {
        callstack_repeat(f->all.stack, 0);
        callstack_repeat(f->few.stack, 0);
    }
    callstack_mark(f->all.stack);
    callstack_mark(f->few.stack);
}

/* Instructions by stack and by function, "a;b;c" and "c" */
typedef struct Shown {
    GHashTable *totals;     /* stack -> uint64_t * */
    GHashTable *own;        /* function -> uint64_t * */
} Shown;

static void add(GHashTable *table, char *key, uint64_t insns)
{
    uint64_t *sum = g_hash_table_lookup(table, key);

    if (sum) {
        *sum += insns;
        g_free(key);
    } else {
        g_hash_table_insert(table, key, g_memdup2(&insns, sizeof(insns)));
    }
}

static uint64_t get(GHashTable *table, const char *key)
{
    const uint64_t *sum = g_hash_table_lookup(table, key);

    return sum ? *sum : 0;
}

static Shown show(Profile *profile)
{
    g_autoptr(Profile) p = profile_tidy(profile);
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    Shown s = {
        .totals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                        g_free),
        .own = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
    };

    profile_sum(p);
    g_ptr_array_add(paths, g_strdup(""));
    for (guint i = 1; i < p->nodes->len; i++) {
        const ProfileNode *n = profile_node(p, i);
        const char *name = profile_frame(p, n->frame)->name;

        g_ptr_array_add(paths, g_strdup_printf("%s;%s",
                        (char *)paths->pdata[n->parent], name));
        add(s.totals, g_strdup(paths->pdata[i]), n->total);
        add(s.own, g_strdup(name), n->self);
    }
    return s;
}

static void shown_clear(Shown *s)
{
    g_hash_table_unref(s->totals);
    g_hash_table_unref(s->own);
}

/* What is below PROFILE_RARE of the callers of @stack */
static uint64_t rare_beside(const Shown *s, const char *stack)
{
    g_autofree char *caller = g_strdup(stack);
    uint64_t sum = 0;
    char *end;

    while ((end = strrchr(caller, ';')) != NULL) {
        g_autofree char *rare = NULL;

        *end = '\0';
        rare = g_strdup_printf("%s;" PROFILE_RARE, caller);
        sum += get(s->totals, rare);
    }
    return sum;
}

/* Own counts are the same, and totals as near as is said. */
static void compare(const Shown *all, const Shown *few)
{
    GHashTableIter iter;
    gpointer key, value;

    g_hash_table_iter_init(&iter, all->own);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        check_cmpuint(get(few->own, key), ==, *(uint64_t *)value);
    }
    g_hash_table_iter_init(&iter, few->totals);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        uint64_t total = *(uint64_t *)value;
        uint64_t truth = get(all->totals, key);

        if (strstr(key, PROFILE_RARE)) {
            continue;
        }
        check_cmpuint(total, <=, truth);
        check_cmpuint(truth - total, <=, rare_beside(few, key));
        if (strchr(key, ';') == strrchr(key, ';')) {
            check_cmpuint(total, ==, truth);
        }
    }
}

static void check_sides(Fixture *f)
{
    Shown all = show(f->all.profile), few = show(f->few.profile);

    check_cmpuint(profile_sum(f->all.profile), ==, f->insns);
    check_cmpuint(profile_sum(f->few.profile), ==, f->insns);
    compare(&all, &few);
    shown_clear(&all);
    shown_clear(&few);
}

/* Whatever happens */
static void test_random(void)
{
    static const unsigned itypes[] = {
        0, 0, CALL, CALL, CALL, CALL, RET, RET, RET, XRET,
        ETRACE_ITYPE_UNINFERABLE_CALL, ETRACE_ITYPE_UNINFERABLE_JUMP,
    };

    for (unsigned seed = 1; seed < 4; seed++) {
        unsigned limit = 10000 + 10000 * seed;
        Fixture f;

        set_up(&f, limit, seed);
        for (unsigned i = 0; i < 100000; i++) {
            uint64_t pc = (g_rand_int_range(f.random, 0, 7) < 5 ? PROGRAM :
                           KERNEL) +
                          4 * g_rand_int_range(f.random, 0,
                                               FUNCTIONS * SIZE / 4);

            switch (g_rand_int_range(f.random, 0, 60)) {
            case 0:
                callstack_gap(f.all.stack, false);
                callstack_gap(f.few.stack, false);
                break;
            case 1:
                f.site.task = f.task[g_rand_int_range(f.random, 0, 3)];
                break;
            case 2:
                trap_at(&f, pc < KERNEL ? pc : PROGRAM);
                break;
            case 3:
                repeat(&f);
                break;
            default:
                run(&f, pc, g_rand_int_range(f.random, 1, 4),
                    itypes[g_rand_int_range(f.random, 0, ARRAY_SIZE(itypes))]);
                break;
            }
            check_cmpuint(f.few.profile->nodes->len, <, limit + 1000);
        }
        g_test_message("%u nodes, %u with room for all",
                       f.few.profile->nodes->len, f.all.profile->nodes->len);
        check_false(f.few.profile->fixed);
        check_false(f.few.profile->full);
        check_cmpuint(f.few.profile->merged, >, 0);
        check_sides(&f);
        tear_down(&f);
    }
}

/*
 * Calls five deep, nearly all of them the same ones: those have the totals that
 * they had with room for all, from the first one on.
 */
static void test_hot(void)
{
    Shown all, few;
    Fixture f;

    set_up(&f, 500, 1);
    for (unsigned i = 0; i < 20000; i++) {
        unsigned depth = 5, at[5] = { 1, 2, 3, 4, 5 };

        for (unsigned k = 1; i % 4 == 3 && k < depth; k++) {
            at[k] = g_rand_int_range(f.random, 0, FUNCTIONS);
        }
        for (unsigned k = 0; k < depth; k++) {
            run(&f, PROGRAM + SIZE * at[k], 1, k + 1 < depth ? CALL : RET);
        }
        for (unsigned k = depth - 1; k-- > 0; ) {
            run(&f, PROGRAM + SIZE * at[k] + 4, 1, k ? RET : 0);
        }
    }
    check_sides(&f);
    all = show(f.all.profile);
    few = show(f.few.profile);
    check_cmpuint(f.few.profile->nodes->len, <=, 510);
    check_cmpuint(get(few.totals, ";task0;u1;u2;u3;u4;u5"), ==, 15000);
    check_cmpuint(get(few.totals, ";task0;u1;u2;u3"), >=, 75000);
    check_cmpuint(get(few.totals, ";task0;u1"), ==, f.insns);
    shown_clear(&all);
    shown_clear(&few);
    tear_down(&f);
}

/* There is not even room for what all is below. */
static void test_hopeless(void)
{
    Fixture f;

    set_up(&f, 1, 1);
    for (unsigned i = 0; i < 1000; i++) {
        run(&f, PROGRAM + SIZE * (i % FUNCTIONS), 1, i % 50 < 25 ? CALL : RET);
    }
    check_true(f.few.profile->fixed);
    check_sides(&f);
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rare/random", test_random);
    g_test_add_func("/rare/hot", test_hot);
    g_test_add_func("/rare/hopeless", test_hopeless);
    return g_test_run();
}
