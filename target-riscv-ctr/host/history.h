/*
 * RISC-V control transfer records: what a hart executed last
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_CTR_HISTORY_H
#define TARGET_RISCV_CTR_HISTORY_H

#include "cpu.h"

/* Instructions that ran one after the other; @end is the last one's address. */
typedef struct RISCVCTRBlock {
    uint64_t begin;
    uint64_t end;
} RISCVCTRBlock;

/*
 * The blocks that a hart which does not run has executed last, newest first,
 * as an array of RISCVCTRBlock that the caller frees. The first one ends with
 * the pc, where nothing has run yet. From the host's ring or from the guest's
 * records, whichever has more instructions.
 */
GArray *riscv_ctr_history(CPURISCVState *env);

#endif /* TARGET_RISCV_CTR_HISTORY_H */
