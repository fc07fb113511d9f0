/*
 * rvtrace run: the files that QEMU writes its streams to
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_RUN_STREAMS_H
#define ETRACE_RUN_STREAMS_H

#include <stdbool.h>

#define RUN_STREAMS     2

/* Locked for whom QEMU is started by and for QEMU; -1: not */
typedef struct RunLocks {
    int fds[RUN_STREAMS];
    bool made[RUN_STREAMS];     /* the file was not there before */
} RunLocks;

#define RUN_LOCKS_INIT  { { -1, -1 }, { false, false } }

/*
 * Lock the files @paths, before QEMU empties them: programs of rvtrace do not
 * write what another one has locked. Prints what is wrong and returns false.
 */
bool run_lock(RunLocks *locks, const char *const paths[RUN_STREAMS]);

/* QEMU has ended. */
void run_unlock(RunLocks *locks);

/* Nothing was traced: remove those that were not there before and are empty. */
void run_drop(const RunLocks *locks, const char *const paths[RUN_STREAMS]);

/*
 * Pack the stream @path: @path.zst has it then, and @path is gone. Prints what
 * is wrong and returns false; @path is still there then.
 */
bool run_pack(const char *path);

#endif /* ETRACE_RUN_STREAMS_H */
