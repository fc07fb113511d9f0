/*
 * RISC-V control transfers for the host: state of a hart
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_CTR_HOST_STATE_H
#define TARGET_RISCV_CTR_HOST_STATE_H

typedef struct RISCVCTRHost {
    RISCVCTREntry *head;        /* where the next one goes */
    RISCVCTREntry *ring;        /* NULL: none are kept */
    uint32_t entries;           /* a power of 2, or 0 */
    uint64_t key;               /* RISCV_TB_KEY_HOST_*; 0: none are kept */
    bool by_gdb;                /* gdb has asked for it, no property */
} RISCVCTRHost;

#endif /* TARGET_RISCV_CTR_HOST_STATE_H */
