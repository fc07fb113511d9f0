/*
 * Live: the names of what ran so far
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "live/live-private.h"
#include "analysis/load-names.h"

/* Names are looked for again when there is so much more code, per cent ... */
#define NAMES_GROWTH    20
/* ... but that takes at most one part of the time in so many */
#define NAMES_SHARE     10

void live_names_free(LiveNames *n)
{
    g_clear_pointer(&n->names, names_free);
    g_clear_pointer(&n->table, object_table_free);
    g_free(n);
}

bool live_find_names(Live *l)
{
    gint64 start = g_get_monotonic_time();
    LiveNames *n = g_new0(LiveNames, 1);

    n->table = object_table_new();
    n->names = load_names(l->o.job, l->t, n->table);
    if (!n->names) {
        live_names_free(n);
        return false;
    }
    if (l->names && l->names != l->shown.names) {
        live_names_free(l->names);
    }
    l->names = n;
    l->named = growing_sideband_size(l->growing);
    l->named_at = g_get_monotonic_time();
    l->naming_took = l->named_at - start;
    return true;
}

/* Those that lie where their bytes are, if there is much more to look at */
void live_renew_names(Live *l)
{
    size_t size = growing_sideband_size(l->growing);
    gint64 ago = g_get_monotonic_time() - l->named_at;

    if (l->o.job->names.sysroots && ago > l->naming_took * NAMES_SHARE &&
        size > l->named + l->named * NAMES_GROWTH / 100) {
        live_find_names(l);
    }
}
