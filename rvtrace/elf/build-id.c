/*
 * Build-ids of ELF files
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <elfutils/libdwelf.h>
#include "elf/build-id.h"

char *build_id_hex(const uint8_t *id, size_t len)
{
    GString *hex;

    if (!len || len > BUILD_ID_MAX) {
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

size_t build_id_bytes(const char *hex, uint8_t *bytes)
{
    size_t len = hex ? strlen(hex) : 0;

    if (len % 2 || len / 2 > BUILD_ID_MAX) {
        return 0;
    }
    for (size_t i = 0; i < len; i += 2) {
        int high = g_ascii_xdigit_value(hex[i]);
        int low = g_ascii_xdigit_value(hex[i + 1]);

        if (high < 0 || low < 0) {
            return 0;
        }
        bytes[i / 2] = high << 4 | low;
    }
    return len / 2;
}
