/*
 * RISC-V control transfer records: shared inside the room
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_CTR_INTERNAL_H
#define TARGET_RISCV_CTR_INTERNAL_H

#include "ctr.h"

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

/* ctrdata of @entry, which is unpacked (3.3) */
uint64_t riscv_ctr_entry_data(CPURISCVState *env, const RISCVCTREntry *entry);

/* Take apart what translated code has packed into @entry, if it has. */
void riscv_ctr_unpack(RISCVCTREntry *entry);

/* CC and CCV are implemented; otherwise they are read-only 0. */
static inline bool riscv_ctr_has_cycles(const RISCVCTRState *s)
{
    return s->cycles_key;
}

/* RISCV_CTR_KEY_*CYCLES for property ctr-cycle-count, which may be NULL */
bool riscv_ctr_cycles_validate(RISCVCTRState *s, const char *how,
                               Error **errp);
/* CtrCycleCounter (6.3) is reset: the next record has CCV = 0. */
void riscv_ctr_cycles_reset(CPURISCVState *env);
/* The hart has become active or inactive. */
void riscv_ctr_cycles_run(CPURISCVState *env, bool active);
/* What the counter holds, or RISCV_CTR_CYCLES_INVALID and what came then */
uint64_t riscv_ctr_cycles_get(CPURISCVState *env);
/* What the counter holds goes into a new record; it starts again. */
uint64_t riscv_ctr_cycles_take(CPURISCVState *env);
/* RASEMU popped an entry: its cycles go on counting for the next record. */
void riscv_ctr_cycles_untake(CPURISCVState *env, uint64_t cycles);
/* CCV and CC of ctrdata for an entry's cycles, and back. */
uint32_t riscv_ctr_cycles_encode(uint64_t cycles);
uint64_t riscv_ctr_cycles_decode(uint32_t data);
/* The number of cycles that CC of @data stands for. */
uint64_t riscv_ctr_cycles_value(uint32_t data);

#endif /* TARGET_RISCV_CTR_INTERNAL_H */
