/*
 * Find the call frame information of a program and its libraries
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <fcntl.h>
#include <gelf.h>
#include <glib.h>
#include <string.h>
#include "files.h"

/* Where Linux maps libraries: above 4 GiB, below the end of Sv39's half */
#define LIBRARIES_LO    (1ull << 32)
#define LIBRARIES_HI    (1ull << 38)

#define MAX_LIBRARIES   64
#define MAX_NAME        256

typedef struct File {
    uint64_t bias;          /* addresses in memory are this much more */
    uint64_t lo, hi;        /* of its segments, in memory */
    uint64_t plt_lo, plt_hi;
    uint64_t got_plt;       /* whose first entry is ld.so's resolver; or 0 */
    uint64_t debug;         /* the value of DT_DEBUG; or 0 */
    Dwarf_CFI *tables[2];   /* .debug_frame, .eh_frame */
} File;

struct Program {
    File file;
    GArray *libraries;      /* File */
    GHashTable *known;      /* address: Dwarf_Frame, or NULL */
};

static GPtrArray *programs, *folders;

static void look_at_sections(Elf *elf, File *f)
{
    Elf_Scn *scn = NULL;
    size_t names;

    if (elf_getshdrstrndx(elf, &names)) {
        return;
    }
    while ((scn = elf_nextscn(elf, scn))) {
        GElf_Shdr s;
        const char *name;

        if (!gelf_getshdr(scn, &s)) {
            continue;
        }
        name = elf_strptr(elf, names, s.sh_name);
        if (!g_strcmp0(name, ".plt")) {
            f->plt_lo = f->bias + s.sh_addr;
            f->plt_hi = f->plt_lo + s.sh_size;
        } else if (!g_strcmp0(name, ".got.plt") || !g_strcmp0(name, ".got")) {
            /* On RISC-V, linkers put the one into the other. */
            f->got_plt = f->bias + s.sh_addr;
        } else if (s.sh_type == SHT_DYNAMIC) {
            Elf_Data *data = elf_getdata(scn, NULL);
            GElf_Dyn d;

            for (int i = 0; data && gelf_getdyn(data, i, &d); i++) {
                if (d.d_tag == DT_DEBUG) {
                    f->debug = f->bias + s.sh_addr + i * s.sh_entsize + 8;
                } else if (d.d_tag == DT_PLTGOT) {
                    f->got_plt = f->bias + d.d_un.d_ptr;
                }
            }
        }
    }
}

static bool open_file(const char *path, uint64_t bias, File *f)
{
    int fd = open(path, O_RDONLY);
    Elf *elf;
    size_t n;

    elf_version(EV_CURRENT);
    elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    if (!elf || elf_getphdrnum(elf, &n)) {
        return false;
    }
    *f = (File) { .bias = bias, .lo = UINT64_MAX };
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr p;

        if (gelf_getphdr(elf, i, &p) && p.p_type == PT_LOAD) {
            f->lo = MIN(f->lo, bias + p.p_vaddr);
            f->hi = MAX(f->hi, bias + p.p_vaddr + p.p_memsz);
        }
    }
    look_at_sections(elf, f);
    /* Files without debug information have no Dwarf, which is not an error. */
    f->tables[0] = dwarf_getcfi(dwarf_begin_elf(elf, DWARF_C_READ, NULL));
    f->tables[1] = dwarf_getcfi_elf(elf);
    return f->tables[0] || f->tables[1];
}

bool files_add_program(const char *path)
{
    Program *p = g_new0(Program, 1);

    if (!open_file(path, 0, &p->file)) {
        g_free(p);
        return false;
    }
    p->libraries = g_array_new(false, false, sizeof(File));
    p->known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                     NULL);
    programs = programs ?: g_ptr_array_new();
    g_ptr_array_add(programs, p);
    return true;
}

void files_add_folder(const char *path)
{
    folders = folders ?: g_ptr_array_new();
    g_ptr_array_add(folders, (gpointer)path);
}

static bool is_in(const File *f, uint64_t address)
{
    return address >= f->lo && address < f->hi;
}

bool files_may_be_at(uint64_t address)
{
    for (guint i = 0; i < programs->len; i++) {
        if (is_in(&((Program *)programs->pdata[i])->file, address)) {
            return true;
        }
    }
    return folders && address >= LIBRARIES_LO && address < LIBRARIES_HI;
}

Program *files_program(uint64_t pc, ReadWord *read, void *opaque)
{
    for (guint i = 0; i < programs->len; i++) {
        Program *p = programs->pdata[i];
        uint64_t word;

        /* Its dynamic section is at an address that no other one has. */
        if (is_in(&p->file, pc) ||
            (p->file.debug && read(opaque, p->file.debug, &word))) {
            return p;
        }
    }
    return NULL;
}

