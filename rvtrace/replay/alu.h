/*
 * Instructions that compute: RV32I and RV64I, M, Zba, Zbb, Zbc, Zbs, Zicond,
 * and of Zbkb what packs and reverses
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_REPLAY_ALU_H
#define ETRACE_REPLAY_ALU_H

#include <stdbool.h>
#include <stdint.h>

/* What a register of @xlen bits has of @value: no bits above */
static inline uint64_t alu_word(unsigned xlen, uint64_t value)
{
    return xlen == 32 ? (uint32_t)value : value;
}

/*
 * The result of the instruction @raw, of 32 bits and of opcode OP, OP-32,
 * OP-IMM or OP-IMM-32, into *@rd, when rs1 has @a and rs2 has @b, which both
 * have no bits above @xlen. Returns false if it is none of the instructions
 * above.
 */
bool alu_compute(unsigned xlen, uint32_t raw, uint64_t a, uint64_t b,
                 uint64_t *rd);

#endif /* ETRACE_REPLAY_ALU_H */
