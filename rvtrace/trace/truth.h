/*
 * Truth files: what really retired, as an observer in the emulator saw it
 *
 * Text, one file for all harts. The first line is "# rvtruth 1". Then
 *
 *     H <hart> <count> <hash>      a checkpoint
 *     E <hart> <count> <hash>      the end of that hart
 *
 * hart and count are decimal, hash is hexadecimal: the rolling hash over the
 * pcs of the hart's first <count> instructions.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TRUTH_H
#define ETRACE_TRUTH_H

#include <glib.h>
#include "flow/flow.h"

typedef struct TruthPoint {
    uint64_t count;
    uint64_t hash;
    bool restart;           /* behind it, the hash begins with 0 again */
} TruthPoint;

typedef struct TruthHart {
    unsigned hart;
    GArray *points;         /* TruthPoint, by count; E at every file's end */
} TruthHart;

typedef struct Truth {
    GArray *harts;          /* TruthHart, by hart */
} Truth;

/* Returns NULL and sets @errp if the file is not as described above. */
Truth *truth_load(const char *path, GError **errp);
Truth *truth_parse(const char *text, size_t size, GError **errp);
void truth_free(Truth *truth);

/* What retired after that of @truth, in another emulator */
void truth_append(Truth *truth, const Truth *more);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Truth, truth_free)

/* So many instructions retired. */
static inline uint64_t truth_hart_end(const TruthHart *h)
{
    return g_array_index(h->points, TruthPoint, h->points->len - 1).count;
}

/* The rolling hash, one retired pc further; it begins with 0. */
static inline uint64_t truth_hash(uint64_t hash, uint64_t pc)
{
    hash = (hash << 5 | hash >> 59) ^ pc;
    return hash * 0x9e3779b97f4a7c15ull;
}

/* One hart's comparison while it is decoded */
typedef struct TruthCheck {
    const TruthHart *truth;
    uint64_t count;         /* instructions so far */
    uint64_t hash;
    unsigned next;          /* checkpoint to be compared next */
    uint64_t next_count;    /* its count; UINT64_MAX behind the last one */
    unsigned matched, differing;
    unsigned first_bad;     /* index of the first that differs */
} TruthCheck;

void truth_check_init(TruthCheck *check, const TruthHart *truth);

/* Instructions were executed. */
void truth_check_run(TruthCheck *check, const FlowRun *run);

/*
 * The end. Returns true if every checkpoint and the end are as in the truth:
 * nothing wrong, nothing missing and nothing left over.
 */
bool truth_check_finish(TruthCheck *check);

#endif /* ETRACE_TRUTH_H */
