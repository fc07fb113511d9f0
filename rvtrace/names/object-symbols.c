/*
 * Objects from ELF files: their symbols
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <dwarf.h>
#include <elfutils/libdw.h>
#include "elf/debug-file.h"
#include "elf/elf-file.h"
#include "elf/go-table.h"
#include "code/insn.h"
#include "base/little-endian.h"
#include "base/packed.h"
#include "names/object-elf.h"

/* What object_elf_load() made of the sections of a module, by number */
static uint64_t *section_bases(const Object *o, ElfFile *file)
{
    const uint8_t *data = g_bytes_get_data(o->bytes, NULL);
    uint64_t *bases;
    Elf_Scn *scn = NULL;
    size_t nr;

    if (o->kind != OBJECT_MODULE || elf_getshdrnum(file->elf, &nr)) {
        return NULL;
    }
    bases = g_new0(uint64_t, nr + 1);
    while ((scn = elf_nextscn(file->elf, scn))) {
        GElf_Shdr shdr;

        for (guint i = 0; gelf_getshdr(scn, &shdr) && i < o->code->len; i++) {
            const ObjectCode *c = &g_array_index(o->code, ObjectCode, i);

            if (c->bytes == data + shdr.sh_offset) {
                bases[elf_ndxscn(scn)] = c->addr;
            }
        }
    }
    return bases;
}

/* Where a function begins, and how long it is, by .eh_frame; 0: not known */
typedef struct Fde {
    uint64_t start, size;
} Fde;

/*
 * Only what linkers and compilers make for RISC-V: numbers of four bytes, the
 * first one relative to where it stands.
 */
static bool fde_range(const Dwarf_FDE *fde, const uint8_t *cfi,
                      uint64_t section, Fde *range)
{
    int32_t start;

    if (fde->end - fde->start < 8) {
        return false;
    }
    start = get_le(fde->start, 4);
    range->start = section + (fde->start - cfi) + (int64_t)start;
    range->size = get_le(fde->start + 4, 4);
    return true;
}

static bool is_pcrel_sdata4(const Dwarf_CIE *cie)
{
    const char *aug = cie->augmentation;
    const uint8_t *data = cie->augmentation_data;
    size_t size = cie->augmentation_data_size;

    /* "zR": its only datum; with a personality ("zPLR") it is the last. */
    return aug && aug[0] == 'z' && size && aug[strlen(aug) - 1] == 'R' &&
           data[size - 1] == (DW_EH_PE_pcrel | DW_EH_PE_sdata4);
}

/* Is the CIE at @off one of @cies? Most likely it is one of the last. */
static bool is_known(const GArray *cies, guint64 off)
{
    for (guint i = cies->len; i > 0; i--) {
        if (g_array_index(cies, guint64, i - 1) == off) {
            return true;
        }
    }
    return false;
}

static void add_fdes(GArray *fdes, ElfFile *file, Elf_Scn *scn,
                     uint64_t section)
{
    const unsigned char *ident = (const unsigned char *)
        elf_getident(file->elf, NULL);
    Elf_Data *data = elf_getdata(scn, NULL);
    Dwarf_Off off = 0, next;
    g_autoptr(GArray) cies = g_array_new(false, false, sizeof(guint64));
    Dwarf_CFI_Entry entry;

    while (data && dwarf_next_cfi(ident, data, true, off, &next,
                                  &entry) == 0) {
        Fde range;

        if (dwarf_cfi_cie_p(&entry)) {
            guint64 cie = off;

            if (is_pcrel_sdata4(&entry.cie)) {
                g_array_append_val(cies, cie);
            }
        } else if (is_known(cies, entry.fde.CIE_pointer) &&
                   fde_range(&entry.fde, data->d_buf, section, &range)) {
            g_array_append_val(fdes, range);
        }
        if (next <= off) {
            break;
        }
        off = next;
    }
}

