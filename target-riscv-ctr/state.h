/*
 * RISC-V control transfer records (Smctr/Ssctr 1.0): state of a hart
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_CTR_STATE_H
#define TARGET_RISCV_CTR_STATE_H

#define RISCV_CTR_ENTRIES       256     /* physical buffer, largest depth */

/*
 * One entry of the physical buffer. What translated code knows of a transfer
 * it packs into type, see packed.h.
 */
typedef struct RISCVCTREntry {
    uint64_t type;              /* ctrdata.TYPE */
    uint64_t source;            /* ctrsource: PC[63:1], V */
    uint64_t target;            /* ctrtarget: PC[63:1] */
    uint64_t cycles;            /* ctrdata.CCV and CC, see cycles.h */
} RISCVCTREntry;

typedef struct RISCVCTRState {
    uint64_t mctrctl;           /* sctrctl is part of it */
    uint64_t vsctrctl;
    uint32_t sctrdepth;
    RISCVCTREntry *head;        /* entries[WRPTR] */
    bool frozen;                /* sctrstatus.FROZEN */
    bool counting;              /* the cycle counter runs */
    /*
     * CtrCycleCounter: its value, or while it runs the time at which it
     * was 0.
     */
    uint64_t cycles;
    uint32_t key;               /* RISCV_CTR_KEY_*, 0: records nothing here */

    /*
     * The physical buffer, of a hart that has records: aligned to twice its
     * size, so that for every depth the address behind its last entry and that
     * of the first one differ in one bit. From riscv_ctr_validate() on, as all
     * below.
     */
    RISCVCTREntry *entries;

    /* What the CPU's properties say */
    uint32_t min_depth;         /* values of sctrdepth.DEPTH */
    uint32_t max_depth;
    uint32_t cycles_key;        /* RISCV_CTR_KEY_*CYCLES, 0: no cycle counts */
} RISCVCTRState;

#endif /* TARGET_RISCV_CTR_STATE_H */
