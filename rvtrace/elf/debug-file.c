/*
 * Which file has the debug info, or the symbols, of an ELF file
 *
 * The places are those where GDB and elfutils look. A file is taken only if
 * its build-id is the right one, or, if there is no build-id, if it has the
 * checksum that .gnu_debuglink asks for.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <fcntl.h>
#include <unistd.h>
#include <gio/gio.h>
#include <elfutils/libdwelf.h>
#include "elf/build-id.h"
#include "elf/debug-file.h"
#include "base/below.h"
#include "base/input.h"

#define DEBUG_DIR "/usr/lib/debug"

/* What is looked for, and what was found instead */
typedef struct Search {
    const char *path;           /* NULL: part of another file */
    char **roots;               /* sysroots, without a slash at the end */
    char *build_id;             /* NULL: none */
    const char *link;           /* .gnu_debuglink, or NULL */
    uint32_t crc;               /* of what @link names */
    bool (*wanted)(const ElfFile *file);    /* has what is looked for */
    GString *rejected;
    char *found;                /* path of what was found; else NULL */
} Search;

static bool has_debug_info(const ElfFile *file)
{
    return elf_file_section(file, ".debug_info") ||
           elf_file_section(file, ".zdebug_info");
}

/* The checksum of .gnu_debuglink, which is that of Ethernet and zlib */
static uint32_t checksum(const ElfFile *file)
{
    uint32_t table[256], crc = UINT32_MAX;
    const uint8_t *data;
    size_t size;

    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++) {
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
        }
    }
    data = input_data(file->file, &size);
    for (size_t i = 0; i < size; i++) {
        crc = table[(crc ^ data[i]) & 0xff] ^ crc >> 8;
    }
    return ~crc;
}

static void reject(Search *s, const char *path, const char *why)
{
    g_string_append_printf(s->rejected, "; %s %s", path, why);
}

/* The file at @path, if there is one and it is of the build @build_id */
static ElfFile *open_build(Search *s, const char *path, const char *build_id)
{
    g_autoptr(ElfFile) file = NULL;
    g_autoptr(GError) err = NULL;
    g_autofree char *id = NULL;

    /* Opening a pipe would wait for somebody to write into it. */
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        return NULL;
    }
    file = elf_file_open(path, &err);
    if (!file) {
        g_string_append_printf(s->rejected, "; %s", err->message);
        return NULL;
    }
    id = build_id_of(file);
    if (build_id ? g_strcmp0(id, build_id) : checksum(file) != s->crc) {
        reject(s, path, "is of another build");
        return NULL;
    }
    return g_steal_pointer(&file);
}

/* The same; it must have what is looked for. */
static ElfFile *open_wanted(Search *s, const char *path)
{
    g_autoptr(ElfFile) file = open_build(s, path, s->build_id);

    if (file && !s->wanted(file)) {
        reject(s, path, "has none, either");
        return NULL;
    }
    if (file) {
        s->found = g_strdup(path);
    }
    return g_steal_pointer(&file);
}

static char *cache_dir(void)
{
    const char *dir = g_getenv("DEBUGINFOD_CACHE_PATH");

    if (dir && dir[0]) {
        return g_strdup(dir);
    }
    return g_build_filename(g_get_user_cache_dir(), "debuginfod_client", NULL);
}

/* Where a file of that build-id may be */
static GPtrArray *build_id_paths(Search *s, const char *build_id)
{
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *cache = cache_dir();

    if (strlen(build_id) > 2) {
        char *name = g_strdup_printf(DEBUG_DIR "/.build-id/%.2s/%s.debug",
                                     build_id, build_id + 2);

        for (char **root = s->roots; *root; root++) {
            g_ptr_array_add(paths, g_strconcat(*root, name, NULL));
        }
        g_ptr_array_add(paths, name);
    }
    g_ptr_array_add(paths, g_build_filename(cache, build_id, "debuginfo",
                                            NULL));
    return paths;
}

/* Is @path in @folder, or @folder itself? */
static bool is_in(const char *path, const char *folder)
{
    return g_str_has_prefix(path, folder) &&
           strchr("/", path[strlen(folder)]);
}

/* The sysroot that @path is in, or NULL */
static const char *root_of(const Search *s, const char *path)
{
    for (char **root = s->roots; *root; root++) {
        if (is_in(path, *root)) {
            return *root;
        }
    }
    return NULL;
}

