/*
 * The decoder of chapter 11: what its parts share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_UNIT_ETRACE_REFDECODER_PRIVATE_H
#define TESTS_UNIT_ETRACE_REFDECODER_PRIVATE_H

#include "etrace-refdecoder.h"

void ref_error(RefDecoder *d, const char *what);
const RefInstr *ref_get_instr(RefDecoder *d, uint64_t pc);

static inline bool ref_is_2_1(const RefDecoder *d)
{
    return d->discovery_response.wire_format == ETRACE_WIRE_2_1_DRAFT;
}

static inline uint64_t ref_mask_address(const RefDecoder *d, uint64_t address)
{
    return d->discovery_response.iaddress_width == 32 ? (uint32_t)address
                                                      : address;
}

static inline bool ref_includes_bpred_count(const ETracePacket *te_inst)
{
    return te_inst->format == 0 && te_inst->subformat == 0;
}

/* Determine if branch prediction failed */
static inline bool ref_is_failed_bpred(const ETracePacket *te_inst)
{
    return ref_includes_bpred_count(te_inst) &&
           (te_inst->branch_fmt == 0 || te_inst->branch_fmt == 3);
}

/* Branch predictor, jump target cache, return stack: 2.0.5 */
void ref_bpred_init(RefDecoder *d);
void ref_bpred_update(RefDecoder *d, uint64_t address, bool taken);
bool ref_bpred_taken(RefDecoder *d, uint64_t address,
                     const ETracePacket *te_inst);
void ref_cache_init(RefDecoder *d);
void ref_cache_update(RefDecoder *d, uint64_t address);
uint64_t ref_cache_lookup(RefDecoder *d, unsigned index);
void ref_push_return_stack(RefDecoder *d, uint64_t address);
uint64_t ref_pop_return_stack(RefDecoder *d);

#endif /* TESTS_UNIT_ETRACE_REFDECODER_PRIVATE_H */
