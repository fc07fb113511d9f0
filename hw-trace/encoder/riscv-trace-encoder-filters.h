/*
 * RISC-V trace encoder: what the files of its filters share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_ENCODER_FILTERS_H
#define HW_TRACE_RISCV_TRACE_ENCODER_FILTERS_H

#include "hw/trace/etrace/filter-expr.h"
#include "hw/trace/etrace/filter-ranges.h"
#include "riscv-trace-encoder-private.h"

struct RISCVTraceEncoderFilters {
    MemoryRegion mem;
    uint32_t regs[ETRACE_FILTERS_MAX][TR_TE_FILTER_SIZE / 4];
    uint32_t comp_regs[ETRACE_COMPARATORS_MAX][TR_TE_COMP_SIZE / 4];
    uint32_t impdef;            /* bit per line; atomic */
    bool reset;                 /* filters start anew */
    ETraceFilterExpr expr;      /* the filter that no register has; BQL */

    /* Of the hart's thread; of any other while the VM is stopped */
    ETraceFilter filter;        /* as the registers say */
    ETraceFilter expr_filter;   /* as expr says */
};

/* riscv-trace-encoder-filter-regs.c */

extern const RegisterAccessInfo riscv_trace_encoder_filters_regs[2];

void riscv_trace_encoder_filters_map(RISCVTraceEncoder *s);

/* riscv-trace-encoder-expr.c */

void riscv_trace_encoder_expr_class_init(ObjectClass *oc);

/* False with @errp set if the property does not fit the hart. */
bool riscv_trace_encoder_expr_check(RISCVTraceEncoder *s, Error **errp);

#endif /* HW_TRACE_RISCV_TRACE_ENCODER_FILTERS_H */
