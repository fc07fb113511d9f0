/*
 * Build-ids of ELF files
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <elfutils/libdwelf.h>
#include "build-id.h"

/* Linkers make 8 to 20 bytes; --build-id=0x... may have more. */
#define MAX_BYTES 64

char *build_id_hex(const uint8_t *id, size_t len)
{
    GString *hex;

    if (!len || len > MAX_BYTES) {
        return NULL;
    }
    hex = g_string_sized_new(2 * len);
    for (size_t i = 0; i < len; i++) {
        g_string_append_printf(hex, "%02x", id[i]);
    }
    return g_string_free(hex, FALSE);
}

char *build_id_of(const ElfFile *file)
{
    const void *id;
    ssize_t len = dwelf_elf_gnu_build_id(file->elf, &id);

    return len > 0 ? build_id_hex(id, len) : NULL;
}
