/*
 * RISC-V control transfers for the host: what target/riscv calls
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_CTR_HOST_H
#define TARGET_RISCV_CTR_HOST_H

#include "cpu.h"

#define RISCV_CTR_HOST_MIN  16          /* entries of a ring */
#define RISCV_CTR_HOST_MAX  (1u << 20)

/*
 * RISCVCTREntry.type of what is written by host.c, beside TYPE. cycles is the
 * address space of the source, see riscv_ctr_host_space().
 */
#define RISCV_CTR_HOST_PRIV_SHIFT   5   /* of the source */
#define RISCV_CTR_HOST_PRIV_BITS    2
#define RISCV_CTR_HOST_VIRT         0x080
#define RISCV_CTR_HOST_MODE         0x100   /* the fields above are valid */
#define RISCV_CTR_HOST_NOT_TRIED    0x200   /* source has not begun to run */
#define RISCV_CTR_HOST_FETCH        0x400   /* it, or its table, faulted */
#define RISCV_CTR_HOST_START        0x800   /* nothing is known before target */

/*
 * Keep the last @entries transfers of the hart, none with 0. Begins anew. The
 * hart must not run. False with @errp set if it cannot be.
 */
bool riscv_ctr_host_set(CPURISCVState *env, uint32_t entries, Error **errp);

/* As riscv_ctr_trap() and riscv_ctr_xret() */
void riscv_ctr_host_trap(CPURISCVState *env, bool async, target_ulong cause,
                         target_ulong epc, target_ulong priv, bool virt);
void riscv_ctr_host_xret(CPURISCVState *env, target_ulong source,
                         target_ulong target, target_ulong priv, bool virt);

/* The hart is reset; env is still as it was before. */
void riscv_ctr_host_reset(CPURISCVState *env);

/* Property ctr-host, when the CPU is realized; as riscv_ctr_validate() */
bool riscv_ctr_host_validate(RISCVCPU *cpu, Error **errp);
void riscv_ctr_host_finalize(RISCVCPU *cpu);

/* A part of the TB key that tb-key.h leaves free: log2 of the ring's entries */
#define RISCV_TB_KEY_HOST_SHIFT     33
#define RISCV_TB_KEY_HOST_MASK      (0x1full << RISCV_TB_KEY_HOST_SHIFT)

/* Entries of the ring that the code of a TB writes */
static inline uint32_t riscv_ctr_host_entries_of(uint64_t cs_base)
{
    unsigned log2 = (cs_base & RISCV_TB_KEY_HOST_MASK)
                    >> RISCV_TB_KEY_HOST_SHIFT;

    return log2 ? 1u << log2 : 0;
}

/*
 * What the addresses of mode @priv, @virt mean at present: 0 if they are
 * physical. Two values are equal if code is found under the same addresses.
 * For S that is any translation, as kernels are part of every address space.
 */
uint64_t riscv_ctr_host_space(CPURISCVState *env, target_ulong priv, bool virt);

/* The packets of gdb's "record btrace", for all harts; see gdb.c. */
void riscv_ctr_gdb_init(void);

#endif /* TARGET_RISCV_CTR_HOST_H */
