/*
 * The decoder of chapter 11: branch predictor, jump target cache, return stack
 *
 * As in the draft 2.0.5, under its names; D7 is explained in
 * etrace-refdecoder.c.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-refdecoder-private.h"

/* Extract lookup index from address */
static unsigned get_index(const RefDecoder *d, uint64_t address, unsigned size)
{
    return (address >> d->discovery_response.iaddress_lsb) &
           ((1u << size) - 1);
}

/* Initialize branch predictor */
void ref_bpred_init(RefDecoder *d)
{
    for (unsigned i = 0; i < 1u << d->discovery_response.bpred_size; i++) {
        d->bpred[i][1] = false;
        d->bpred[i][0] = true;
    }
}

/* Update branch predictor */
void ref_bpred_update(RefDecoder *d, uint64_t address, bool taken)
{
    unsigned index;

    if (!(d->options & ETRACE_IOPT_BRANCH_PREDICTION)) {
        return;
    }
    index = get_index(d, address, d->discovery_response.bpred_size);
    if (d->bpred[index][1] != d->bpred[index][0]) {
        d->bpred[index][1] = taken;
    }
    d->bpred[index][0] = taken;
}

/* Return the predicted branch outcome */
bool ref_bpred_taken(RefDecoder *d, uint64_t address,
                        const ETracePacket *te_inst)
{
    bool taken;

    if (!(d->options & ETRACE_IOPT_BRANCH_PREDICTION)) {
        ref_error(d, "branch count without branch prediction");
    }
    taken = d->bpred[get_index(d, address,
                               d->discovery_response.bpred_size)][1];
    if (d->branches == 1 && ref_is_failed_bpred(te_inst)) {             /* D7 */
        taken = !taken;
    }
    return taken;
}

void ref_cache_update(RefDecoder *d, uint64_t address)
{
    if (d->options & ETRACE_IOPT_JUMP_TARGET_CACHE) {
        d->cache[get_index(d, address, d->discovery_response.cache_size)] =
            address;
    }
}

void ref_cache_init(RefDecoder *d)
{
    for (unsigned i = 0; i < REF_CACHE_MAX; i++) {
        d->cache[i] = UINT64_MAX;
    }
}

uint64_t ref_cache_lookup(RefDecoder *d, unsigned index)
{
    if (!(d->options & ETRACE_IOPT_JUMP_TARGET_CACHE)) {
        ref_error(d, "cache index without jump target cache");
    }
    if (d->cache[index] == UINT64_MAX) {
        ref_error(d, "cache index without target");
    }
    return d->cache[index];
}

/* Push address onto return stack */
void ref_push_return_stack(RefDecoder *d, uint64_t address)
{
    const ETraceParams *p = &d->discovery_response;
    unsigned irstack_depth_max = p->return_stack_size
                                 ? 1u << p->return_stack_size
                                 : 1u << p->call_counter_size;
    unsigned call_counter_max = p->return_stack_size && ref_is_2_1(d)
                                ? (1u << p->call_counter_size) - 1 : 0;
    uint64_t link = ref_mask_address(d, address +
                                        ref_get_instr(d, address)->size);

    if (!(d->options & ETRACE_IOPT_IMPLICIT_RETURN)) {
        return;
    }
    if (d->irstack_depth > 0 &&
        d->return_stack[d->irstack_depth - 1].link == link &&
        d->return_stack[d->irstack_depth - 1].count != call_counter_max) {
        d->return_stack[d->irstack_depth - 1].count++;
        return;
    }
    if (d->irstack_depth == irstack_depth_max) {
        /* Delete oldest entry from stack to make room for new entry */
        d->irstack_depth--;
        for (unsigned i = 0; i < d->irstack_depth; i++) {
            d->return_stack[i] = d->return_stack[i + 1];
        }
    }
    d->return_stack[d->irstack_depth].link = link;
    d->return_stack[d->irstack_depth].count = 0;
    d->irstack_depth++;
}

/* Pop address from return stack */
uint64_t ref_pop_return_stack(RefDecoder *d)
{
    uint64_t link = d->return_stack[d->irstack_depth - 1].link;

    if (d->return_stack[d->irstack_depth - 1].count > 0) {
        d->return_stack[d->irstack_depth - 1].count--;
    } else {
        d->irstack_depth--;
    }
    return link;
}
