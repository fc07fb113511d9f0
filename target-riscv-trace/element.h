/*
 * RISC-V trace: data accesses of helpers
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_TRACE_ELEMENT_H
#define TARGET_RISCV_TRACE_ELEMENT_H

#include "cpu.h"

/* True if the data accesses of what runs are traced. */
static inline bool riscv_trace_data_on(CPURISCVState *env)
{
    return env->trace.key & RISCV_TRACE_KEY_DATA;
}

/* As riscv_trace_element(), whose caller knows that data is traced */
void riscv_trace_element_on(CPURISCVState *env, target_ulong daddr,
                            uint64_t data, unsigned size, bool store);

/*
 * A helper has accessed @size bytes at @daddr for the instruction that runs,
 * an element of a vector say. gen_data_helper() knows such instructions.
 */
static inline void riscv_trace_element(CPURISCVState *env, target_ulong daddr,
                                       uint64_t data, unsigned size,
                                       bool store)
{
    if (riscv_trace_data_on(env)) {
        riscv_trace_element_on(env, daddr, data, size, store);
    }
}

#endif /* TARGET_RISCV_TRACE_ELEMENT_H */
