/*
 * Branch stacks for perf from CTR: events
 *
 * The driver of the SBI's PMU refuses events with a branch stack. Its struct
 * riscv_pmu is public: the module puts functions of its own in front of three
 * of the PMU's, and of the handler of an event's overflow.
 *
 *   event_init     the driver does not see that a branch stack is wanted
 *   add, del       when the event counts, the hart records
 *   overflow       the hart has frozen its records when it took the interrupt
 *                  (LCOFIFRZ), so that they end where the sample is taken;
 *                  perf gets them with the sample
 *
 * At the tracepoint irq_handler_exit records go on, whoever's overflow it was.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <linux/cpuhotplug.h>
#include <linux/interrupt.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/perf/riscv_pmu.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include "ctr_perf.h"

#define NAME "ctr_perf: "

struct ctr_cpu __percpu *ctr_cpus;

static struct pmu *pmu;
static struct {
    int (*event_init)(struct perf_event *event);
    int (*add)(struct perf_event *event, int flags);
    void (*del)(struct perf_event *event, int flags);
} driver;
static atomic_t in_event_init;

/* The driver has no use for it. */
static struct ctr_event *ctr_event(const struct perf_event *event)
{
    return (struct ctr_event *)(uintptr_t)event->hw.branch_reg.config;
}

static void overflow(struct perf_event *event, struct perf_sample_data *data,
                     struct pt_regs *regs)
{
    struct ctr_event *e = ctr_event(event);
    struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);

    if (cpu->control && !ctr_conflict(cpu->control, e->control) &&
        ctr_hart_frozen()) {
        ctr_stack_fill(cpu, event, e);
        perf_sample_save_brstack(data, event, &cpu->stack, NULL);
    }
    e->overflow(event, data, regs);
}

static void destroy(struct perf_event *event)
{
    struct ctr_event *e = ctr_event(event);

    if (e->destroy) {
        e->destroy(event);
    }
    if (e->of_task) {
        ctr_task_put();
    }
    kfree(e);
    module_put(THIS_MODULE);
}

static int init_with_stack(struct perf_event *event)
{
    struct ctr_event *e = kzalloc(sizeof(*e), GFP_KERNEL);
    int ret;

    if (!e) {
        return -ENOMEM;
    }
    ret = ctr_stack_filter(event, &e->control, &e->types);
    if (ret) {
        goto free;
    }
    event->attr.sample_type &= ~(u64)PERF_SAMPLE_BRANCH_STACK;
    ret = driver.event_init(event);
    event->attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
    if (ret) {
        goto free;
    }
    if (event->hw.target) {
        ret = ctr_task_get(event->hw.target, e->control);
        if (ret) {
            if (event->destroy) {
                event->destroy(event);
                event->destroy = NULL;
            }
            goto free;
        }
        e->of_task = true;
    }
    /* An inherited event has got its parent's handler, which is ours. */
    e->overflow = event->overflow_handler == overflow ?
                  ctr_event(event->parent)->overflow :
                  event->overflow_handler;
    e->destroy = event->destroy;
    event->overflow_handler = overflow;
    event->destroy = destroy;
    event->hw.branch_reg.config = (uintptr_t)e;
    __module_get(THIS_MODULE);
    return 0;

free:
    kfree(e);
    return ret;
}

static int event_init(struct perf_event *event)
{
    int ret;

    atomic_inc(&in_event_init);
    ret = has_branch_stack(event) && is_sampling_event(event) ?
          init_with_stack(event) : driver.event_init(event);
    atomic_dec(&in_event_init);
    return ret;
}

static int event_add(struct perf_event *event, int flags)
{
    struct ctr_event *e = ctr_event(event);
    int ret;

    if (e) {
        ret = ctr_tasks_add(e);
        if (ret) {
            return ret;
        }
    }
    ret = driver.add(event, flags);
    if (ret && e) {
        ctr_tasks_del(e);
    }
    return ret;
}

static void event_del(struct perf_event *event, int flags)
{
    struct ctr_event *e = ctr_event(event);

    driver.del(event, flags);
    if (e) {
        ctr_tasks_del(e);
    }
}

static void irq_exit_probe(void *unused, int irq, struct irqaction *action,
                           int ret)
{
    if (this_cpu_ptr(ctr_cpus)->control) {
        ctr_hart_thaw();
    }
}

/* Tracepoints are not exported by name. */
static struct {
    const char *name;
    void *probe;
    struct tracepoint *point;
} probes[] = {
    { "sched_switch", ctr_tasks_switch },
    { "sched_process_exit", ctr_tasks_exit },
    { "irq_handler_exit", irq_exit_probe },
};

static void find_tracepoint(struct tracepoint *point, void *unused)
{
    for (int i = 0; i < ARRAY_SIZE(probes); i++) {
        if (!strcmp(point->name, probes[i].name)) {
            probes[i].point = point;
        }
    }
}

static void remove_probes(int nr)
{
    while (--nr >= 0) {
        tracepoint_probe_unregister(probes[nr].point, probes[nr].probe, NULL);
    }
    tracepoint_synchronize_unregister();
}

