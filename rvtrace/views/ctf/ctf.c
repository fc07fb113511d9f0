/*
 * CTF: what ran, as the Common Trace Format (1.8) has a kernel's events
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/ctf/ctf.h"
#include "views/ctf/ctf-stream.h"
#include "base/trap-text.h"
#include "views/questions/leave.h"

/* Linux': the length of comm, the priority of a task with nice 0, and states */
#define COMM_SIZE           16
#define PRIORITY            20
#define TASK_RUNNING        0
#define TASK_INTERRUPTIBLE  1
#define TASK_DEAD           0x80

struct CtfHart {
    const Profile *profile;
    const TaskTable *tasks;
    CtfStream *stream;
    Follower *follower;
    bool any;                   /* there was a moment */
};

struct Ctf {
    ViewFolder *folder;
    bool virtual_time;
    GPtrArray *harts;           /* CtfHart */
};

static void hart_free(gpointer opaque)
{
    CtfHart *h = opaque;

    if (h->stream) {
        ctf_stream_end(h->stream);
    }
    follow_free(h->follower);
    g_free(h);
}

Ctf *ctf_new(const char *path, bool virtual_time, GError **errp)
{
    ViewFolder *folder = view_folder_new(path, errp);
    Ctf *c;

    if (!folder) {
        return NULL;
    }
    c = g_new0(Ctf, 1);
    c->folder = folder;
    c->virtual_time = virtual_time;
    c->harts = g_ptr_array_new_with_free_func(hart_free);
    return c;
}

void ctf_free(Ctf *c)
{
    g_ptr_array_unref(c->harts);
    view_folder_free(c->folder);
    g_free(c);
}

static void put_task(CtfHart *h, const Task *task)
{
    ctf_stream_chars(h->stream, task->name, COMM_SIZE);
    ctf_stream_number(h->stream, task_is_known(task) ? task->tid : 0, 4);
    ctf_stream_number(h->stream, PRIORITY, 4);
}

static void put_switch(CtfHart *h, const Task *task, uint64_t state,
                       const Task *next, uint64_t time)
{
    ctf_stream_event(h->stream, CTF_SCHED_SWITCH, time);
    put_task(h, task);
    ctf_stream_number(h->stream, state, 8);
    put_task(h, next);
}

static uint64_t state_of(LeaveReason why)
{
    switch (why) {
    case LEAVE_SYSCALL:
    case LEAVE_FAULT:
    case LEAVE_KERNEL:
        return TASK_INTERRUPTIBLE;
    case LEAVE_EXITED:
        return TASK_DEAD;
    default:
        return TASK_RUNNING;
    }
}

static void on_leave(void *opaque, OpenCall *calls, unsigned n,
                     const Task *task, const Task *next, const Place *at)
{
    CtfHart *h = opaque;

    put_switch(h, task, state_of(leave_reason(h->profile, task, calls, n).why),
               next, at->time);
}

static void put_trap(CtfHart *h, const TrapKind *trap, bool ends,
                     uint64_t time)
{
    unsigned cause = trap->cause;
    bool interrupt = cause & MOMENT_INTERRUPT;
    g_autofree char *name = trap_text(interrupt, cause & ~MOMENT_INTERRUPT);
    CtfStream *s = h->stream;

    if (cause == CAUSE_UNKNOWN) {
        return;
    } else if (interrupt) {
        ctf_stream_event(s, ends ? CTF_IRQ_EXIT : CTF_IRQ_ENTRY, time);
        ctf_stream_number(s, cause & ~MOMENT_INTERRUPT, 4);
        if (ends) {
            ctf_stream_number(s, 1, 4);     /* it was handled */
        }
    } else if (cause == SYSCALL_CAUSE) {
        ctf_stream_event(s, ctf_syscall(trap->syscall) + ends, time);
        return;
    } else {
        ctf_stream_event(s, ends ? CTF_EXCEPTION_EXIT : CTF_EXCEPTION_ENTRY,
                         time);
        ctf_stream_number(s, cause, 4);
    }
    if (!ends) {
        ctf_stream_text(s, name, strlen(name));
    }
}

