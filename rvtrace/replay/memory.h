/*
 * Memory, as far as it is known: bytes that were loaded, stored or executed
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_REPLAY_MEMORY_H
#define ETRACE_REPLAY_MEMORY_H

#include <glib.h>

typedef struct Memory Memory;

/* Memory of which nothing is known. */
Memory *memory_new(void);

/*
 * The same as @m, from here on by itself: pages are shared until one of the two
 * writes to them.
 */
Memory *memory_copy(const Memory *m);
void memory_free(Memory *m);

/*
 * From now on the @len bytes at @addr in address space @space are those of
 * @value, little-endian; @len is at most 8.
 */
void memory_put(Memory *m, unsigned space, uint64_t addr, uint64_t value,
                unsigned len);

/* Nothing is known of them any more. */
void memory_forget(Memory *m, unsigned space, uint64_t addr, uint64_t len);
void memory_forget_all(Memory *m);

/*
 * Read up to @len bytes into @buf. Returns how many are known, from the first
 * one on.
 */
size_t memory_read(const Memory *m, unsigned space, uint64_t addr,
                   uint8_t *buf, size_t len);

/*
 * Do @m and its copies take half of the room that there is for them? If so,
 * free some copies: a memory that finds no room forgets all it knows.
 */
bool memory_is_crowded(const Memory *m);

/* Has @m forgotten all it knew, for want of room? True once for each time. */
bool memory_take_overflow(Memory *m);

#endif /* ETRACE_REPLAY_MEMORY_H */
