/*
 * Replay: memory that the threads of a program share
 *
 * No times tell in which order threads have run. So a thread knows of a byte what
 * it has last accessed there only if no other one accesses the same word, ever.
 * What the kernel writes for another thread, which nobody there looks at, is not
 * seen.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/replay-state-private.h"

#define WORD    8

/* Does the thread ever access the word at @addr? If nobody knows: yes. */
static bool has_accessed(ReplayStates *s, uint64_t addr, unsigned space)
{
    bool strays;
    uint64_t at;
    ReplayFound found = replay_find_any(s, 0, replay_length(s->r), false, addr,
                                        WORD, space, &at, &strays);

    return found != REPLAY_NOT_FOUND || strays;
}

/* ... which is remembered, unless the user has ended the search */
static bool accesses(ReplayStates *s, uint64_t addr, unsigned space)
{
    gpointer key = GSIZE_TO_POINTER(addr), value;
    bool yes;

    if (!s->words) {
        s->words = g_hash_table_new(NULL, NULL);
    }
    if (g_hash_table_lookup_extended(s->words, key, NULL, &value)) {
        return GPOINTER_TO_INT(value);
    }
    yes = has_accessed(s, addr, space);
    if (!s->stopped && g_hash_table_size(s->words) < THREADS_WORDS_MAX) {
        g_hash_table_insert(s->words, key, GINT_TO_POINTER(yes));
    }
    return yes;
}

size_t replay_threads_memory(ReplayStates *const *all, unsigned n,
                             unsigned hart, uint64_t i, uint64_t addr,
                             uint8_t *buf, size_t len, bool *stored)
{
    size_t known = replay_memory(all[hart], i, addr, buf, len), at = 0;
    unsigned space;

    *stored = false;
    if (!known || !replay_space(all[hart], i, &space)) {
        return 0;
    }
    while (at < known) {
        uint64_t word = (addr + at) & -(uint64_t)WORD;

        for (unsigned k = 0; k < n; k++) {
            if (k != hart && all[k] && accesses(all[k], word, space)) {
                *stored = !at;
                return at;
            }
        }
        at = word + WORD - addr;
    }
    return known;
}
