/*
 * Locks: what the names of functions say, and who has one
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "views/questions/locks.h"

static void test_takers(void)
{
    static const char *const takers[] = {
        "lock", "spin_lock", "_raw_spin_lock", "_raw_spin_lock_irqsave",
        "raw_spin_rq_lock_nested", "mutex_lock", "pthread_mutex_lock",
        "get_lock", "take_lock", "spinlock_acquire", "acquire", "k_spin_lock",
        "xSemaphoreTake", "xQueueSemaphoreTake", "vPortEnterCritical",
        "vTaskEnterCritical", "SpinLock", "std::mutex::lock()",
        "spin::Mutex<T>::lock", "rt_mutex_take", "queued_spin_lock_slowpath",
    };
    static const char *const others[] = {
        "", "main", "clock", "clock_gettime", "unlock", "spin_unlock",
        "_raw_spin_unlock_irqrestore", "mutex_trylock", "spin_trylock",
        "spin_try_lock", "spin_lock_init", "lockdep_init", "blocks", "block",
        "locks_free", "locked", "mutex_is_locked", "release_lock", "take",
        "give_lock", "SpinUnlock", "get_user", "take_action", "enter",
        "vPortExitCritical", "lock_destroy", "flocking",
    };

    for (size_t i = 0; i < ARRAY_SIZE(takers); i++) {
        g_test_message("%s", takers[i]);
        check_true(lock_is_taken_by(takers[i]));
    }
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        g_test_message("%s", others[i]);
        check_false(lock_is_taken_by(others[i]));
    }
}

static void test_pairs(void)
{
    static const struct {
        const char *give, *take;
        bool pair;
    } cases[] = {
        { "unlock", "lock", true },
        { "spin_unlock", "spin_lock", true },
        { "_raw_spin_unlock_irqrestore", "_raw_spin_lock_irqsave", true },
        { "_raw_spin_unlock", "_raw_spin_lock_irqsave", true },
        { "raw_spin_rq_unlock", "raw_spin_rq_lock_nested", true },
        { "put_lock", "get_lock", true },
        { "release_lock", "take_lock", true },
        { "spinlock_release", "spinlock_acquire", true },
        { "xSemaphoreGive", "xSemaphoreTake", true },
        { "vPortExitCritical", "vPortEnterCritical", true },
        { "SpinUnlock", "SpinLock", true },
        { "rt_mutex_release", "rt_mutex_take", true },
        { "mutex_unlock", "spin_lock", false },
        { "spin_unlocked", "spin_lock", false },
        { "spin_lock", "spin_lock", false },
        { "spin_", "spin_lock", false },
        { "", "lock", false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        g_test_message("%s, %s", cases[i].give, cases[i].take);
        check_cmpuint(lock_is_given_back_by(cases[i].give, cases[i].take), ==,
                      cases[i].pair);
    }
}

/* Calls, as a follower would tell of them */
typedef struct Case {
    Profile *profile;
    TaskTable *tasks;
    Locks *locks;
} Case;

static unsigned node(Case *c, unsigned parent, const char *name)
{
    return profile_child(c->profile, parent,
                         profile_label(c->profile, FRAME_USER, name));
}

static OpenCall call_of(Case *c, unsigned parent, const char *name,
                        uint64_t from)
{
    unsigned n = node(c, parent, name);
    OpenCall call = {
        .node = n, .frame = profile_node(c->profile, n)->frame, .began = true,
        .from = { from, from },
    };

    locks_begin(c->locks, &call);
    return call;
}

static void end(Case *c, const OpenCall *call, uint64_t to)
{
    locks_end(c->locks, &(EndedCall) {
        .call = call, .task = task_get(c->tasks, TASK_NONE), .to = { to, to },
        .end = CALL_RETURNED,
    });
}

static void test_held(void)
{
    Case c = { profile_new(), task_table_new(), NULL };
    unsigned top = node(&c, PROFILE_ROOT, "main");
    OpenCall outer, inner;

    c.locks = locks_new(c.profile);
    check_null(locks_find(c.locks, "spin_lock"));
    /* One calls the other; both are the same lock. */
    outer = call_of(&c, top, "spin_lock", 10);
    inner = call_of(&c, outer.node, "do_lock", 12);
    end(&c, &inner, 20);
    check_nonnull(locks_find(c.locks, "do_lock"));
    end(&c, &outer, 25);
    check_null(locks_find(c.locks, "do_lock"));
    check_cmpuint(locks_find(c.locks, "spin_lock")->since, ==, 25);
    check_cmpuint(locks_find(c.locks, "spin_lock")->caller, ==,
                  profile_node(c.profile, top)->frame);
    check_false(locks_gave_back(c.locks, "spin_lock"));
    /* A second one, which is given back first */
    outer = call_of(&c, top, "spin_lock", 30);
    end(&c, &outer, 35);
    check_cmpuint(locks_find(c.locks, "spin_lock")->since, ==, 35);
    call_of(&c, top, "mutex_unlock", 40);
    call_of(&c, top, "spin_unlock", 50);
    check_cmpuint(locks_find(c.locks, "spin_lock")->since, ==, 25);
    check_true(locks_gave_back(c.locks, "spin_lock"));
    call_of(&c, top, "spin_unlock", 60);
    check_null(locks_find(c.locks, "spin_lock"));
    /* As many as anybody likes */
    for (unsigned i = 0; i < 3 * LOCKS_MAX_HELD; i++) {
        outer = call_of(&c, top, "spin_lock", 100 + 10 * i);
        end(&c, &outer, 105 + 10 * i);
    }
    for (unsigned i = 0; i < LOCKS_MAX_HELD; i++) {
        check_nonnull(locks_find(c.locks, "spin_lock"));
        call_of(&c, top, "spin_unlock", 10000 + i);
    }
    check_null(locks_find(c.locks, "spin_lock"));
    outer = call_of(&c, top, "spin_lock", 20000);
    end(&c, &outer, 20005);
    locks_forget(c.locks);
    check_null(locks_find(c.locks, "spin_lock"));
    locks_free(c.locks);
    task_table_free(c.tasks);
    profile_free(c.profile);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/locks/takers", test_takers);
    g_test_add_func("/locks/pairs", test_pairs);
    g_test_add_func("/locks/held", test_held);
    return g_test_run();
}
