/*
 * The kernel's modules among the files that may have run
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/say.h"
#include "names/module-cache.h"
#include "names/object-elf.h"
#include "names/sysroot-modules.h"

unsigned module_files_many = 256;

typedef struct ModuleFile {
    char *path, *file;
    struct stat st;
} ModuleFile;

struct ModuleFiles {
    GArray *files;              /* ModuleFile */
};

static void clear_file(gpointer opaque)
{
    ModuleFile *m = opaque;

    g_free(m->path);
    g_free(m->file);
}

ModuleFiles *module_files_new(void)
{
    ModuleFiles *files = g_new0(ModuleFiles, 1);

    files->files = g_array_new(false, false, sizeof(ModuleFile));
    g_array_set_clear_func(files->files, clear_file);
    return files;
}

void module_files_free(ModuleFiles *files)
{
    g_array_unref(files->files);
    g_free(files);
}

bool module_files_add(ModuleFiles *files, const char *path, const char *file,
                      const struct stat *st)
{
    static const char *const ends[] = { ".ko", ".ko.gz", ".ko.xz", ".ko.zst" };

    for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++) {
        if (g_str_has_suffix(path, ends[i])) {
            ModuleFile m = { g_strdup(path), g_strdup(file), *st };

            g_array_append_val(files->files, m);
            return true;
        }
    }
    return false;
}

/* The name of the module, by that of its file */
static char *name_of(const ModuleFile *m)
{
    char *name = g_path_get_basename(m->path);

    *strstr(name, ".ko") = 0;
    return g_strdelimit(name, "-", '_');
}

/* Those of @files that can have run, by what the guest said */
static GPtrArray *choose(const ModuleFiles *files, const Names *names)
{
    GPtrArray *chosen = g_ptr_array_new();

    for (guint i = 0; i < files->files->len; i++) {
        ModuleFile *m = &g_array_index(files->files, ModuleFile, i);
        g_autofree char *name = name_of(m);

        if (names_may_have_module(names, name)) {
            g_ptr_array_add(chosen, m);
        }
    }
    return chosen;
}

static bool has_all(const ModuleCache *cache, const GPtrArray *files)
{
    for (guint i = 0; cache && i < files->len; i++) {
        const ModuleFile *m = files->pdata[i];

        if (!module_cache_has(cache, m->path, &m->st)) {
            return false;
        }
    }
    return cache;
}

/* The code of @m, of the cache if that is up to date; NULL: it has none */
static Object *load(const ModuleFile *m, const ModuleCache *cache,
                    ObjectTable *table)
{
    return cache && module_cache_has(cache, m->path, &m->st) ?
           module_cache_load(cache, table, m->path, m->file) :
           object_elf_load(table, m->path, m->file, NULL);
}

static void try_all(const GPtrArray *files, Names *names,
                    ModuleCache *cache, ModuleCacheWriter *writer)
{
    ObjectTable *table = names_table(names);

    for (guint i = 0; i < files->len; i++) {
        const ModuleFile *m = files->pdata[i];
        unsigned first = object_table_size(table);
        Object *o = load(m, cache, table);

        if (writer) {
            module_cache_add(writer, m->path, &m->st, o);
        }
        if (o) {
            names_try(names, first);
        }
        if (cache) {
            module_cache_let_go(cache, m->path);
        }
    }
}

void module_files_try(const ModuleFiles *files, Names *names,
                      const char *root)
{
    g_autoptr(GPtrArray) chosen = NULL;
    g_autoptr(ModuleCache) cache = NULL;
    g_autofree char *path = NULL;
    ModuleCacheWriter *writer = NULL;

    if (!files->files->len || !names_begin_modules(names)) {
        return;
    }
    chosen = choose(files, names);
    if (chosen->len >= module_files_many) {
        path = module_cache_path(root);
        cache = path ? module_cache_open(path) : NULL;
    }
    if (path && !has_all(cache, chosen)) {
        writer = module_cache_writer_new(path, NULL);
        say_note("unpacking %u modules of the kernel below %s%s%s",
                 chosen->len, root, writer ? "; next time their code is in " :
                 "", writer ? path : "");
    }
    try_all(chosen, names, cache, writer);
    if (writer) {
        /* Without it, they are unpacked next time, too. */
        module_cache_commit(writer, NULL);
    }
    names_end_modules(names);
}