static void on_begin(void *opaque, OpenCall *calls, unsigned n,
                     const Task *task)
{
    const OpenCall *call = &calls[n - 1];

    if (call->kind != CALL_FUNCTION) {
        put_trap(opaque, &call->trap, false, call->from.time);
    }
}

static void on_end(void *opaque, const EndedCall *e)
{
    if (e->call->kind != CALL_FUNCTION && e->end != CALL_UNSEEN) {
        put_trap(opaque, &e->call->trap, true, e->to.time);
    }
}

/* Its trap is all there is of a handler that is not traced. */
static void on_passed(void *opaque, const PassedTrap *p)
{
    put_trap(opaque, &p->trap, false, p->from.time);
    if (p->returned) {
        put_trap(opaque, &p->trap, true, p->to.time);
    }
}

static const FollowOps follow_ops = {
    .begin = on_begin, .end = on_end, .leave = on_leave,
    .passed = on_passed,
};

CtfHart *ctf_hart(Ctf *c, unsigned hart, const Profile *profile,
                  const TaskTable *tasks, GError **errp)
{
    CtfStream *stream = ctf_stream_new(c->folder, hart);
    CtfHart *h;

    if (!stream) {
        view_folder_check(c->folder, errp);
        return NULL;
    }
    h = g_new0(CtfHart, 1);
    h->profile = profile;
    h->tasks = tasks;
    h->stream = stream;
    h->follower = follow_new(profile, tasks, &follow_ops, h);
    g_ptr_array_add(c->harts, h);
    return h;
}

void ctf_moment(void *hart, const CallStackMoment *moment)
{
    CtfHart *h = hart;

    if (!h->any && moment->task) {
        /* Who runs first is known by that only. */
        put_switch(h, task_get(h->tasks, TASK_NONE), TASK_RUNNING,
                   moment->task, moment->time);
    }
    h->any = true;
    follow_moment(h->follower, moment);
}

void ctf_trap(void *hart, uint64_t place, const FlowTrap *trap,
              const CallStackSite *site)
{
    follow_taken(((CtfHart *)hart)->follower, trap, site);
}

void ctf_mark(void *hart, const CallStackMoment *when, const MomentMark *mark)
{
    CtfHart *h = hart;

    switch (mark->kind) {
    case MOMENT_TRAP:
    case MOMENT_RESUMED:
    case MOMENT_ENDED:
        break;                  /* the follower says what they are */
    case MOMENT_NOTE:
        ctf_stream_event(h->stream, CTF_NOTE, when->time);
        ctf_stream_number(h->stream, mark->number, 4);
        ctf_stream_text(h->stream, mark->text, mark->len);
        break;
    case MOMENT_LOST:
        ctf_stream_event(h->stream, CTF_LOST, when->time);
        ctf_stream_text(h->stream, mark->text, mark->len);
        break;
    case MOMENT_RESET:
        ctf_stream_event(h->stream, CTF_RESET, when->time);
        break;
    }
    follow_mark(h->follower, when, mark);
}

void ctf_end(void *hart, const CallStackMoment *when)
{
    follow_end(((CtfHart *)hart)->follower, when);
}

static bool has_event(void *opaque, CtfEvent event)
{
    const Ctf *c = opaque;

    for (guint i = 0; i < c->harts->len; i++) {
        const CtfHart *h = c->harts->pdata[i];

        if (ctf_stream_has(h->stream, event)) {
            return true;
        }
    }
    return false;
}

bool ctf_finish(Ctf *c, GError **errp)
{
    ctf_write_metadata(c->folder, c->virtual_time, has_event, c);
    for (guint i = 0; i < c->harts->len; i++) {
        CtfHart *h = c->harts->pdata[i];

        ctf_stream_end(h->stream);
        h->stream = NULL;
    }
    return view_folder_finish(c->folder, errp);
}
