/*
 * Records of a perf.data file
 *
 * Layouts are from Linux' tools/perf/Documentation/perf.data-file-format.txt
 * and include/uapi/linux/perf_event.h.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PERF_FILE_H
#define ETRACE_PERF_FILE_H

#include <glib.h>

/* Bytes by which such a file is known */
#define PERF_FILE_MAGIC_SIZE    16

/* perf_event_header: u32 type, u16 misc, u16 size */
#define PERF_FILE_RECORD_HEADER 8
#define PERF_FILE_HEADER_ATTR   64
#define PERF_FILE_AUXTRACE      71

typedef struct PerfFile {
    const char *path;
    const uint8_t *data;
    size_t begin, end;          /* of the records */
    /* of the perf_event_attrs of a file that is no pipe's, with their ids */
    size_t attrs, attrs_size, attr_size;
} PerfFile;

/* Is this a perf.data file, to a file or through a pipe? */
bool perf_file_is(const uint8_t *data, size_t size);

/*
 * Find the parts of the file @path, whose @size bytes are @data, into @f, which
 * points into both. Returns false and sets @errp if it is cut off or damaged.
 */
bool perf_file_open(PerfFile *f, const char *path, const uint8_t *data,
                    size_t size, GError **errp);

/*
 * The record at *@pos, which is set to what is behind it; from f->begin on.
 * Returns NULL at the end, and sets @errp if the record is damaged.
 */
const uint8_t *perf_file_next(const PerfFile *f, size_t *pos, GError **errp);

#endif /* ETRACE_PERF_FILE_H */
