/*
 * RISC-V hart side of the hart to encoder interface: filters by address
 *
 * Where a filter qualifies some addresses only, that is decided when code is
 * translated. TBs end where ranges do, whatever the hart reports, so that all
 * of a TB is qualified or nothing of it is. In history, one that is not what
 * the hart reports at the moment does not run: it goes back to blocks, and what
 * then runs decides what the hart reports next (helper_trace_exit()). So code
 * that is qualified costs what it costs without a filter, and other code has no
 * trace code.
 *
 * The TB key has a number of the ranges. TBs are found by every hart, so it is
 * the session's. When there are no more numbers, each instruction is a TB.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/lockable.h"
#include "hooks.h"
#include "internal.h"

static unsigned number_of(RISCVTraceHart *hart, const ETraceRanges *ranges)
{
    RISCVTraceReader *reader = hart->reader;

    QEMU_LOCK_GUARD(&reader->lock);
    if (reader->session != hart->session) {
        return 0;               /* the hart starts anew in a moment */
    }
    for (unsigned i = 0; i < reader->n_ranges; i++) {
        if (etrace_ranges_equal(&reader->ranges[i], ranges)) {
            return i + 1;
        }
    }
    if (reader->n_ranges == RISCV_TRACE_RANGES_MAX) {
        return RISCV_TRACE_RANGES_OTHERS;
    }
    reader->ranges[reader->n_ranges++] = *ranges;
    return reader->n_ranges;
}

bool riscv_trace_ranges_set(RISCVTraceHart *hart, const ETraceRanges *ranges)
{
    RISCVTracePort *port = &cpu_env(hart->cs)->trace;
    unsigned number = riscv_trace_key_ranges(port->key);

    if (!ranges->n) {
        number = 0;
    } else if (!number || !etrace_ranges_equal(&hart->ranges, ranges)) {
        number = number_of(hart, ranges);
        hart->ranges = *ranges;
    }
    port->key &= ~RISCV_TRACE_KEY_RANGES;
    port->key |= (uint64_t)number << RISCV_TRACE_KEY_RANGES_SHIFT;
    return (number && number != RISCV_TRACE_RANGES_OTHERS) || !ranges->n;
}

const ETraceRanges *riscv_trace_ranges(CPURISCVState *env, uint64_t cs_base)
{
    unsigned number = riscv_trace_key_ranges(cs_base);

    return number && number != RISCV_TRACE_RANGES_OTHERS
           ? &env->trace.hart->ranges : NULL;
}
