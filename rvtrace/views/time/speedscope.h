/*
 * speedscope: what was called, over time and in sum
 *
 * A file for https://www.speedscope.app, which runs in a browser: an evented
 * profile for each task of each hart, or a sampled one of the call tree.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_SPEEDSCOPE_H
#define ETRACE_VIEWS_SPEEDSCOPE_H

#include "views/report/source-place.h"
#include "views/time/moments.h"

/* Entries and exits of functions in a file, by default; 100 bytes for each */
#define SPEEDSCOPE_MAX_EVENTS   2000000

typedef struct Speedscope Speedscope;

/*
 * Times of moments are ns if @virtual_time, else instructions. @max_events
 * bounds what is in memory: so many events, and so many frames of stacks in the
 * call tree. Others are left out. @lines, which must live as long, or NULL:
 * where functions begin; a function of which that is not known has its object
 * as its file.
 */
Speedscope *speedscope_new(const char *name, bool virtual_time,
                           uint64_t max_events, const LineFinder *lines);
void speedscope_free(Speedscope *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Speedscope, speedscope_free)

/*
 * Add the moments of a hart; see moments_spans(). All harts may have the same
 * names of functions, but each has a call tree of its own.
 */
bool speedscope_add_hart(Speedscope *s, Moments *m, unsigned hart,
                         const Profile *p, uint64_t end,
                         const TaskTable *tasks, uint64_t min_duration,
                         GError **errp);

/* Add the call tree of all, sampled: a stack for each of its nodes. */
void speedscope_add_profile(Speedscope *s, const Profile *p);

/* Returns how many events there was no room for. */
uint64_t speedscope_write(Speedscope *s, FILE *f);

#endif /* ETRACE_VIEWS_SPEEDSCOPE_H */
