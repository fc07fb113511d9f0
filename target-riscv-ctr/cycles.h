/*
 * RISC-V control transfer records: cycle counting (6.3)
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_CTR_CYCLES_H
#define TARGET_RISCV_CTR_CYCLES_H

#include "cpu.h"

/*
 * RISCVCTREntry.cycles is what the cycle counter held, unless it has one of
 * these marks.
 */

/*
 * The counter was reset since the record before: CCV is 0. A counter that was
 * reset begins in the middle of what has the mark: time may go back a little,
 * if host ticks differ between sockets, or -icount changes its shift.
 */
#define RISCV_CTR_CYCLES_INVALID        (1ULL << 62)
#define RISCV_CTR_CYCLES_RESET          (3ULL << 61)
/* Software wrote the entry: CCV and CC are here as they are in ctrdata. */
#define RISCV_CTR_CYCLES_ENCODED        (1ULL << 63)

/* Both marks: time went back since the record before. That is a count of 0. */
static inline bool riscv_ctr_cycles_went_back(uint64_t cycles)
{
    return cycles >= (RISCV_CTR_CYCLES_ENCODED | RISCV_CTR_CYCLES_INVALID);
}

/* RISCVCTRState.cycles_key: how the counter is read, see tb-key.h */
#define RISCV_CTR_KEY_CYCLES            0x00000004      /* -icount */
#define RISCV_CTR_KEY_HOST_CYCLES       0x00000008

/* Property ctr-cycle-count */
typedef enum RISCVCTRCycleCount {
    RISCV_CTR_CYCLE_COUNT_ICOUNT,       /* if there is -icount */
    RISCV_CTR_CYCLE_COUNT_HOST,         /* host ticks if there is not */
    RISCV_CTR_CYCLE_COUNT_OFF,
} RISCVCTRCycleCount;

extern const PropertyInfo riscv_ctr_prop_cycle_count;

/* CC and CCV are implemented; otherwise they are read-only 0. */
static inline bool riscv_ctr_has_cycles(const RISCVCTRState *s)
{
    return s->cycles_key;
}

/* RISCV_CTR_KEY_*CYCLES for what the property says */
uint32_t riscv_ctr_cycles_key(RISCVCTRCycleCount how);
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

/* ctrdata of @entry (3.3) */
static inline uint64_t riscv_ctr_entry_data(const RISCVCTRState *s,
                                            const RISCVCTREntry *entry)
{
    return entry->type |
           (riscv_ctr_has_cycles(s) ? riscv_ctr_cycles_encode(entry->cycles)
                                    : 0);
}

#endif /* TARGET_RISCV_CTR_CYCLES_H */
