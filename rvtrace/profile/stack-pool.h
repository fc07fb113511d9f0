/*
 * Pieces of a file that are the same again and again, kept once
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_STACK_POOL_H
#define ETRACE_STACK_POOL_H

#include "base/bytes.h"

typedef struct StackPool StackPool;

StackPool *stack_pool_new(void);
void stack_pool_free(StackPool *pool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StackPool, stack_pool_free)

/* The number, from 0, of a piece with these bytes; takes @piece over. */
unsigned stack_pool_add(StackPool *pool, GByteArray *piece);

void stack_pool_put(const StackPool *pool, GByteArray *out);

/*
 * Read what stack_pool_put() wrote: an array of ByteReader, one for each piece,
 * which refer to @in's data. Returns NULL if it makes no sense.
 */
GArray *stack_pool_get(ByteReader *in);

#endif /* ETRACE_STACK_POOL_H */
