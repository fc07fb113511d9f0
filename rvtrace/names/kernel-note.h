/*
 * The kernel's build-id, in its flat Image
 *
 * The Image has no section headers, but the notes of the kernel are in it as
 * the linker wrote them, and so are those of the ELF files in it: the vdso.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_KERNEL_NOTE_H
#define ETRACE_KERNEL_NOTE_H

#include <glib.h>

/*
 * How many bytes the ELF file at @data has, whose section headers are its last
 * part; 0 if none begins there, or if it is larger than @size.
 */
size_t kernel_note_elf_size(const uint8_t *data, size_t size);

/*
 * The build-id of the Image in the @size bytes at @data as hexadecimal digits,
 * which the caller frees: that of the one note outside all ELF files. NULL if
 * there is none, or if there are several that differ.
 */
char *kernel_note_build_id(const uint8_t *data, size_t size);

#endif /* ETRACE_KERNEL_NOTE_H */
