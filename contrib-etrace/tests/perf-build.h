/*
 * perf.data files to order, for tests
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TESTS_PERF_BUILD_H
#define ETRACE_TESTS_PERF_BUILD_H

#include "views/view-file.h"

/* A file whose event has @sample_type, @branch_type; or one for a pipe */
GByteArray *perf_begin(uint64_t sample_type, uint64_t branch_type, bool pipe);

/* Begin a record; put its fields; end it. */
guint perf_record(GByteArray *b, unsigned type, unsigned misc);
void perf_record_end(GByteArray *b, guint record);

/* How long the records are goes into the header. */
void perf_end(GByteArray *b);

#endif /* ETRACE_TESTS_PERF_BUILD_H */
