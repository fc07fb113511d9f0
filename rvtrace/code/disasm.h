/*
 * Text of instructions
 *
 * QEMU's own disassembler does the work, with what it knows of extensions
 * and of the names of CSRs. Built outside of a QEMU tree, the tool has none,
 * and every instruction is shown by its bytes.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_DISASM_H
#define ETRACE_DISASM_H

#include "code/insn.h"

typedef struct Disasm Disasm;

Disasm *disasm_new(const InsnIsa *isa);
void disasm_free(Disasm *disasm);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Disasm, disasm_free)

/* False if instructions are shown by their bytes only. */
bool disasm_available(void);

/*
 * The instruction at @pc, whose bytes begin at @bytes, of which there are
 * @len: mnemonic, a space, and operands separated by commas. Compressed
 * instructions are shown as what they expand to; targets of jumps and
 * branches are absolute, "0x" and hexadecimal digits. What is not known is
 * ".insn 4, 0x..." or ".2byte 0x...", a rest that is too short ".byte 0x..".
 * To be freed with g_free().
 */
char *disasm_text(Disasm *disasm, uint64_t pc, const uint8_t *bytes,
                  size_t len);

#endif /* ETRACE_DISASM_H */
