/*
 * Sideband files: what sideband.c and sideband-view.c share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SIDEBAND_PRIVATE_H
#define ETRACE_SIDEBAND_PRIVATE_H

#include "code/sideband.h"

typedef struct SidebandRecord {
    uint16_t type;
    uint16_t hart;
    uint32_t len;
    const uint8_t *payload;
    size_t pos;             /* of the record in the stream */
} SidebandRecord;

typedef struct SidebandAlign {
    uint64_t offset;        /* in the trace stream */
    const uint8_t *payload; /* of ALIGN: with packets of each hart */
} SidebandAlign;

typedef struct SidebandPlace {
    uint64_t id;            /* of the CHANGE */
    uint64_t packets;
    size_t pos;             /* of the record in the stream */
} SidebandPlace;

struct Sideband {
    GBytes *file;           /* NULL: the caller's memory */
    const uint8_t *data;
    size_t begin, end;      /* the session's records, behind SESSION */
    bool cut;               /* the stream ends in the middle of a record */
    unsigned session, minor;
    unsigned flags;         /* ETRACE_SB_SESSION_* */
    unsigned nr_harts;
    uint64_t trace_start, trace_end;
    SidebandHart *harts;
    /* per hart, NULL without any: SidebandPlace, by id and pos */
    GArray **places;
    GArray **gaps;          /* ... uint64_t: packets of each GAP */
    bool unsorted;          /* places or gaps are to be sorted */
    GArray *aligns;         /* SidebandAlign, by offset */
    GArray *rams;           /* SidebandRam: each RAM record, as they come */
    const uint8_t *last;    /* payload of the last END record; NULL: none */
    size_t last_len;
    uint64_t id, origin;    /* payload of ORIGIN; 0, 0: there is none */
    char *problem;
    unsigned nr_problems;
};

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sideband, sideband_free)

/*
 * The record at *@pos; moves *@pos behind it. Returns false if there is no
 * whole one before @end.
 */
bool sideband_next(const uint8_t *data, size_t end, size_t *pos,
                   SidebandRecord *rec);

/*
 * Is @rec as long as its type says, and does it concern a hart that there is?
 * Records for which this is false are left out. Unknown types are fine.
 */
bool sideband_record_valid(const Sideband *sb, const SidebandRecord *rec);

/* Add a PLACE or a GAP, a valid one; sort them all before they are used. */
void sideband_add_place(Sideband *sb, const SidebandRecord *rec);
void sideband_add_gap(Sideband *sb, const SidebandRecord *rec);
void sideband_sort_places(Sideband *sb);

/*
 * The packets that @hart's reader consumes before it applies what CHANGE @id
 * announced: those of its PLACE, or of the next one that it has. UINT64_MAX if
 * it has none: it has run nothing behind the change.
 */
uint64_t sideband_place(const Sideband *sb, unsigned hart, uint64_t id);

/* Is there a PLACE of @hart behind just so many of its packets? */
bool sideband_has_place(const Sideband *sb, unsigned hart, uint64_t packets);

/* Is there a GAP of @hart behind just so many of its packets? */
bool sideband_has_gap(const Sideband *sb, unsigned hart, uint64_t packets);

#endif /* ETRACE_SIDEBAND_PRIVATE_H */
