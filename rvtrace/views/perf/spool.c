/*
 * Spools: samples of a hart on their way to a file
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "views/perf/spool.h"
#include "views/perf/view-file.h"

struct Spool {
    FILE *f;
    bool failed;
    SpoolSummary summary;
    Sample head;            /* spool_merge(): the next one */
    bool more;
};

Spool *spool_new(GError **errp)
{
    FILE *f = view_temporary(errp);
    Spool *spool;

    if (!f) {
        return NULL;
    }
    spool = g_new0(Spool, 1);
    spool->f = f;
    spool->summary.kernel_lo = UINT64_MAX;
    return spool;
}

void spool_free(Spool *spool)
{
    fclose(spool->f);
    g_free(spool);
}

static void note_addr(SpoolSummary *s, const SampleAddr *a)
{
    if (a->mode == SAMPLE_KERNEL) {
        s->kernel_lo = MIN(s->kernel_lo, a->pc);
        s->kernel_hi = MAX(s->kernel_hi, a->pc);
        if (a->object != OBJECT_UNKNOWN && a->pc > s->kernel_known) {
            s->kernel_known = a->pc;
            s->kernel_bias = a->bias;
            s->kernel_object = a->object;
        }
    }
}

/* Only what is used of the arrays is in the file. */
void spool_put(void *opaque, const Sample *sample)
{
    Spool *spool = opaque;
    SpoolSummary *s = &spool->summary;

    if (fwrite(sample, offsetof(Sample, chain), 1, spool->f) != 1 ||
        fwrite(sample->chain, sizeof(SampleAddr), sample->nr_chain,
               spool->f) != sample->nr_chain ||
        fwrite(sample->branches, sizeof(SampleBranch), sample->nr_branches,
               spool->f) != sample->nr_branches) {
        spool->failed = true;
    }
    if (!s->samples++) {
        s->first = sample->time;
    }
    s->last = sample->time;
    for (unsigned i = 0; i < sample->nr_chain; i++) {
        note_addr(s, &sample->chain[i]);
    }
    for (unsigned i = 0; i < sample->nr_branches; i++) {
        note_addr(s, &sample->branches[i].from);
        note_addr(s, &sample->branches[i].to);
    }
}

SpoolSummary spool_summary(Spool **spools, unsigned n)
{
    SpoolSummary all = { .first = UINT64_MAX, .kernel_lo = UINT64_MAX };

    for (unsigned i = 0; i < n; i++) {
        const SpoolSummary *s = spools[i] ? &spools[i]->summary : NULL;

        if (s && s->samples) {
            all.samples += s->samples;
            all.first = MIN(all.first, s->first);
            all.last = MAX(all.last, s->last);
            all.kernel_lo = MIN(all.kernel_lo, s->kernel_lo);
            all.kernel_hi = MAX(all.kernel_hi, s->kernel_hi);
            if (s->kernel_known > all.kernel_known) {
                all.kernel_known = s->kernel_known;
                all.kernel_bias = s->kernel_bias;
                all.kernel_object = s->kernel_object;
            }
        }
    }
    if (!all.samples) {
        all.first = 0;
    }
    return all;
}

static void read_next(Spool *spool)
{
    Sample *s = &spool->head;

    spool->more = fread(s, offsetof(Sample, chain), 1, spool->f) == 1;
    if (!spool->more) {
        spool->failed |= ferror(spool->f) != 0;
        return;
    }
    if (s->nr_chain > SAMPLE_MAX_CHAIN ||
        s->nr_branches > SAMPLE_MAX_BRANCHES ||
        fread(s->chain, sizeof(SampleAddr), s->nr_chain, spool->f) !=
        s->nr_chain ||
        fread(s->branches, sizeof(SampleBranch), s->nr_branches, spool->f) !=
        s->nr_branches) {
        spool->failed = true;
        spool->more = false;
    }
}

static Spool *earliest(Spool **spools, unsigned n)
{
    Spool *best = NULL;

    for (unsigned i = 0; i < n; i++) {
        if (spools[i] && spools[i]->more &&
            (!best || spools[i]->head.time < best->head.time)) {
            best = spools[i];
        }
    }
    return best;
}

bool spool_merge(Spool **spools, unsigned n,
                 void (*fn)(void *opaque, const Sample *sample), void *opaque,
                 GError **errp)
{
    bool failed = false;
    Spool *next;

    for (unsigned i = 0; i < n; i++) {
        if (spools[i]) {
            spools[i]->failed |= fflush(spools[i]->f) != 0;
            rewind(spools[i]->f);
            read_next(spools[i]);
        }
    }
    while ((next = earliest(spools, n))) {
        fn(opaque, &next->head);
        read_next(next);
    }
    for (unsigned i = 0; i < n; i++) {
        failed |= spools[i] && spools[i]->failed;
    }
    if (failed) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
                    "no room for the samples in the folder of temporary "
                    "files (TMPDIR)");
    }
    return !failed;
}
