/*
 * CTF: what ran, as the Common Trace Format (1.8) has a kernel's events
 *
 * A folder with a stream for each hart and their metadata. Events have the names
 * and fields of LTTng's kernel tracer, where that has such events: switches of
 * tasks, interrupts and system calls. babeltrace2 and Trace Compass read it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_CTF_H
#define ETRACE_CTF_H

#include "views/questions/follow.h"

typedef struct Ctf Ctf;
typedef struct CtfHart CtfHart;

/*
 * In the folder @path: see view_folder_new(). @virtual_time: moments are in ns of
 * it, or else instructions, of which each counts as 1 ns.
 */
Ctf *ctf_new(const char *path, bool virtual_time, GError **errp);
void ctf_free(Ctf *c);

/*
 * What hart number @hart runs. @profile and @tasks must live as long as @c,
 * which the result belongs to. Returns NULL and sets @errp if there can be no
 * file.
 */
CtfHart *ctf_hart(Ctf *c, unsigned hart, const Profile *profile,
                  const TaskTable *tasks, GError **errp);

/* For Watcher: @hart is a CtfHart. */
void ctf_moment(void *hart, const CallStackMoment *moment);
void ctf_mark(void *hart, const CallStackMoment *when, const MomentMark *mark);
void ctf_trap(void *hart, uint64_t place, const FlowTrap *trap,
              const CallStackSite *site);
void ctf_end(void *hart, const CallStackMoment *when);

/*
 * When all harts have ended: the folder is whole. Returns false and sets @errp
 * if something could not be written.
 */
bool ctf_finish(Ctf *c, GError **errp);

#endif /* ETRACE_CTF_H */
