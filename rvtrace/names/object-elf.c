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

/* Where modules list the functions that can be traced, and the room in them */
#define ENTRIES     "__patchable_function_entries"
#define ENTRY_ROOM  8

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

/* The name of section number @index, or NULL */
static const char *section_name(const ElfFile *file, size_t index)
{
    Elf_Scn *scn = elf_getscn(file->elf, index);
    GElf_Shdr shdr;
    size_t names;

    return scn && gelf_getshdr(scn, &shdr) &&
           !elf_getshdrstrndx(file->elf, &names) ?
           elf_strptr(file->elf, names, shdr.sh_name) : NULL;
}

/* ObjectCode.relocated of section number @index, which has @size bytes */
typedef struct Relocated {
    uint8_t *map;               /* what is made */
    size_t index, size;
} Relocated;

static void mark(const Relocated *r, uint64_t off, unsigned bytes)
{
    for (unsigned n = 0; n < bytes && off < r->size; n += 2, off += 2) {
        r->map[off >> 4] |= 1 << (off >> 1 & 7);
    }
}

/*
 * Room for what ftrace puts where functions begin; the loader writes other nops
 * there. @shdr, @data: relocations of the table that has their addresses.
 */
static void mark_entries(const Relocated *r, const ElfFile *file,
                         const GElf_Shdr *shdr, Elf_Data *data)
{
    Elf_Scn *scn = elf_getscn(file->elf, shdr->sh_link);
    Elf_Data *symbols = scn ? elf_getdata(scn, NULL) : NULL;
    GElf_Rela rela;
    GElf_Sym sym;

    for (int i = 0; symbols && gelf_getrela(data, i, &rela); i++) {
        if (gelf_getsym(symbols, GELF_R_SYM(rela.r_info), &sym) &&
            sym.st_shndx == r->index) {
            mark(r, sym.st_value + rela.r_addend, ENTRY_ROOM);
        }
    }
}

static uint8_t *find_relocated(Object *o, const ElfFile *file, size_t index,
                               size_t size)
{
    Relocated r = { g_malloc0(size / 16 + 1), index, size };
    Elf_Scn *scn = NULL;

    g_ptr_array_add(o->made, r.map);
    while ((scn = elf_nextscn(file->elf, scn))) {
        GElf_Shdr shdr;
        GElf_Rela rela;
        Elf_Data *data = gelf_getshdr(scn, &shdr) &&
                         shdr.sh_type == SHT_RELA ? elf_getdata(scn, NULL) :
                         NULL;

        if (!data) {
            continue;
        }
        if (!g_strcmp0(section_name(file, shdr.sh_info), ENTRIES)) {
            mark_entries(&r, file, &shdr, data);
        }
        for (int i = 0; shdr.sh_info == index &&
             gelf_getrela(data, i, &rela); i++) {
            mark(&r, rela.r_offset, relocated_bytes(rela.r_info));
        }
    }
    return r.map;
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

/* The value of @key in @data, texts "key=value" that end with NUL; or NULL */
static const char *modinfo(const Elf_Data *data, const char *key)
{
    const char *text = data->d_buf, *end = text + data->d_size;
    size_t len = strlen(key);

    while (text < end) {
        const char *nul = memchr(text, 0, end - text);

        if (!nul) {
            break;
        }
        if (g_str_has_prefix(text, key) && text[len] == '=') {
            return text + len + 1;
        }
        text = nul + 1;
    }
    return NULL;
}

/*
 * As lsmod, kallsyms and perf call a module: it says so itself, or else its
 * file's name does.
 */
static void name_module(Object *o, const ElfFile *file)
{
    g_autofree char *stem = g_strndup(o->name, strcspn(o->name, "."));
    const char *name = NULL;
    Elf_Scn *scn = NULL;

    while (!name && (scn = elf_nextscn(file->elf, scn))) {
        Elf_Data *data = NULL;

        if (!g_strcmp0(section_name(file, elf_ndxscn(scn)), ".modinfo")) {
            data = elf_getdata(scn, NULL);
        }
        name = data && data->d_buf ? modinfo(data, "name") : NULL;
    }
    object_rename(o, name && *name ? name : g_strdelimit(stem, "-", '_'));
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
        name_module(o, file);
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

bool object_elf_complete(Object *object)
{
    g_autoptr(ObjectTable) table = object_table_new();
    Object *whole = object_elf_load(table, object->path, object->file, NULL);

    if (!whole || whole->kind != object->kind) {
        return false;
    }
    g_array_unref(object->code);
    object->code = g_array_ref(whole->code);
    g_bytes_unref(object->bytes);
    object->bytes = g_bytes_ref(whole->bytes);
    object->build_id = g_steal_pointer(&whole->build_id);
    object_rename(object, whole->name);
    /* What the name and the code point to */
    for (guint i = 0; i < whole->made->len; i++) {
        g_ptr_array_add(object->made, whole->made->pdata[i]);
    }
    g_ptr_array_set_free_func(whole->made, NULL);
    object->mapped = false;
    object->brief = false;
    return true;
}

/* @path, below one of @roots at @tail */
static Object *find_at(ObjectTable *table, char **roots, const char *path,
                       const char *tail, bool with_code)
{
    for (; roots && *roots; roots++) {
        g_autofree char *file = below_find(*roots, tail);
        Object *o = file ? object_elf_load(table, path, file, NULL) : NULL;

        if (o && o->kind != OBJECT_MODULE && (!with_code || o->code->len)) {
            object_elf_symbols(table, o);
            return o;
        }
        if (o) {
            object_drop(table, o);
        }
    }
    return NULL;
}

Object *object_elf_find(ObjectTable *table, char **roots, const char *path,
                        bool with_code)
{
    return path[0] == '/' ? find_at(table, roots, path, path, with_code) : NULL;
}

Object *object_elf_find_copy(ObjectTable *table, char **roots,
                             const char *path)
{
    const char *tail = path[0] == '/' ? path : NULL;
    Object *o = NULL;

    while (!o && tail) {
        o = find_at(table, roots, path, tail, true);
        tail = strchr(tail + 1, '/');
    }
    return o;
}
