/*
 * RISC-V trace: modes of an encoder, by their names
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_MODES_H
#define HW_TRACE_RISCV_TRACE_MODES_H

/* Modes that can be switched; the values are their bits of trTeInstFeatures. */
typedef enum RISCVTraceMode {
    RISCV_TRACE_MODE_FULL_ADDRESS = 0,
    RISCV_TRACE_MODE_IMPLICIT_EXCEPTION = 1,
    RISCV_TRACE_MODE_SEQUENTIAL_JUMP = 2,
    RISCV_TRACE_MODE_IMPLICIT_RETURN = 3,
    RISCV_TRACE_MODE_BRANCH_PREDICTION = 4,
    RISCV_TRACE_MODE_JUMP_TARGET_CACHE = 5,
    RISCV_TRACE_MODES
} RISCVTraceMode;

typedef struct RISCVTraceModeInfo {
    const char *name;
    bool saves;                 /* bits, and so belongs to "all" */
} RISCVTraceModeInfo;

extern const RISCVTraceModeInfo riscv_trace_modes[RISCV_TRACE_MODES];

/* A choice of modes */
typedef struct RISCVTraceModes {
    bool all;                   /* all that save bits and are built in */
    uint32_t named;             /* bits of trTeInstFeatures */
} RISCVTraceModes;

/*
 * "all", "baseline" or modes by their names with "+" between them; NULL is
 * the default. False with @errp set if it is none of this.
 */
bool riscv_trace_modes_parse(const char *text, RISCVTraceModes *chosen,
                             Error **errp);

/* ETRACE_IOPT_* that bits of trTeInstFeatures ask for */
uint8_t riscv_trace_modes_ioptions(uint32_t features);

#endif /* HW_TRACE_RISCV_TRACE_MODES_H */
