/*
 * Control transfer records (Ssctr 1.0) of a running Linux kernel, read by a
 * module of it.
 *
 * The file /proc/ctr_entries:
 *   write "start CTRL"        every hart records, 256 entries deep, from
 *                             nothing, with sctrctl = CTRL (hexadecimal)
 *   write "start CTRL USECS"  and each freezes its records in a timer
 *                             interrupt after that time, whatever it is doing
 *   write "stop"              every hart freezes its records, this one first
 *   read                      what the harts had recorded when they froze:
 *       hart NUMBER sctrctl SCTRCTL sctrdepth SCTRDEPTH sctrstatus SCTRSTATUS
 *       entry INDEX CTRSOURCE CTRTARGET CTRDATA INSTRUCTION, "-" where the
 *             code at the source cannot be read; all entries, valid or not
 *       stack ADDRESS..., the return addresses found by Linux' own unwinder
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>
#include <asm/csr.h>

/* The CSRs of Ssctr and Sscsrind, which this kernel does not know */
#define SCTRCTL             0x14e
#define SCTRSTATUS          0x14f
#define SCTRSTATUS_FROZEN   0x80000000UL
#define SCTRDEPTH           0x15f
#define SCTRDEPTH_256       4
#define SISELECT            0x150
#define SISELECT_CTR        0x200
#define SIREG_CTRSOURCE     0x151
#define SIREG_CTRTARGET     0x152
#define SIREG_CTRDATA       0x153

#define MAX_HARTS 8
#define ENTRIES 256
#define FRAMES 48

struct ctr_entry {
    unsigned long source, target, data;
    u32 insn;
    bool readable;
};

static struct ctr_hart {
    unsigned long control, depth, status;
    struct ctr_entry entries[ENTRIES];
    unsigned long stack[FRAMES];
    unsigned int frames;
    bool frozen;
    struct hrtimer timer;
} harts[MAX_HARTS];

static struct ctr_start {
    unsigned long control;
    unsigned long usecs;
} ctr_start;

static bool read_code(void *to, unsigned long pc, size_t size)
{
    if ((long)pc < 0) {
        return !copy_from_kernel_nofault(to, (void *)pc, size);
    }
    return !copy_from_user_nofault(to, (void *)pc, size);
}

/* In pieces: the second half may be in another page, or not be there */
static void read_insn(struct ctr_entry *entry)
{
    unsigned long pc = entry->source & ~1UL;
    u16 half[2] = { 0, 0 };

    entry->readable = read_code(&half[0], pc, 2) &&
                      ((half[0] & 3) != 3 || read_code(&half[1], pc + 2, 2));
    entry->insn = half[0] | (u32)half[1] << 16;
}

/* Of the hart that runs this, with interrupts off */
static noinline void ctr_freeze(void)
{
    struct ctr_hart *hart;
    unsigned long select;

    csr_set(SCTRSTATUS, SCTRSTATUS_FROZEN);

    hart = &harts[smp_processor_id()];
    hart->control = csr_read(SCTRCTL);
    hart->depth = csr_read(SCTRDEPTH);
    hart->status = csr_read(SCTRSTATUS);
    select = csr_read(SISELECT);
    for (int i = 0; i < ENTRIES; i++) {
        struct ctr_entry *entry = &hart->entries[i];

        csr_write(SISELECT, SISELECT_CTR + i);
        entry->source = csr_read(SIREG_CTRSOURCE);
        entry->target = csr_read(SIREG_CTRTARGET);
        entry->data = csr_read(SIREG_CTRDATA);
    }
    csr_write(SISELECT, select);
    for (int i = 0; i < ENTRIES; i++) {
        read_insn(&hart->entries[i]);
    }
    hart->frames = stack_trace_save(hart->stack, FRAMES, 0);
    hart->frozen = true;
}

static enum hrtimer_restart timer_expired(struct hrtimer *timer)
{
    ctr_freeze();
    return HRTIMER_NORESTART;
}

