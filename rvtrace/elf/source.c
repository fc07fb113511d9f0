/*
 * Lines of source files
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include <glib/gstdio.h>
#include "base/below.h"
#include "elf/source.h"

/* The largest of Linux' headers have 30 MB. */
#define MAX_SIZE (64 << 20)

typedef struct SourceFile {
    char *path;             /* NULL: not there */
    char *text;             /* lines end with 0 */
    GArray *lines;          /* uint32_t: where each begins */
} SourceFile;

struct SourceTree {
    GPtrArray *from;
    GPtrArray *to;
    char **sysroots;        /* or NULL */
    GHashTable *files;      /* SourceFile by DWARF's name */
};

static void file_free(gpointer opaque)
{
    SourceFile *f = opaque;

    g_free(f->path);
    g_free(f->text);
    g_array_unref(f->lines);
    g_free(f);
}

SourceTree *source_tree_new(char **prefixes, char **sysroots, GError **errp)
{
    g_autoptr(SourceTree) tree = g_new0(SourceTree, 1);

    tree->from = g_ptr_array_new_with_free_func(g_free);
    tree->to = g_ptr_array_new_with_free_func(g_free);
    tree->sysroots = g_strdupv(sysroots);
    tree->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                        file_free);
    for (; prefixes && *prefixes; prefixes++) {
        const char *equals = strchr(*prefixes, '=');

        if (equals ? equals == *prefixes : **prefixes != '/') {
            g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                        "'%s' is neither OLD=NEW nor an absolute path",
                        *prefixes);
            return NULL;
        }
        g_ptr_array_add(tree->from, equals ?
                        g_strndup(*prefixes, equals - *prefixes) :
                        g_strdup(*prefixes));
        g_ptr_array_add(tree->to, g_strdup(equals ? equals + 1 : *prefixes));
    }
    return g_steal_pointer(&tree);
}

void source_tree_free(SourceTree *tree)
{
    g_ptr_array_unref(tree->from);
    g_ptr_array_unref(tree->to);
    g_hash_table_unref(tree->files);
    g_strfreev(tree->sysroots);
    g_free(tree);
}

/* What follows @prefix in @path, a whole number of names; NULL: not so */
static const char *after_prefix(const char *path, const char *prefix)
{
    size_t len = strlen(prefix);

    if (!g_str_has_prefix(path, prefix) ||
        (prefix[len - 1] != '/' && path[len] && path[len] != '/')) {
        return NULL;
    }
    return path + len;
}

static char *substitute(const SourceTree *tree, const char *file)
{
    for (guint i = tree->from->len; i-- > 0;) {
        const char *rest = after_prefix(file, tree->from->pdata[i]);

        if (rest) {
            const char *to = tree->to->pdata[i];

            return *rest ? below_find(*to ? to : "/", rest) : g_strdup(to);
        }
    }
    return NULL;
}

/* The text of a regular file, with a 0 at its end; NULL: not usable */
static char *read_text(const char *path, size_t *size)
{
    g_autofree char *text = NULL;
    GStatBuf st;

    /* A name from a file that somebody sent may be that of a device. */
    if (g_stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size >= MAX_SIZE ||
        !g_file_get_contents(path, &text, size, NULL) || *size >= MAX_SIZE ||
        memchr(text, 0, *size)) {
        return NULL;
    }
    return g_steal_pointer(&text);
}

static void split(SourceFile *f, size_t size)
{
    for (uint32_t at = 0; at < size;) {
        char *end = memchr(f->text + at, '\n', size - at);
        uint32_t next = end ? (size_t)(end + 1 - f->text) : size;

        g_array_append_val(f->lines, at);
        if (end) {
            *end = 0;
            if (next - at > 1 && end[-1] == '\r') {
                end[-1] = 0;
            }
        }
        at = next;
    }
}

static void try_path(SourceFile *f, char *path)
{
    size_t size;

    if (path && !f->text) {
        f->text = read_text(path, &size);
        if (f->text) {
            f->path = path;
            split(f, size);
            return;
        }
    }
    g_free(path);
}

static SourceFile *load(SourceTree *tree, const char *file)
{
    SourceFile *f = g_new0(SourceFile, 1);

    f->lines = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    try_path(f, substitute(tree, file));
    for (char **root = tree->sysroots; root && *root && !f->text; root++) {
        try_path(f, below_find(*root, file));
    }
    return f;
}

static SourceFile *find(SourceTree *tree, const char *file)
{
    SourceFile *f;

    if (!file) {
        return NULL;
    }
    f = g_hash_table_lookup(tree->files, file);
    if (!f) {
        f = load(tree, file);
        g_hash_table_insert(tree->files, g_strdup(file), f);
    }
    return f;
}

const char *source_line(SourceTree *tree, const char *file, unsigned line)
{
    SourceFile *f = find(tree, file);

    if (!f || !line || line > f->lines->len) {
        return NULL;
    }
    return f->text + g_array_index(f->lines, uint32_t, line - 1);
}

unsigned source_nr_lines(SourceTree *tree, const char *file)
{
    SourceFile *f = find(tree, file);

    return f ? f->lines->len : 0;
}

const char *source_path(SourceTree *tree, const char *file)
{
    SourceFile *f = find(tree, file);

    return f ? f->path : NULL;
}
