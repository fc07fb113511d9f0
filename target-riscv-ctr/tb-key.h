/*
 * RISC-V TB key: what of the hart's state TBs are found by beside pc and flags
 *
 *   63                     33 32            14 13             0
 *   +------------------------+----------------+----------------+
 *   |   what else is traced  |      CTR       |      misa      |
 *   +------------------------+----------------+----------------+
 *
 * This is cs_base; every bit of the flags is taken. CTR's field is
 * RISCVCTRState.key: what translation emits for the mode that the hart is in.
 * Newer QEMUs have misa in cs_base; where it is not, the field is 0.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_CTR_TB_KEY_H
#define TARGET_RISCV_CTR_TB_KEY_H

#include "cpu.h"
#include "cycles.h"

/* RISCVCTRState.key; bits 2 and 3 are cycles.h's */
#define RISCV_CTR_KEY_ACTIVE            0x00000001
#define RISCV_CTR_KEY_RASEMU            0x00000002
#define RISCV_CTR_KEY_DEPTH_SHIFT       4               /* sctrdepth.DEPTH */
#define RISCV_CTR_KEY_DEPTH_MASK        0x00000070
#define RISCV_CTR_KEY_FILTER_SHIFT      7               /* xctrctl[47:36] */
#define RISCV_CTR_KEY_FILTER_MASK       0x0007ff80
#define RISCV_CTR_KEY_FILTER_XCTRCTL    36
#define RISCV_CTR_KEY_MASK              0x0007ffff

#define RISCV_TB_KEY_MISA_BITS      14
#define RISCV_TB_KEY_MISA_MASK      ((1ull << RISCV_TB_KEY_MISA_BITS) - 1)

/* A to I, M, S, U and V: the extensions that misa of a hart may have */
#define RISCV_TB_KEY_MISA_EXTS      (0x1ffu | 1u << 12 | 1u << 18 |         \
                                     1u << 20 | 1u << 21)

#define RISCV_TB_KEY_CTR_SHIFT      RISCV_TB_KEY_MISA_BITS
#define RISCV_TB_KEY_CTR_MASK       ((uint64_t)RISCV_CTR_KEY_MASK <<        \
                                     RISCV_TB_KEY_CTR_SHIFT)

QEMU_BUILD_BUG_ON(RISCV_TB_KEY_MISA_MASK & RISCV_TB_KEY_CTR_MASK);
QEMU_BUILD_BUG_ON((RVI | RVE | RVM | RVA | RVF | RVD | RVV | RVC | RVS | RVU |
                   RVH | RVG | RVB) & ~RISCV_TB_KEY_MISA_EXTS);

/*
 * misa in its field of the key. Two values that differ in
 * RISCV_TB_KEY_MISA_EXTS have different keys.
 */
static inline uint64_t riscv_tb_key_misa(uint32_t misa_ext)
{
    return (misa_ext & 0x1ff) |             /* A to I */
           (misa_ext >> 3 & 0x200) |        /* M */
           (misa_ext >> 8 & 0x3c00);        /* S, U, V */
}

/* What the records' part of the key is in @env's mode */
static inline uint64_t riscv_tb_key_ctr(const CPURISCVState *env)
{
    return (uint64_t)env->ctr.key << RISCV_TB_KEY_CTR_SHIFT;
}

/* The records' part of the key of a TB: RISCV_CTR_KEY_* */
static inline uint32_t riscv_ctr_key_of(uint64_t cs_base)
{
    return cs_base >> RISCV_TB_KEY_CTR_SHIFT & RISCV_CTR_KEY_MASK;
}

#endif /* TARGET_RISCV_CTR_TB_KEY_H */
