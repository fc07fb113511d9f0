/*
 * Packages of split debug info: what dwp makes of many .dwo files
 *
 * An index says by the unit's id which part of each section is the unit's.
 * Strings are those of all units: only the unit's own are copied.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/little-endian.h"
#include "elf/dwp.h"
#include "elf/elf-write.h"

#define HEADER_SIZE     16

/* Places of the hash table that are looked at for an id */
#define MAX_PROBES      4096

/* Numbers of sections in the index */
enum {
    SECT_INFO = 1,
    SECT_ABBREV = 3,
    SECT_LINE = 4,
    SECT_STR_OFFSETS = 6,
    SECT_RNGLISTS = 8,          /* since DWARF 5 */
    NR_SECTS,
};

static const char *const sections[NR_SECTS] = {
    [SECT_INFO] = ".debug_info.dwo",
    [SECT_ABBREV] = ".debug_abbrev.dwo",
    [SECT_LINE] = ".debug_line.dwo",
    [SECT_STR_OFFSETS] = ".debug_str_offsets.dwo",
    [SECT_RNGLISTS] = ".debug_rnglists.dwo",
};

typedef struct Bytes {
    const uint8_t *data;
    size_t size;
} Bytes;

struct Dwp {
    ElfFile *file;
    Bytes sects[NR_SECTS];
    Bytes strings;
    Bytes index;
    unsigned version;           /* 2 or 5 */
    uint64_t columns, units, slots;
    size_t made;                /* bytes of units */
};

/* The section of that name; those that are compressed are not read. */
static Bytes section(const ElfFile *file, const char *name)
{
    Elf_Scn *scn = elf_file_section(file, name);
    GElf_Shdr shdr;
    Elf_Data *data;

    if (!scn || !gelf_getshdr(scn, &shdr) ||
        (shdr.sh_flags & SHF_COMPRESSED)) {
        return (Bytes) { NULL, 0 };
    }
    data = elf_rawdata(scn, NULL);
    return data && data->d_buf ? (Bytes) { data->d_buf, data->d_size } :
                                 (Bytes) { NULL, 0 };
}

/* The @bytes bytes at @off of the index, which are there */
static uint64_t get(const Dwp *dwp, uint64_t off, unsigned bytes)
{
    return get_le(dwp->index.data + off, bytes);
}

/* Behind the header: ids, their rows, names of columns, offsets, and sizes */
static bool read_index(Dwp *dwp)
{
    if (dwp->index.size < HEADER_SIZE) {
        return false;
    }
    /* Two bytes in DWARF 5, then two that are 0; four before. */
    dwp->version = get(dwp, 0, 4);
    dwp->columns = get(dwp, 4, 4);
    dwp->units = get(dwp, 8, 4);
    dwp->slots = get(dwp, 12, 4);
    return (dwp->version == 2 || dwp->version == 5) && dwp->slots &&
           !(dwp->slots & (dwp->slots - 1)) && dwp->columns <= 16 &&
           HEADER_SIZE + 12 * dwp->slots + 4 * dwp->columns +
           8 * dwp->columns * dwp->units <= dwp->index.size;
}

Dwp *dwp_open(const char *path)
{
    Dwp *dwp;

    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        return NULL;
    }
    dwp = g_new0(Dwp, 1);
    dwp->file = elf_file_open(path, NULL);
    if (dwp->file) {
        dwp->index = section(dwp->file, ".debug_cu_index");
        dwp->strings = section(dwp->file, ".debug_str.dwo");
        for (unsigned i = 0; i < NR_SECTS; i++) {
            if (sections[i]) {
                dwp->sects[i] = section(dwp->file, sections[i]);
            }
        }
    }
    if (!dwp->file || !read_index(dwp)) {
        g_clear_pointer(&dwp, dwp_free);
    }
    return dwp;
}

void dwp_free(Dwp *dwp)
{
    g_clear_pointer(&dwp->file, elf_file_close);
    g_free(dwp);
}

