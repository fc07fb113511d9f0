/*
 * Branch stacks for perf from CTR: whose records a hart has
 *
 * perf starts and stops a task's events when it runs and stops to run, but not
 * always: between tasks with the same inherited events it only changes their
 * owners, and events of a whole CPU go on all the time. So records do not
 * follow events but tasks, at every switch while a hart records:
 *
 * - U mode alone: they are put away with their task and come back with it, on
 *   whatever hart it goes on. A stack is a piece of the task's own path.
 * - With S mode: they begin anew, since the path through the scheduler is no
 *   task's own and could not be continued.
 *
 * From its first event on, a task's transfers are recorded until it exits, or
 * until there are no such events at all, even while they are disabled: nothing
 * is missing in a stack. An event that is closed may have counted another task
 * than the one that it was opened for: it does not end that one's records.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <linux/hashtable.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include "ctr_perf.h"

struct ctr_task {
    struct hlist_node node;
    struct rcu_head rcu;
    struct task_struct *task;
    unsigned long control;      /* what its events want, or wanted */
    /* of whoever runs or switches the task: */
    unsigned long saved;        /* by this control; 0: there is nothing */
    unsigned int nr;
    struct ctr_entry entries[CTR_MAX_ENTRIES];
};

static DEFINE_HASHTABLE(tasks, 8);
static DEFINE_RAW_SPINLOCK(tasks_lock);
static unsigned int nr_events;  /* of tasks */

static struct ctr_task *find(struct task_struct *task)
{
    struct ctr_task *t;

    hash_for_each_possible_rcu(tasks, t, node, (unsigned long)task,
                               lockdep_is_held(&tasks_lock)) {
        if (t->task == task) {
            return t;
        }
    }
    return NULL;
}

int ctr_task_get(struct task_struct *task, unsigned long control)
{
    struct ctr_task *new = kzalloc(sizeof(*new), GFP_KERNEL), *t;
    int ret = 0;
    unsigned long flags;

    if (!new) {
        return -ENOMEM;
    }
    raw_spin_lock_irqsave(&tasks_lock, flags);
    t = find(task);
    if (!t) {
        t = new;
        new = NULL;
        t->task = get_task_struct(task);
        hash_add_rcu(tasks, &t->node, (unsigned long)task);
    }
    if (ctr_conflict(t->control, control)) {
        ret = -EBUSY;
    } else {
        WRITE_ONCE(t->control, ctr_combine(t->control, control));
        nr_events++;
    }
    raw_spin_unlock_irqrestore(&tasks_lock, flags);
    kfree(new);
    return ret;
}

static void forget(struct ctr_task *t)
{
    hash_del_rcu(&t->node);
    put_task_struct(t->task);
    kfree_rcu(t, rcu);
}

void ctr_task_put(void)
{
    struct ctr_task *t;
    struct hlist_node *next;
    unsigned long flags;
    int bucket;

    raw_spin_lock_irqsave(&tasks_lock, flags);
    if (--nr_events == 0) {
        hash_for_each_safe(tasks, bucket, next, t, node) {
            forget(t);
        }
    }
    raw_spin_unlock_irqrestore(&tasks_lock, flags);
}

void ctr_tasks_exit(void *unused, struct task_struct *task)
{
    struct ctr_task *t;
    unsigned long flags;

    raw_spin_lock_irqsave(&tasks_lock, flags);
    t = find(task);
    if (t) {
        forget(t);
    }
    raw_spin_unlock_irqrestore(&tasks_lock, flags);
}

unsigned long ctr_combine(unsigned long a, unsigned long b)
{
    const unsigned long enables = CTR_U | CTR_S | CTR_RASEMU | CTR_LCOFIFRZ;

    if (!a || !b) {
        return a | b;
    }
    return ctr_conflict(a, b) ? a : ((a | b) & enables) | (a & b & ~enables);
}

/* What is recorded from now on, from nothing if that is something else */
static void set_control(struct ctr_cpu *cpu, unsigned long control)
{
    /* not present: the hart is about to go */
    if (cpu->control == control || !cpu->present) {
        return;
    }
    cpu->control = control;
    if (control) {
        ctr_hart_begin(control);
    } else {
        ctr_hart_off();
    }
}

/* What is to be recorded while a task runs, of which @t may be NULL */
static unsigned long control_with(const struct ctr_cpu *cpu,
                                  const struct ctr_task *t)
{
    return ctr_combine(cpu->wide, t ? READ_ONCE(t->control) : 0);
}

int ctr_tasks_add(const struct ctr_event *e)
{
    struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);

    if (!cpu->present || ctr_conflict(cpu->wide, e->control)) {
        return -EAGAIN;
    }
    if (!e->of_task) {
        cpu->wide = ctr_combine(cpu->wide, e->control);
        cpu->nr_wide++;
    }
    /* The task that runs may have changed contexts with the event's. */
    set_control(cpu, control_with(cpu, find(current)));
    return 0;
}

void ctr_tasks_del(const struct ctr_event *e)
{
    struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);

    if (!e->of_task && !--cpu->nr_wide) {
        cpu->wide = 0;
        set_control(cpu, control_with(cpu, find(current)));
    }
}

static void save(struct ctr_cpu *cpu, struct ctr_task *t)
{
    if (cpu->control & CTR_S) {
        t->saved = 0;
        return;
    }
    t->nr = ctr_hart_read(t->entries, CTR_MAX_ENTRIES);
    t->saved = cpu->control;
}

void ctr_tasks_switch(void *unused, bool preempt, struct task_struct *prev,
                      struct task_struct *next, unsigned int prev_state)
{
    struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);
    struct ctr_task *t;

    if (!cpu->present) {
        return;
    }
    if (cpu->control) {
        ctr_hart_pause();
        t = find(prev);
        if (t) {
            save(cpu, t);
        }
    }
    t = find(next);
    if (!cpu->control && !t) {
        return;
    }
    cpu->control = control_with(cpu, t);
    if (!cpu->control) {
        ctr_hart_off();
    } else if (t && t->saved == cpu->control) {
        ctr_hart_resume(cpu->control, t->entries, t->nr);
    } else {
        ctr_hart_begin(cpu->control);
    }
    if (t) {
        /* What it runs from now on is not in there. */
        t->saved = 0;
    }
}
