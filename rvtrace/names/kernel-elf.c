/*
 * A kernel's own symbols as an ELF file, for debuggers
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <elf.h>
#include <gio/gio.h>
#include "base/output.h"
#include "elf/build-id.h"
#include "names/kernel-elf.h"

/* In this order in the file, behind the header */
enum { SECTION_NULL, SECTION_TEXT, SECTION_NOTE, SECTION_SYMTAB,
       SECTION_STRTAB, SECTION_SHSTRTAB, SECTIONS };

static const char section_names[] =
    "\0.text\0.note.gnu.build-id\0.symtab\0.strtab\0.shstrtab";
/* Where in it each name begins */
static const uint8_t section_name[SECTIONS] = { 0, 1, 7, 26, 34, 42 };

static void add_symbols(const Object *kernel, uint64_t base,
                        GByteArray *symtab, GByteArray *strtab)
{
    const ObjectCode *code = &g_array_index(kernel->code, ObjectCode, 0);
    unsigned n;
    const Symbol *symbols = symbols_all(kernel->symbols, &n);
    Elf64_Sym none = { 0 };

    g_byte_array_append(symtab, (const uint8_t *)&none, sizeof(none));
    g_byte_array_append(strtab, (const uint8_t *)"", 1);
    for (unsigned i = 0; i < n; i++) {
        const Symbol *s = &symbols[i];
        Elf64_Sym sym = {
            .st_name = GUINT32_TO_LE(strtab->len),
            .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
            .st_shndx = GUINT16_TO_LE(SECTION_TEXT),
            .st_value = GUINT64_TO_LE(base + s->start),
            .st_size = GUINT64_TO_LE(s->end > s->start ? s->end - s->start
                                                       : 0),
        };

        if (s->start < code->addr || s->start - code->addr >= code->size) {
            continue;
        }
        g_byte_array_append(symtab, (const uint8_t *)&sym, sizeof(sym));
        g_byte_array_append(strtab, (const uint8_t *)s->linkage,
                            strlen(s->linkage) + 1);
    }
}

/* Empty if the kernel has none */
static GByteArray *build_id_note(const Object *kernel)
{
    GByteArray *note = g_byte_array_new();
    uint8_t id[BUILD_ID_MAX];
    size_t len = build_id_bytes(kernel->build_id, id);
    Elf64_Nhdr header = {
        .n_namesz = GUINT32_TO_LE(sizeof(ELF_NOTE_GNU)),
        .n_descsz = GUINT32_TO_LE(len),
        .n_type = GUINT32_TO_LE(NT_GNU_BUILD_ID),
    };

    if (len) {
        g_byte_array_append(note, (const uint8_t *)&header, sizeof(header));
        g_byte_array_append(note, (const uint8_t *)ELF_NOTE_GNU,
                            sizeof(ELF_NOTE_GNU));
        g_byte_array_append(note, id, len);
    }
    return note;
}

static void add_section(GByteArray *file, Elf64_Shdr *header, uint32_t type,
                        const void *data, size_t size)
{
    static const uint8_t zeros[8];

    g_byte_array_append(file, zeros, -file->len % sizeof(zeros));
    header->sh_type = GUINT32_TO_LE(type);
    header->sh_offset = GUINT64_TO_LE(file->len);
    header->sh_size = GUINT64_TO_LE(size);
    header->sh_addralign = GUINT64_TO_LE(8);
    g_byte_array_append(file, data, size);
}

static void add_headers(GByteArray *file, const Elf64_Shdr *sections)
{
    static const uint8_t zeros[8];
    Elf64_Ehdr header = {
        .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
                     ELFDATA2LSB, EV_CURRENT },
        .e_type = GUINT16_TO_LE(ET_EXEC),
        .e_machine = GUINT16_TO_LE(EM_RISCV),
        .e_version = GUINT32_TO_LE(EV_CURRENT),
        .e_flags = GUINT32_TO_LE(EF_RISCV_RVC),
        .e_ehsize = GUINT16_TO_LE(sizeof(header)),
        .e_shentsize = GUINT16_TO_LE(sizeof(*sections)),
        .e_shnum = GUINT16_TO_LE(SECTIONS),
        .e_shstrndx = GUINT16_TO_LE(SECTION_SHSTRTAB),
    };

    g_byte_array_append(file, zeros, -file->len % sizeof(zeros));
    header.e_shoff = GUINT64_TO_LE(file->len);
    g_byte_array_append(file, (const uint8_t *)sections,
                        SECTIONS * sizeof(*sections));
    memcpy(file->data, &header, sizeof(header));
}

bool kernel_elf_write(const Object *kernel, uint64_t base, const char *path,
                      bool has_code, GError **errp)
{
    g_autoptr(GByteArray) file = g_byte_array_new();
    g_autoptr(GByteArray) symtab = g_byte_array_new();
    g_autoptr(GByteArray) strtab = g_byte_array_new();
    g_autoptr(GByteArray) note = build_id_note(kernel);
    const ObjectCode *code = &g_array_index(kernel->code, ObjectCode, 0);
    Elf64_Shdr sections[SECTIONS] = { 0 };
    Elf64_Shdr *text = &sections[SECTION_TEXT];
    Elf64_Shdr *symbols = &sections[SECTION_SYMTAB];

    add_symbols(kernel, base, symtab, strtab);
    if (symtab->len == sizeof(Elf64_Sym)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                    "the kernel carries no names of its functions: build it "
                    "with CONFIG_KALLSYMS");
        return false;
    }
    g_byte_array_set_size(file, sizeof(Elf64_Ehdr));
    for (int i = 0; i < SECTIONS; i++) {
        sections[i].sh_name = GUINT32_TO_LE(section_name[i]);
    }
    if (has_code) {
        add_section(file, text, SHT_PROGBITS, code->bytes, code->size);
    } else {
        text->sh_type = GUINT32_TO_LE(SHT_NOBITS);
        text->sh_offset = GUINT64_TO_LE(file->len);
    }
    text->sh_flags = GUINT64_TO_LE(SHF_ALLOC | SHF_EXECINSTR);
    text->sh_addr = GUINT64_TO_LE(base + code->addr);
    text->sh_size = GUINT64_TO_LE(code->size);
    text->sh_addralign = GUINT64_TO_LE(2);
    add_section(file, &sections[SECTION_NOTE], SHT_NOTE, note->data,
                note->len);
    /* Notes that are aligned to 8 bytes have another layout. */
    sections[SECTION_NOTE].sh_addralign = GUINT64_TO_LE(4);
    add_section(file, symbols, SHT_SYMTAB, symtab->data, symtab->len);
    symbols->sh_link = GUINT32_TO_LE(SECTION_STRTAB);
    symbols->sh_info = GUINT32_TO_LE(1);        /* the first global one */
    symbols->sh_entsize = GUINT64_TO_LE(sizeof(Elf64_Sym));
    add_section(file, &sections[SECTION_STRTAB], SHT_STRTAB, strtab->data,
                strtab->len);
    add_section(file, &sections[SECTION_SHSTRTAB], SHT_STRTAB, section_names,
                sizeof(section_names));
    add_headers(file, sections);
    return output_write(path, file->data, file->len, errp);
}