/* Sections by their names, or all of those with code if @name is NULL */
static bool is_section(ElfFile *file, Elf_Scn *scn, GElf_Shdr *shdr,
                       const char *name)
{
    size_t names;
    const char *is;

    if (!gelf_getshdr(scn, shdr) || shdr->sh_type != SHT_PROGBITS) {
        return false;
    }
    if (!name) {
        return shdr->sh_flags & SHF_EXECINSTR;
    }
    if (elf_getshdrstrndx(file->elf, &names)) {
        return false;
    }
    is = elf_strptr(file->elf, names, shdr->sh_name);
    return is && g_str_equal(is, name);
}

/*
 * Add those of @fdes that no symbol of the sorted table has, and sort it. All
 * are looked up before one is added: then it is not sorted any more.
 */
static void add_unnamed(Object *o, const GArray *fdes)
{
    g_autoptr(GArray) missing = g_array_new(false, false, sizeof(Fde));

    for (guint i = 0; i < fdes->len; i++) {
        Fde fde = g_array_index(fdes, Fde, i);

        if (!symbols_find(o->symbols, fde.start, NULL, NULL)) {
            g_array_append_val(missing, fde);
        }
    }
    for (guint i = 0; i < missing->len; i++) {
        const Fde *fde = &g_array_index(missing, Fde, i);
        g_autofree char *name = g_strdup_printf("%s+0x%" PRIx64, o->name,
                                                fde->start);

        symbols_add(o->symbols, fde->start, fde->size, name);
    }
    symbols_sort(o->symbols);
}

/* Functions that have no symbol, by how the stack is unwound in them */
static void add_unwound(Object *o, ElfFile *file)
{
    g_autoptr(GArray) fdes = g_array_new(false, false, sizeof(Fde));
    Elf_Scn *scn = NULL;

    while ((scn = elf_nextscn(file->elf, scn))) {
        GElf_Shdr shdr;

        if (is_section(file, scn, &shdr, ".eh_frame")) {
            add_fdes(fdes, file, scn, shdr.sh_addr);
        }
    }
    add_unnamed(o, fdes);
}

