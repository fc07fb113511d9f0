/*
 * Reports: who called a function, and what it called
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/report/report.h"

typedef struct Sum {
    unsigned frame;
    uint64_t insns;
} Sum;

static void add(GHashTable *sums, unsigned frame, uint64_t insns)
{
    gpointer key = GUINT_TO_POINTER(frame);
    Sum *s = g_hash_table_lookup(sums, key);

    if (!s) {
        s = g_new0(Sum, 1);
        s->frame = frame;
        g_hash_table_insert(sums, key, s);
    }
    s->insns += insns;
}

static gint compare_sums(gconstpointer a, gconstpointer b, gpointer opaque)
{
    const Profile *p = opaque;
    const Sum *x = *(Sum *const *)a, *y = *(Sum *const *)b;

    if (x->insns != y->insns) {
        return x->insns > y->insns ? -1 : 1;
    }
    return strcmp(profile_frame(p, x->frame)->name,
                  profile_frame(p, y->frame)->name);
}

static void write_sums(const Profile *p, GHashTable *sums, const char *title,
                       uint64_t all, unsigned max_rows, FILE *f)
{
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    GHashTableIter iter;
    gpointer sum;

    g_hash_table_iter_init(&iter, sums);
    while (g_hash_table_iter_next(&iter, NULL, &sum)) {
        g_ptr_array_add(list, sum);
    }
    g_ptr_array_sort_with_data(list, compare_sums, (gpointer)p);
    fprintf(f, "%s\n", title);
    for (guint i = 0; i < list->len; i++) {
        const Sum *s = list->pdata[i];

        if (max_rows && i == max_rows) {
            fprintf(f, "# %u rows left out\n", list->len - i);
            break;
        }
        fprintf(f, "  %6.2f%% %16" PRIu64 "  %s\n",
                all ? 100.0 * s->insns / all : 0, s->insns,
                profile_frame(p, s->frame)->name);
    }
}

/* Does a frame that matches stand above @node? */
static bool is_below(const Profile *p, unsigned node, const bool *matches)
{
    while (node != PROFILE_ROOT) {
        node = profile_node(p, node)->parent;
        if (matches[profile_node(p, node)->frame]) {
            return true;
        }
    }
    return false;
}

bool report_write_callers(const Profile *p, const char *sym, bool by_time,
                          unsigned max_rows, FILE *f)
{
    g_autoptr(GHashTable) callers = g_hash_table_new_full(NULL, NULL, NULL,
                                                          g_free);
    g_autoptr(GHashTable) callees = g_hash_table_new_full(NULL, NULL, NULL,
                                                          g_free);
    g_autofree bool *matches = g_new0(bool, p->frames->len);
    uint64_t own = 0, total = 0;
    bool found = false;

    for (guint i = 0; i < p->frames->len; i++) {
        const ProfileFrame *frame = profile_frame(p, i);

        matches[i] = frame->object &&
                     g_pattern_match_simple(sym, frame->name);
        found |= matches[i];
    }
    for (guint i = 1; i < p->nodes->len; i++) {
        const ProfileNode *n = profile_node(p, i);
        const ProfileNode *up = profile_node(p, n->parent);

        if (matches[n->frame]) {
            own += n->self;
            /* What a function runs by calling itself is in it once. */
            if (!is_below(p, i, matches)) {
                total += n->total;
                add(callers, up->frame, n->total);
            }
        } else if (matches[up->frame]) {
            add(callees, n->frame, n->total);
        }
    }
    if (!found) {
        return false;
    }
    fprintf(f, "%s: %" PRIu64 " %s, %" PRIu64 " of its own\n", sym, total,
            by_time ? "ns of virtual time" : "instructions", own);
    write_sums(p, callers, by_time ? "callers, by its time for them:" :
               "callers, by what it ran for them:", total, max_rows, f);
    write_sums(p, callees, by_time ? "callees, by their time for it:" :
               "callees, by what they ran for it:", total, max_rows, f);
    return true;
}
