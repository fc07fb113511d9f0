/*
 * What a process had mapped, as perf recorded it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SAMPLES_PROCESS_MAPS_H
#define ETRACE_SAMPLES_PROCESS_MAPS_H

#include "names/names.h"

/* A piece of a file at [lo, hi) */
typedef struct ProcessMap {
    uint64_t lo, hi;
    uint64_t offset;            /* in the file, of lo */
    const char *path;           /* as the guest knows it; interned */
} ProcessMap;

/* All of them from one time on to another */
typedef struct ProcessMaps {
    unsigned id;                /* index in the ProcessTable */
    GArray *maps;               /* ProcessMap */
    bool used;                  /* there is a sample by them */
    bool shared;                /* maps is that of others, too */
    Names *names;               /* NULL before process_table_names() */
} ProcessMaps;

typedef struct ProcessTable ProcessTable;

ProcessTable *process_table_new(void);
void process_table_free(ProcessTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ProcessTable, process_table_free)

/*
 * What happens, in order of time; @path is copied. Of one process, no more maps
 * are remembered than Linux allows.
 */
void process_table_map(ProcessTable *table, uint32_t pid,
                       const ProcessMap *map);
void process_table_fork(ProcessTable *table, uint32_t pid, uint32_t parent);
void process_table_exec(ProcessTable *table, uint32_t pid);

/* Are there more of them by now than a machine can have had? */
bool process_table_is_full(const ProcessTable *table);

/* What @pid has now, for a sample; lives as long as @table. */
const ProcessMaps *process_table_use(ProcessTable *table, uint32_t pid);

/*
 * Give all of them names: those of @base, and of the files that they mapped as
 * they are below @roots (NULL terminated; or NULL). Objects go to @objects.
 * Files that are missing or not ELF have none; *@missing counts those.
 */
void process_table_names(ProcessTable *table, const Names *base, char **roots,
                         ObjectTable *objects, unsigned *missing);

#endif /* ETRACE_SAMPLES_PROCESS_MAPS_H */
