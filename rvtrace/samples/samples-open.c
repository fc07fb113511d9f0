/*
 * Samples in the place of a trace
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "base/input.h"
#include "base/stream-file.h"
#include "samples/perf-samples.h"
#include "samples/samples-open.h"

Trace *samples_open(const char *path, const InsnIsa *isa, bool *is,
                    GError **errp)
{
    g_autoptr(Trace) t = g_new0(Trace, 1);
    size_t size;

    *is = false;
    if (!trace_is_perf_data(path)) {
        return NULL;
    }
    t->path = g_strdup(path);
    t->isa = *isa;
    t->file = stream_file_open(path, errp);
    if (!t->file) {
        *is = true;
        return NULL;
    }
    t->data = input_data(t->file, &size);
    *is = perf_samples_in(path, t->data, size);
    if (!*is) {
        return NULL;
    }
    t->samples = perf_samples_read(path, t->data, size, errp);
    if (!t->samples) {
        return NULL;
    }
    t->free_samples = perf_samples_free;
    t->nr_harts = t->samples->nr_cpus;
    t->harts = g_new0(TraceHart, t->nr_harts);
    for (guint i = 0; i < t->samples->samples->len; i++) {
        t->harts[g_array_index(t->samples->samples, PerfSample,
                               i).cpu].present = true;
    }
    return g_steal_pointer(&t);
}
