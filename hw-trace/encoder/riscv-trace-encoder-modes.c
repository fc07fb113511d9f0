/*
 * RISC-V trace encoder: which modes are on, at power-up and behind a start
 * that is not the guest's
 *
 * At power-up, a mode is on if its property is. Who starts trace for the guest
 * (autostart, the monitor) sets those of autostart-modes besides, by the bits
 * in trTeInstFeatures that software would set. A mode whose property is on or
 * off is that in both cases.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "riscv-trace-encoder-private.h"

/* What is used if nobody chooses */
#define MODES_DEFAULT   "all"

static const struct {
    const char *name;
    bool saves;                 /* bits, and so belongs to "all" */
} modes[RISCV_TRACE_MODES] = {
    [RISCV_TRACE_MODE_FULL_ADDRESS] = { "full-address", false },
    [RISCV_TRACE_MODE_IMPLICIT_EXCEPTION] = { "implicit-exception", true },
    [RISCV_TRACE_MODE_SEQUENTIAL_JUMP] = { "sequential-jump", true },
    [RISCV_TRACE_MODE_IMPLICIT_RETURN] = { "implicit-return", true },
    [RISCV_TRACE_MODE_BRANCH_PREDICTION] = { "branch-prediction", true },
    [RISCV_TRACE_MODE_JUMP_TARGET_CACHE] = { "jump-target-cache", true },
};

/*
 * What an encoder is built with
 */

uint32_t riscv_trace_encoder_return_mode(const RISCVTraceEncoderConfig *cfg)
{
    return cfg->itype_width < 4 ? TR_TE_RETURN_NONE :
           cfg->return_stack_size ? TR_TE_RETURN_STACK :
           cfg->call_counter_size ? TR_TE_RETURN_COUNTER : TR_TE_RETURN_NONE;
}

/* The property without which there is no such mode; NULL: it is there. */
static const char *missing(const RISCVTraceEncoderConfig *cfg,
                           RISCVTraceMode mode)
{
    switch (mode) {
    case RISCV_TRACE_MODE_SEQUENTIAL_JUMP:
        return cfg->sijump ? NULL : "sijump";
    case RISCV_TRACE_MODE_IMPLICIT_RETURN:
        return cfg->itype_width < 4 ? "itype-width 4" :
               riscv_trace_encoder_return_mode(cfg) == TR_TE_RETURN_NONE ?
               "return-stack-size or call-counter-size" : NULL;
    case RISCV_TRACE_MODE_BRANCH_PREDICTION:
        return cfg->bpred_size ? NULL : "bpred-size";
    case RISCV_TRACE_MODE_JUMP_TARGET_CACHE:
        return cfg->cache_size ? NULL : "cache-size";
    default:
        return NULL;
    }
}

uint32_t riscv_trace_encoder_modes_built_in(const RISCVTraceEncoderConfig *cfg)
{
    uint32_t mask = 0;

    for (unsigned i = 0; i < RISCV_TRACE_MODES; i++) {
        mask |= !missing(cfg, i) << i;
    }
    return mask;
}

/*
 * What is on
 */

uint32_t riscv_trace_encoder_modes_power_up(const RISCVTraceEncoderConfig *cfg)
{
    uint32_t mask = 0;

    for (unsigned i = 0; i < RISCV_TRACE_MODES; i++) {
        mask |= (cfg->mode[i] == ON_OFF_AUTO_ON) << i;
    }
    return mask;
}

uint32_t riscv_trace_encoder_modes_start(const RISCVTraceEncoder *s)
{
    const RISCVTraceEncoderConfig *cfg = &s->cfg;
    uint32_t mask = s->start_modes.named;

    for (unsigned i = 0; i < RISCV_TRACE_MODES; i++) {
        if (s->start_modes.all && modes[i].saves && !missing(cfg, i) &&
            cfg->mode[i] == ON_OFF_AUTO_AUTO) {
            mask |= 1 << i;
        }
    }
    return mask | riscv_trace_encoder_modes_power_up(cfg);
}

uint8_t riscv_trace_encoder_ioptions(RISCVTraceEncoder *s)
{
    uint32_t val = s->regs[R_TR_TE_INST_FEATURES];
    uint8_t ioptions = 0;

#define FEATURE(name)   FIELD_EX32(val, TR_TE_INST_FEATURES, name)
    ioptions |= FEATURE(NO_ADDR_DIFF) ? ETRACE_IOPT_FULL_ADDRESS : 0;
    ioptions |= FEATURE(NO_TRAP_ADDR) ? ETRACE_IOPT_IMPLICIT_EXCEPT : 0;
    ioptions |= FEATURE(EN_SEQUENTIAL_JUMP) ? ETRACE_IOPT_SIJUMP : 0;
    ioptions |= FEATURE(EN_IMPLICIT_RETURN) ? ETRACE_IOPT_IMPLICIT_RETURN : 0;
    ioptions |= FEATURE(EN_BRANCH_PREDICTION)
                ? ETRACE_IOPT_BRANCH_PREDICTION : 0;
    ioptions |= FEATURE(EN_JUMP_TARGET_CACHE)
                ? ETRACE_IOPT_JUMP_TARGET_CACHE : 0;
#undef FEATURE
    return ioptions;
}

/*
 * Properties
 */

bool riscv_trace_modes_parse(const char *text, RISCVTraceModes *chosen,
                             Error **errp)
{
    g_auto(GStrv) names = g_strsplit(text ?: MODES_DEFAULT, "+", -1);

    *chosen = (RISCVTraceModes) {
        .all = g_strcmp0(names[0], "all") == 0 && !names[1],
    };
    if (chosen->all || (g_strcmp0(names[0], "baseline") == 0 && !names[1])) {
        return true;
    }
    for (unsigned i = 0; names[i]; i++) {
        unsigned n = 0;

        while (n < RISCV_TRACE_MODES && strcmp(names[i], modes[n].name)) {
            n++;
        }
        if (n == RISCV_TRACE_MODES) {
            error_setg(errp, "'%s' is no mode of a trace encoder: give all, "
                       "baseline, or one or more of full-address, "
                       "implicit-exception, sequential-jump, implicit-return, "
                       "branch-prediction and jump-target-cache with a '+' "
                       "between them", names[i]);
            return false;
        }
        chosen->named |= 1 << n;
    }
    if (!names[0]) {
        error_setg(errp, "no mode of a trace encoder is named: give baseline "
                   "for none of them");
        return false;
    }
    return true;
}

bool riscv_trace_encoder_modes_check(RISCVTraceEncoder *s, Error **errp)
{
    const RISCVTraceEncoderConfig *cfg = &s->cfg;
    uint32_t on = riscv_trace_encoder_modes_power_up(cfg);

    if (!riscv_trace_modes_parse(cfg->autostart_modes, &s->start_modes,
                                 errp)) {
        return false;
    }
    for (unsigned i = 0; i < RISCV_TRACE_MODES; i++) {
        bool named = s->start_modes.named & (1 << i);

        if (named && cfg->mode[i] == ON_OFF_AUTO_OFF) {
            error_setg(errp, "%s of a trace encoder is off, but named by "
                       "trace-modes: leave out one of the two",
                       modes[i].name);
            return false;
        }
        if ((named || (on & (1 << i))) && missing(cfg, i)) {
            error_setg(errp, "%s of a trace encoder needs %s", modes[i].name,
                       missing(cfg, i));
            return false;
        }
    }
    return true;
}
