/*
 * Reports: counts by time, packed for a script
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/html/html-pack.h"

HtmlAxis html_axis(const HtmlReport *r)
{
    HtmlAxis axis = { .from = UINT64_MAX, .width = 1 };
    uint64_t wide = 1;

    for (unsigned i = 0; i < r->nr_harts; i++) {
        const Activity *a = r->harts[i];

        if (a->known) {
            axis.from = MIN(axis.from, a->from);
            axis.to = MAX(axis.to, a->to);
            axis.width = MAX(axis.width, a->tasks->width);
            axis.width = MAX(axis.width, a->traps->width);
            axis.width = MAX(axis.width, a->times ? a->times->width : 1);
            wide = MAX(wide, a->nodes->width);
        }
    }
    axis.from = MIN(axis.from, axis.to);
    /* Bins of harts that begin at other times are not where others' are. */
    while ((axis.to - axis.from) / axis.width >= ACTIVITY_TASK_BINS) {
        axis.width *= 2;
    }
    wide = MAX(wide, axis.width);
    while ((axis.to - axis.from) / wide >= ACTIVITY_NODE_BINS) {
        wide *= 2;
    }
    axis.start = axis.from / wide * wide;
    axis.per = wide / axis.width;
    axis.node_bins = (axis.to - axis.start) / wide + 1;
    axis.bins = axis.node_bins * axis.per;
    return axis;
}

void html_pack_number(GByteArray *out, uint64_t value)
{
    do {
        uint8_t byte = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);

        g_byte_array_append(out, &byte, 1);
        value >>= 7;
    } while (value);
}

void html_pack_counts(GByteArray *out, const uint64_t *counts, unsigned n)
{
    unsigned used = 0, next = 0;

    for (unsigned i = 0; i < n; i++) {
        used += counts[i] > 0;
    }
    html_pack_number(out, used);
    for (unsigned i = 0; i < n; i++) {
        if (counts[i]) {
            html_pack_number(out, i - next);
            html_pack_number(out, counts[i]);
            next = i + 1;
        }
    }
}

void html_put_packed(GString *s, const GByteArray *bytes)
{
    g_autofree char *text = g_base64_encode(bytes->data, bytes->len);

    g_string_append_printf(s, "\"%s\"", text);
}
