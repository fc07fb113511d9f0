/*
 * Coverage: source files, and what is known of each
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "views/pgo/coverage-private.h"

static int compare_lines(gconstpointer a, gconstpointer b, gpointer opaque)
{
    guint x = GPOINTER_TO_UINT(a), y = GPOINTER_TO_UINT(b);

    return x < y ? -1 : x > y;
}

static int compare_functions(gconstpointer a, gconstpointer b, gpointer opaque)
{
    const CoverageFunction *x = a, *y = b;

    return x->line != y->line ? (x->line < y->line ? -1 : 1) :
                                strcmp(x->name, y->name);
}

static int compare_names(gconstpointer a, gconstpointer b, gpointer opaque)
{
    return strcmp(a, b);
}

static void function_free(gpointer opaque)
{
    CoverageFunction *f = opaque;

    g_free(f->name);
    g_free(f);
}

static void file_free(gpointer opaque)
{
    CoverageFile *file = opaque;

    g_tree_unref(file->lines);
    g_tree_unref(file->functions);
    g_array_unref(file->branches);
    g_free(file->name);
    g_free(file);
}

Coverage *coverage_new(const CoverageOptions *options, GError **errp)
{
    Coverage *cv;

    for (char **p = options->prefixes; p && *p; p++) {
        if (**p == '=' || !strchr(*p, '=')) {
            g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                        "%s: not OLD=NEW, where OLD is how names of source "
                        "files begin, and NEW is how they should", *p);
            return NULL;
        }
    }
    cv = g_new0(Coverage, 1);
    cv->options = options;
    cv->files = g_tree_new_full(compare_names, NULL, NULL, file_free);
    cv->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return cv;
}

void coverage_free(Coverage *cv)
{
    g_hash_table_unref(cv->known);
    g_tree_unref(cv->files);
    g_free(cv);
}

/* Whole parts of the path: /src is no prefix of /srcs. */
static bool is_prefix(const char *path, const char *prefix, size_t len)
{
    return !strncmp(path, prefix, len) &&
           (!len || prefix[len - 1] == '/' || path[len] == '/' || !path[len]);
}

static char *replace_prefix(const Coverage *cv, const char *name)
{
    for (char **p = cv->options->prefixes; p && *p; p++) {
        size_t len = strchr(*p, '=') - *p;

        if (is_prefix(name, *p, len)) {
            const char *with = *p + len + 1, *rest = name + len;

            if (!*with) {
                rest += *rest == '/';
            }
            return g_strconcat(with, rest, NULL);
        }
    }
    return g_strdup(name);
}

static bool matches_one(char **globs, const char *name)
{
    for (; *globs; globs++) {
        if (g_pattern_match_simple(*globs, name)) {
            return true;
        }
    }
    return false;
}

static bool is_wanted(const Coverage *cv, const char *name)
{
    return *name &&
           (!cv->options->include || matches_one(cv->options->include, name)) &&
           (!cv->options->exclude || !matches_one(cv->options->exclude, name));
}

static CoverageFile *file_new(Coverage *cv, const char *name)
{
    CoverageFile *file = g_tree_lookup(cv->files, name);

    if (!file) {
        file = g_new0(CoverageFile, 1);
        file->name = g_strdup(name);
        file->lines = g_tree_new_full(compare_lines, NULL, NULL, g_free);
        file->functions = g_tree_new_full(compare_functions, NULL, NULL,
                                          function_free);
        file->branches = g_array_new(false, false, sizeof(CoverageBranch));
        g_tree_insert(cv->files, file->name, file);
    }
    return file;
}

CoverageFile *coverage_file(Coverage *cv, const char *name)
{
    g_autofree char *shown = NULL, *tidy = NULL;
    CoverageFile *file = NULL;
    gpointer found;

    if (!name) {
        return NULL;
    }
    if (g_hash_table_lookup_extended(cv->known, name, NULL, &found)) {
        return found;
    }
    /* Compilers leave /src/x/../y.c; a tracefile has a line for the name. */
    tidy = g_canonicalize_filename(name, "/");
    shown = replace_prefix(cv, *name == '/' ? tidy : name);
    g_strdelimit(shown, "\n\r", '?');
    if (is_wanted(cv, shown)) {
        file = file_new(cv, shown);
    }
    g_hash_table_insert(cv->known, g_strdup(name), file);
    return file;
}

uint64_t *coverage_line(CoverageFile *file, unsigned line)
{
    uint64_t *count = g_tree_lookup(file->lines, GUINT_TO_POINTER(line));

    if (!count) {
        count = g_new0(uint64_t, 1);
        g_tree_insert(file->lines, GUINT_TO_POINTER(line), count);
    }
    return count;
}

CoverageFunction *coverage_function(CoverageFile *file, unsigned line,
                                    const char *name)
{
    CoverageFunction key = { .line = line, .name = (char *)name };
    CoverageFunction *f = g_tree_lookup(file->functions, &key);

    if (!f) {
        f = g_new0(CoverageFunction, 1);
        f->line = line;
        f->name = g_strdup(name);
        g_tree_insert(file->functions, f, f);
    }
    return f;
}
