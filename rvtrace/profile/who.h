/*
 * Who runs the instructions that are being decoded, and where
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_WHO_H
#define ETRACE_WHO_H

#include "profile/callstack.h"
#include "names/names.h"
#include "trace/trace.h"

/* Of one hart. The first two are the owner's to set, the rest is 0 before. */
typedef struct Who {
    const Names *names;
    TaskTable *tasks;
    /* Who ran last: by the sideband, or else whose address space it is */
    const Task *task, *space_task;
    uint64_t serial;
    unsigned space, generation;
} Who;

/* The place of the current instructions of @d, with privilege @priv */
CallStackSite who_site(Who *who, const TraceDecoder *d, unsigned priv);

#endif /* ETRACE_WHO_H */
