/*
 * RISC-V control transfer records: migration
 *
 * A stream has the registers as software reads them (chapters 2 and 3), in
 * the layout that QEMU's first CTR had. What that one lacked is in a
 * subsection, so streams of a QEMU without this code are accepted.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "migration/cpu.h"
#include "ctr.h"
#include "cycles.h"
#include "internal.h"
#include "packed.h"

/* Registers that the state keeps in other forms. Entries are physical ones. */
typedef struct CTRRegisters {
    RISCVCPU *parent;
    uint64_t mctrctl;
    uint32_t sctrdepth;
    uint32_t sctrstatus;
    uint64_t vsctrctl;
    uint64_t source[RISCV_CTR_ENTRIES];
    uint64_t target[RISCV_CTR_ENTRIES];
    uint64_t data[RISCV_CTR_ENTRIES];
} CTRRegisters;

static int ctr_registers_pre_save(void *opaque)
{
    CTRRegisters *regs = opaque;
    const RISCVCTRState *s = &regs->parent->env.ctr;

    regs->mctrctl = s->mctrctl;
    regs->sctrdepth = s->sctrdepth;
    regs->sctrstatus = riscv_ctr_status(s);
    regs->vsctrctl = s->vsctrctl;
    for (unsigned i = 0; i < RISCV_CTR_ENTRIES; i++) {
        RISCVCTREntry entry = s->entries[i];

        riscv_ctr_unpack(&entry);
        regs->source[i] = entry.source;
        regs->target[i] = entry.target;
        regs->data[i] = riscv_ctr_entry_data(s, &entry);
    }
    return 0;
}

static int ctr_registers_post_load(void *opaque, int version_id)
{
    const CTRRegisters *regs = opaque;
    RISCVCTRState *s = &regs->parent->env.ctr;

    /* Where translated code stores: better not out of bounds. */
    if (regs->sctrdepth < s->min_depth || regs->sctrdepth > s->max_depth) {
        error_report("ctr: incoming sctrdepth %" PRIu32 " is not supported "
                     "(ctr-min-depth, ctr-max-depth)", regs->sctrdepth);
        return -EINVAL;
    }
    if (regs->sctrstatus & ~SCTRSTATUS_MASK) {
        error_report("ctr: incoming sctrstatus has reserved bits set");
        return -EINVAL;
    }
    if ((regs->sctrstatus & SCTRSTATUS_WRPTR_MASK) >= 16 << regs->sctrdepth) {
        error_report("ctr: incoming WRPTR is beyond the depth");
        return -EINVAL;
    }
    if ((regs->mctrctl & ~MCTRCTL_MASK) || (regs->vsctrctl & ~XCTRCTL_MASK)) {
        error_report("ctr: incoming xctrctl has reserved bits set");
        return -EINVAL;
    }
    for (unsigned i = 0; i < RISCV_CTR_ENTRIES; i++) {
        if (regs->data[i] & ~(uint64_t)CTRDATA_MASK) {
            error_report("ctr: incoming entry %u has reserved bits set", i);
            return -EINVAL;
        }
    }

    s->mctrctl = regs->mctrctl;
    s->vsctrctl = regs->vsctrctl;
    s->sctrdepth = regs->sctrdepth;
    riscv_ctr_set_wrptr(s, regs->sctrstatus & SCTRSTATUS_WRPTR_MASK);
    s->frozen = regs->sctrstatus & SCTRSTATUS_FROZEN;
    for (unsigned i = 0; i < RISCV_CTR_ENTRIES; i++) {
        s->entries[i] = (RISCVCTREntry) {
            .source = regs->source[i],
            /* A QEMU that let software write MISP must not keep it there. */
            .target = regs->target[i] & ~(uint64_t)CTRTARGET_MISP,
            .type = regs->data[i] & CTRDATA_TYPE_MASK,
            .cycles = riscv_ctr_cycles_decode(regs->data[i]),
        };
    }
    return 0;
}