static void hart_start(void *unused)
{
    struct ctr_hart *hart = &harts[smp_processor_id()];

    csr_write(SCTRCTL, 0);
    hart->frozen = false;
    if (ctr_start.usecs) {
        hrtimer_init(&hart->timer, CLOCK_MONOTONIC,
                     HRTIMER_MODE_REL_PINNED_HARD);
        hart->timer.function = timer_expired;
        hrtimer_start(&hart->timer, ns_to_ktime(ctr_start.usecs * 1000),
                      HRTIMER_MODE_REL_PINNED_HARD);
    }
    csr_write(SCTRDEPTH, SCTRDEPTH_256);
    csr_write(SCTRSTATUS, 0);
    asm volatile(".4byte 0x10400073" : : : "memory");   /* sctrclr */
    csr_write(SCTRCTL, ctr_start.control);
}

static void hart_stop(void *unused)
{
    ctr_freeze();
}

static void hart_off(void *unused)
{
    csr_write(SCTRCTL, 0);
}

/* Timers are not to fire into records that are being read, nor after us */
static void cancel_timers(void)
{
    for (int i = 0; i < MAX_HARTS; i++) {
        if (harts[i].timer.function) {
            hrtimer_cancel(&harts[i].timer);
        }
    }
}

static ssize_t ctr_write(struct file *file, const char *from,
                         size_t size, loff_t *pos)
{
    char text[64] = "";

    if (size >= sizeof(text)) {
        return -EINVAL;
    }
    if (copy_from_user(text, from, size)) {
        return -EFAULT;
    }
    text[size] = '\0';
    if (!strncmp(text, "stop", 4)) {
        unsigned long flags;

        local_irq_save(flags);
        ctr_freeze();
        local_irq_restore(flags);
        smp_call_function(hart_stop, NULL, 1);
        return size;
    }
    cancel_timers();
    ctr_start.usecs = 0;
    if (sscanf(text, "start %lx %lu", &ctr_start.control,
               &ctr_start.usecs) < 1) {
        return -EINVAL;
    }
    on_each_cpu(hart_start, NULL, 1);
    return size;
}

static int ctr_show(struct seq_file *to, void *unused)
{
    for (int i = 0; i < MAX_HARTS; i++) {
        struct ctr_hart *hart = &harts[i];

        if (!hart->frozen) {
            continue;
        }
        seq_printf(to, "hart %d sctrctl %lx sctrdepth %lx sctrstatus %lx\n",
                   i, hart->control, hart->depth, hart->status);
        for (int n = 0; n < ENTRIES; n++) {
            struct ctr_entry *entry = &hart->entries[n];

            seq_printf(to, "entry %d %lx %lx %lx ", n, entry->source,
                       entry->target, entry->data);
            if (entry->readable) {
                seq_printf(to, "%x\n", entry->insn);
            } else {
                seq_puts(to, "-\n");
            }
        }
        seq_puts(to, "stack");
        for (int n = 0; n < hart->frames; n++) {
            seq_printf(to, " %lx", hart->stack[n]);
        }
        seq_puts(to, "\n");
    }
    return 0;
}

static int ctr_open(struct inode *inode, struct file *file)
{
    return single_open_size(file, ctr_show, NULL, 64 * ENTRIES * MAX_HARTS);
}

static const struct proc_ops ctr_ops = {
    .proc_open = ctr_open,
    .proc_read = seq_read,
    .proc_lseek = seq_lseek,
    .proc_release = single_release,
    .proc_write = ctr_write,
};

static int __init ctr_init(void)
{
    if (num_possible_cpus() > MAX_HARTS) {
        return -EINVAL;
    }
    return proc_create("ctr_entries", 0600, NULL, &ctr_ops) ? 0 : -ENOMEM;
}

static void __exit ctr_exit(void)
{
    remove_proc_entry("ctr_entries", NULL);
    cancel_timers();
    on_each_cpu(hart_off, NULL, 1);
}

module_init(ctr_init);
module_exit(ctr_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Control transfer records of the running kernel");
