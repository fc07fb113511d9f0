/*
 * Segments: which parts of an object's file are mapped as code
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_SEGMENTS_H
#define ETRACE_VIEWS_SEGMENTS_H

#include "names/object.h"

typedef struct Segment {
    uint64_t addr;          /* in the object */
    uint64_t size;
    uint64_t offset;        /* in the file */
} Segment;

/*
 * An array of Segment, by address, that the caller frees: the executable ones
 * of the object's ELF file, in whole pages where the file allows it. Without
 * a file that can be read it is the object's code, or all that has symbols,
 * and the offsets are the addresses. May be empty.
 */
GArray *object_segments(const Object *object);

#endif /* ETRACE_VIEWS_SEGMENTS_H */
