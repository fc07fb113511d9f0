/*
 * RISC-V trace: modes of an encoder, by their names
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "etrace/packet.h"
#include "riscv-trace-modes.h"

/* What is used if nobody chooses */
#define MODES_DEFAULT   "all"

const RISCVTraceModeInfo riscv_trace_modes[RISCV_TRACE_MODES] = {
    [RISCV_TRACE_MODE_FULL_ADDRESS] = { "full-address", false },
    [RISCV_TRACE_MODE_IMPLICIT_EXCEPTION] = { "implicit-exception", true },
    [RISCV_TRACE_MODE_SEQUENTIAL_JUMP] = { "sequential-jump", true },
    [RISCV_TRACE_MODE_IMPLICIT_RETURN] = { "implicit-return", true },
    [RISCV_TRACE_MODE_BRANCH_PREDICTION] = { "branch-prediction", true },
    [RISCV_TRACE_MODE_JUMP_TARGET_CACHE] = { "jump-target-cache", true },
};

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

        while (n < RISCV_TRACE_MODES &&
               strcmp(names[i], riscv_trace_modes[n].name)) {
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

uint8_t riscv_trace_modes_ioptions(uint32_t features)
{
    static const uint8_t ioption[RISCV_TRACE_MODES] = {
        [RISCV_TRACE_MODE_FULL_ADDRESS] = ETRACE_IOPT_FULL_ADDRESS,
        [RISCV_TRACE_MODE_IMPLICIT_EXCEPTION] = ETRACE_IOPT_IMPLICIT_EXCEPT,
        [RISCV_TRACE_MODE_SEQUENTIAL_JUMP] = ETRACE_IOPT_SIJUMP,
        [RISCV_TRACE_MODE_IMPLICIT_RETURN] = ETRACE_IOPT_IMPLICIT_RETURN,
        [RISCV_TRACE_MODE_BRANCH_PREDICTION] = ETRACE_IOPT_BRANCH_PREDICTION,
        [RISCV_TRACE_MODE_JUMP_TARGET_CACHE] = ETRACE_IOPT_JUMP_TARGET_CACHE,
    };
    uint8_t ioptions = 0;

    for (unsigned i = 0; i < RISCV_TRACE_MODES; i++) {
        ioptions |= features & (1u << i) ? ioption[i] : 0;
    }
    return ioptions;
}
