/*
 * The kernel as it is booted: a flat Image of Linux for RISC-V
 *
 * Distributions ship no ELF file of the kernel and no System.map with it, but
 * the kernel carries its own symbols (kallsyms) and the vdso.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_KERNEL_IMAGE_H
#define ETRACE_KERNEL_IMAGE_H

#include "names/object.h"

/* Does a file that begins like @data hold such an Image? */
bool kernel_image_is(const uint8_t *data, size_t size);

/*
 * New objects of @table from the Image @file: the kernel, whose addresses
 * begin with 0 at the Image's first byte, and behind it the vdsos in it, if
 * there are any. Returns the kernel, or NULL and sets @errp if @file cannot be
 * read or is no Image. Symbols are not read yet.
 */
Object *kernel_image_load(ObjectTable *table, const char *file,
                          GError **errp);

/* Read the symbols that the kernel carries; there may be none. */
void kernel_image_symbols(Object *kernel);

#endif /* ETRACE_KERNEL_IMAGE_H */
