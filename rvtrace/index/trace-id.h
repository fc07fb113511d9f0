/*
 * Which trace is it? What an index remembers of the files it was made of
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TRACE_ID_H
#define ETRACE_TRACE_ID_H

#include "base/bytes.h"
#include "names/object.h"
#include "trace/trace.h"

/* A file: so many bytes, with hashes of the first and the last ones */
typedef struct FileId {
    uint64_t size;
    char *head, *tail;      /* SHA-256, hexadecimal */
} FileId;

typedef struct PartId {
    uint64_t begin, end;    /* the session's bytes in the trace file */
    FileId trace;
    bool has_sideband;
    unsigned session;
    FileId sideband;
} PartId;

/* PartId of all parts of @t; g_array_unref() frees them. */
GArray *trace_ids_new(const Trace *t);
void trace_ids_put(const GArray *ids, GByteArray *out);

/* What trace_ids_put() wrote; NULL if it makes no sense */
GArray *trace_ids_get(ByteReader *in);

typedef enum TraceMatch {
    TRACE_SAME,
    TRACE_GROWN,            /* it begins like this, and goes on */
    TRACE_OTHER,
} TraceMatch;

/* Are @ids of @t? */
TraceMatch trace_ids_match(const GArray *ids, const Trace *t);

/*
 * A digest of what names call stacks: every object with all its symbols, and
 * @places, which say where some of them are (NULL terminated; or NULL). The
 * caller frees it.
 */
char *names_digest(const ObjectTable *objects, char **places);

#endif /* ETRACE_TRACE_ID_H */
