/*
 * rvtrace run --debug: start gdb at the end of the trace
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_RUN_DEBUG_H
#define ETRACE_RUN_DEBUG_H

#include "commands/qemu-line.h"

/*
 * Become gdb, or what GDB in the environment names, in front of the trace in
 * @folder, which @line made, with the program of @elfs (NULL: none), or else of
 * @line, for its names. Returns only if there is none, having printed what to
 * type instead.
 */
void run_debug(const char *folder, const QemuLine *line, char **elfs);

#endif /* ETRACE_RUN_DEBUG_H */
