/*
 * Debug info of functions that is in files of its own: gcc -gsplit-dwarf
 *
 * libdw puts a skeleton and its unit together, but opens whatever file the
 * skeleton names. So it is given skeletons made here, which name one file
 * descriptor; what is opened there is what was found.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <dwarf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/below.h"
#include "elf/debug-split.h"
#include "elf/dwp.h"
#include "elf/elf-write.h"

typedef struct Skeleton {
    uint64_t id;
    unsigned version;           /* of DWARF */
    uint8_t address_size;
    uint64_t low_pc;            /* 0 if there is none */
    uint32_t addr_base, ranges_base;
    char *file;                 /* the .dwo; NULL: it is in the package */
    size_t offset;              /* of its DIE in the skeletons made here */
} Skeleton;

struct DebugSplit {
    char *dir;                  /* of the file */
    char **sysroots;            /* not ours; or NULL */
    Dwp *dwp;                   /* or NULL */
    GArray *skeletons;          /* Skeleton */
    /*
     * Paths of files, or ids of the package's units, that have been read: many
     * skeletons that name the same one could take any time.
     */
    GHashTable *used;
    int fd;                     /* the file descriptor */
    bool made;
    GBytes *bytes;              /* the skeletons made here */
    Elf *elf;
    Dwarf *dwarf;               /* NULL: they cannot be made */
};

static void clear_skeleton(gpointer opaque)
{
    Skeleton *s = opaque;

    g_free(s->file);
}

DebugSplit *debug_split_new(const char *path, char **sysroots)
{
    DebugSplit *split = g_new0(DebugSplit, 1);
    g_autofree char *package = g_strconcat(path, ".dwp", NULL);
    g_autofree char *dir = g_path_get_dirname(path);

    split->dir = g_canonicalize_filename(dir, NULL);
    split->sysroots = sysroots;
    split->dwp = dwp_open(package);
    split->skeletons = g_array_new(FALSE, FALSE, sizeof(Skeleton));
    g_array_set_clear_func(split->skeletons, clear_skeleton);
    split->used = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    split->fd = -1;
    return split;
}

void debug_split_free(DebugSplit *split)
{
    g_clear_pointer(&split->dwarf, dwarf_end);
    g_clear_pointer(&split->elf, elf_end);
    g_clear_pointer(&split->bytes, g_bytes_unref);
    g_clear_pointer(&split->dwp, dwp_free);
    if (split->fd >= 0) {
        close(split->fd);
    }
    g_array_unref(split->skeletons);
    g_hash_table_unref(split->used);
    g_free(split->dir);
    g_free(split);
}

static const char *string(Dwarf_Die *die, unsigned name, unsigned other)
{
    Dwarf_Attribute attr;

    return dwarf_attr(die, name, &attr) || dwarf_attr(die, other, &attr) ?
           dwarf_formstring(&attr) : NULL;
}

static uint32_t offset(Dwarf_Die *die, unsigned name, unsigned other)
{
    Dwarf_Attribute attr;
    Dwarf_Word value;

    return (dwarf_attr(die, name, &attr) || dwarf_attr(die, other, &attr)) &&
           !dwarf_formudata(&attr, &value) && value <= UINT32_MAX ? value : 0;
}

/* Is @dir inside @folder, or @folder itself? The root folder does not count. */
static bool is_in(const char *dir, const char *folder)
{
    return folder[0] == '/' && folder[1] && g_str_has_prefix(dir, folder) &&
           strchr("/", dir[strlen(folder)]);
}

/*
 * The .dwo file @name of a unit that was compiled in the folder @built (NULL:
 * not known), or NULL. Both are of somebody's choice: see the header for where
 * they may lead.
 */
static char *find_dwo(const DebugSplit *split, const char *name,
                      const char *built)
{
    g_autofree char *where = built ? g_canonicalize_filename(built, "/") :
                                     NULL;
    g_autofree char *path = g_path_is_absolute(name) ?
        g_canonicalize_filename(name, NULL) :
        where ? g_canonicalize_filename(name, where) : NULL;
    char *found = below_find(split->dir, name);

    if (!found && path && is_in(path, split->dir)) {
        found = below_find(split->dir, path + strlen(split->dir));
    }
    for (char **root = split->sysroots; path && root && *root && !found;
         root++) {
        found = below_find(*root, path);
    }
    if (!found && where && is_in(split->dir, where) && is_in(path, where)) {
        found = below_find(where, path + strlen(where));
    }
    return found;
}

/* The unit's id, and what else skeletons say, which are not of all versions */
static bool read_skeleton(Dwarf_Die *die, Skeleton *s)
{
    Dwarf_Half version;
    uint8_t type, address_size;
    Dwarf_Addr low;

    if (dwarf_cu_info(die->cu, &version, &type, NULL, NULL, &s->id,
                      &address_size, NULL) || type != DW_UT_skeleton) {
        return false;
    }
    s->version = version;
    s->address_size = address_size;
    s->low_pc = dwarf_lowpc(die, &low) ? 0 : low;
    s->addr_base = offset(die, DW_AT_addr_base, DW_AT_GNU_addr_base);
    s->ranges_base = offset(die, DW_AT_GNU_ranges_base,
                            DW_AT_GNU_ranges_base);
    return version >= 2 && version <= 5;
}

