/*
 * RISC-V control transfer records: recording (chapter 6)
 *
 * Transfers that stay in a mode are recorded by translated code, see
 * translate.c.inc, according to a key that is made here. What changes the
 * mode, and RASEMU, comes here.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/memalign.h"
#include "qapi/error.h"
#include "ctr.h"
#include "cycles.h"
#include "internal.h"
#include "packed.h"
#include "tb-key.h"

/* The control register in force in a mode (2.3) */
static uint64_t ctr_control(CPURISCVState *env, bool virt)
{
    return virt ? env->ctr.vsctrctl : env->ctr.mctrctl;
}

static bool ctr_mode_enabled(CPURISCVState *env, target_ulong priv, bool virt)
{
    uint64_t ctl = ctr_control(env, virt);

    switch (priv) {
    case PRV_M:
        return ctl & MCTRCTL_M;
    case PRV_S:
        return ctl & XCTRCTL_S;
    default:
        return ctl & XCTRCTL_U;
    }
}

/*
 * 6.1.2, External Trap Enable Requirements: the xTE bits of the target and of
 * every mode between it and the source.
 */
static bool ctr_external_trap_enabled(CPURISCVState *env,
                                      target_ulong priv, bool virt)
{
    const RISCVCTRState *s = &env->ctr;

    /* into VS: the source is VU */
    if (virt && priv == PRV_U && !(s->vsctrctl & XCTRCTL_STE)) {
        return false;
    }
    if (env->virt_enabled) {
        return true;
    }
    /* into or through S */
    if ((virt || priv == PRV_U) && !(s->mctrctl & XCTRCTL_STE)) {
        return false;
    }
    return env->priv != PRV_M || (s->mctrctl & MCTRCTL_MTE);
}

/*
 * Filters and RASEMU of a transfer that may change the mode: those of
 * vsctrctl where V changes (6.1.1).
 */
static uint64_t ctr_transition_control(CPURISCVState *env, bool virt)
{
    return ctr_control(env, virt || env->virt_enabled);
}

/* A pc of mode @priv, @virt; XLEN < MXLEN: zero-extended (3.1, 3.2) */
static uint64_t ctr_entry_pc(CPURISCVState *env, target_ulong pc,
                             target_ulong priv, bool virt)
{
    RISCVMXL xl = cpu_get_xl(env, priv);

    if (priv == PRV_U && virt != env->virt_enabled &&
        env->misa_mxl != MXL_RV32) {
        /* V has changed: the other side's UXL is put away. */
        xl = get_field(virt ? env->vsstatus : env->mstatus_hs,
                       MSTATUS64_UXL);
    }
    return xl == MXL_RV32 ? (uint32_t)pc : pc;
}

static void ctr_record(CPURISCVState *env, uint64_t source, uint64_t target,
                       enum CTRType type)
{
    RISCVCTRState *s = &env->ctr;
    RISCVCTREntry *entry = &s->entries[riscv_ctr_wrptr(s)];

    entry->source = source | CTRSOURCE_VALID;
    entry->target = target & ~CTRTARGET_MISP;
    entry->type = type;
    entry->cycles = riscv_ctr_cycles_take(env);
    riscv_ctr_set_wrptr(s, riscv_ctr_wrptr(s) + 1);
}

void riscv_ctr_trap(CPURISCVState *env, bool async, target_ulong cause,
                    target_ulong epc, target_ulong priv, bool virt)
{
    RISCVCTRState *s = &env->ctr;
    uint64_t ctl = ctr_transition_control(env, virt);
    bool from = ctr_mode_enabled(env, priv, virt);
    bool to = ctr_mode_enabled(env, env->priv, env->virt_enabled);
    /* No other trap is taken asynchronously and leaves NMIE clear. */
    bool nmi = async && riscv_cpu_cfg(env)->ext_smrnmi &&
               !get_field(env->mnstatus, MNSTATUS_NMIE);
    uint64_t freeze = async ? (cause == IRQ_PMU_OVF && !nmi ? XCTRCTL_LCOFIFRZ
                                                            : 0)
                            : (cause == RISCV_EXCP_BREAKPOINT ? XCTRCTL_BPFRZ
                                                              : 0);

    if (!riscv_ctr_present(env)) {
        return;
    }

    /* 6.5: by the mode that the trap goes to; the trap is not recorded. */
    if (ctr_control(env, env->virt_enabled) & freeze) {
        s->frozen = true;
        riscv_ctr_update(env);
    }
    if (s->frozen || (ctl & XCTRCTL_RASEMU)) {
        return;
    }

    if (to) {
        if (ctl & (async ? XCTRCTL_INTRINH : XCTRCTL_EXCINH)) {
            return;
        }
    } else if (!from || !ctr_external_trap_enabled(env, priv, virt)) {
        return;
    }
    ctr_record(env, from ? ctr_entry_pc(env, epc, priv, virt) : 0,
               to ? ctr_entry_pc(env, env->pc, env->priv, env->virt_enabled)
                  : 0,
               async ? CTRDATA_TYPE_INTERRUPT : CTRDATA_TYPE_EXCEPTION);
}

