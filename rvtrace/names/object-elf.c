/*
 * Objects from ELF files: programs, libraries, modules, vdso, firmware
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "elf/build-id.h"
#include "elf/elf-file.h"
#include "base/below.h"
#include "base/input.h"
#include "names/object-elf.h"
#include "base/packed.h"

#ifndef DF_1_PIE
#define DF_1_PIE 0x08000000
#endif

/* Relocations of a module that change more or less than one instruction */
#define R_RISCV_CALL        18
#define R_RISCV_CALL_PLT    19
#define R_RISCV_RVC_BRANCH  44
#define R_RISCV_RVC_JUMP    45
#define R_RISCV_RELAX       51
#define R_RISCV_ALIGN       43

static bool fail(GError **errp, const char *path, const char *what)
{
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: %s", path,
                what);
    return false;
}

/* Are there @size bytes at @off of @file? */
static bool inside(const ElfFile *file, uint64_t off, uint64_t size)
{
    size_t all;

    input_data(file->file, &all);
    return off <= all && size <= all - off;
}

static void add_code(Object *o, uint64_t addr, const uint8_t *bytes,
                     size_t size, const uint8_t *relocated)
{
    ObjectCode code = {
        .addr = addr,
        .size = size,
        .bytes = bytes,
        .relocated = relocated,
    };

    if (size) {
        g_array_append_val(o->code, code);
    }
}

static int compare_code(gconstpointer a, gconstpointer b)
{
    const ObjectCode *x = a, *y = b;

    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool load_segments(Object *o, const ElfFile *file, size_t nr,
                          GError **errp)
{
    const uint8_t *data = input_data(file->file, &(size_t){ 0 });

    for (size_t i = 0; i < nr; i++) {
        GElf_Phdr p;

        if (!gelf_getphdr(file->elf, i, &p)) {
            return fail(errp, o->path, "a program header is damaged");
        }
        if (p.p_type != PT_LOAD || !(p.p_flags & PF_X)) {
            continue;
        }
        if (!inside(file, p.p_offset, p.p_filesz)) {
            return fail(errp, o->path, "a segment is not in the file");
        }
        add_code(o, p.p_vaddr, data + p.p_offset, p.p_filesz, NULL);
    }
    return true;
}

static unsigned relocated_bytes(uint64_t info)
{
    switch (GELF_R_TYPE(info)) {
    case R_RISCV_CALL:
    case R_RISCV_CALL_PLT:
        return 8;
    case R_RISCV_RVC_BRANCH:
    case R_RISCV_RVC_JUMP:
        return 2;
    case R_RISCV_RELAX:
    case R_RISCV_ALIGN:
        return 0;
    default:
        return 4;
    }
}

/* ObjectCode.relocated of section number @index, which has @size bytes */
static uint8_t *find_relocated(Object *o, const ElfFile *file, size_t index,
                               size_t size)
{
    uint8_t *map = g_malloc0(size / 16 + 1);
    Elf_Scn *scn = NULL;

    g_ptr_array_add(o->made, map);
    while ((scn = elf_nextscn(file->elf, scn))) {
        GElf_Shdr shdr;
        GElf_Rela rela;
        Elf_Data *data;

        if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_RELA ||
            shdr.sh_info != index) {
            continue;
        }
        data = elf_getdata(scn, NULL);
        for (int i = 0; data && gelf_getrela(data, i, &rela); i++) {
            for (unsigned n = relocated_bytes(rela.r_info); n; n -= 2) {
                uint64_t off = rela.r_offset + n - 2;

                if (off < size) {
                    map[off >> 4] |= 1 << (off >> 1 & 7);
                }
            }
        }
    }
    return map;
}

/*
 * Sections of a module: the loader puts them where it likes. In the object
 * each begins at a page of its own.
 */
