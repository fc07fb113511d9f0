/*
 * script: samples as text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/text-plain.h"
#include "views/perf/script.h"

#define NS_PER_SEC 1000000000

typedef struct Script {
    const ObjectTable *objects;
    const TaskTable *tasks;
    const char *event;
    FILE *f;
} Script;

static void put_addr(Script *s, const SampleAddr *a)
{
    const Object *o = object_get(s->objects, a->object);
    const Symbol *symbol = symbols_find(o->symbols, a->pc - a->bias, NULL,
                                        NULL);

    fprintf(s->f, "\t%16" PRIx64 " ", a->pc);
    if (symbol) {
        fprintf(s->f, "%s+0x%" PRIx64, symbol->name,
                a->pc - a->bias - symbol->start);
    } else {
        fputs("[unknown]", s->f);
    }
    fprintf(s->f, " (%s)\n", o->kind == OBJECT_KERNEL ? "[kernel.kallsyms]" :
            text_plain(o->file ?: o->path));
}

static void put_sample(void *opaque, const Sample *sample)
{
    Script *s = opaque;
    const Task *task = task_get(s->tasks, sample->task);

    fprintf(s->f, "%s %5u [%03u] %5" PRIu64 ".%06" PRIu64 ": %10" PRIu64
            " %s: ", task->name,
            task->id == TASK_NONE ? TASK_MADE_UP : task->tid, sample->hart,
            sample->time / NS_PER_SEC, sample->time % NS_PER_SEC / 1000,
            sample->period, s->event);
    fputc('\n', s->f);
    for (unsigned i = 0; i < sample->nr_chain; i++) {
        put_addr(s, &sample->chain[i]);
    }
    fputc('\n', s->f);
}

bool script_write(Spool **spools, unsigned n, const ObjectTable *objects,
                  const TaskTable *tasks, const char *event, FILE *f,
                  GError **errp)
{
    Script s = {
        .objects = objects, .tasks = tasks, .event = event, .f = f,
    };

    return spool_merge(spools, n, put_sample, &s, errp);
}
