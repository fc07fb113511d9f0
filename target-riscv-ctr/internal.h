/*
 * RISC-V control transfer records: entries and their registers
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_CTR_INTERNAL_H
#define TARGET_RISCV_CTR_INTERNAL_H

#include "cpu.h"

/* Number of entries that sctrdepth selects. */
static inline unsigned riscv_ctr_depth(const RISCVCTRState *s)
{
    return 16u << s->sctrdepth;
}

/* Physical entry WRPTR (2.5). */
static inline unsigned riscv_ctr_wrptr(const RISCVCTRState *s)
{
    return s->head - s->entries;
}

static inline void riscv_ctr_set_wrptr(RISCVCTRState *s, unsigned wrptr)
{
    s->head = s->entries + (wrptr & (riscv_ctr_depth(s) - 1));
}

/* sctrstatus (2.5) */
static inline uint32_t riscv_ctr_status(const RISCVCTRState *s)
{
    return riscv_ctr_wrptr(s) | (s->frozen ? SCTRSTATUS_FROZEN : 0);
}

/*
 * Logical entry @entry, which must be below the depth (2.5, note), as it was
 * written.
 */
static inline RISCVCTREntry *riscv_ctr_entry(RISCVCTRState *s, unsigned entry)
{
    return &s->entries[(riscv_ctr_wrptr(s) - entry - 1) &
                       (riscv_ctr_depth(s) - 1)];
}

#endif /* TARGET_RISCV_CTR_INTERNAL_H */
