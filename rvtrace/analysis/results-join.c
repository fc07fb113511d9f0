/*
 * rvtrace: what all harts have, in one
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"
#include "base/say.h"

static void warn_full(Profile *profile)
{
    if (profile->full) {
        say_warn("more than %u different call stacks, %u frames in one or "
                 "%u functions: the innermost frames of some are counted with "
                 "their callers", PROFILE_MAX_NODES, PROFILE_MAX_DEPTH,
                 PROFILE_MAX_FRAMES);
    }
    if (profile->merged) {
        say_warn("there are too many call stacks: %" PRIu64 " that ran rarely, "
                 "%.2f %% of all instructions, are shown below \""
                 PROFILE_RARE "\" of one of their callers, and functions in "
                 "between have no total of them; --process, --region, --from "
                 "and --to choose less", profile->merged,
                 100.0 * profile_rare_insns(profile) / profile_sum(profile));
    }
    if (profile->folded) {
        say_warn("a recursion is more than %u frames deep: its functions are "
                 "counted where they are on the stack already",
                 PROFILE_FOLD_DEPTH);
    }
}

/* What each node of the hart's profile took, ns; the caller frees it. */
static uint64_t *times(const HartResult *h)
{
    guint n = hart_profile(h)->nodes->len;
    uint64_t *ns = g_new(uint64_t, n);

    for (guint i = 0; i < n; i++) {
        ns[i] = hart_node_time(h, i);
    }
    return ns;
}

Profile *results_profile(const Results *r, bool by_time)
{
    g_autoptr(Profile) all = profile_new();

    /* Each hart has its own limit. */
    all->limit = UINT_MAX;
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        g_autofree uint64_t *weights = NULL;
        unsigned top = PROFILE_ROOT;

        if (!r->harts[i]) {
            continue;
        }
        weights = by_time ? times(r->harts[i]) : NULL;
        if (r->hart_layer) {
            g_autofree char *name = g_strdup_printf("hart %u", i);

            top = profile_child(all, PROFILE_ROOT,
                                profile_label(all, FRAME_GROUP, name));
        }
        profile_merge(all, top, hart_profile(r->harts[i]), weights);
    }
    warn_full(all);
    return profile_tidy(all);
}

Counts *results_take_counts(const Results *r)
{
    Counts *all = NULL;

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        g_autoptr(Counts) ranges = r->harts[i] ?
                                   hart_take_ranges(r->harts[i]) : NULL;

        /* There may be millions: the first hart's need not be copied. */
        if (!all) {
            all = g_steal_pointer(&ranges);
        } else if (ranges) {
            counts_merge(all, ranges);
        }
    }
    all = all ?: results_new_counts(r);
    counts_sort(all);
    return all;
}
