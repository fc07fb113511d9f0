/*
 * Build-ids of ELF files
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_BUILD_ID_H
#define ETRACE_BUILD_ID_H

#include "elf-file.h"

/*
 * The build-id as hexadecimal digits, or NULL if there is none. To be freed
 * with g_free().
 */
char *build_id_of(const ElfFile *file);

/* @len bytes of a build-id as hexadecimal digits; NULL if there are none. */
char *build_id_hex(const uint8_t *id, size_t len);

#endif /* ETRACE_BUILD_ID_H */
