/*
 * RISC-V control transfer records: migration
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "migration/cpu.h"
#include "internal.h"

static bool ctr_needed(void *opaque)
{
    RISCVCPU *cpu = opaque;

    return riscv_ctr_present(&cpu->env);
}

static int ctr_pre_save(void *opaque)
{
    RISCVCPU *cpu = opaque;

    for (unsigned i = 0; i < RISCV_CTR_ENTRIES; i++) {
        riscv_ctr_unpack(&cpu->env.ctr.entries[i]);
    }
    cpu->env.ctr.wrptr = riscv_ctr_wrptr(&cpu->env.ctr);
    /* What the counter holds, for time is another one over there. */
    if (cpu->env.ctr.counting) {
        riscv_ctr_cycles_run(&cpu->env, false);
    }
    return 0;
}

static int ctr_post_save(void *opaque)
{
    RISCVCPU *cpu = opaque;

    riscv_ctr_update(&cpu->env);
    return 0;
}

static int ctr_pre_load(void *opaque)
{
    RISCVCPU *cpu = opaque;

    cpu->env.ctr.counting = false;
    return 0;
}

/* Nothing in it that no record and no software can have put there */
static bool ctr_entry_is_legal(const RISCVCTREntry *entry)
{
    const uint64_t encoded = RISCV_CTR_CYCLES_ENCODED | CTRDATA_CCV |
                             CTRDATA_CCM_MASK | CTRDATA_CCE_MASK;

    return !(entry->target & CTRTARGET_MISP) &&
           !(entry->type & ~(uint64_t)CTRDATA_TYPE_MASK) &&
           (!(entry->cycles & RISCV_CTR_CYCLES_ENCODED) ||
            !(entry->cycles & ~encoded));
}

static int ctr_post_load(void *opaque, int version_id)
{
    RISCVCPU *cpu = opaque;
    RISCVCTRState *s = &cpu->env.ctr;

    /* Where translated code stores: better not out of bounds. */
    if (s->sctrdepth < s->min_depth || s->sctrdepth > s->max_depth) {
        error_report("ctr: incoming sctrdepth %" PRIu32 " is not supported",
                     s->sctrdepth);
        return -EINVAL;
    }
    if (s->wrptr >= riscv_ctr_depth(s)) {
        error_report("ctr: incoming WRPTR is beyond the depth");
        return -EINVAL;
    }
    riscv_ctr_set_wrptr(s, s->wrptr);
    if ((s->mctrctl & ~MCTRCTL_MASK) || (s->vsctrctl & ~XCTRCTL_MASK)) {
        error_report("ctr: incoming xctrctl has reserved bits set");
        return -EINVAL;
    }
    /* It goes on counting and must not get to the marks of entries. */
    if (s->cycles >= RISCV_CTR_CYCLES_INVALID + RISCV_CTR_CYCLES_INVALID / 2) {
        error_report("ctr: incoming cycle counter is out of range");
        return -EINVAL;
    }
    for (unsigned i = 0; i < RISCV_CTR_ENTRIES; i++) {
        if (!ctr_entry_is_legal(&s->entries[i])) {
            error_report("ctr: incoming entry %u has reserved bits set", i);
            return -EINVAL;
        }
    }
    riscv_ctr_update(&cpu->env);
    return 0;
}

static const VMStateDescription vmstate_ctr_entry = {
    .name = "cpu/ctr/entry",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(source, RISCVCTREntry),
        VMSTATE_UINT64(target, RISCVCTREntry),
        VMSTATE_UINT64(type, RISCVCTREntry),
        VMSTATE_UINT64(cycles, RISCVCTREntry),
        VMSTATE_END_OF_LIST()
    }
};

/* Version 1 was QEMU 10.0's, with three arrays; 2 had WRPTR in bytes. */
const VMStateDescription vmstate_riscv_ctr = {
    .name = "cpu/ctr",
    .version_id = 3,
    .minimum_version_id = 3,
    .needed = ctr_needed,
    .pre_save = ctr_pre_save,
    .post_save = ctr_post_save,
    .pre_load = ctr_pre_load,
    .post_load = ctr_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(env.ctr.mctrctl, RISCVCPU),
        VMSTATE_UINT64(env.ctr.vsctrctl, RISCVCPU),
        VMSTATE_UINT32(env.ctr.sctrdepth, RISCVCPU),
        VMSTATE_UINT32(env.ctr.wrptr, RISCVCPU),
        VMSTATE_BOOL(env.ctr.frozen, RISCVCPU),
        VMSTATE_UINT64(env.ctr.cycles, RISCVCPU),
        VMSTATE_STRUCT_VARRAY_POINTER_KNOWN(env.ctr.entries, RISCVCPU,
                                            RISCV_CTR_ENTRIES, 1,
                                            vmstate_ctr_entry, RISCVCTREntry),
        VMSTATE_END_OF_LIST()
    }
};
