/*
 * The kernel's build-id, in its flat Image
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gelf.h>
#include "elf/build-id.h"
#include "names/kernel-note.h"

/* Linkers align them, and the kernel's linker script does. */
#define NOTE_ALIGN      4

size_t kernel_note_elf_size(const uint8_t *data, size_t size)
{
    Elf *elf;
    GElf_Ehdr h;
    uint64_t all;
    bool ok;

    if (size < EI_NIDENT || memcmp(data, ELFMAG, SELFMAG)) {
        return 0;
    }
    elf_version(EV_CURRENT);
    /* It is only read. */
    elf = elf_memory((char *)data, size);
    ok = elf && gelf_getehdr(elf, &h);
    if (elf) {
        elf_end(elf);
    }
    if (!ok) {
        return 0;
    }
    all = (uint64_t)h.e_shnum * h.e_shentsize;
    return h.e_shoff > size || all > size - h.e_shoff ? 0 : h.e_shoff + all;
}

/* The build-id of the note whose name is at @name, or NULL if it is none */
static char *note_at(const uint8_t *data, size_t size, size_t name)
{
    Elf64_Nhdr h;
    size_t desc = name + sizeof(ELF_NOTE_GNU);

    if (name < sizeof(h) || name % NOTE_ALIGN) {
        return NULL;
    }
    memcpy(&h, data + name - sizeof(h), sizeof(h));
    h.n_descsz = GUINT32_FROM_LE(h.n_descsz);
    if (GUINT32_FROM_LE(h.n_namesz) != sizeof(ELF_NOTE_GNU) ||
        GUINT32_FROM_LE(h.n_type) != NT_GNU_BUILD_ID ||
        h.n_descsz > size - desc) {
        return NULL;
    }
    return build_id_hex(data + desc, h.n_descsz);
}

/* Where @what is from @at on; @size if it is not there */
static size_t find(const uint8_t *data, size_t size, size_t at,
                   const char *what, size_t len)
{
    const uint8_t *p = at < size ? memmem(data + at, size - at, what, len) :
                                   NULL;

    return p ? (size_t)(p - data) : size;
}

char *kernel_note_build_id(const uint8_t *data, size_t size)
{
    g_autofree char *found = NULL;
    size_t elf = find(data, size, 0, ELFMAG, SELFMAG);
    size_t behind = 0;          /* the end of the ELF files so far */
    size_t name = 0;

    while ((name = find(data, size, name, ELF_NOTE_GNU,
                        sizeof(ELF_NOTE_GNU))) < size) {
        g_autofree char *id = NULL;

        while (elf < name) {
            behind = MAX(behind, elf + kernel_note_elf_size(data + elf,
                                                            size - elf));
            elf = find(data, size, elf + 1, ELFMAG, SELFMAG);
        }
        id = name >= behind ? note_at(data, size, name) : NULL;
        name++;
        if (id && found && !g_str_equal(id, found)) {
            return NULL;
        }
        if (id && !found) {
            found = g_steal_pointer(&id);
        }
    }
    return g_steal_pointer(&found);
}
