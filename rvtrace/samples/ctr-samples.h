/*
 * Samples of control transfers that QEMU took (x-riscv-ctr-sample-read)
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SAMPLES_CTR_SAMPLES_H
#define ETRACE_SAMPLES_CTR_SAMPLES_H

#include <gio/gio.h>
#include "profile/task.h"
#include "views/perf/perf-data.h"

typedef struct CtrSamples {
    ObjectTable *objects;       /* none: names come later */
    TaskTable *tasks;
    GHashTable *spaces;         /* satp -> Task */
    GPtrArray *spools;          /* Spool, by hart; NULL: none */
    uint64_t samples, entries;
    uint64_t stacks;            /* samples left out: RASEMU's call stacks */
    uint64_t first, last;       /* virtual time, ns */
    bool filtered;              /* a guest leaves out some kinds */
} CtrSamples;

CtrSamples *ctr_samples_new(void);
void ctr_samples_free(CtrSamples *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CtrSamples, ctr_samples_free)

/*
 * Add whole samples, in QEMU's format (qapi/riscv-ctr-sample.json).
 * Returns false and sets @errp if they are not, or if there is no room.
 */
bool ctr_samples_add(CtrSamples *c, const uint8_t *data, size_t size,
                     GError **errp);

/*
 * Write all of them to @f as a perf.data file, which perf_samples_read() reads.
 * @period is ns. As perf_data_write().
 */
bool ctr_samples_write(const CtrSamples *c, uint64_t period, FILE *f,
                       GError **errp);

#endif /* ETRACE_SAMPLES_CTR_SAMPLES_H */
