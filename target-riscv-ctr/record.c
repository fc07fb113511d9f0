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
#include "qapi/error.h"
#include "qemu/memalign.h"
#include "host.h"
#include "internal.h"
#include "exec/translation-block.h"
#include "system/tcg.h"
#include "tb-key.h"
#ifdef CONFIG_TCG
#include "accel/tcg/getpc.h"
#include "exec/helper-proto.h"
#endif

/* The control register in force in a mode (2.3) */
static uint64_t control(CPURISCVState *env, bool virt)
{
    return virt ? env->ctr.vsctrctl : env->ctr.mctrctl;
}

static bool mode_enabled(CPURISCVState *env, target_ulong priv, bool virt)
{
    uint64_t ctl = control(env, virt);

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
static bool external_trap_enabled(CPURISCVState *env,
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
static uint64_t transition_control(CPURISCVState *env, bool virt)
{
    return control(env, virt || env->virt_enabled);
}

/* A pc of mode @priv, @virt; XLEN < MXLEN: zero-extended (3.1, 3.2) */
static uint64_t entry_pc(CPURISCVState *env, target_ulong pc,
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

void riscv_ctr_unpack(RISCVCTREntry *entry)
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

static void record(CPURISCVState *env, uint64_t source, uint64_t target,
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
    uint64_t ctl = transition_control(env, virt);
    bool from = mode_enabled(env, priv, virt);
    bool to = mode_enabled(env, env->priv, env->virt_enabled);
    uint64_t freeze = async ? (cause == IRQ_PMU_OVF ? XCTRCTL_LCOFIFRZ : 0)
                            : (cause == RISCV_EXCP_BREAKPOINT ? XCTRCTL_BPFRZ
                                                              : 0);

    riscv_ctr_host_trap(env, async, cause, epc, priv, virt);
    if (!riscv_ctr_present(env)) {
        return;
    }

    /* 6.5: by the mode that the trap goes to; the trap is not recorded. */
    if (control(env, env->virt_enabled) & freeze) {
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
    } else if (!from || !external_trap_enabled(env, priv, virt)) {
        return;
    }
    record(env, from ? entry_pc(env, epc, priv, virt) : 0,
           to ? entry_pc(env, env->pc, env->priv, env->virt_enabled) : 0,
           async ? CTRDATA_TYPE_INTERRUPT : CTRDATA_TYPE_EXCEPTION);
}

void riscv_ctr_xret(CPURISCVState *env, target_ulong source,
                    target_ulong target, target_ulong priv, bool virt)
{
    uint64_t ctl = transition_control(env, virt);
    bool to = mode_enabled(env, env->priv, env->virt_enabled);

    riscv_ctr_host_xret(env, source, target, priv, virt);
    if (!riscv_ctr_present(env) || env->ctr.frozen ||
        !mode_enabled(env, priv, virt) ||
        (ctl & (XCTRCTL_RASEMU | XCTRCTL_TRETINH))) {
        return;
    }
    record(env, entry_pc(env, source, priv, virt),
           to ? entry_pc(env, target, env->priv, env->virt_enabled) : 0,
           CTRDATA_TYPE_EXCEP_INT_RET);
}

static void clear_entries(CPURISCVState *env)
{
    for (unsigned i = 0; i < RISCV_CTR_ENTRIES; i++) {
        env->ctr.entries[i] = (RISCVCTREntry) {
            .cycles = RISCV_CTR_CYCLES_ENCODED,
        };
    }
    riscv_ctr_cycles_reset(env);
}

#ifdef CONFIG_TCG
/* RAS emulation (6.4): calls push, returns pop, swaps do both. */
void helper_ctr_rasemu(CPURISCVState *env, target_ulong source,
                       target_ulong target, uint32_t type)
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
        record(env, entry_pc(env, source, env->priv, env->virt_enabled),
               entry_pc(env, target, env->priv, env->virt_enabled), type);
    }
}

/* SCTRCLR (4.1): zero every entry, and the cycle counter. */
void helper_ctr_clear(CPURISCVState *env)
{
    RISCVException ret = smstateen_acc_ok(env, 0, SMSTATEEN0_CTR);

    /* State enables come first (4.1); U-mode has none of this one. */
    if (env->priv == PRV_U && ret != RISCV_EXCP_ILLEGAL_INST) {
        ret = env->virt_enabled ? RISCV_EXCP_VIRT_INSTRUCTION_FAULT
                                : RISCV_EXCP_ILLEGAL_INST;
    }
    if (ret != RISCV_EXCP_NONE) {
        riscv_raise_exception(env, ret, GETPC());
    }
    clear_entries(env);
}

/* Cycles for the record that translated code is about to write. */
uint64_t helper_ctr_cycles(CPURISCVState *env)
{
    return riscv_ctr_cycles_take(env);
}
#endif

void riscv_ctr_update(CPURISCVState *env)
{
    RISCVCTRState *s = &env->ctr;
    uint64_t ctl = control(env, env->virt_enabled);
    bool active = !s->frozen &&
                  mode_enabled(env, env->priv, env->virt_enabled);

    if (!riscv_ctr_present(env)) {
        return;
    }
    if (active != s->counting) {
        riscv_ctr_cycles_run(env, active);
    }
    s->key = s->host_key;
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

    riscv_ctr_host_reset(env);
    if (!riscv_ctr_present(env)) {
        return;
    }
    memset(s, 0, offsetof(RISCVCTRState, entries));
    s->sctrdepth = s->min_depth;
    riscv_ctr_set_wrptr(s, 0);
    clear_entries(env);
    riscv_ctr_update(env);
}

static bool depth_code(uint16_t entries, uint32_t *code)
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

    /* A write of misa validates the extensions once more. */
    if (qdev_is_realized(DEVICE(cpu))) {
        return true;
    }
    /* X is in no key: translation asks for each vendor extension. */
    assert(!(cpu->env.misa_ext_mask &
             ~(RISCV_TB_KEY_MISA_EXTS | 1u << ('X' - 'A'))));
    if (!riscv_ctr_host_set(&cpu->env, cpu->cfg.ctr_host, errp)) {
        return false;
    }
    riscv_ctr_gdb_init();
    if (!riscv_ctr_present(&cpu->env)) {
        return true;
    }
    if (!s->entries) {
        size_t size = RISCV_CTR_ENTRIES * sizeof(*s->entries);

        s->entries = qemu_memalign(2 * size, size);
    }
    riscv_ctr_set_wrptr(s, 0);
    if (!depth_code(cpu->cfg.ctr_min_depth, &s->min_depth) ||
        !depth_code(cpu->cfg.ctr_max_depth, &s->max_depth) ||
        s->min_depth > s->max_depth) {
        error_setg(errp, "ctr-min-depth and ctr-max-depth must be 16, 32, 64, "
                   "128 or 256, the minimum not above the maximum");
        return false;
    }
    return riscv_ctr_cycles_validate(s, cpu->cfg.ctr_cycle_count, errp);
}

void riscv_ctr_finalize(RISCVCPU *cpu)
{
    qemu_vfree(cpu->env.ctr.entries);
    qemu_vfree(cpu->env.ctr.host_ring);
}
