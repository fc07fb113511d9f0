/*
 * Edges: which blocks of code ran behind which, in the maps that fuzzers read
 *
 * A block begins behind a branch, taken or not, or a jump, and wherever else
 * than at the next instruction a program goes on: behind a system call, for
 * example. As AFL has it for programs without its instrumentation, a block is
 * known by a number of 16 bits that its address gives, and a counter of the map
 * is that of the numbers of a block and of the one before:
 *
 *     number = (address >> 4 ^ address << 8) & 0xffff
 *     map[number ^ before]++
 *     before = number >> 1        (0 at the beginning of a map)
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_EDGES_H
#define ETRACE_EDGES_H

#include "names/names.h"
#include "views/questions/follow.h"

/* Maps of a hart, at most, and of these the ones that are open at a time */
#define EDGES_MAX_MAPS  65536
#define EDGES_MAX_OPEN  64

typedef struct EdgesOptions {
    /*
     * A map for each call of a function with such a name, a glob, from its
     * first instruction to its return; or for each region, from a note "begin
     * NAME" to "end NAME"; both NULL: one for each hart
     */
    const char *function, *region;
    /* Only blocks of these tasks, objects and functions, globs; or NULL */
    const char *comm, *dso, *sym;
    bool exact;                 /* counts as they are, and not AFL's classes */
} EdgesOptions;

typedef struct Edges Edges;
typedef struct EdgesHart EdgesHart;

/*
 * The folder @path is made, and gets a file for each map, HART-NUMBER, with a
 * line INDEX:COUNT for each counter, as afl-showmap writes them; and maps.tsv,
 * with where each of them was. What @options point to must live as long.
 * Returns NULL and sets @errp if that cannot be.
 */
Edges *edges_new(const char *path, const EdgesOptions *options, GError **errp);

/* Without edges_finish(), nothing is left of the folder. */
void edges_free(Edges *e);

/*
 * One hart more, whose moments have nodes of @profile, and whose code has
 * @names. It lives as long as @e. Harts may be told what happens at the same
 * time.
 */
EdgesHart *edges_hart(Edges *e, unsigned hart, const Profile *profile,
                      const Names *names, const TaskTable *tasks);

/* What a watcher is told that needs no times; see Watcher */
void edges_moment(void *hart, const CallStackMoment *moment);
void edges_mark(void *hart, const CallStackMoment *when,
                const MomentMark *mark);
void edges_runs(void *hart, const FlowRun *runs, unsigned n,
                const CallStackSite *site);
void edges_end(void *hart, const CallStackMoment *when);

/*
 * Nothing more happens. Returns false and sets @errp if something could not be
 * written. *@maps: how many there are; *@left_out: how many more there would
 * be.
 */
bool edges_finish(Edges *e, uint64_t *maps, uint64_t *left_out,
                  GError **errp);

#endif /* ETRACE_EDGES_H */