bool debug_split_add(DebugSplit *split, Dwarf_Die *die, unsigned *index,
                     const char **missing)
{
    const char *name = string(die, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
    Skeleton s = { 0 };

    if (!name || !read_skeleton(die, &s)) {
        return false;
    }
    *missing = NULL;
    if (!split->dwp || !dwp_has(split->dwp, s.id)) {
        s.file = find_dwo(split, name, string(die, DW_AT_comp_dir,
                                              DW_AT_comp_dir));
        *missing = s.file ? NULL : name;
    }
    *index = split->skeletons->len;
    g_array_append_val(split->skeletons, s);
    return true;
}

/* Of the skeletons made here: 1 is DWARF 5's, 2 GNU's for those before. */
static const uint8_t abbrevs[] = {
    1, DW_TAG_skeleton_unit, DW_CHILDREN_no, DW_AT_low_pc, DW_FORM_addr,
    DW_AT_addr_base, DW_FORM_sec_offset, DW_AT_dwo_name, DW_FORM_string, 0, 0,
    2, DW_TAG_compile_unit, DW_CHILDREN_no, DW_AT_low_pc, DW_FORM_addr,
    0xb3, 0x42 /* DW_AT_GNU_addr_base */, DW_FORM_sec_offset,
    0xb0, 0x42 /* DW_AT_GNU_dwo_name */, DW_FORM_string,
    0xb1, 0x42 /* DW_AT_GNU_dwo_id */, DW_FORM_data8,
    0xb2, 0x42 /* DW_AT_GNU_ranges_base */, DW_FORM_sec_offset, 0, 0,
    0,
};

static void put(GByteArray *out, uint64_t value, unsigned bytes)
{
    value = GUINT64_TO_LE(value);
    g_byte_array_append(out, (uint8_t *)&value, bytes);
}

static void put_skeleton(GByteArray *out, Skeleton *s, const char *path)
{
    guint begin = out->len, len;

    put(out, 0, 4);                         /* the length: see below */
    put(out, s->version, 2);
    if (s->version == 5) {
        put(out, DW_UT_skeleton, 1);
        put(out, s->address_size, 1);
        put(out, 0, 4);
        put(out, s->id, 8);
    } else {
        put(out, 0, 4);
        put(out, s->address_size, 1);
    }
    s->offset = out->len;
    put(out, s->version == 5 ? 1 : 2, 1);
    put(out, s->low_pc, MIN(s->address_size, 8));
    put(out, s->addr_base, 4);
    g_byte_array_append(out, (const uint8_t *)path, strlen(path) + 1);
    if (s->version < 5) {
        put(out, s->id, 8);
        put(out, s->ranges_base, 4);
    }
    len = GUINT32_TO_LE(out->len - begin - 4);
    memcpy(out->data + begin, &len, 4);
}

/* The contents of a section, which libdw has unpacked */
static ElfPart part(Elf *elf, const char *name)
{
    ElfFile file = { .elf = elf };
    Elf_Scn *scn = elf_file_section(&file, name);
    Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;

    return (ElfPart) {
        name, data ? data->d_buf : NULL, data && data->d_buf ? data->d_size : 0,
    };
}

static void make_skeletons(DebugSplit *split, Elf *elf)
{
    g_autoptr(GByteArray) info = g_byte_array_new();
    g_autofree char *path = NULL;
    ElfPart parts[4] = {
        { ".debug_abbrev", abbrevs, sizeof(abbrevs) },
        part(elf, ".debug_addr"), part(elf, ".debug_ranges"),
    };
    const char *data;
    size_t size;

    split->made = true;
    /* Any file will do for now. */
    split->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (split->fd < 0) {
        return;
    }
    path = g_strdup_printf("/proc/self/fd/%d", split->fd);
    for (guint i = 0; i < split->skeletons->len; i++) {
        put_skeleton(info, &g_array_index(split->skeletons, Skeleton, i),
                     path);
    }
    parts[3] = (ElfPart) { ".debug_info", info->data, info->len };
    split->bytes = elf_write(parts, G_N_ELEMENTS(parts));
    data = split->bytes ? g_bytes_get_data(split->bytes, &size) : NULL;
    split->elf = data ? elf_memory((char *)data, size) : NULL;
    split->dwarf = split->elf ? dwarf_begin_elf(split->elf, DWARF_C_READ,
                                                NULL) : NULL;
}

/* The unit @s, opened, or -1. A pipe would wait for a writer. */
static int open_unit(DebugSplit *split, const Skeleton *s)
{
    g_autoptr(GBytes) unit = NULL;
    struct stat st;
    const char *data;
    size_t size;
    int fd;

    if (s->file) {
        fd = open(s->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
            close(fd);
            fd = -1;
        }
        return fd;
    }
    unit = split->dwp ? dwp_unit(split->dwp, s->id) : NULL;
    if (!unit) {
        return -1;
    }
    fd = memfd_create("dwo", MFD_CLOEXEC);
    data = g_bytes_get_data(unit, &size);
    while (fd >= 0 && size) {
        ssize_t n = write(fd, data, size);

        if (n <= 0) {
            close(fd);
            return -1;
        }
        data += n;
        size -= n;
    }
    return fd;
}

bool debug_split_find(DebugSplit *split, Elf *elf, unsigned index,
                      Dwarf_Die *die)
{
    const Skeleton *s = &g_array_index(split->skeletons, Skeleton, index);
    char *key = s->file ? g_strdup(s->file) :
                          g_strdup_printf("%" PRIx64, s->id);
    Dwarf_Die skeleton;
    bool found;
    int fd;

    if (!g_hash_table_add(split->used, key)) {
        return false;
    }
    if (!split->made) {
        make_skeletons(split, elf);
    }
    fd = split->dwarf ? open_unit(split, s) : -1;
    if (fd < 0) {
        return false;
    }
    found = dup3(fd, split->fd, O_CLOEXEC) >= 0 &&
            dwarf_offdie(split->dwarf, s->offset, &skeleton) &&
            !dwarf_cu_info(skeleton.cu, NULL, NULL, NULL, die, NULL, NULL,
                           NULL) && die->cu;
    close(fd);
    return found;
}
