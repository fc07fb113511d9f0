/*
 * RISC-V control transfer records: CSRs and entry registers
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "ctr.h"
#include "cycles.h"
#include "internal.h"
#include "packed.h"

/*
 * M-mode:
 * Without ext_smctr raise illegal inst excep.
 * Otherwise everything is accessible to m-mode.
 *
 * S-mode:
 * Without ext_smctr and ext_ssctr or mstateen.ctr raise illegal inst excep.
 * Otherwise everything other than mctrctl is accessible.
 *
 * VS-mode:
 * Without ext_smctr and ext_ssctr or mstateen.ctr raise illegal inst excep.
 * Without hstateen.ctr raise virtual illegal inst excep.
 * Otherwise allow sctrctl (vsctrctl), sctrstatus, 0x200-0x2ff entry range.
 * Always raise virtual instruction exception for sctrdepth.
 */
RISCVException riscv_ctr_mmode(CPURISCVState *env, int csrno)
{
    /* Check if smctr-ext is present */
    if (riscv_cpu_cfg(env)->ext_smctr) {
        return RISCV_EXCP_NONE;
    }

    return RISCV_EXCP_ILLEGAL_INST;
}

RISCVException riscv_ctr_smode(CPURISCVState *env, int csrno)
{
    const RISCVCPUConfig *cfg = riscv_cpu_cfg(env);

    if (!cfg->ext_smctr && !cfg->ext_ssctr) {
        return RISCV_EXCP_ILLEGAL_INST;
    }

    RISCVException ret = smstateen_acc_ok(env, 0, SMSTATEEN0_CTR);
    if (ret == RISCV_EXCP_NONE && csrno == CSR_SCTRDEPTH &&
        env->virt_enabled && !env->debugger) {
        return RISCV_EXCP_VIRT_INSTRUCTION_FAULT;
    }

    return ret;
}

RISCVException riscv_ctr_vsctrctl(CPURISCVState *env, int csrno)
{
    if (!riscv_has_ext(env, RVH)) {
        return RISCV_EXCP_ILLEGAL_INST;
    }
    return riscv_ctr_smode(env, csrno);
}

/*
 * Registers of control transfer record entries (Smctr, Ssctr, chapter 3): @reg
 * is 1 to 6 for sireg to sireg6, @entry the logical entry.
 *
 * The buffer is circular, and WRPTR is the physical entry that is written next.
 * Logical entry 0 is the one before it, the youngest.
 *
 * Depth = 16.
 *
 * buffer [0] [1] [2] [3] [4] [5] [6] [7] [8] [9] [A] [B] [C] [D] [E] [F]
 * WRPTR                               W
 * entry   6   5   4   3   2   1   0   F   E   D   C   B   A   9   8   7
 */
RISCVException riscv_rmw_ctr_entry(CPURISCVState *env, unsigned reg,
                                   unsigned entry, target_ulong *ret_val,
                                   target_ulong new_val, target_ulong wr_mask)
{
    RISCVCTREntry *e;
    uint64_t old, val, fields;
    RISCVException ret = smstateen_acc_ok(env, 0, SMSTATEEN0_CTR);

    if (ret != RISCV_EXCP_NONE) {
        return ret;
    }
    if (reg > 3 || entry >= riscv_ctr_depth(&env->ctr)) {
        if (ret_val) {
            *ret_val = 0;
        }
        return RISCV_EXCP_NONE;
    }

    e = riscv_ctr_entry(&env->ctr, entry);
    riscv_ctr_unpack(e);
    switch (reg) {
    case 1:
        old = e->source;
        fields = UINT64_MAX;
        break;
    case 2:
        old = e->target;
        fields = ~(uint64_t)CTRTARGET_MISP;
        break;
    default:
        old = riscv_ctr_entry_data(&env->ctr, e);
        fields = riscv_ctr_has_cycles(&env->ctr) ? CTRDATA_MASK
                                                 : CTRDATA_TYPE_MASK;
        break;
    }

    if (ret_val) {
        *ret_val = old;
    }
    if (!wr_mask) {
        return RISCV_EXCP_NONE;
    }

    if (env->xl == MXL_RV32) {
        /* a write is zero-extended (3.1, 3.2) */
        old &= UINT32_MAX;
        wr_mask &= UINT32_MAX;
    }
    fields &= wr_mask;
    val = (old & ~fields) | (new_val & fields);
    switch (reg) {
    case 1:
        e->source = val;
        break;
    case 2:
        e->target = val;
        break;
    default:
        e->type = val & CTRDATA_TYPE_MASK;
        e->cycles = riscv_ctr_cycles_decode(val);
        break;
    }
    return RISCV_EXCP_NONE;
}

RISCVException riscv_rmw_xctrctl(CPURISCVState *env, int csrno,
                                 target_ulong *ret_val, target_ulong new_val,
                                 target_ulong wr_mask)
{
    uint64_t fields = csrno == CSR_MCTRCTL ? MCTRCTL_MASK : XCTRCTL_MASK;
    bool vs = csrno == CSR_VSCTRCTL ||
              (csrno == CSR_SCTRCTL && env->virt_enabled);
    uint64_t *ctl = vs ? &env->ctr.vsctrctl : &env->ctr.mctrctl;

    if (ret_val) {
        *ret_val = *ctl & fields;
    }
    if (wr_mask) {
        fields &= wr_mask;
        *ctl = (*ctl & ~fields) | (new_val & fields);
        /* so that no cycles persist across a context switch (6.3) */
        riscv_ctr_cycles_reset(env);
        riscv_ctr_update(env);
    }
    return RISCV_EXCP_NONE;
}

RISCVException riscv_rmw_sctrdepth(CPURISCVState *env, int csrno,
                                   target_ulong *ret_val, target_ulong new_val,
                                   target_ulong wr_mask)
{
    RISCVCTRState *s = &env->ctr;

    if (ret_val) {
        *ret_val = s->sctrdepth;
    }
    if (wr_mask & SCTRDEPTH_MASK) {
        uint32_t depth = (s->sctrdepth & ~wr_mask) | (new_val & wr_mask);
        unsigned wrptr = riscv_ctr_wrptr(s);

        depth &= SCTRDEPTH_MASK;
        s->sctrdepth = MIN(MAX(depth, s->min_depth), s->max_depth);
        riscv_ctr_set_wrptr(s, wrptr);
        riscv_ctr_update(env);
    }
    return RISCV_EXCP_NONE;
}

RISCVException riscv_rmw_sctrstatus(CPURISCVState *env, int csrno,
                                    target_ulong *ret_val, target_ulong new_val,
                                    target_ulong wr_mask)
{
    RISCVCTRState *s = &env->ctr;
    uint32_t status = riscv_ctr_status(s);

    if (ret_val) {
        *ret_val = status;
    }
    if (wr_mask) {
        status = (status & ~wr_mask) | (new_val & wr_mask);
        riscv_ctr_set_wrptr(s, status & SCTRSTATUS_WRPTR_MASK);
        s->frozen = status & SCTRSTATUS_FROZEN;
        riscv_ctr_update(env);
    }
    return RISCV_EXCP_NONE;
}
