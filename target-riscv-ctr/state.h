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
 * it packs into type, RISCV_CTR_PACKED_*, as each store that is saved counts;
 * riscv_ctr_unpack() takes it apart.
 */
typedef struct RISCVCTREntry {
    uint64_t type;              /* ctrdata.TYPE */
    uint64_t source;            /* ctrsource: PC[63:1], V */
    uint64_t target;            /* ctrtarget: PC[63:1] */
    /* ctrdata.CCV and CC: what the cycle counter held, or a mark below */
    uint64_t cycles;
} RISCVCTREntry;

/*
 * Above TYPE: source[47:1] of an entry that is valid. With NEAR, the target,
 * too: its distance from the source in halfwords. Both are signed.
 */
#define RISCV_CTR_PACKED_SOURCE         (1ULL << 4)     /* unless NEAR */
#define RISCV_CTR_PACKED_NEAR           (1ULL << 16)
#define RISCV_CTR_PACKED_DISTANCE_SHIFT 4
#define RISCV_CTR_PACKED_DISTANCE_BITS  12
#define RISCV_CTR_PACKED_PC_SHIFT       16
#define RISCV_CTR_PACKED_PC_BITS        48

/* The counter was reset since the record before: CCV is 0. */
#define RISCV_CTR_CYCLES_INVALID        (1ULL << 62)
/* Software wrote the entry: CCV and CC are here as they are in ctrdata. */
#define RISCV_CTR_CYCLES_ENCODED        (1ULL << 63)

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

    /* The host's own ring of transfers, see host.c */
    RISCVCTREntry *host_head;   /* where the next one goes */
    RISCVCTREntry *host_ring;   /* NULL: none are kept */
    uint32_t host_key;          /* RISCV_CTR_KEY_HOST_*, 0: none are kept */
    bool host_by_gdb;           /* gdb has asked for it, no property */
} RISCVCTRState;

/*
 * RISCVCTRState.key, a part of the TB key (tb-key.h): what translation
 * emits for the mode that the hart is in.
 */
#define RISCV_CTR_KEY_ACTIVE            0x00000001
#define RISCV_CTR_KEY_RASEMU            0x00000002
#define RISCV_CTR_KEY_CYCLES            0x00000004      /* -icount */
#define RISCV_CTR_KEY_HOST_CYCLES       0x00000008
#define RISCV_CTR_KEY_DEPTH_SHIFT       4               /* sctrdepth.DEPTH */
#define RISCV_CTR_KEY_DEPTH_MASK        0x00000070
#define RISCV_CTR_KEY_FILTER_SHIFT      7               /* xctrctl[47:36] */
#define RISCV_CTR_KEY_FILTER_MASK       0x0007ff80
#define RISCV_CTR_KEY_FILTER_XCTRCTL    36
#define RISCV_CTR_KEY_HOST_SHIFT        19              /* log2 of entries */
#define RISCV_CTR_KEY_HOST_MASK         0x00f80000
#define RISCV_CTR_KEY_MASK              0x00ffffff

#endif /* TARGET_RISCV_CTR_STATE_H */