static const VMStateDescription vmstate_ctr_registers = {
    .name = "cpu/ctr/registers",
    .pre_save = ctr_registers_pre_save,
    .post_load = ctr_registers_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(mctrctl, CTRRegisters),
        VMSTATE_UINT32(sctrdepth, CTRRegisters),
        VMSTATE_UINT32(sctrstatus, CTRRegisters),
        VMSTATE_UINT64(vsctrctl, CTRRegisters),
        VMSTATE_UINT64_ARRAY(source, CTRRegisters, RISCV_CTR_ENTRIES),
        VMSTATE_UINT64_ARRAY(target, CTRRegisters, RISCV_CTR_ENTRIES),
        VMSTATE_UINT64_ARRAY(data, CTRRegisters, RISCV_CTR_ENTRIES),
        VMSTATE_END_OF_LIST()
    }
};

/*
 * CtrCycleCounter (6.3): what it holds, for time is another one over there.
 * @valid is CCV of the next record.
 */
typedef struct CTRCycleCounter {
    RISCVCPU *parent;
    uint64_t cycles;
    bool valid;
} CTRCycleCounter;

static int ctr_cycle_counter_pre_save(void *opaque)
{
    CTRCycleCounter *counter = opaque;
    uint64_t cycles = riscv_ctr_cycles_get(&counter->parent->env);

    counter->valid = !(cycles & RISCV_CTR_CYCLES_INVALID);
    counter->cycles = counter->valid ? cycles : 0;
    return 0;
}

static int ctr_cycle_counter_post_load(void *opaque, int version_id)
{
    const CTRCycleCounter *counter = opaque;

    if (!counter->valid) {
        return 0;
    }
    /* It goes on counting and must not get to the marks of entries. */
    if (counter->cycles >= RISCV_CTR_CYCLES_INVALID / 2) {
        error_report("ctr: incoming cycle counter is out of range");
        return -EINVAL;
    }
    counter->parent->env.ctr.cycles = counter->cycles;
    return 0;
}

static const VMStateDescription vmstate_ctr_cycle_counter = {
    .name = "cpu/ctr/cycle-counter",
    .pre_save = ctr_cycle_counter_pre_save,
    .post_load = ctr_cycle_counter_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(cycles, CTRCycleCounter),
        VMSTATE_BOOL(valid, CTRCycleCounter),
        VMSTATE_END_OF_LIST()
    }
};

static bool ctr_cycles_needed(void *opaque)
{
    RISCVCPU *cpu = opaque;

    return riscv_ctr_has_cycles(&cpu->env.ctr);
}

static const VMStateDescription vmstate_ctr_cycles = {
    .name = "cpu/ctr/cycles",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = ctr_cycles_needed,
    .fields = (const VMStateField[]) {
        VMSTATE_WITH_TMP(RISCVCPU, CTRCycleCounter,
                         vmstate_ctr_cycle_counter),
        VMSTATE_END_OF_LIST()
    }
};

static bool ctr_needed(void *opaque)
{
    RISCVCPU *cpu = opaque;

    return riscv_ctr_present(&cpu->env);
}

/* Without a subsection, nothing is known of the cycles before. */
static int ctr_pre_load(void *opaque)
{
    RISCVCPU *cpu = opaque;

    cpu->env.ctr.counting = false;
    cpu->env.ctr.cycles = RISCV_CTR_CYCLES_RESET;
    return 0;
}

static int ctr_post_load(void *opaque, int version_id)
{
    RISCVCPU *cpu = opaque;

    riscv_ctr_update(&cpu->env);
    return 0;
}

const VMStateDescription vmstate_riscv_ctr = {
    .name = "cpu/ctr",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = ctr_needed,
    .pre_load = ctr_pre_load,
    .post_load = ctr_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_WITH_TMP(RISCVCPU, CTRRegisters, vmstate_ctr_registers),
        VMSTATE_END_OF_LIST()
    },
    .subsections = (const VMStateDescription * const []) {
        &vmstate_ctr_cycles,
        NULL
    }
};
