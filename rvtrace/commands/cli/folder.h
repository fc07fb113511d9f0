/*
 * The folder of a run: its two streams, and a file that says what was run
 *
 * That file, run.ini, is one of GLib's key files. With what it says, commands
 * that read the trace need no options: where the streams are, and which files
 * have names for the code.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_FOLDER_H
#define ETRACE_FOLDER_H

#include "analysis/job.h"

#define FOLDER_DEFAULT  "rvtrace.out"
#define FOLDER_TRACE    "trace"
#define FOLDER_SIDEBAND "sideband"
#define FOLDER_ABOUT    "run.ini"

/* What is run; strings may be NULL, lists, too, or end with NULL */
typedef struct FolderRun {
    char **command;             /* of QEMU, as it is started */
    const char *trace, *sideband;
    const char *kernel;
    char **firmware;
    char **sysroots, **kallsyms, **elfs;
    const char *isa;
    const char *title;          /* of pictures and reports */
} FolderRun;

/*
 * Make a new folder here: rvtrace.out, or if there is one already,
 * rvtrace.out.N, one more than the highest N that there is. Returns its name,
 * which the caller frees, or NULL and sets @errp.
 */
char *folder_make(GError **errp);

/* Write @run to @folder, an absolute path. Returns false and sets @errp. */
bool folder_describe(const char *folder, const FolderRun *run, GError **errp);

/*
 * May the operands @folders (may be NULL) be what folder_take() gets: one at
 * most, and none if the trace is @given by options? Prints what is wrong and
 * returns false.
 */
bool folder_check_operands(char **folders, bool given);

/*
 * Does @folder have traces of processes, as of etrace=FOLDER/%p, each with its
 * NAME.sideband beside it? Their paths, sorted, without those that are empty;
 * NULL: there is none.
 */
GPtrArray *folder_processes(const char *folder);

/* The sideband beside @trace, one of these; the caller frees it. */
char *folder_process_sideband(const char *trace);

/*
 * Set the trace of @job, its sideband, programs and, if @names, where its names
 * are, by @folder, or if that is NULL, by the newest one here, which is the one
 * with the highest number, or by where we are, if that is one. What @job has
 * already stays. If @several, a folder of processes will do, too: then they are
 * job->processes, and the trace is the first one's. Files with names that are
 * gone are left out, with a warning.
 * *@title is what was run in a word, for the caller to free, or NULL. Prints
 * what is wrong and returns false.
 */
bool folder_take(const char *folder, Job *job, bool names, bool several,
                 char **title);

#endif /* ETRACE_FOLDER_H */
