/*
 * RISC-V control transfer records: entries as translated code writes them
 *
 * Each store that a record is without makes it faster. So what is known at
 * translation goes into RISCVCTREntry.type, beside TYPE: the source, and with
 * NEAR the target, too. Before anybody looks at source, target or type of an
 * entry, riscv_ctr_unpack() takes it apart.
 *
 *   63                               16 15                4 3      0
 *   +----------------------------------+-------------------+--------+
 *   |   source[47:1]            | NEAR |     distance      |  TYPE  |
 *   +----------------------------------+-------------------+--------+
 *
 * distance is that of the target from the source in half-words, with NEAR; bit
 * 4 is SOURCE without. Both are signed.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_CTR_PACKED_H
#define TARGET_RISCV_CTR_PACKED_H

#include "cpu.h"

#define RISCV_CTR_PACKED_SOURCE         (1ULL << 4)     /* unless NEAR */
#define RISCV_CTR_PACKED_NEAR           (1ULL << 16)
#define RISCV_CTR_PACKED_DISTANCE_SHIFT 4
#define RISCV_CTR_PACKED_DISTANCE_BITS  12
#define RISCV_CTR_PACKED_PC_SHIFT       16
#define RISCV_CTR_PACKED_PC_BITS        48

/* Take apart what translated code has packed into @entry, if it has. */
static inline void riscv_ctr_unpack(RISCVCTREntry *entry)
{
    uint64_t packed = entry->type;
    uint64_t pc = sextract64(packed, RISCV_CTR_PACKED_PC_SHIFT,
                             RISCV_CTR_PACKED_PC_BITS) & ~1ULL;

    if (packed & RISCV_CTR_PACKED_NEAR) {
        entry->target = pc + 2 * sextract64(packed,
                                            RISCV_CTR_PACKED_DISTANCE_SHIFT,
                                            RISCV_CTR_PACKED_DISTANCE_BITS);
    } else if (!(packed & RISCV_CTR_PACKED_SOURCE)) {
        return;
    }
    entry->source = pc | CTRSOURCE_VALID;
    entry->type = packed & CTRDATA_TYPE_MASK;
}

#endif /* TARGET_RISCV_CTR_PACKED_H */
