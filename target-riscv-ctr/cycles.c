/*
 * RISC-V control transfer records: cycle counting (6.3)
 *
 * The counter runs at mcycle's rate, which is virtual time with -icount and
 * host ticks without. A record keeps the elapsed cycles as they are; CC's
 * exponent and mantissa are made when ctrdata is read. A reset moves the
 * counter so far away that no real count gets there: that is CCV = 0.
 *
 * Reading the host's clock for each record costs several times what the
 * transfers do, so without -icount there is no counter unless the CPU property
 * ctr-cycle-count is "host".
 *
 * With RASEMU, a return that pops an entry adds the entry's count to the
 * counter again (the first of the two ways that the note in 6.4 allows).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "qapi/util.h"
#include "qapi/visitor.h"
#include "hw/qdev-properties.h"
#include "exec/icount.h"
#include "system/cpu-timers.h"
#include "cycles.h"
#include "exec/helper-proto.h"

#define CCM_BITS        12
#define CCE_MAX         15

static const QEnumLookup cycle_count_lookup = {
    .array = (const char *const[]) {
        [RISCV_CTR_CYCLE_COUNT_ICOUNT] = "icount",
        [RISCV_CTR_CYCLE_COUNT_HOST] = "host",
        [RISCV_CTR_CYCLE_COUNT_OFF] = "off",
    },
    .size = 3,
};

static void get_cycle_count(Object *obj, Visitor *v, const char *name,
                            void *opaque, Error **errp)
{
    int how = RISCV_CPU(obj)->cfg.ctr_cycle_count;

    visit_type_enum(v, name, &how, &cycle_count_lookup, errp);
}

static void set_cycle_count(Object *obj, Visitor *v, const char *name,
                            void *opaque, Error **errp)
{
    int how;

    if (visit_type_enum(v, name, &how, &cycle_count_lookup, errp)) {
        RISCV_CPU(obj)->cfg.ctr_cycle_count = how;
    }
}

const PropertyInfo riscv_ctr_prop_cycle_count = {
    .type = "str",
    .description = "icount: with -icount, host: without it, too, off: never",
    .get = get_cycle_count,
    .set = set_cycle_count,
};

uint32_t riscv_ctr_cycles_key(RISCVCTRCycleCount how)
{
    if (how == RISCV_CTR_CYCLE_COUNT_OFF) {
        return 0;
    }
    if (icount_enabled()) {
        return RISCV_CTR_KEY_CYCLES;
    }
    return how == RISCV_CTR_CYCLE_COUNT_HOST ? RISCV_CTR_KEY_HOST_CYCLES : 0;
}

/* mcycle without its offset */
static uint64_t now(CPURISCVState *env)
{
    switch (env->ctr.cycles_key) {
    case RISCV_CTR_KEY_CYCLES:
        return icount_get();
    case RISCV_CTR_KEY_HOST_CYCLES:
        return cpu_get_host_ticks();
    default:
        return 0;
    }
}

static uint64_t elapsed(CPURISCVState *env)
{
    uint64_t cycles = env->ctr.counting ? now(env) - env->ctr.cycles
                                        : env->ctr.cycles;

    return riscv_ctr_cycles_went_back(cycles) ? 0 : cycles;
}

static void set_elapsed(CPURISCVState *env, uint64_t cycles)
{
    env->ctr.cycles = env->ctr.counting ? now(env) - cycles : cycles;
}

void riscv_ctr_cycles_reset(CPURISCVState *env)
{
    set_elapsed(env, RISCV_CTR_CYCLES_RESET);
}

void helper_ctr_cycles_reset(CPURISCVState *env)
{
    riscv_ctr_cycles_reset(env);
}

void riscv_ctr_cycles_run(CPURISCVState *env, bool active)
{
    uint64_t cycles = elapsed(env);

    env->ctr.counting = active;
    set_elapsed(env, cycles);
}

uint64_t riscv_ctr_cycles_get(CPURISCVState *env)
{
    return elapsed(env);
}

uint64_t riscv_ctr_cycles_take(CPURISCVState *env)
{
    uint64_t cycles = elapsed(env);

    set_elapsed(env, 0);
    return cycles;
}

uint64_t riscv_ctr_cycles_value(uint32_t data)
{
    unsigned ccm = extract32(data, 16, CCM_BITS);
    unsigned cce = extract32(data, 28, 4);

    return cce ? (uint64_t)((1 << CCM_BITS) + ccm) << (cce - 1) : ccm;
}

/* The count of an entry that software may have written */
static uint64_t entry_cycles(uint64_t cycles)
{
    if (riscv_ctr_cycles_went_back(cycles)) {
        return 0;
    }
    if (!(cycles & RISCV_CTR_CYCLES_ENCODED)) {
        return cycles;
    }
    return cycles & CTRDATA_CCV ? riscv_ctr_cycles_value(cycles)
                                : RISCV_CTR_CYCLES_INVALID;
}

void riscv_ctr_cycles_untake(CPURISCVState *env, uint64_t cycles)
{
    uint64_t sum = elapsed(env), more = entry_cycles(cycles);

    if ((sum | more) & RISCV_CTR_CYCLES_INVALID) {
        sum = RISCV_CTR_CYCLES_RESET;
    } else {
        sum += more;
    }
    set_elapsed(env, sum);
}

uint32_t riscv_ctr_cycles_encode(uint64_t cycles)
{
    unsigned cce = 0, ccm;

    if (riscv_ctr_cycles_went_back(cycles)) {
        cycles = 0;
    }
    if (cycles & RISCV_CTR_CYCLES_ENCODED) {
        return cycles;
    }
    if (cycles & RISCV_CTR_CYCLES_INVALID) {
        return 0;
    }
    if (cycles < 1 << CCM_BITS) {
        ccm = cycles;
    } else {
        cce = 63 - clz64(cycles) - 11;
        if (cce > CCE_MAX) {
            cce = CCE_MAX;
            ccm = (1 << CCM_BITS) - 1;
        } else {
            ccm = (cycles >> (cce - 1)) & ((1 << CCM_BITS) - 1);
        }
    }
    return CTRDATA_CCV | ccm << 16 | cce << 28;
}

uint64_t riscv_ctr_cycles_decode(uint32_t data)
{
    return RISCV_CTR_CYCLES_ENCODED |
           (data & (CTRDATA_CCV | CTRDATA_CCM_MASK | CTRDATA_CCE_MASK));
}
