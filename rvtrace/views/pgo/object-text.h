/*
 * The code of an object, as one ELF file has it, against what ran
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_OBJECT_TEXT_H
#define ETRACE_OBJECT_TEXT_H

#include "elf/elf-file.h"
#include "code/insn.h"
#include "views/pgo/object-counts.h"

typedef struct ObjectText {
    const Object *object;   /* not ours */
    char *path;             /* of the file; or the object's, without a file */
    ElfFile *file;          /* NULL: the object's own bytes are used */
    GArray *code;           /* ObjectCode, of the file */
    uint64_t base;          /* lowest address that the file loads */
    InsnIsa isa;
} ObjectText;

/*
 * The code of @object in the ELF file @path; NULL: in the file that the object
 * came from, or else what the object itself has. Returns NULL and sets @errp
 * if the file cannot be read, or is another one by its build-id.
 */
ObjectText *object_text_open(const Object *object, const char *path,
                             GError **errp);
void object_text_free(ObjectText *text);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ObjectText, object_text_free)

/* The instruction at @addr; false if its bytes are not there. */
bool object_text_insn(const ObjectText *text, uint64_t addr, Insn *insn);

/* Is the instruction at @addr an ecall or ebreak, which never retire? */
bool object_text_is_env(const ObjectText *text, uint64_t addr);

/*
 * See whether @text is the code that ran: whether each block of @oc, walked
 * through @text, has as many instructions as ran, ends with a jump of the kind
 * that was taken, and has the object's bytes. Kernels and modules patch
 * themselves: of theirs, blocks that differ are dropped, as long as they are
 * no more than one instruction of a hundred. Otherwise returns false and sets
 * @errp. Of an object whose code is known from nowhere nothing can be said;
 * returns true.
 */
bool object_counts_check(ObjectCounts *oc, const ObjectText *text,
                         GError **errp);

#endif /* ETRACE_OBJECT_TEXT_H */
