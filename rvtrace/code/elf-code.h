/*
 * Code from ELF files
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_ELF_CODE_H
#define ETRACE_ELF_CODE_H

#include <glib.h>
#include "code/code-page.h"

typedef struct ElfCode ElfCode;

ElfCode *elf_code_new(void);
void elf_code_free(ElfCode *elf);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ElfCode, elf_code_free)

/*
 * Load the executable PT_LOAD segments of a RISC-V ELF file, moved by @bias
 * bytes, at their virtual addresses. Where files overlap, the last one counts;
 * the segments of one must not. Returns false and sets @errp if that is not
 * possible.
 */
bool elf_code_load(ElfCode *elf, const char *path, uint64_t bias,
                   GError **errp);

/* 32 or 64: the class of the files; 0 if none is loaded. */
unsigned elf_code_xlen(const ElfCode *elf);

/* The page at @vaddr, or NULL. Owned by @elf, until elf_code_trim(). */
CodePage *elf_code_page(ElfCode *elf, uint64_t vaddr);

/* Pages that were handed out; let go of them all. */
unsigned elf_code_nr_pages(const ElfCode *elf);
void elf_code_trim(ElfCode *elf);

#endif /* ETRACE_ELF_CODE_H */