void riscv_ctr_xret(CPURISCVState *env, target_ulong source,
                    target_ulong target, target_ulong priv, bool virt)
{
    uint64_t ctl = ctr_transition_control(env, virt);
    bool to = ctr_mode_enabled(env, env->priv, env->virt_enabled);

    if (!riscv_ctr_present(env) || env->ctr.frozen ||
        !ctr_mode_enabled(env, priv, virt) ||
        (ctl & (XCTRCTL_RASEMU | XCTRCTL_TRETINH))) {
        return;
    }
    ctr_record(env, ctr_entry_pc(env, source, priv, virt),
               to ? ctr_entry_pc(env, target, env->priv, env->virt_enabled)
                  : 0,
               CTRDATA_TYPE_EXCEP_INT_RET);
}

void riscv_ctr_clear(CPURISCVState *env)
{
    for (unsigned i = 0; i < RISCV_CTR_ENTRIES; i++) {
        env->ctr.entries[i] = (RISCVCTREntry) {
            .cycles = RISCV_CTR_CYCLES_ENCODED,
        };
    }
    riscv_ctr_cycles_reset(env);
}

/* RAS emulation (6.4): calls push, returns pop, swaps do both. */
void riscv_ctr_rasemu(CPURISCVState *env, target_ulong source,
                      target_ulong target, enum CTRType type)
{
    RISCVCTRState *s = &env->ctr;

    if (type == CTRDATA_TYPE_RETURN || type == CTRDATA_TYPE_CO_ROUTINE_SWAP) {
        RISCVCTREntry *entry;

        riscv_ctr_set_wrptr(s, riscv_ctr_wrptr(s) - 1);
        entry = &s->entries[riscv_ctr_wrptr(s)];
        riscv_ctr_unpack(entry);
        if (entry->source & CTRSOURCE_VALID) {
            riscv_ctr_cycles_untake(env, entry->cycles);
        }
        entry->source &= ~(uint64_t)CTRSOURCE_VALID;
    }
    if (type != CTRDATA_TYPE_RETURN) {
        ctr_record(env, ctr_entry_pc(env, source, env->priv, env->virt_enabled),
                   ctr_entry_pc(env, target, env->priv, env->virt_enabled),
                   type);
    }
}

void riscv_ctr_update(CPURISCVState *env)
{
    RISCVCTRState *s = &env->ctr;
    uint64_t ctl = ctr_control(env, env->virt_enabled);
    bool active = !s->frozen &&
                  ctr_mode_enabled(env, env->priv, env->virt_enabled);

    if (!riscv_ctr_present(env)) {
        return;
    }
    if (active != s->counting) {
        riscv_ctr_cycles_run(env, active);
    }
    s->key = 0;
    if (active) {
        s->key |= RISCV_CTR_KEY_ACTIVE | s->cycles_key |
                  s->sctrdepth << RISCV_CTR_KEY_DEPTH_SHIFT;
        if (ctl & XCTRCTL_RASEMU) {
            s->key |= RISCV_CTR_KEY_RASEMU;
        } else {
            s->key |= (ctl >> RISCV_CTR_KEY_FILTER_XCTRCTL
                           << RISCV_CTR_KEY_FILTER_SHIFT) &
                      RISCV_CTR_KEY_FILTER_MASK;
        }
    }
    riscv_transfer_update(env);
}

void riscv_ctr_reset(CPURISCVState *env)
{
    RISCVCTRState *s = &env->ctr;

    if (!riscv_ctr_present(env)) {
        return;
    }
    memset(s, 0, offsetof(RISCVCTRState, entries));
    s->sctrdepth = s->min_depth;
    riscv_ctr_set_wrptr(s, 0);
    riscv_ctr_clear(env);
    riscv_ctr_update(env);
}

static bool ctr_depth_code(uint16_t entries, uint32_t *code)
{
    for (*code = SCTRDEPTH_MIN; *code <= SCTRDEPTH_MAX; ++*code) {
        if (entries == 16 << *code) {
            return true;
        }
    }
    return false;
}

bool riscv_ctr_validate(RISCVCPU *cpu, Error **errp)
{
    RISCVCTRState *s = &cpu->env.ctr;

    /* X is in no key: translation asks for each vendor extension. */
    assert(!(cpu->env.misa_ext_mask &
             ~(RISCV_TB_KEY_MISA_EXTS | 1u << ('X' - 'A'))));
    if (!riscv_ctr_present(&cpu->env)) {
        return true;
    }
    if (!s->entries) {
        size_t size = RISCV_CTR_ENTRIES * sizeof(*s->entries);

        s->entries = qemu_memalign(2 * size, size);
        riscv_ctr_set_wrptr(s, 0);
    }
    if (!ctr_depth_code(cpu->cfg.ctr_min_depth, &s->min_depth) ||
        !ctr_depth_code(cpu->cfg.ctr_max_depth, &s->max_depth) ||
        s->min_depth > s->max_depth) {
        error_setg(errp, "ctr-min-depth and ctr-max-depth must be 16, 32, 64, "
                   "128 or 256, the minimum not above the maximum");
        return false;
    }
    s->cycles_key = riscv_ctr_cycles_key(cpu->cfg.ctr_cycle_count);
    return true;
}

void riscv_ctr_finalize(RISCVCPU *cpu)
{
    qemu_vfree(cpu->env.ctr.entries);
}
