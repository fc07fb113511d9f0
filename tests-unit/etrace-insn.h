/*
 * RISC-V instructions, as far as the decoder of chapter 11 has to know them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_UNIT_ETRACE_INSN_H
#define TESTS_UNIT_ETRACE_INSN_H

#include "etrace-refdecoder.h"

/*
 * The instruction @insn at @pc, of 2 bytes if its lowest bits say so. Zcmp and
 * Zcmt, which give encodings another meaning, are not known.
 */
RefInstr etrace_insn(uint32_t insn, uint64_t pc, unsigned xlen);

#endif /* TESTS_UNIT_ETRACE_INSN_H */
