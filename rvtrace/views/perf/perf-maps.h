/*
 * Maps of perf.data: which file lies where, in which process, and since when
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_PERF_MAPS_H
#define ETRACE_VIEWS_PERF_MAPS_H

#include "names/segments.h"

/* Whose maps those of the kernel are */
#define PERF_MAPS_KERNEL    UINT32_MAX

typedef struct PerfMaps PerfMaps;

PerfMaps *perf_maps_new(const ObjectTable *objects);
void perf_maps_free(PerfMaps *maps);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PerfMaps, perf_maps_free)

/*
 * An object was seen in process @pid, @bias above its own addresses. Returns
 * its segments if perf has to know of it, which is when it lay elsewhere
 * before or something else lay there; else NULL. Ours.
 */
const GArray *perf_maps_see(PerfMaps *maps, uint32_t pid, unsigned object,
                            uint64_t bias);

/* Process @pid has ended: what is seen in it later is another one's. */
void perf_maps_forget(PerfMaps *maps, uint32_t pid);

/* Has the object ever been seen? */
bool perf_maps_seen(const PerfMaps *maps, unsigned object);

#endif /* ETRACE_VIEWS_PERF_MAPS_H */
