/*
 * E-Trace jump target cache, as encoder and decoder keep it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "jump-cache.h"

void etrace_jump_cache_init(ETraceJumpCache *c, const ETraceParams *params)
{
    assert(params->cache_size <= ETRACE_CACHE_SIZE_MAX);
    c->lsb = params->iaddress_lsb;
    c->mask = (1u << params->cache_size) - 1;
    c->used = true;
    etrace_jump_cache_reset(c);
}

void etrace_jump_cache_reset(ETraceJumpCache *c)
{
    if (c->used) {
        for (unsigned i = 0; i <= c->mask; i++) {
            c->target[i] = ETRACE_JUMP_CACHE_NONE;
        }
        c->used = false;
    }
}