/* The text at @address, at most @size - 1 characters */
static void read_text(uint64_t address, char *text, size_t size,
                      ReadWord *read, void *opaque)
{
    size_t n = 0;

    while (n + 1 < size) {
        uint64_t word;

        if (!read(opaque, (address + n) & ~7ull, &word)) {
            break;
        }
        text[n] = word >> ((address + n) % 8 * 8);
        if (!text[n]) {
            return;
        }
        n++;
    }
    text[n] = 0;
}

static bool add_library(Program *p, uint64_t bias, const char *name)
{
    g_autofree char *base = g_path_get_basename(name);

    for (guint i = 0; i < folders->len; i++) {
        g_autofree char *path = g_build_filename(folders->pdata[i], base,
                                                 NULL);
        File f;

        if (open_file(path, bias, &f)) {
            g_array_append_val(p->libraries, f);
            return true;
        }
    }
    return false;
}

static bool is_loaded(const Program *p, uint64_t bias)
{
    for (guint i = 0; i < p->libraries->len; i++) {
        if (g_array_index(p->libraries, File, i).bias == bias) {
            return true;
        }
    }
    return false;
}

/* Libraries that ld.so lists for debuggers: struct r_debug, struct link_map */
static bool find_libraries(Program *p, ReadWord *read, void *opaque)
{
    uint64_t debug, map, bias, text;
    bool found = false;

    if (!p->file.debug || !folders ||
        !read(opaque, p->file.debug, &debug) || !debug ||
        !read(opaque, debug + 8, &map)) {
        return false;
    }
    for (unsigned i = 0; i < MAX_LIBRARIES && map; i++) {
        char name[MAX_NAME];

        if (!read(opaque, map, &bias) || !read(opaque, map + 8, &text)) {
            break;
        }
        read_text(text, name, sizeof(name), read, opaque);
        if (*name && bias && !is_loaded(p, bias)) {
            found |= add_library(p, bias, name);
        }
        if (!read(opaque, map + 24, &map)) {
            break;
        }
    }
    return found;
}

static const File *file_at(const Program *p, uint64_t address)
{
    if (is_in(&p->file, address)) {
        return &p->file;
    }
    for (guint i = 0; i < p->libraries->len; i++) {
        const File *f = &g_array_index(p->libraries, File, i);

        if (is_in(f, address)) {
            return f;
        }
    }
    return NULL;
}

/*
 * ld.so's resolver of lazy bindings makes a frame, of which glibc tells
 * nothing: addi sp, sp, -SIZE; sd ra, 72(sp); ...; addi sp, sp, SIZE; jr t1
 */
static bool is_resolver(const Program *p, uint64_t address, Code *code,
                        ReadWord *read, void *opaque)
{
    uint64_t start, word, at;
    unsigned size, back;

    if (!p->file.got_plt || !read(opaque, p->file.got_plt, &start) ||
        address - start >= 256 || !read(opaque, start, &word)) {
        return false;
    }
    if ((word & 0xef83) == 0x6101) {            /* c.addi16sp, below 0 */
        uint32_t c = word;

        size = (c >> 6 & 1) << 4 | (c >> 2 & 1) << 5 | (c >> 5 & 1) << 6 |
               (c >> 3 & 3) << 7 | (c >> 12 & 1) << 9;
        size = 1024 - size;
        at = start + 2;
    } else if ((word & 0xfffff) == 0x10113) {   /* addi */
        size = -((int32_t)word >> 20);
        at = start + 4;
    } else {
        return false;
    }
    code->leaf = true;
    if (address < at) {
        return true;
    }
    /* Behind the addi that gives the room back, it is a leaf again. */
    back = size << 20 | 0x10113;
    for (; at < address; at += 2) {
        if (!read(opaque, at, &word)) {
            return false;
        }
        if ((uint32_t)word == back || ((word & 0xffff) == 0x6125 &&
                                       size == 96)) {
            return true;
        }
    }
    code->frame_size = size;
    code->saved_ra = 72;
    return true;
}

Code files_code(Program *p, uint64_t address, ReadWord *read, void *opaque)
{
    Code code = { 0 };
    gpointer frame;
    const File *f;

    if (g_hash_table_lookup_extended(p->known, &address, NULL, &frame)) {
        code.frame = frame;
        return code;
    }
    f = file_at(p, address);
    if (!f && find_libraries(p, read, opaque)) {
        f = file_at(p, address);
    }
    if (!f) {
        return code;
    }
    if (address >= f->plt_lo && address < f->plt_hi) {
        code.leaf = true;
        return code;
    }
    if (is_resolver(p, address, &code, read, opaque)) {
        return code;
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(f->tables) && !code.frame; i++) {
        if (f->tables[i] && dwarf_cfi_addrframe(f->tables[i],
                                                address - f->bias,
                                                &code.frame)) {
            code.frame = NULL;
        }
    }
    g_hash_table_insert(p->known, g_memdup2(&address, sizeof(address)),
                        code.frame);
    return code;
}
