/*
 * Small ELF files of nothing but sections, for libelf and libdw to read
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_ELF_WRITE_H
#define ETRACE_ELF_WRITE_H

#include <glib.h>

typedef struct ElfPart {
    const char *name;
    const void *data;
    size_t size;            /* 0: there is no such section */
} ElfPart;

/* What all sections may have together, bytes */
#define ELF_WRITE_MAX   (1u << 30)

/*
 * The file with the sections @parts, of which there are @n; a new reference.
 * NULL if they are too large.
 */
GBytes *elf_write(const ElfPart *parts, unsigned n);

#endif /* ETRACE_ELF_WRITE_H */
