/*
 * gdb's target: the answers to its requests, of harts that are replayed
 *
 * Each hart is a thread, with the number of the hart + 1, and has a place of
 * its own in what it executed. One hart moves at a time: that of the request, or
 * else the one that gdb has selected. The others stay where they are, or go to
 * about the same time (together.c).
 *
 * Of registers, the pc is known; of memory, code; and with data trace, what
 * replay_registers() and replay_shared_memory() say. Call stacks are those of
 * replay_stack().
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_GDB_TARGET_H
#define ETRACE_GDB_TARGET_H

#include "gdb/replay-stack.h"
#include "gdb/replay-state.h"
#include "views/report/source-place.h"

typedef struct GdbTarget GdbTarget;

/* What the connection does for the target; both with the opaque pointer */
typedef struct GdbTargetOps {
    /* Send a packet of @len bytes @data. */
    void (*send)(void *opaque, const char *data, size_t len);
    /*
     * Has gdb sent Ctrl-C since this was asked last, or gone away? May be
     * NULL.
     */
    ReplayPollFn *poll;
    /* The answer takes a while: gdb shall go on waiting. May be NULL. */
    void (*keep_alive)(void *opaque);
} GdbTargetOps;

typedef enum GdbTargetNext {
    GDB_TARGET_GO_ON,
    GDB_TARGET_NO_ACK,      /* ... without acknowledgements from now on */
    GDB_TARGET_DETACHED,    /* gdb leaves */
    GDB_TARGET_KILLED,      /* and nobody else shall come */
} GdbTargetNext;

/*
 * @replays has an entry for each hart of @t: Replay, of at least one
 * instruction, or NULL; at least one is there. @files has the code of ELF
 * files, or is NULL; @places knows lines, or is NULL. All must live as long.
 * Each hart begins at its last instruction.
 */
GdbTarget *gdb_target_new(const Trace *t, GPtrArray *replays, ElfCode *files,
                          SourcePlaces *places);
void gdb_target_free(GdbTarget *g);

/* The call stacks of @hart, which must be there; takes @stacks over. */
void gdb_target_set_stacks(GdbTarget *g, unsigned hart, ReplayStacks *stacks);

/*
 * A program of user mode had @file mapped, if @there, of this machine, @bias above
 * its own addresses: tell gdb where its symbols are.
 */
void gdb_target_add_file(GdbTarget *g, const char *file, uint64_t bias,
                         bool there);

/*
 * Go to @place in the replay of every hart: "begin", "end", a number of
 * instructions (with k, M or G behind it or not), or a virtual time (1.5s, ms,
 * us, ns). Returns false and sets @errp if it is none of them or not in the
 * trace.
 */
bool gdb_target_go(GdbTarget *g, const char *place, GError **errp);

/*
 * Look for the registers and memory of the hart that gdb will ask for first, so
 * that it need not wait for them.
 */
void gdb_target_prepare(GdbTarget *g);

/* The registers and memory of @hart, likewise; @states may be NULL. */
void gdb_target_set_states(GdbTarget *g, unsigned hart, ReplayStates *states);

/*
 * All have their states: from here on, a hart's memory is what others have stored
 * there, too.
 */
void gdb_target_share(GdbTarget *g);

/* A debugger has connected: what the one before had set is forgotten. */
void gdb_target_connected(GdbTarget *g);

/* Answer the packet @data, of @len bytes. */
GdbTargetNext gdb_target_packet(GdbTarget *g, const char *data, size_t len,
                                const GdbTargetOps *ops, void *opaque);

#endif /* ETRACE_GDB_TARGET_H */
