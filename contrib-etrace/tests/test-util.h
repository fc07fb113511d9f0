/*
 * What the tests share: traces from memory, and what was decoded from them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TESTS_TEST_UTIL_H
#define ETRACE_TESTS_TEST_UTIL_H

#include "synth.h"
#include "trace.h"

typedef struct Recording {
    TraceDecoder d;
    GArray *pcs;            /* uint64_t */
    GArray *starts;         /* guint: index in pcs where a window starts */
    GArray *traps;          /* FlowTrap */
    GArray *trap_at;        /* guint: index in pcs */
    GArray *losses;         /* TraceLoss */
    guint max_pcs;          /* stop there; 0: no limit */
} Recording;

/* Write both to temporary files and open them; must succeed. */
Trace *test_trace_open(const GByteArray *trace, const GByteArray *sideband);

/* The same, but may fail. */
Trace *test_trace_try(const GByteArray *trace, const GByteArray *sideband,
                      GError **errp);

/* Write bytes to a new temporary file. Returns its name; remove it. */
char *test_file(const void *data, size_t len);

Recording *test_record(Trace *t, unsigned hart);
void recording_free(Recording *rec);

/* @rec must be what @hart of @s did, without any loss. */
void test_assert_recording(const Synth *s, unsigned hart,
                           const Recording *rec);

#endif /* ETRACE_TESTS_TEST_UTIL_H */
