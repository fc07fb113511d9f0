/*
 * RISC-V control transfer records (Smctr/Ssctr 1.0): what target/riscv calls
 *
 * Sections named here are those of the ratified text, 1.0.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_CTR_CTR_H
#define TARGET_RISCV_CTR_CTR_H

#include "cpu.h"

/* True if the hart has control transfer records. */
static inline bool riscv_ctr_present(CPURISCVState *env)
{
    const RISCVCPUConfig *cfg = riscv_cpu_cfg(env);

    return cfg->ext_smctr || cfg->ext_ssctr;
}

/*
 * A trap was taken (6.1): @cause as the handler reads it, @epc where from,
 * @priv and @virt the mode there. env is in the handler's mode and pc.
 */
void riscv_ctr_trap(CPURISCVState *env, bool async, target_ulong cause,
                    target_ulong epc, target_ulong priv, bool virt);

/* The xRET at @source went to @target; env is in the new mode. */
void riscv_ctr_xret(CPURISCVState *env, target_ulong source,
                    target_ulong target, target_ulong priv, bool virt);

/* With RASEMU, the call, return or swap at @source goes to @target (6.4). */
void riscv_ctr_rasemu(CPURISCVState *env, target_ulong source,
                      target_ulong target, enum CTRType type);

/* SCTRCLR (4.1): every entry to 0; the cycle counter is reset. */
void riscv_ctr_clear(CPURISCVState *env);

/*
 * Something that decides whether and how the hart records has changed: its
 * mode, a control register, FROZEN, the depth. Before the next TB.
 */
void riscv_ctr_update(CPURISCVState *env);

/* Everything to 0, depth to the smallest that is supported. */
void riscv_ctr_reset(CPURISCVState *env);

/*
 * CSRs (chapter 2). Predicates and accesses as in csr.c. Entry registers
 * (chapter 3): @reg is 1 to 6 for sireg to sireg6, @entry the logical entry.
 */
RISCVException riscv_ctr_mmode(CPURISCVState *env, int csrno);
RISCVException riscv_ctr_smode(CPURISCVState *env, int csrno);
RISCVException riscv_ctr_vsctrctl(CPURISCVState *env, int csrno);
RISCVException riscv_rmw_ctr_entry(CPURISCVState *env, unsigned reg,
                                   unsigned entry, target_ulong *ret_val,
                                   target_ulong new_val, target_ulong wr_mask);
RISCVException riscv_rmw_xctrctl(CPURISCVState *env, int csrno,
                                 target_ulong *ret_val, target_ulong new_val,
                                 target_ulong wr_mask);
RISCVException riscv_rmw_sctrdepth(CPURISCVState *env, int csrno,
                                   target_ulong *ret_val, target_ulong new_val,
                                   target_ulong wr_mask);
RISCVException riscv_rmw_sctrstatus(CPURISCVState *env, int csrno,
                                    target_ulong *ret_val, target_ulong new_val,
                                    target_ulong wr_mask);

/*
 * The CPU is being realized, or its extensions are looked at once more: take
 * over the properties ctr-min-depth, ctr-max-depth and ctr-cycle-count. Returns
 * false with @errp set if they make no sense.
 */
bool riscv_ctr_validate(RISCVCPU *cpu, Error **errp);

/* The CPU is gone: give back what riscv_ctr_validate() took. */
void riscv_ctr_finalize(RISCVCPU *cpu);

extern const VMStateDescription vmstate_riscv_ctr;

#endif /* TARGET_RISCV_CTR_CTR_H */