static bool load_sections(Object *o, const ElfFile *file, GError **errp)
{
    const uint8_t *data = input_data(file->file, &(size_t){ 0 });
    uint64_t addr = 0;
    Elf_Scn *scn = NULL;

    o->made = g_ptr_array_new_with_free_func(g_free);
    while ((scn = elf_nextscn(file->elf, scn))) {
        GElf_Shdr s;

        if (!gelf_getshdr(scn, &s)) {
            return fail(errp, o->path, "a section header is damaged");
        }
        if (s.sh_type != SHT_PROGBITS || !(s.sh_flags & SHF_EXECINSTR)) {
            continue;
        }
        if (!inside(file, s.sh_offset, s.sh_size)) {
            return fail(errp, o->path, "a section is not in the file");
        }
        add_code(o, addr, data + s.sh_offset, s.sh_size,
                 find_relocated(o, file, elf_ndxscn(scn), s.sh_size));
        addr = ROUND_UP(addr + s.sh_size, 4096);
    }
    return true;
}

/* DT_FLAGS_1, or 0 */
static uint64_t flags_1(const ElfFile *file)
{
    Elf_Scn *scn = NULL;

    while ((scn = elf_nextscn(file->elf, scn))) {
        GElf_Shdr shdr;
        GElf_Dyn dyn;
        Elf_Data *data;

        if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_DYNAMIC) {
            continue;
        }
        data = elf_getdata(scn, NULL);
        for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++) {
            if (dyn.d_tag == DT_FLAGS_1) {
                return dyn.d_un.d_val;
            }
        }
    }
    return 0;
}

static ObjectKind kind_of(const ElfFile *file, unsigned type)
{
    switch (type) {
    case ET_REL:
        return OBJECT_MODULE;
    case ET_EXEC:
        return OBJECT_PROGRAM;
    default:
        /* Some libraries have an interpreter, too. */
        return flags_1(file) & DF_1_PIE ? OBJECT_PROGRAM : OBJECT_LIBRARY;
    }
}

static bool fill(Object *o, const ElfFile *file, ObjectKind kind,
                 GError **errp)
{
    GElf_Ehdr ehdr;
    size_t nr;

    if (!gelf_getehdr(file->elf, &ehdr)) {
        return fail(errp, o->path, "the ELF header is damaged");
    }
    o->kind = kind != OBJECT_NONE ? kind : kind_of(file, ehdr.e_type);
    o->xlen = file->xlen;
    o->movable = ehdr.e_type != ET_EXEC;
    o->build_id = build_id_of(file);
    if (ehdr.e_type == ET_REL) {
        if (!load_sections(o, file, errp)) {
            return false;
        }
    } else if (elf_getphdrnum(file->elf, &nr) ||
               !load_segments(o, file, nr, errp)) {
        return false;
    }
    g_array_sort(o->code, compare_code);
    return true;
}

Object *object_elf_parse(ObjectTable *table, const char *path,
                         const char *file, GBytes *owner,
                         const uint8_t *data, size_t size, ObjectKind kind,
                         GError **errp)
{
    g_autoptr(GBytes) bytes = NULL;
    g_autoptr(ElfFile) elf = NULL;
    Object *o;

    g_bytes_ref(owner);
    bytes = g_bytes_new_with_free_func(data, size,
                                       (GDestroyNotify)g_bytes_unref, owner);
    elf = elf_file_parse(bytes, path, errp);
    if (!elf) {
        return NULL;
    }
    o = object_new(table, kind, path, file);
    o->bytes = g_steal_pointer(&bytes);
    if (!fill(o, elf, kind, errp)) {
        object_drop(table, o);
        return NULL;
    }
    return o;
}

Object *object_elf_load(ObjectTable *table, const char *path,
                        const char *file, GError **errp)
{
    g_autoptr(GBytes) bytes = packed_open(file, errp);
    const uint8_t *data;
    size_t size;

    if (!bytes) {
        return NULL;
    }
    data = input_data(bytes, &size);
    return object_elf_parse(table, path, file, bytes, data, size, OBJECT_NONE,
                            errp);
}

Object *object_elf_find(ObjectTable *table, char **roots, const char *path,
                        bool with_code)
{
    for (; roots && *roots && path[0] == '/'; roots++) {
        g_autofree char *file = below_find(*roots, path);
        Object *o = file ? object_elf_load(table, path, file, NULL) : NULL;

        if (o && o->kind != OBJECT_MODULE && (!with_code || o->code->len)) {
            object_elf_symbols(o);
            return o;
        }
        if (o) {
            object_drop(table, o);
        }
    }
    return NULL;
}
