/*
 * Instructions that compute with floating point: F and D
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_REPLAY_FPU_H
#define ETRACE_REPLAY_FPU_H

#include <stdbool.h>
#include <stdint.h>

/* Rounding modes, as frm has them */
typedef enum FpuRound {
    FPU_RNE,
    FPU_RTZ,
    FPU_RDN,
    FPU_RUP,
    FPU_RMM,                    /* to the nearest, ties away from 0 */
    FPU_DYN = 7,                /* in an instruction: what frm says */
    FPU_UNKNOWN,
} FpuRound;

/* @v, a number of @bytes, in an f register of more: with ones above (NaN) */
static inline uint64_t fpu_box(uint64_t v, unsigned bytes)
{
    return bytes == 8 ? v : (uint32_t)v | ~0ull << 32;
}

/* Registers that an instruction reads */
typedef struct FpuSources {
    uint64_t f[3];              /* rs1, rs2, rs3, as if they had 64 bits */
    uint64_t x;                 /* rs1 */
    FpuRound frm;               /* the CSR's; or FPU_UNKNOWN */
} FpuSources;

/*
 * The result of the instruction @raw, of 32 bits and of opcode OP-FP, MADD,
 * MSUB, NMSUB or NMADD, into *@rd: for an x register if @xlen bits of it count,
 * else for an f register. Returns false if it is none of F and D, or if that is
 * not known.
 */
bool fpu_compute(unsigned xlen, uint32_t raw, const FpuSources *in,
                 uint64_t *rd);

#endif /* ETRACE_REPLAY_FPU_H */
