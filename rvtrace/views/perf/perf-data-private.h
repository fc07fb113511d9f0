/*
 * perf.data: what its files share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_PERF_DATA_PRIVATE_H
#define ETRACE_VIEWS_PERF_DATA_PRIVATE_H

#include "views/perf/perf-data.h"
#include "views/perf/perf-lives.h"
#include "views/perf/perf-maps.h"

typedef struct PerfData {
    const PerfDataOptions *o;
    PerfMaps *maps;
    PerfLives *lives;
    GHashTable *named;      /* tid -> Task that perf knows of last */
    GByteArray *record;
    FILE *body;
    uint64_t size;          /* of the body */
} PerfData;

/* perf-header.c */

/*
 * Returns how many of the PERF_BUILD_ID_SIZE @bytes the object's build-id has:
 * 0 if there is none, or one that is too long.
 */
unsigned perf_build_id(const Object *o, uint8_t *bytes);

/* The file as this machine knows it, since perf is to open it here */
const char *perf_file_name(const Object *o);

/* Up to the records, of which there are p->size bytes */
void perf_write_header(const PerfData *p, FILE *f);

/* All that comes behind them */
void perf_write_features(const PerfData *p, const SpoolSummary *summary,
                         FILE *f);

#endif /* ETRACE_VIEWS_PERF_DATA_PRIVATE_H */
