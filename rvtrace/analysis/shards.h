/*
 * rvtrace: results of pieces of a trace, and how they are added up
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SHARDS_H
#define ETRACE_SHARDS_H

#include "analysis/results.h"

/*
 * --shard: write the result of the piece that @r decoded to @f, with the
 * options that it was decoded with.
 */
void shards_write(const Results *r, FILE *f);

/*
 * Set the options of @job that say which trace it is, which of
 * it is selected, and where its names are, to those of the shard @path, as far
 * as they were not given. Prints what is wrong and returns false.
 */
bool shards_take_options(Job *job, const char *path);

/*
 * When r->harts are there: fill them with the sum of job->shard_files. Prints
 * what is wrong and returns false.
 */
bool shards_load(Results *r);

#endif /* ETRACE_SHARDS_H */
