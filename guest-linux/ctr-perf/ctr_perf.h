/*
 * Branch stacks for perf from the control transfer records of RISC-V harts
 * (Smctr/Ssctr 1.0): what the parts of the module share
 *
 *   hart.c     the CSRs of the hart that runs this
 *   stack.c    perf's filters and branch entries against CTR's
 *   tasks.c    whose records a hart has, across context switches
 *   main.c     events: how the module gets between perf and the PMU's driver
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef CTR_PERF_H
#define CTR_PERF_H

#include <linux/cpumask.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#error "ctr_perf needs the branch stacks of Linux 6.8 or newer"
#endif

#define CTR_MAX_ENTRIES     256

/* sctrctl (2.3); an inhibit bit is at 32 + the transfer type's code */
#define CTR_U               (1UL << 0)
#define CTR_S               (1UL << 1)
#define CTR_RASEMU          (1UL << 7)
#define CTR_LCOFIFRZ        (1UL << 12)
#define CTR_INHIBIT_SHIFT   32

/* A logical entry (chapter 3) as the hart has it */
struct ctr_entry {
    unsigned long source, target, data;
};
#define CTR_SOURCE_VALID    1UL
#define CTR_TARGET_MISP     1UL

/* Of a hart */
struct ctr_cpu {
    unsigned long control;      /* sctrctl; 0: nothing is recorded */
    unsigned long wide;         /* what events want that count all tasks */
    unsigned int nr_wide;       /* so many of them */
    bool present;               /* S mode can use CTR */
    bool mispredictions;        /* MISP is implemented */
    /* perf copies it before the handler of the overflow returns */
    struct perf_branch_stack stack;
    struct perf_branch_entry entries[CTR_MAX_ENTRIES];
};
extern struct ctr_cpu __percpu *ctr_cpus;

/* Of an event with a branch stack */
struct ctr_event {
    unsigned long control;      /* what sctrctl needs for it */
    u16 types;                  /* a bit for each transfer type that it wants */
    bool of_task;               /* it does not count all tasks */
    perf_overflow_handler_t overflow;
    void (*destroy)(struct perf_event *event);
};

/*
 * hart.c. All of it is about the hart that calls it, with interrupts off. The
 * index register, siselect, is left as it was.
 */

/* Can S mode use CTR, and what is implemented? */
void ctr_hart_probe(struct ctr_cpu *cpu);

/* Record by @control from now on, from nothing (SCTRCLR). */
void ctr_hart_begin(unsigned long control);

/* The same, behind @nr entries, of which the first is the newest. */
void ctr_hart_resume(unsigned long control, const struct ctr_entry *entries,
                     unsigned int nr);

/* Record nothing. */
void ctr_hart_off(void);

/* Keep what is recorded as it is, until ctr_hart_begin() or ctr_hart_off(). */
void ctr_hart_pause(void);

/* Has an overflow's interrupt frozen the records (6.5)? Let them go on. */
bool ctr_hart_frozen(void);
void ctr_hart_thaw(void);

/* Read at most @max entries, the newest first; returns how many are valid. */
unsigned int ctr_hart_read(struct ctr_entry *entries, unsigned int max);

/*
 * stack.c
 */

/*
 * What sctrctl has to be for @event's branch_sample_type, and a bit for each
 * type of transfer. Returns 0 or what perf_event_open() fails with.
 */
int ctr_stack_filter(const struct perf_event *event, unsigned long *control,
                     u16 *types);

/* Fill cpu->stack with what @e wants of this hart's records. */
void ctr_stack_fill(struct ctr_cpu *cpu, const struct perf_event *event,
                    const struct ctr_event *e);

/* The most entries that a sample gets: a parameter of the module */
extern unsigned int ctr_stack_depth;

/*
 * tasks.c
 */

/* What two users of a hart need; @a's alone where they exclude each other. */
unsigned long ctr_combine(unsigned long a, unsigned long b);

/* Is one of them a return stack and the other one a history? */
static inline bool ctr_conflict(unsigned long a, unsigned long b)
{
    return a && b && ((a ^ b) & CTR_RASEMU);
}

/*
 * The records of @task, for one more event that needs @control. May sleep.
 * Returns 0, -ENOMEM, or -EBUSY: its other events exclude this one.
 */
int ctr_task_get(struct task_struct *task, unsigned long control);
/* One event of a task less */
void ctr_task_put(void);

/* Probe of the tracepoint sched_process_exit */
void ctr_tasks_exit(void *unused, struct task_struct *task);

/*
 * The event begins and ends to count on this hart, interrupts are off. -EAGAIN:
 * not beside the events that count now.
 */
int ctr_tasks_add(const struct ctr_event *e);
void ctr_tasks_del(const struct ctr_event *e);

/* Probe of the tracepoint sched_switch: records follow their task. */
void ctr_tasks_switch(void *unused, bool preempt, struct task_struct *prev,
                      struct task_struct *next, unsigned int prev_state);

#endif /* CTR_PERF_H */
