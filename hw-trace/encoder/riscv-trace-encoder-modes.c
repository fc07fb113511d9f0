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
        if (s->start_modes.all && riscv_trace_modes[i].saves &&
            !missing(cfg, i) && cfg->mode[i] == ON_OFF_AUTO_AUTO) {
            mask |= 1 << i;
        }
    }
    return mask | riscv_trace_encoder_modes_power_up(cfg);
}

uint8_t riscv_trace_encoder_ioptions(RISCVTraceEncoder *s)
{
    return riscv_trace_modes_ioptions(s->regs[R_TR_TE_INST_FEATURES]);
}

/*
 * Properties
 */

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
                       riscv_trace_modes[i].name);
            return false;
        }
        if ((named || (on & (1 << i))) && missing(cfg, i)) {
            error_setg(errp, "%s of a trace encoder needs %s",
                       riscv_trace_modes[i].name, missing(cfg, i));
            return false;
        }
    }
    return true;
}
