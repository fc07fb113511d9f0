/*
 * Instruction flow: paths that were walked before
 *
 * Programs go the same ways again and again. A path is what a packet of
 * branches makes a walk do: from an instruction, past so many branches with
 * these outcomes, up to the next uninferable jump or branch. Once walked, it is
 * kept as the runs that the consumer gets and where it ends, and found again by
 * one look-up, whatever the number of branches.
 *
 * Nothing has to be forgotten when code or mappings change. A path knows the
 * pages that it leads over, with their versions, and is taken only if its
 * addresses still mean these pages (code-page.h).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_FLOW_PATHS_H
#define ETRACE_FLOW_PATHS_H

#include "flow/flow.h"

/* A path over more pages is not kept. */
#define FLOW_PATH_PAGES     3

/* Branches of a path that a predictor learns, at most */
#define FLOW_PATH_LEARNT    8

typedef struct FlowPathPage {
    uint64_t vpage;
    const CodePage *page;       /* may be gone: only to be compared */
    uint64_t version;
} FlowPathPage;

typedef struct FlowPath {
    /* from behind pc, past the branches of map, as in Flow */
    uint64_t pc;
    uint64_t map;
    uint8_t branches;
    uint8_t priv;
    uint8_t nr_pages;           /* 0: there is no path here */
    uint8_t nr_runs;
    uint8_t tail;               /* runs before the last branch was passed */
    uint8_t end_kind;           /* CodeEndKind of the last instruction */
    uint8_t end_itype;          /* how it was left, unless that is a branch */
    uint32_t insns;             /* in all of the runs */
    uint64_t end_pc;            /* the last instruction */
    uint64_t behind;            /* what follows it in memory */
    uint64_t epoch;             /* of the image, when the path held */
    const FlowRun *runs;
    /* The lowest bits of the branches' addresses: what predictors look at */
    uint16_t at[FLOW_PATH_LEARNT];
    FlowPathPage pages[FLOW_PATH_PAGES];
} FlowPath;

/* Takes some MiB, at most, when there are many paths. */
FlowPaths *flow_paths_new(void);
void flow_paths_free(FlowPaths *paths);

/* The modes of the trace are others from here on. */
void flow_paths_forget(FlowPaths *paths);

/*
 * The path from @pc of @f with the outcomes of the next @branches branches, if
 * it is known and holds as @f->image is now; else NULL. Valid until
 * flow_paths_add().
 */
const FlowPath *flow_paths_find(Flow *f, unsigned branches);

/*
 * Keep @path, with the runs that @f holds at this moment, for which @path has
 * the number. Its runs member is set.
 */
void flow_paths_add(Flow *f, FlowPath *path);

#endif /* ETRACE_FLOW_PATHS_H */
