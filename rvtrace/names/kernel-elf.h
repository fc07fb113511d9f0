/*
 * A kernel's own symbols as an ELF file, for debuggers
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_KERNEL_ELF_H
#define ETRACE_KERNEL_ELF_H

#include "names/object.h"

/* Where Linux for RV64 links its Image (KERNEL_LINK_ADDR) */
#define KERNEL_ELF_BASE 0xffffffff80000000ull

/*
 * Write an ELF file to @path that says where the functions of @kernel, from
 * kernel_image_load(), are, with its first byte at @base. It has the kernel's
 * build-id, too, which perf finds it by. It holds the code of the Image if it
 * @has_code; debuggers read that from the guest, as it is there. False with @errp set if the file cannot be
 * written or there are no functions.
 */
bool kernel_elf_write(const Object *kernel, uint64_t base, const char *path,
                      bool has_code, GError **errp);

#endif /* ETRACE_KERNEL_ELF_H */
