/*
 * The mark that a piece of a trace begins with
 *
 * It stands behind a synchronisation sequence, and is made of null packets, so
 * decoders that do not know it read on behind it. Then follow the last support
 * packet of each hart, in which modes the packets are that come next, and the
 * stream from some alignment sequence on.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_CUT_MARK_H
#define ETRACE_CUT_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <glib.h>

typedef struct CutMark {
    uint64_t id;                /* of the session; 0: it begins in the piece */
    uint64_t offset;            /* in the stream: where the piece begins */
    uint32_t head;              /* bytes of support packets behind the mark */
} CutMark;

void cut_mark_put(const CutMark *mark, GByteArray *out);

/*
 * Does @data begin with a mark? Then *@behind is the byte behind it, where
 * mark->head bytes of packets are, all of them in @data.
 */
bool cut_mark_get(const uint8_t *data, size_t size, CutMark *mark,
                  size_t *behind);

#endif /* ETRACE_CUT_MARK_H */
