/*
 * Which tasks have ended, as far as a sideband lets one conclude it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "code/sideband-private.h"
#include "profile/task-ends.h"

typedef struct Life {
    ThreadKey id;           /* first: it is the key of lives */
    uint32_t tgid;
    bool over;
    bool doubtful;          /* it was there again */
} Life;

struct TaskEnds {
    GHashTable *lives;      /* set of Life, by thread */
};

guint thread_key_hash(gconstpointer key)
{
    const ThreadKey *thread = key;

    return g_int64_hash(&thread->descriptor) ^ thread->tid * 0x9e3779b1u;
}

gboolean thread_key_equal(gconstpointer a, gconstpointer b)
{
    const ThreadKey *x = a, *y = b;

    return x->descriptor == y->descriptor && x->tid == y->tid;
}

TaskEnds *task_ends_new(void)
{
    TaskEnds *ends = g_new0(TaskEnds, 1);

    ends->lives = g_hash_table_new_full(thread_key_hash, thread_key_equal,
                                        g_free, NULL);
    return ends;
}

void task_ends_free(TaskEnds *ends)
{
    g_hash_table_unref(ends->lives);
    g_free(ends);
}

static Life *life_of(TaskEnds *ends, const ETraceSbTask *task)
{
    ThreadKey key = { .descriptor = task->task, .tid = task->tid };
    Life *life = g_hash_table_lookup(ends->lives, &key);

    if (!life) {
        life = g_new0(Life, 1);
        life->id = key;
        g_hash_table_add(ends->lives, life);
    }
    life->tgid = task->tgid;
    life->doubtful |= life->over;
    return life;
}

/*
 * Where a thread runs exec, it takes over the number of its process, and keeps
 * its descriptor.
 */
static bool took_over(const Life *before, const Life *now)
{
    return now->id.tid == before->tgid && now->tgid == before->tgid;
}

void task_ends_add(TaskEnds *ends, const Sideband *sb)
{
    /* Descriptor -> Life: whose it is at this place of the stream */
    g_autoptr(GHashTable) now = g_hash_table_new(g_int64_hash, g_int64_equal);
    size_t pos = sb->begin;
    SidebandRecord rec;

    while (pos < sb->end && sideband_next(sb->data, sb->end, &pos, &rec)) {
        ETraceSbTask task;
        Life *life, *before;

        if (!sideband_record_valid(sb, &rec)) {
            continue;
        }
        if (rec.type == ETRACE_SB_RESET) {
            /* The next kernel's descriptors are others. */
            g_hash_table_remove_all(now);
        }
        if (rec.type != ETRACE_SB_TASK) {
            continue;
        }
        etrace_sb_unpack_task(rec.payload, rec.len, &task);
        life = life_of(ends, &task);
        before = g_hash_table_lookup(now, &life->id.descriptor);
        if (before && before != life && !took_over(before, life)) {
            before->over = true;
        }
        g_hash_table_replace(now, &life->id.descriptor, life);
    }
}

bool task_ends_has(const TaskEnds *ends, uint64_t descriptor, uint32_t tid)
{
    const Life *life = g_hash_table_lookup(
        ends->lives, &(ThreadKey) { .descriptor = descriptor, .tid = tid });

    return life && tid && life->over && !life->doubtful;
}