/* @path, which it takes, unless it is the file that is known already */
static void add_path(const Search *s, GPtrArray *paths, char *path)
{
    if (strcmp(path, s->path)) {
        g_ptr_array_add(paths, path);
    } else {
        g_free(path);
    }
}

/*
 * Where a file may be that is found by its name. The file that was not
 * stripped may be at the same place of another sysroot.
 */
static GPtrArray *name_paths(Search *s)
{
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    const char *own_root = root_of(s, s->path);
    g_autofree char *dir = g_path_get_dirname(s->path);
    const char *inner = own_root ? dir + strlen(own_root) : dir;
    g_autofree char *base = g_path_get_basename(s->path);
    g_autofree char *debug = g_strconcat(base, ".debug", NULL);
    /* A name with a slash is none that objcopy writes. */
    bool linked = s->link && s->link[0] && !strchr(s->link, '/');
    const char *names[] = { linked ? s->link : NULL, base, debug };

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        /* There is a checksum for the linked name only. */
        if (!names[i] || (!s->build_id && i)) {
            continue;
        }
        add_path(s, paths, g_build_filename(dir, names[i], NULL));
        add_path(s, paths, g_build_filename(dir, ".debug", names[i], NULL));
        for (char **root = s->roots; *root; root++) {
            add_path(s, paths, g_strconcat(*root, DEBUG_DIR "/", inner, "/",
                                           names[i], NULL));
            if (own_root) {
                add_path(s, paths, g_strconcat(*root, inner, "/", names[i],
                                               NULL));
            }
        }
        add_path(s, paths, g_strconcat(DEBUG_DIR "/", inner, "/", names[i],
                                       NULL));
    }
    return paths;
}

static ElfFile *open_first(Search *s, const GPtrArray *paths)
{
    for (guint i = 0; i < paths->len; i++) {
        ElfFile *file = open_wanted(s, paths->pdata[i]);

        if (file) {
            return file;
        }
    }
    return NULL;
}

static ElfFile *find_file(Search *s)
{
    ElfFile *file = NULL;

    if (s->build_id) {
        g_autoptr(GPtrArray) paths = build_id_paths(s, s->build_id);

        file = open_first(s, paths);
    }
    if (!file && s->path) {
        g_autoptr(GPtrArray) paths = name_paths(s);

        file = open_first(s, paths);
    }
    return file;
}

/*
 * libelf changes headers where they are when it unpacks a compressed section:
 * libdw gets a mapping of its own, which can be written to.
 */
static bool make_private(ElfFile *file, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf;

    if (fd < 0) {
        return false;
    }
    elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
    if (elf) {
        elf_cntl(elf, ELF_C_FDDONE);
        elf_end(file->elf);
        file->elf = elf;
    }
    close(fd);
    return elf;
}

static void add_found(GPtrArray *paths, const char *root, const char *path)
{
    char *found = below_find(root, path);

    if (found) {
        g_ptr_array_add(paths, found);
    }
}

/*
 * Where a file may be that a file in @dir calls @name: in the system that that
 * one is in. A name of somebody's choice leads to no other file of this one.
 */
static void add_alt_paths(const Search *s, const char *dir, const char *name,
                          GPtrArray *paths)
{
    const char *root = root_of(s, dir) ?: is_in(dir, DEBUG_DIR) ? DEBUG_DIR :
                       dir;
    g_autofree char *relative = g_build_filename("/", dir + strlen(root), name,
                                                 NULL);

    if (name[0] != '/') {
        add_found(paths, root, relative);
    } else {
        for (char **r = s->roots; *r; r++) {
            add_found(paths, *r, name);
        }
        if (is_in(name, DEBUG_DIR)) {
            add_found(paths, DEBUG_DIR, name + strlen(DEBUG_DIR));
        }
    }
}

/*
 * The file that .gnu_debugaltlink of @debug names: a path, a zero, and the
 * build-id. False if there is such a section and no such file.
 */
