/*
 * Call stacks in files: nodes of a profile, and tasks, by number
 *
 * A writer numbers those that something refers to, parents before children.
 * The reader makes them again in another profile. What is written has all
 * layers (callstack.h), in the order of CallStackLayer; a reader may want
 * others, which are made of those.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_STACK_TREE_H
#define ETRACE_STACK_TREE_H

#include "base/bytes.h"
#include "profile/callstack.h"

/* For who is going to write the profile: all layers, and no watcher */
void stack_tree_layers(CallStackOptions *options);

typedef struct TreeWriter TreeWriter;

/* @profile must live as long, and may grow. */
TreeWriter *tree_writer_new(const Profile *profile);
void tree_writer_free(TreeWriter *w);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TreeWriter, tree_writer_free)

/* The number of a node of the profile: 0 of the root */
unsigned tree_writer_node(TreeWriter *w, unsigned node);

/* The number of a task; 0 of NULL */
unsigned tree_writer_task(TreeWriter *w, const Task *task);

/* All that was numbered */
void tree_writer_put(const TreeWriter *w, GByteArray *out);

typedef struct TreeReader TreeReader;

/*
 * Read what tree_writer_put() wrote. Returns NULL if it makes no sense. The
 * objects are those of @objects, by number, which must live as long; NULL:
 * nobody is going to ask for nodes. Tasks are interned in @tasks.
 */
TreeReader *tree_reader_new(ByteReader *in, const ObjectTable *objects,
                            TaskTable *tasks);
void tree_reader_free(TreeReader *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TreeReader, tree_reader_free)

/* Nodes that it has, the root included */
unsigned tree_reader_size(const TreeReader *t);

/*
 * From now on, nodes are those of @profile, with the layers of @options. NULL:
 * with those that were written, whatever these are.
 */
void tree_reader_bind(TreeReader *t, Profile *profile,
                      const CallStackOptions *options);

/* Set *@node, or *@task. Return false if there is none with that number. */
bool tree_reader_node(TreeReader *t, unsigned number, unsigned *node);
bool tree_reader_task(const TreeReader *t, unsigned number,
                      const Task **task);

#endif /* ETRACE_STACK_TREE_H */