static int add_probes(void)
{
    for_each_kernel_tracepoint(find_tracepoint, NULL);
    for (int i = 0; i < ARRAY_SIZE(probes); i++) {
        int ret = probes[i].point ?
                  tracepoint_probe_register(probes[i].point, probes[i].probe,
                                            NULL) : -ENOENT;

        if (ret) {
            pr_err(NAME "no tracepoint %s: the kernel needs "
                   "CONFIG_TRACEPOINTS\n", probes[i].name);
            remove_probes(i);
            return ret;
        }
    }
    return 0;
}

/* Harts come and go; their CSRs are as they were reset when they come. */
static int hart_online(unsigned int cpu)
{
    unsigned long flags;

    local_irq_save(flags);
    ctr_hart_probe(this_cpu_ptr(ctr_cpus));
    local_irq_restore(flags);
    if (!this_cpu_ptr(ctr_cpus)->present) {
        pr_warn(NAME "hart of CPU %u: S mode cannot use CTR\n", cpu);
    }
    return 0;
}

static int hart_offline(unsigned int cpu)
{
    unsigned long flags;
    struct ctr_cpu *c;

    local_irq_save(flags);
    c = this_cpu_ptr(ctr_cpus);
    if (c->present) {
        ctr_hart_off();
    }
    c->control = 0;
    c->present = false;
    local_irq_restore(flags);
    return 0;
}

static bool any_hart(void)
{
    int cpu;

    for_each_online_cpu(cpu) {
        if (per_cpu_ptr(ctr_cpus, cpu)->present) {
            return true;
        }
    }
    pr_err(NAME "S mode cannot use CTR here: it takes harts with Ssctr (QEMU: "
           "-cpu rv64,smctr=on,ssctr=on,...) and a firmware that enables it "
           "(OpenSBI 1.7 or newer)\n");
    return false;
}

static struct perf_event *some_event(u64 sample_type, u64 branch)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof(attr),
        .config = PERF_COUNT_HW_CPU_CYCLES,
        .sample_period = sample_type ? 1UL << 40 : 0,
        .sample_type = sample_type,
        .branch_sample_type = branch,
        .exclude_kernel = sample_type != 0,
        .disabled = 1,
    };

    return perf_event_create_kernel_counter(
        &attr, cpumask_first(cpu_online_mask), NULL, NULL, NULL);
}

/* The PMU, if its driver is the one that the module is made for */
static struct pmu *find_pmu(void)
{
    char name[KSYM_SYMBOL_LEN];
    struct perf_event *event = some_event(0, 0);
    struct pmu *found;

    if (IS_ERR(event)) {
        pr_err(NAME "there is no hardware event \"cycles\" (%ld)\n",
               PTR_ERR(event));
        return NULL;
    }
    found = event->pmu;
    perf_event_release_kernel(event);
    sprint_symbol_no_offset(name, (unsigned long)found->event_init);
    if (strcmp(name, "riscv_pmu_event_init")) {
        pr_err(NAME "the PMU's driver is another one: its event_init is %s, "
               "not riscv_pmu_event_init\n", name);
        return NULL;
    }
    if (found->capabilities & PERF_PMU_CAP_NO_INTERRUPT) {
        pr_err(NAME "the PMU cannot interrupt: it takes harts with Sscofpmf "
               "(QEMU: -cpu ...,sscofpmf=on)\n");
        return NULL;
    }
    event = some_event(PERF_SAMPLE_BRANCH_STACK,
                       PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY);
    if (!IS_ERR(event)) {
        perf_event_release_kernel(event);
        pr_err(NAME "this kernel records branch stacks without the module\n");
        return NULL;
    }
    return found;
}

static enum cpuhp_state hotplug;

static int __init ctr_perf_init(void)
{
    int ret;

    ctr_cpus = alloc_percpu(struct ctr_cpu);
    if (!ctr_cpus) {
        return -ENOMEM;
    }
    ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perf/riscv/ctr:online",
                            hart_online, hart_offline);
    if (ret < 0) {
        goto free;
    }
    hotplug = ret;
    ret = -ENODEV;
    if (!any_hart()) {
        goto remove;
    }
    pmu = find_pmu();
    if (!pmu) {
        goto remove;
    }
    ret = add_probes();
    if (ret) {
        goto remove;
    }
    driver.event_init = pmu->event_init;
    driver.add = pmu->add;
    driver.del = pmu->del;
    WRITE_ONCE(pmu->add, event_add);
    WRITE_ONCE(pmu->del, event_del);
    smp_store_release(&pmu->event_init, event_init);
    pr_info(NAME "perf record -b works now\n");
    return 0;

remove:
    cpuhp_remove_state(hotplug);
free:
    free_percpu(ctr_cpus);
    return ret;
}

/* Events with a branch stack use the module: there are none now. */
static void __exit ctr_perf_exit(void)
{
    WRITE_ONCE(pmu->event_init, driver.event_init);
    WRITE_ONCE(pmu->add, driver.add);
    WRITE_ONCE(pmu->del, driver.del);
    /* Whoever was about to call ours does so, and comes back. */
    synchronize_rcu_tasks();
    while (atomic_read(&in_event_init)) {
        schedule_timeout_uninterruptible(1);
    }
    synchronize_rcu_tasks();
    remove_probes(ARRAY_SIZE(probes));
    cpuhp_remove_state(hotplug);
    rcu_barrier();
    free_percpu(ctr_cpus);
}

module_init(ctr_perf_init);
module_exit(ctr_perf_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Branch stacks for perf from control transfer records");