static bool find_alt(Search *s, ElfFile *debug, ElfFile **alt)
{
    Elf_Scn *scn = elf_file_section(debug, ".gnu_debugaltlink");
    Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
    const char *name = data ? data->d_buf : NULL;
    size_t len = name ? strnlen(name, data->d_size) : 0;
    g_autofree char *id = NULL, *dir = NULL;
    g_autoptr(GPtrArray) paths = NULL;

    if (!scn) {
        return true;
    }
    if (name && len < data->d_size) {
        id = build_id_hex((const uint8_t *)name + len + 1,
                          data->d_size - len - 1);
    }
    if (!id) {
        g_string_append(s->rejected, "; .gnu_debugaltlink is damaged");
        return false;
    }
    paths = build_id_paths(s, id);
    dir = g_path_get_dirname(s->found ? s->found : s->path);
    add_alt_paths(s, dir, name, paths);
    for (guint i = 0; i < paths->len && !*alt; i++) {
        *alt = open_build(s, paths->pdata[i], id);
        if (*alt && !make_private(*alt, paths->pdata[i])) {
            g_clear_pointer(alt, elf_file_close);
        }
    }
    if (!*alt) {
        g_string_append_printf(s->rejected, "; %s, which it shares with other "
                               "files, is missing", name);
    }
    return *alt;
}

static bool is_relocatable(const ElfFile *file)
{
    GElf_Ehdr ehdr;

    return !gelf_getehdr(file->elf, &ehdr) || ehdr.e_type == ET_REL;
}

/* Where the debug info of @file, which is s->path, is; may be @file itself. */
static ElfFile *open_best(Search *s, ElfFile **file)
{
    g_autoptr(ElfFile) found = NULL;

    if (!has_debug_info(*file)) {
        found = find_file(s);
        return found && make_private(found, s->found) ?
            g_steal_pointer(&found) : NULL;
    }
    if (!g_file_test(s->path, G_FILE_TEST_IS_REGULAR) ||
        !make_private(*file, s->path)) {
        reject(s, s->path, "is no regular file");
        return NULL;
    }
    return g_steal_pointer(file);
}

static void search(DebugFile *result, Search *s, ElfFile **file)
{
    g_autoptr(ElfFile) found = NULL;

    if (is_relocatable(*file)) {
        result->note = g_strdup_printf("%s: source lines of relocatable "
                                       "files, such as kernel modules, are "
                                       "not read", s->path);
        return;
    }
    found = open_best(s, file);
    if (found && find_alt(s, found, &result->alt)) {
        result->file = g_steal_pointer(&found);
        return;
    }
    result->note = g_strdup_printf("%s: no debug info (%s%s%s)", s->path,
                                   s->build_id ? "build-id " : "no build-id",
                                   s->build_id ? s->build_id : "",
                                   s->rejected->str);
}

static Search search_begin(const ElfFile *file, const char *path,
                           char **sysroots,
                           bool (*wanted)(const ElfFile *file))
{
    GPtrArray *roots = g_ptr_array_new();
    GElf_Word crc = 0;
    Search s = {
        .path = path,
        .build_id = build_id_of(file),
        .link = dwelf_elf_gnu_debuglink(file->elf, &crc),
        .wanted = wanted,
        .rejected = g_string_new(NULL),
    };

    s.crc = crc;
    for (; sysroots && *sysroots; sysroots++) {
        size_t len = strlen(*sysroots);

        while (len && (*sysroots)[len - 1] == '/') {
            len--;
        }
        /* What is below "/" is looked at anyway. */
        if (len) {
            g_ptr_array_add(roots, g_strndup(*sysroots, len));
        }
    }
    g_ptr_array_add(roots, NULL);
    s.roots = (char **)g_ptr_array_free(roots, FALSE);
    return s;
}

static void search_end(Search *s)
{
    g_strfreev(s->roots);
    g_free(s->build_id);
    g_free(s->found);
    g_string_free(s->rejected, TRUE);
}

DebugFile *debug_file_open(const char *path, char **sysroots, GError **errp)
{
    g_autoptr(ElfFile) file = elf_file_open(path, errp);
    DebugFile *result;
    Search s;

    if (!file) {
        return NULL;
    }
    result = g_new0(DebugFile, 1);
    s = search_begin(file, path, sysroots, has_debug_info);
    search(result, &s, &file);
    search_end(&s);
    return result;
}

ElfFile *debug_file_symbols(const ElfFile *file, const char *path,
                            char **sysroots)
{
    Search s = search_begin(file, path, sysroots, elf_file_has_symtab);
    ElfFile *found = find_file(&s);

    search_end(&s);
    return found;
}

void debug_file_close(DebugFile *file)
{
    g_clear_pointer(&file->file, elf_file_close);
    g_clear_pointer(&file->alt, elf_file_close);
    g_free(file->note);
    g_free(file);
}
