/*
 * E-Trace jump target cache, as encoder and decoder keep it
 *
 * Section 3.2.7, "Jump target cache mode".
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_JUMP_CACHE_H
#define HW_TRACE_ETRACE_JUMP_CACHE_H

#include "etrace.h"

/* cache_size_p, at most */
#define ETRACE_CACHE_SIZE_MAX   10

/* No address: it is odd. */
#define ETRACE_JUMP_CACHE_NONE  UINT64_MAX

typedef struct ETraceJumpCache {
    uint8_t lsb;                /* of the address that is part of the index */
    bool used;                  /* since it was invalidated */
    uint16_t mask;
    uint64_t target[1u << ETRACE_CACHE_SIZE_MAX];
} ETraceJumpCache;

void etrace_jump_cache_init(ETraceJumpCache *c, const ETraceParams *params);

/* As a synchronisation packet does: no entry is valid any more. */
void etrace_jump_cache_reset(ETraceJumpCache *c);

static inline unsigned etrace_jump_cache_index(const ETraceJumpCache *c,
                                               uint64_t target)
{
    return (target >> c->lsb) & c->mask;
}

/* The target at @index, or ETRACE_JUMP_CACHE_NONE */
static inline uint64_t etrace_jump_cache_get(const ETraceJumpCache *c,
                                             unsigned index)
{
    return c->target[index & c->mask];
}

static inline void etrace_jump_cache_put(ETraceJumpCache *c, uint64_t target)
{
    c->target[etrace_jump_cache_index(c, target)] = target;
    c->used = true;
}

/* Nothing is at the index of @target any more. */
static inline void etrace_jump_cache_drop(ETraceJumpCache *c, uint64_t target)
{
    c->target[etrace_jump_cache_index(c, target)] = ETRACE_JUMP_CACHE_NONE;
}

#endif /* HW_TRACE_ETRACE_JUMP_CACHE_H */
