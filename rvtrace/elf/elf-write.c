/*
 * Small ELF files of nothing but sections, for libelf and libdw to read
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gelf.h>
#include "elf/elf-write.h"

#ifndef EM_RISCV
#define EM_RISCV 243
#endif

static uint64_t put(GByteArray *out, const void *data, size_t size)
{
    static const uint8_t zeros[8];
    uint64_t at;

    g_byte_array_append(out, zeros, -out->len % sizeof(zeros));
    at = out->len;
    g_byte_array_append(out, data, size);
    return at;
}

static void add_section(GArray *headers, uint64_t name, unsigned type,
                        uint64_t at, size_t size)
{
    Elf64_Shdr shdr = {
        .sh_name = GUINT32_TO_LE(name),
        .sh_type = GUINT32_TO_LE(type),
        .sh_offset = GUINT64_TO_LE(at),
        .sh_size = GUINT64_TO_LE(size),
        .sh_addralign = GUINT64_TO_LE(1),
    };

    g_array_append_val(headers, shdr);
}

GBytes *elf_write(const ElfPart *parts, unsigned n)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autoptr(GString) names = g_string_new_len("", 1);
    g_autoptr(GArray) headers = g_array_new(FALSE, TRUE, sizeof(Elf64_Shdr));
    Elf64_Ehdr ehdr = {
        .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
                     EV_CURRENT },
        .e_type = GUINT16_TO_LE(ET_EXEC),
        .e_machine = GUINT16_TO_LE(EM_RISCV),
        .e_version = GUINT32_TO_LE(EV_CURRENT),
        .e_ehsize = GUINT16_TO_LE(sizeof(Elf64_Ehdr)),
        .e_shentsize = GUINT16_TO_LE(sizeof(Elf64_Shdr)),
    };
    size_t total = 0, own;

    for (unsigned i = 0; i < n; i++) {
        if (parts[i].size > ELF_WRITE_MAX - total) {
            return NULL;
        }
        total += parts[i].size;
    }
    put(out, &ehdr, sizeof(ehdr));
    g_array_set_size(headers, 1);
    for (unsigned i = 0; i < n; i++) {
        if (parts[i].size) {
            add_section(headers, names->len, SHT_PROGBITS,
                        put(out, parts[i].data, parts[i].size),
                        parts[i].size);
            g_string_append_len(names, parts[i].name,
                                strlen(parts[i].name) + 1);
        }
    }
    own = names->len;
    g_string_append_len(names, ".shstrtab", sizeof(".shstrtab"));
    add_section(headers, own, SHT_STRTAB, put(out, names->str, names->len),
                names->len);
    ehdr.e_shoff = GUINT64_TO_LE(put(out, headers->data, headers->len *
                                     sizeof(Elf64_Shdr)));
    ehdr.e_shnum = GUINT16_TO_LE(headers->len);
    ehdr.e_shstrndx = GUINT16_TO_LE(headers->len - 1);
    memcpy(out->data, &ehdr, sizeof(ehdr));
    return g_byte_array_free_to_bytes(g_steal_pointer(&out));
}
