/*
 * Text of QEMU's disassembler as the RISC-V assembly manual writes it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_DISASM_TIDY_H
#define ETRACE_DISASM_TIDY_H

#include <glib.h>

/*
 * @raw is what QEMU writes about the instruction @insn, of which 2 or 4 bytes
 * count: columns, displacements with their targets as comments, and few
 * pseudo-instructions. Returns text as disasm_text() promises, or NULL if the
 * instruction is not known. To be freed with g_free().
 */
char *disasm_tidy(const char *raw, uint32_t insn, unsigned xlen);

#endif /* ETRACE_DISASM_TIDY_H */