/* The row of the unit @id, from 1 on; 0: there is none */
static uint64_t find_row(const Dwp *dwp, uint64_t id)
{
    uint64_t mask = dwp->slots - 1, slot = id & mask;
    uint64_t step = (id >> 32 & mask) | 1;

    for (unsigned i = 0; i < MIN(dwp->slots, MAX_PROBES); i++) {
        uint64_t row = get(dwp, HEADER_SIZE + 8 * dwp->slots + 4 * slot, 4);

        if (!row || row > dwp->units) {
            break;
        }
        if (get(dwp, HEADER_SIZE + 8 * slot, 8) == id) {
            return row;
        }
        slot = (slot + step) & mask;
    }
    return 0;
}

bool dwp_has(const Dwp *dwp, uint64_t id)
{
    return find_row(dwp, id);
}

/* The unit's part of each section; false if a part is missing */
static bool read_row(const Dwp *dwp, uint64_t row, Bytes *parts)
{
    uint64_t ids = HEADER_SIZE + 12 * dwp->slots;
    uint64_t offsets = ids + 4 * dwp->columns;
    uint64_t sizes = offsets + 4 * dwp->columns * dwp->units;

    for (unsigned i = 0; i < dwp->columns; i++) {
        uint64_t id = get(dwp, ids + 4 * i, 4);
        uint64_t at = 4 * ((row - 1) * dwp->columns + i);
        uint64_t off = get(dwp, offsets + at, 4);
        uint64_t size = get(dwp, sizes + at, 4);

        if (id >= NR_SECTS || !sections[id] ||
            (id == SECT_RNGLISTS && dwp->version < 5)) {
            continue;
        }
        if (off > dwp->sects[id].size || size > dwp->sects[id].size - off) {
            return false;
        }
        parts[id] = (Bytes) { dwp->sects[id].data + off, size };
    }
    return true;
}

/*
 * The strings that @offsets, a part of .debug_str_offsets.dwo, refers to, and
 * the same part with their new places; false if they are too long.
 */
static bool copy_strings(const Dwp *dwp, Bytes offsets, GByteArray *strings,
                         GByteArray *moved)
{
    size_t head = dwp->version == 5 ? 8 : 0;

    g_byte_array_append(moved, offsets.data, MIN(offsets.size, head));
    for (size_t i = head; i + 4 <= offsets.size; i += 4) {
        uint64_t from = MIN(get_le(offsets.data + i, 4), dwp->strings.size);
        const char *string = (const char *)dwp->strings.data + from;
        size_t len = strnlen(string, dwp->strings.size - from);
        uint32_t to = GUINT32_TO_LE(strings->len);

        if (len >= ELF_WRITE_MAX - dwp->made - strings->len) {
            return false;
        }
        g_byte_array_append(moved, (uint8_t *)&to, 4);
        g_byte_array_append(strings, (const uint8_t *)string, len);
        g_byte_array_append(strings, (const uint8_t *)"", 1);
    }
    return true;
}

GBytes *dwp_unit(Dwp *dwp, uint64_t id)
{
    uint64_t row = find_row(dwp, id);
    Bytes parts[NR_SECTS] = { { 0 } };
    g_autoptr(GByteArray) strings = g_byte_array_new();
    g_autoptr(GByteArray) moved = g_byte_array_new();
    ElfPart out[NR_SECTS + 1];
    unsigned n = 0;
    GBytes *unit;

    if (!row || !read_row(dwp, row, parts) ||
        !copy_strings(dwp, parts[SECT_STR_OFFSETS], strings, moved)) {
        return NULL;
    }
    parts[SECT_STR_OFFSETS] = (Bytes) { moved->data, moved->len };
    for (unsigned i = 0; i < NR_SECTS; i++) {
        if (sections[i]) {
            out[n++] = (ElfPart) {
                sections[i], parts[i].data, parts[i].size,
            };
        }
    }
    out[n++] = (ElfPart) { ".debug_str.dwo", strings->data, strings->len };
    unit = elf_write(out, n);
    if (unit && g_bytes_get_size(unit) > ELF_WRITE_MAX - dwp->made) {
        g_clear_pointer(&unit, g_bytes_unref);
    }
    dwp->made += unit ? g_bytes_get_size(unit) : 0;
    return unit;
}
