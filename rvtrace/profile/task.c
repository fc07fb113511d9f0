/*
 * Tasks: who ran
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/text-plain.h"
#include "profile/task.h"

static guint task_hash(gconstpointer key)
{
    const Task *t = key;

    return g_str_hash(t->name) ^ t->tid * 0x9e3779b1u ^ t->tgid ^ t->kind;
}

static gboolean task_equal(gconstpointer a, gconstpointer b)
{
    const Task *x = a, *y = b;

    return x->kind == y->kind && x->tid == y->tid && x->tgid == y->tgid &&
           g_str_equal(x->name, y->name);
}

static void task_free(gpointer opaque)
{
    Task *t = opaque;

    g_free(t->name);
    g_free(t);
}

TaskTable *task_table_new(void)
{
    TaskTable *table = g_new0(TaskTable, 1);

    g_mutex_init(&table->lock);
    table->tasks = g_ptr_array_new_with_free_func(task_free);
    table->index = g_hash_table_new(task_hash, task_equal);
    task_intern(table, TASK_GUESSED, 0, 0, "[no task]");
    return table;
}

void task_table_free(TaskTable *table)
{
    g_hash_table_unref(table->index);
    g_ptr_array_unref(table->tasks);
    g_mutex_clear(&table->lock);
    g_free(table);
}

const Task *task_intern(TaskTable *table, TaskKind kind, uint32_t tid,
                        uint32_t tgid, const char *name)
{
    Task key = {
        .kind = kind,
        .tid = tid,
        .tgid = tgid,
        .name = (char *)text_plain(name),
    };
    Task *t;

    g_mutex_lock(&table->lock);
    t = g_hash_table_lookup(table->index, &key);
    if (!t) {
        t = g_memdup2(&key, sizeof(key));
        t->name = g_strdup(key.name);
        t->id = table->tasks->len;
        g_ptr_array_add(table->tasks, t);
        g_hash_table_add(table->index, t);
    }
    g_mutex_unlock(&table->lock);
    return t;
}
