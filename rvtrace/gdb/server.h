/*
 * A connection to gdb
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_GDB_SERVER_H
#define ETRACE_GDB_SERVER_H

#include "gdb/target.h"

typedef enum GdbServerEnd {
    GDB_SERVER_LOST,        /* the connection was closed or broken */
    GDB_SERVER_DETACHED,
    GDB_SERVER_KILLED,
} GdbServerEnd;

/*
 * Answer what gdb asks at the file descriptor @in, by the descriptor @out,
 * which may be the same, until it leaves.
 */
GdbServerEnd gdb_serve(GdbTarget *target, int in, int out);

#endif /* ETRACE_GDB_SERVER_H */
