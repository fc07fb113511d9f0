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
 * options that it was decoded with. Returns an exit status.
 */
int shards_write(const Results *r, FILE *f);

/*
 * For cli_parse(): set the options of @ct that say which trace it is, which of
 * it is selected, and where its names are, to those of the shard @path, as far
 * as they were not given. Prints what is wrong and returns false.
 */
bool shards_take_options(CliTrace *ct, const char *path);

/*
 * When r->harts are there: fill them with the sum of ct->shard_files. Prints
 * what is wrong and returns false.
 */
bool shards_load(Results *r);

#endif /* ETRACE_SHARDS_H */
