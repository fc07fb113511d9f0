/*
 * RISC-V control transfers for the host
 *
 * A ring of transfers that belongs to whoever debugs the guest. It has nothing
 * to do with what the guest can see: it is there without Smctr and Ssctr, has
 * every transfer of every mode, and outlives a reset. Property ctr-host of the
 * CPU makes it, or gdb does (gdb.c). history.c and sample.c read it.
 *
 * Jumps and branches are written by translated code, which is the same for
 * the ring and for the guest's records (translate.c.inc).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/host-utils.h"
#include "qemu/memalign.h"
#include "host.h"

static void advance(RISCVCTRHost *h)
{
    size_t next = h->head + 1 - h->ring;

    h->head = h->ring + (next & (h->entries - 1));
}

/* The ring is empty, and what runs next is at @pc. */
static void restart(RISCVCTRHost *h, uint64_t pc)
{
    memset(h->ring, 0, h->entries * sizeof(*h->ring));
    h->head = h->ring;
    *h->head = (RISCVCTREntry) {
        .type = RISCV_CTR_HOST_START,
        .source = CTRSOURCE_VALID,
        .target = pc,
    };
    advance(h);
}

bool riscv_ctr_host_set(CPURISCVState *env, uint32_t entries, Error **errp)
{
    RISCVCTRHost *h = &env->ctr_host;
    size_t size = entries * sizeof(RISCVCTREntry);
    RISCVCTREntry *ring = NULL;

    if (entries && (!is_power_of_2(entries) || entries < RISCV_CTR_HOST_MIN ||
                    entries > RISCV_CTR_HOST_MAX)) {
        error_setg(errp, "ctr-host must be 0 or a power of 2 from %u to %u",
                   RISCV_CTR_HOST_MIN, RISCV_CTR_HOST_MAX);
        return false;
    }
    if (entries) {
        /* Aligned so that translated code wraps by clearing one bit. */
        ring = qemu_try_memalign(2 * size, size);
        if (!ring) {
            error_setg(errp, "no memory for %u transfers, use less for "
                       "ctr-host or gdb's buffer-size", entries);
            return false;
        }
    }
    qemu_vfree(h->ring);
    h->ring = ring;
    h->entries = entries;
    h->key = entries ? (uint64_t)ctz32(entries) << RISCV_TB_KEY_HOST_SHIFT : 0;
    if (entries) {
        restart(h, env->pc);
    }
    riscv_transfer_update(env);
    return true;
}

static bool translates(target_ulong satp, RISCVMXL xl)
{
    return get_field(satp, xl == MXL_RV32 ? SATP32_MODE : SATP64_MODE);
}

uint64_t riscv_ctr_host_space(CPURISCVState *env, target_ulong priv, bool virt)
{
    RISCVMXL xl = riscv_cpu_mxl(env);
    target_ulong satp = env->satp;
    uint64_t space = 0;

    if (priv == PRV_M) {
        return 0;
    }
    if (virt != env->virt_enabled) {
        /* The other side's satp is put away. */
        satp = virt ? env->vsatp : env->satp_hs;
    }
    if (translates(satp, xl)) {
        space = priv == PRV_U ? satp : 1;
    }
    if (virt) {
        /* the guest's physical addresses, mixed in */
        space += env->hgatp * 0x9e3779b97f4a7c15ull;
    }
    return space;
}

/* A transfer out of mode @priv, @virt. RV32's pcs are zero-extended here. */
static void record(CPURISCVState *env, uint64_t source, uint64_t target,
                   enum CTRType type, uint64_t marks, target_ulong priv,
                   bool virt)
{
    RISCVCTRHost *h = &env->ctr_host;
    uint64_t mask = riscv_cpu_mxl(env) == MXL_RV32 ? UINT32_MAX : UINT64_MAX;

    *h->head = (RISCVCTREntry) {
        .type = type | marks | RISCV_CTR_HOST_MODE |
                (virt ? RISCV_CTR_HOST_VIRT : 0) |
                priv << RISCV_CTR_HOST_PRIV_SHIFT,
        .source = (source & mask) | CTRSOURCE_VALID,
        .target = target & mask,
        .cycles = riscv_ctr_host_space(env, priv, virt),
    };
    advance(h);
}

void riscv_ctr_host_trap(CPURISCVState *env, bool async, target_ulong cause,
                         target_ulong epc, target_ulong priv, bool virt)
{
    bool fetch = cause == RISCV_EXCP_INST_ACCESS_FAULT ||
                 cause == RISCV_EXCP_INST_PAGE_FAULT ||
                 cause == RISCV_EXCP_INST_GUEST_PAGE_FAULT;

    if (!env->ctr_host.entries) {
        return;
    }
    if (async) {
        record(env, epc, env->pc, CTRDATA_TYPE_INTERRUPT,
               RISCV_CTR_HOST_NOT_TRIED, priv, virt);
    } else {
        record(env, epc, env->pc, CTRDATA_TYPE_EXCEPTION,
               fetch ? RISCV_CTR_HOST_FETCH : 0, priv, virt);
    }
}

void riscv_ctr_host_xret(CPURISCVState *env, target_ulong source,
                         target_ulong target, target_ulong priv, bool virt)
{
    if (env->ctr_host.entries) {
        record(env, source, target, CTRDATA_TYPE_EXCEP_INT_RET, 0, priv, virt);
    }
}

void riscv_ctr_host_reset(CPURISCVState *env)
{
    if (env->ctr_host.entries) {
        record(env, env->pc, env->resetvec, CTRDATA_TYPE_NONE,
               RISCV_CTR_HOST_NOT_TRIED, env->priv, env->virt_enabled);
        /* At the first one, the CPU has become complete meanwhile. */
        riscv_transfer_update(env);
    }
}

bool riscv_ctr_host_validate(RISCVCPU *cpu, Error **errp)
{
    /* A write of misa validates the extensions once more. */
    return cpu->env.ctr_host.entries ||
           riscv_ctr_host_set(&cpu->env, cpu->cfg.ctr_host, errp);
}

void riscv_ctr_host_finalize(RISCVCPU *cpu)
{
    qemu_vfree(cpu->env.ctr_host.ring);
}
