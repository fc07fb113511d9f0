/*
 * Who runs the instructions that are being decoded, and where
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/who.h"

/*
 * Who runs in @space, where that is all that is known of it: the program there,
 * which may be another one later
 */
static const Task *space_task(Who *who, const TraceDecoder *d, unsigned space,
                              unsigned priv)
{
    const Object *program;
    g_autofree char *name = NULL;

    if (who->space_task && who->space == space &&
        who->generation == d->image->generation) {
        return who->space_task;
    }
    program = names_program(who->names, d->image, priv);
    name = program ? g_strdup(program->name) :
                     g_strdup_printf("address space %u", space);
    who->space_task = task_intern(who->tasks, TASK_GUESSED, TASK_MADE_UP + space,
                                  TASK_MADE_UP + space, name);
    who->space = space;
    who->generation = d->image->generation;
    return who->space_task;
}

/* The task that the guest's operating system says it is, or NULL */
static const Task *known_task(Who *who, const TraceDecoder *d)
{
    SidebandTask task;
    bool known = trace_decoder_task(d, &task);

    if (task.serial != who->serial) {
        who->serial = task.serial;
        who->task = known ? task_intern(who->tasks, task.in_m_mode ?
                                        TASK_KNOWN_IN_M_MODE : TASK_KNOWN,
                                        task.tid, task.tgid, task.comm) : NULL;
    }
    return who->task;
}

CallStackSite who_site(Who *who, const TraceDecoder *d, unsigned priv)
{
    bool user = priv_is_user(priv);
    unsigned space = trace_decoder_space(d, priv);
    const Task *task = known_task(who, d);

    return (CallStackSite) {
        .image = d->image,
        .space = space,
        .task = !task && user && space ? space_task(who, d, space, priv) :
                                         task,
    };
}
