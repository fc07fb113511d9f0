/*
 * Build-ids of ELF files
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_BUILD_ID_H
#define ETRACE_BUILD_ID_H

#include "elf/elf-file.h"

/*
 * The build-id as hexadecimal digits, or NULL if there is none. To be freed
 * with g_free().
 */
char *build_id_of(const ElfFile *file);

/* Linkers make 8 to 20 bytes; --build-id=0x... may have more. */
#define BUILD_ID_MAX 64

/* @len bytes of a build-id as hexadecimal digits; NULL if there are none. */
char *build_id_hex(const uint8_t *id, size_t len);

/*
 * The BUILD_ID_MAX @bytes of the digits @hex, which may be NULL. Returns how
 * many there are; 0 if it is no build-id.
 */
size_t build_id_bytes(const char *hex, uint8_t *bytes);

#endif /* ETRACE_BUILD_ID_H */
