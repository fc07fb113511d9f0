/*
 * Selection: what selection.c and selection-parse.c share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SELECTION_PRIVATE_H
#define ETRACE_SELECTION_PRIVATE_H

#include "profile/selection.h"

/* More than anyone gives; each note is compared with all of them. */
#define MAX_REGIONS 64

/* From one note to another one */
typedef struct Region {
    ETraceSbNoteKind begin_kind, end_kind;
    char *begin, *end;
} Region;

/* How one says where a border is */
typedef enum BorderKind {
    BORDER_INSNS,
    BORDER_TIME,
    BORDER_MARK,
    BORDER_FUNCTION,
} BorderKind;

typedef struct Border {
    BorderKind kind;
    bool from_end;          /* @number is counted back from there */
    uint64_t number;        /* instructions, or ns */
    char *name;             /* of a mark or function */
    uint64_t nth;           /* time that the function is entered; 0: the next */
} Border;

typedef struct Process {
    char *name;                 /* a glob pattern */
    bool numeric;
    uint64_t number;
} Process;

/* What one hart has in place of the borders of all of them */
typedef struct HartBorders {
    Border from, to;
} HartBorders;

struct Selection {
    GArray *processes;      /* Process */
    GArray *regions;        /* Region */
    Border from, to;
    GHashTable *pinned;     /* number of a hart -> HartBorders */
};

#endif /* ETRACE_SELECTION_PRIVATE_H */
