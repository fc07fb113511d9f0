/*
 * rvtrace: the table of views, and what follows from it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/view.h"

/* To add one, put it here; it is view_NAME. They are listed in this order. */
#define VIEWS(X) \
    X(summary) \
    X(stat) \
    X(verify) \
    X(report) \
    X(annotate) \
    X(flamegraph) \
    X(folded) \
    X(perf_data) \
    X(script) \
    X(callgrind) \
    X(pprof) \
    X(speedscope) \
    X(uftrace) \
    X(ctf) \
    X(edges) \
    X(timeline) \
    X(privilege) \
    X(calls) \
    X(latency) \
    X(faults) \
    X(switches) \
    X(why_hung) \
    X(html) \
    X(pgo_llvm) \
    X(pgo_bolt) \
    X(pgo_gcov) \
    X(lcov) \
    X(drcov) \
    X(drcov_text)

#define DECLARE(name) extern const View view_##name;
#define POINT_TO(name) &view_##name,

VIEWS(DECLARE)

static const View *const views[] = { VIEWS(POINT_TO) };

const View *view_number(unsigned i)
{
    return i < ARRAY_SIZE(views) ? views[i] : NULL;
}

const char *view_command_name(const View *view)
{
    return view->command ?: view->name;
}

bool view_needs_only(const View *view, unsigned results)
{
    return !(view->needs & ~results) &&
           (results == VIEW_ANY || !(view->flags & VIEW_WATCHES));
}

/* The caller frees the array. */
static GPtrArray *needing_only(unsigned results)
{
    GPtrArray *set = g_ptr_array_new();

    for (unsigned i = 0; i < ARRAY_SIZE(views); i++) {
        if (view_needs_only(views[i], results)) {
            g_ptr_array_add(set, (gpointer)views[i]);
        }
    }
    return set;
}

GPtrArray *views_of_command(const char *name)
{
    GPtrArray *set = g_ptr_array_new();

    for (unsigned i = 0; i < ARRAY_SIZE(views); i++) {
        if (g_str_equal(name, view_command_name(views[i]))) {
            g_ptr_array_add(set, (gpointer)views[i]);
        }
    }
    return set;
}

char *view_join_words(const GPtrArray *words, const char *and)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < words->len; i++) {
        g_string_append_printf(text, "%s%s", !i ? "" :
                               i + 1 < words->len ? ", " : and,
                               (const char *)words->pdata[i]);
    }
    return g_string_free(text, FALSE);
}

char *view_kinds(unsigned results, const char *and)
{
    g_autoptr(GPtrArray) set = needing_only(results);
    g_autoptr(GPtrArray) words = g_ptr_array_new();

    for (guint i = 0; i < set->len; i++) {
        g_ptr_array_add(words, (char *)((const View *)set->pdata[i])->name);
    }
    return view_join_words(words, and);
}

char *view_commands(unsigned results, const char *and)
{
    g_autoptr(GPtrArray) set = needing_only(results);
    g_autoptr(GPtrArray) words = g_ptr_array_new();

    for (guint i = 0; i < set->len; i++) {
        const char *name = view_command_name(set->pdata[i]);

        if (!words->len || strcmp(words->pdata[words->len - 1], name)) {
            g_ptr_array_add(words, (char *)name);
        }
    }
    return view_join_words(words, and);
}

static bool has_group(const View *view, const OptionGroup *group)
{
    for (unsigned i = 0; view->groups[i]; i++) {
        if (view->groups[i] == group) {
            return true;
        }
    }
    return false;
}

/* "For A and B: ", if it is not for all of @set; the caller frees it. */
static char *what_for(const GPtrArray *set, const OptionGroup *group)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autofree char *list = NULL;

    for (guint i = 0; i < set->len; i++) {
        const View *view = set->pdata[i];

        if (has_group(view, group)) {
            g_ptr_array_add(names, (char *)view->name);
        }
    }
    if (names->len == set->len) {
        return NULL;
    }
    list = view_join_words(names, " and ");
    return g_strdup_printf("For %s: ", list);
}

static bool has_option(const GArray *entries, const char *name)
{
    for (guint i = 0; i < entries->len; i++) {
        if (g_str_equal(g_array_index(entries, GOptionEntry, i).long_name,
                        name)) {
            return true;
        }
    }
    return false;
}

/*
 * An option of some views has to say so. Of two that have the same name, it is
 * the first view's.
 */
static void add_group(GArray *entries, const GPtrArray *set,
                      const OptionGroup *group)
{
    g_autofree char *what = what_for(set, group);

    for (const GOptionEntry *e = group->entries; e->long_name; e++) {
        GOptionEntry entry = *e;

        if (has_option(entries, e->long_name)) {
            continue;
        }
        if (what) {
            g_autofree char *text = g_strconcat(what, e->description, NULL);
            char *first = text + strlen(what);

            if (!g_ascii_isupper(first[1])) {
                *first = g_ascii_tolower(*first);
            }
            /* GOptionContext wants it to stay. */
            entry.description = g_intern_string(text);
        }
        g_array_append_val(entries, entry);
    }
}

/* The groups of all views in @set, each once; the caller frees the array. */
static GPtrArray *groups_of(const GPtrArray *set)
{
    GPtrArray *groups = g_ptr_array_new();

    for (guint i = 0; i < set->len; i++) {
        const View *view = set->pdata[i];

        for (unsigned k = 0; view->groups[k]; k++) {
            gpointer group = (gpointer)view->groups[k];

            if (!g_ptr_array_find(groups, group, NULL)) {
                g_ptr_array_add(groups, group);
            }
        }
    }
    return groups;
}

GOptionEntry *views_options(const GPtrArray *set)
{
    g_autoptr(GPtrArray) groups = groups_of(set);
    GArray *entries = g_array_new(true, false, sizeof(GOptionEntry));

    for (guint i = 0; i < groups->len; i++) {
        add_group(entries, set, groups->pdata[i]);
    }
    return (GOptionEntry *)g_array_free(entries, false);
}

GOptionEntry *view_options(unsigned results)
{
    g_autoptr(GPtrArray) set = needing_only(results);

    return views_options(set);
}

bool view_options_possible(const View *only)
{
    g_autoptr(GPtrArray) all = needing_only(VIEW_ANY);
    g_autoptr(GPtrArray) groups = groups_of(all);

    for (guint i = 0; i < groups->len; i++) {
        const OptionGroup *group = groups->pdata[i];

        if (group->check && !group->check(only)) {
            return false;
        }
    }
    return true;
}
