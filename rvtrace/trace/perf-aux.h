/*
 * The AUX data of a perf.data file
 *
 * perf stores what the AUX buffer of each CPU had in PERF_RECORD_AUXTRACE
 * records; PERF_RECORD_AUX says what of it was written from one start of the
 * trace to the next stop. Layouts are from Linux'
 * tools/perf/Documentation/perf.data-file-format.txt and
 * include/uapi/linux/perf_event.h.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PERF_AUX_H
#define ETRACE_PERF_AUX_H

#include <glib.h>
#include "trace/pieces.h"

/*
 * The recordings of the file @path, whose @size bytes are @data, in the file's
 * order: an array of Piece, which point into @data and @path and are to be
 * found. *@truncated others are left out: the AUX buffer had no room for their
 * ends, by which a piece is found. Returns NULL and sets @errp if the file is
 * damaged or has no AUX data that may be E-Trace.
 */
GArray *perf_aux_read(const char *path, const uint8_t *data, size_t size,
                      unsigned *truncated, GError **errp);

#endif /* ETRACE_PERF_AUX_H */
