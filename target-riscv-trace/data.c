/*
 * RISC-V hart side of the hart to encoder interface: data accesses
 *
 * E-Trace 2.0, section 4.3, unified form: loads come with their data. A
 * slot for each access, ahead of the block that its instruction retires in.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "hooks.h"
#include "internal.h"
#include "element.h"
#include "exec/helper-proto.h"

static void data_access(CPURISCVState *env, uint64_t daddr, uint64_t data,
                        uint64_t sdata, uint32_t info)
{
    riscv_trace_append(env->trace.hart, &(ETraceSlot) {
        .access = {
            .daddr = daddr,
            .offset = info >> RISCV_TRACE_DATA_OFFSET_SHIFT,
            .type = ETRACE_SLOT_ACCESS,
            .dsize = info & RISCV_TRACE_DATA_SIZE_MASK,
            .dtype = (info >> RISCV_TRACE_DATA_DTYPE_SHIFT) & 0xf,
            .multi = !!(info & RISCV_TRACE_DATA_MULTI),
            .data = data,
            .sdata = sdata,
        },
    });
}

void helper_trace_data(CPURISCVState *env, uint64_t daddr, uint64_t data,
                       uint64_t sdata, uint32_t info)
{
    data_access(env, daddr, data, sdata, info);
}

void riscv_trace_element_on(CPURISCVState *env, target_ulong daddr,
                            uint64_t data, unsigned size, bool store)
{
    data_access(env, daddr, data, 0,
                RISCV_TRACE_DATA_INFO(store ? ETRACE_DTYPE_STORE
                                            : ETRACE_DTYPE_LOAD,
                                      ctz32(size), env->trace.helper_offset) |
                RISCV_TRACE_DATA_MULTI);
}
