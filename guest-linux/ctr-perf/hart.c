/*
 * Branch stacks for perf from CTR: the CSRs of Ssctr and Sscsrind
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <linux/stringify.h>
#include <asm/asm-extable.h>
#include <asm/csr.h>
#include "ctr_perf.h"

#define SCTRCTL             0x14e
#define SCTRSTATUS          0x14f
#define SCTRSTATUS_FROZEN   (1UL << 31)
#define SCTRDEPTH           0x15f
#define SCTRDEPTH_256       4
#define SISELECT            0x150
#define SISELECT_CTR        0x200
#define SIREG_CTRSOURCE     0x151
#define SIREG_CTRTARGET     0x152
#define SIREG_CTRDATA       0x153

/* A CSR that is not there, or not for S mode, is an illegal instruction. */
#define csr_readable(csr)                                               \
({                                                                      \
    unsigned long readable_, value_;                                    \
    asm volatile("li    %0, 0\n"                                        \
                 "1: csrr %1, " __stringify(csr) "\n"                   \
                 "li    %0, 1\n"                                        \
                 "2:\n"                                                 \
                 _ASM_EXTABLE(1b, 2b)                                   \
                 : "=&r" (readable_), "=&r" (value_) : : "memory");     \
    readable_ != 0;                                                     \
})

static void clear_entries(void)
{
    asm volatile(".4byte 0x10400073" : : : "memory");   /* SCTRCLR (4.1) */
}

void ctr_hart_probe(struct ctr_cpu *cpu)
{
    unsigned long select;

    cpu->control = 0;
    cpu->present = csr_readable(SCTRCTL) && csr_readable(SISELECT);
    if (!cpu->present) {
        return;
    }
    csr_write(SCTRCTL, 0);
    select = csr_read(SISELECT);
    csr_write(SISELECT, SISELECT_CTR);
    cpu->present = csr_readable(SIREG_CTRSOURCE);
    if (cpu->present) {
        csr_write(SIREG_CTRTARGET, CTR_TARGET_MISP);
        cpu->mispredictions = csr_read(SIREG_CTRTARGET) & CTR_TARGET_MISP;
        clear_entries();
    }
    csr_write(SISELECT, select);
}

static void begin_at(unsigned long control, const struct ctr_entry *entries,
                     unsigned int nr)
{
    unsigned long select = csr_read(SISELECT);

    csr_write(SCTRCTL, 0);
    /* WARL: the largest depth there is, when that is less (2.5) */
    csr_write(SCTRDEPTH, SCTRDEPTH_256);
    clear_entries();
    csr_write(SCTRSTATUS, 0);
    for (unsigned int i = 0; i < nr; i++) {
        csr_write(SISELECT, SISELECT_CTR + i);
        csr_write(SIREG_CTRSOURCE, entries[i].source);
        csr_write(SIREG_CTRTARGET, entries[i].target);
        csr_write(SIREG_CTRDATA, entries[i].data);
    }
    csr_write(SISELECT, select);
    csr_write(SCTRCTL, control);
}

void ctr_hart_begin(unsigned long control)
{
    begin_at(control, NULL, 0);
}

void ctr_hart_resume(unsigned long control, const struct ctr_entry *entries,
                     unsigned int nr)
{
    begin_at(control, entries, nr);
}

void ctr_hart_off(void)
{
    csr_write(SCTRCTL, 0);
    clear_entries();
}

void ctr_hart_pause(void)
{
    csr_write(SCTRCTL, 0);
}

bool ctr_hart_frozen(void)
{
    return csr_read(SCTRSTATUS) & SCTRSTATUS_FROZEN;
}

void ctr_hart_thaw(void)
{
    csr_clear(SCTRSTATUS, SCTRSTATUS_FROZEN);
}

unsigned int ctr_hart_read(struct ctr_entry *entries, unsigned int max)
{
    unsigned long select = csr_read(SISELECT);
    unsigned int nr;

    for (nr = 0; nr < max; nr++) {
        csr_write(SISELECT, SISELECT_CTR + nr);
        entries[nr].source = csr_read(SIREG_CTRSOURCE);
        /* Entries beyond the depth read as 0 (3). */
        if (!(entries[nr].source & CTR_SOURCE_VALID)) {
            break;
        }
        entries[nr].target = csr_read(SIREG_CTRTARGET);
        entries[nr].data = csr_read(SIREG_CTRDATA);
    }
    csr_write(SISELECT, select);
    return nr;
}
