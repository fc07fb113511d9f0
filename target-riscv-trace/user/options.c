/*
 * RISC-V trace of programs: what the properties of the CPU ask for
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/timer.h"
#include "qapi/error.h"
#include "hw/trace/riscv-trace-modes.h"
#include "private.h"

/* Causes of interrupts, which are signals, have one bit more than RISC-V's. */
#define CAUSE_WIDTH     8

/* Of floating-point registers; vectors are reported by their elements. */
#define DATA_WIDTH      64

/* Of timestamps, which are nanoseconds: it takes 78 hours to wrap. */
#define TIME_BYTES      6

static uint8_t read_modes(const char *text)
{
    RISCVTraceModes modes;
    Error *err = NULL;

    if (!riscv_trace_modes_parse(text, &modes, &err)) {
        error_reportf_err(err, "etrace-modes: ");
        exit(EXIT_FAILURE);
    }
    for (unsigned i = 0; modes.all && i < RISCV_TRACE_MODES; i++) {
        modes.named |= riscv_trace_modes[i].saves << i;
    }
    return riscv_trace_modes_ioptions(modes.named);
}

static void read_filter(const char *text, unsigned xlen, ETraceFilterExpr *e)
{
    g_autofree char *problem = NULL;

    if (!etrace_filter_expr_parse(e, text ?: "", &problem)) {
        error_report("etrace-filter: %s", problem);
        exit(EXIT_FAILURE);
    }
    if (e->privs || e->num_contexts) {
        error_report("etrace-filter: programs are in U mode and have no "
                     "context: give one or more of pc=FIRST-LAST, with a ';' "
                     "between them");
        exit(EXIT_FAILURE);
    }
    if (!etrace_filter_expr_fits(e, xlen)) {
        error_report("etrace-filter: addresses of the program have %u bits, "
                     "those of pc= must not have more", xlen);
        exit(EXIT_FAILURE);
    }
}

bool riscv_trace_user_wanted(const RISCVCPU *cpu)
{
    if (!cpu->etrace && (cpu->etrace_modes || cpu->etrace_data ||
                         cpu->etrace_filter || cpu->etrace_timestamps)) {
        error_report("etrace-modes, etrace-data, etrace-filter and "
                     "etrace-timestamps need etrace=FILE, which traces the "
                     "program");
        exit(EXIT_FAILURE);
    }
    return cpu->etrace;
}

void riscv_trace_user_options_read(RISCVTraceUserOptions *o,
                                   const RISCVCPU *cpu, unsigned xlen)
{
    *o = (RISCVTraceUserOptions) {
        .ioptions = read_modes(cpu->etrace_modes),
        .data = cpu->etrace_data,
        .timestamps = cpu->etrace_timestamps,
    };
    read_filter(cpu->etrace_filter, xlen, &o->filter);
}

void riscv_trace_user_options_params(const RISCVTraceUserOptions *o,
                                     unsigned xlen, ETraceParams *p)
{
    etrace_params_init(p, xlen);
    p->ecause_width = CAUSE_WIDTH;
    p->return_stack_size = ETRACE_RETURN_STACK_SIZE_DEFAULT;
    p->cache_size = ETRACE_CACHE_SIZE_DEFAULT;
    p->bpred_size = etrace_bpred_size_default(false);
    p->f0s_width = 1;
    p->sijump = 1;
    p->src_bits = ctz32(RISCV_TRACE_USER_THREADS);
    if (o->data) {
        p->data_width = DATA_WIDTH;
        p->daddress_width = xlen;
    }
    if (o->timestamps) {
        p->ts_bytes = TIME_BYTES;
        p->ts_hz = NANOSECONDS_PER_SECOND;
    }
}