static uint32_t get_insn(const uint8_t *p)
{
    return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

/*
 * Where the call at @p leads, relative to it; @p is followed by another
 * instruction. Returns 0 if it is none: jal ra, or auipc ra and jalr ra.
 */
static int64_t call_offset(const uint8_t *p)
{
    uint32_t insn = get_insn(p), next = get_insn(p + 4);

    if ((insn & 0xfff) == 0x0ef) {
        return (int32_t)(insn & 0x80000000) >> 11 |
               (int32_t)((insn & 0xff000) | (insn >> 9 & 0x800) |
                         (insn >> 20 & 0x7fe));
    }
    if ((insn & 0xfff) == 0x097 && (next & 0xfffff) == 0x080e7) {
        return (int64_t)(int32_t)(insn & 0xfffff000) + ((int32_t)next >> 20);
    }
    return 0;
}

/* Does what is behind the instruction @insn begin with another one? */
static bool is_last(uint32_t insn)
{
    return (insn & 0xffff) == 0x8082 ||             /* c.jr ra */
           ((insn & 0xf07f) == 0x8002 && (insn & 0xf80)) || /* c.jr */
           (insn & 0xe003) == 0xa001 ||             /* c.j */
           ((insn & 3) == 3 && (insn & 0xfff) == 0x06f) ||  /* j */
           ((insn & 3) == 3 && (insn & 0x7fff) == 0x067);   /* jr */
}

/* Does @insn make room on the stack, as functions begin? */
static bool is_prologue(uint32_t insn)
{
    return ((insn & 0xef83) == 0x6101 && (insn & 0x1000)) ||
                                    /* c.addi16sp, less than 0 */
           ((insn & 0xef83) == 0x0101 && (insn & 0x1000)) ||
                                    /* c.addi sp, less than 0 */
           ((insn & 0xfffff) == 0x10113 && insn >> 31);
                                    /* addi sp, sp, less than 0 */
}

static void find_functions(const GElf_Shdr *shdr, const Elf_Data *data,
                           GArray *starts)
{
    const uint8_t *bytes = data->d_buf;
    bool last = true;
    size_t off = 0;

    while (off + 8 <= data->d_size) {
        uint32_t insn = get_insn(bytes + off);
        int64_t to = call_offset(bytes + off);
        uint64_t here = shdr->sh_addr + off, addr = here + to;

        if (to && addr - shdr->sh_addr < shdr->sh_size && !(addr & 1)) {
            g_array_append_val(starts, ((Fde) { .start = addr }));
        }
        if (last && is_prologue(insn)) {
            g_array_append_val(starts, ((Fde) { .start = here }));
        }
        last = is_last(insn);
        off += insn_length(insn);
    }
}

/*
 * Functions of programs without symbols and unwind tables: what is called
 * directly, and what makes room on the stack behind the end of something. That
 * misses some and takes parts of functions for others, so their names are only
 * their addresses.
 */
static void add_guessed(Object *o, ElfFile *file)
{
    g_autoptr(GArray) starts = g_array_new(false, false, sizeof(Fde));
    Elf_Scn *scn = NULL;

    while ((scn = elf_nextscn(file->elf, scn))) {
        GElf_Shdr shdr;
        Elf_Data *data;

        if (!is_section(file, scn, &shdr, NULL)) {
            continue;
        }
        data = elf_getdata(scn, NULL);
        if (data && data->d_buf) {
            find_functions(&shdr, data, starts);
        }
    }
    add_unnamed(o, starts);
}

/* The object of the same build that was not stripped, if there is one */
static ElfFile *find_twin(ObjectTable *table, Object *o)
{
    for (unsigned i = 1; o->build_id && i < object_table_size(table); i++) {
        const Object *other = object_get(table, i);
        g_autoptr(ElfFile) file = NULL;

        if (other == o || !other->bytes || other->kind == OBJECT_MODULE ||
            g_strcmp0(other->build_id, o->build_id)) {
            continue;
        }
        file = elf_file_parse(other->bytes, other->path, NULL);
        if (file && elf_file_has_symtab(file)) {
            /*
             * It has the same code, and more that is known of it, unless it is
             * a file of nothing but debug info.
             */
            if (other->file && elf_file_section(file, ".text")) {
                g_free(o->file);
                o->file = g_strdup(other->file);
            }
            return g_steal_pointer(&file);
        }
    }
    return NULL;
}

/* MiniDebugInfo: an ELF file of symbols that are not in .dynsym, packed */
static ElfFile *open_mini(const Object *o, const ElfFile *file)
{
    Elf_Scn *scn = elf_file_section(file, ".gnu_debugdata");
    Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
    g_autoptr(GBytes) packed = NULL, bytes = NULL;

    if (!data || !data->d_buf) {
        return NULL;
    }
    packed = g_bytes_new_static(data->d_buf, data->d_size);
    bytes = packed_unpack(packed, o->path, NULL);
    return bytes ? elf_file_parse(bytes, o->path, NULL) : NULL;
}

/* What names the functions of @file, the object's, which was stripped */
static void add_elsewhere(ObjectTable *table, Object *o, const ElfFile *file)
{
    g_autoptr(ElfFile) other = find_twin(table, o);

    if (!other) {
        other = debug_file_symbols(file, o->file, table->sysroots);
    }
    if (!other) {
        other = open_mini(o, file);
    }
    if (other) {
        symbols_add_elf_file(o->symbols, other, 0, NULL);
    } else {
        symbols_add_go(o->symbols, file);
    }
}

unsigned object_elf_names(ObjectTable *table, Object *o)
{
    g_autoptr(ElfFile) file = elf_file_parse(o->bytes, o->path, NULL);
    g_autofree uint64_t *bases = file ? section_bases(o, file) : NULL;

    if (!file) {
        return 0;
    }
    symbols_add_elf_file(o->symbols, file, 0, bases);
    if (!bases && !elf_file_has_symtab(file)) {
        add_elsewhere(table, o, file);
    }
    symbols_sort(o->symbols);
    return symbols_count(o->symbols);
}

void object_elf_symbols(ObjectTable *table, Object *o)
{
    g_autoptr(ElfFile) file = elf_file_parse(o->bytes, o->path, NULL);

    object_elf_names(table, o);
    if (file && o->kind != OBJECT_MODULE) {
        add_unwound(o, file);
        add_guessed(o, file);
    }
}
