/*
 * Stamps on bytes of memory: a number for each, that of its last access
 *
 * Kept as a memory of its own (memory_new()), which takes about as much room as
 * the bytes.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_REPLAY_STAMPS_H
#define ETRACE_REPLAY_STAMPS_H

#include "replay/memory.h"

/*
 * Give the @len bytes at @addr in address space @space the stamp @stamp, which
 * is not 0, and not less than any before. Returns false if there was no room
 * left: then all other bytes have lost theirs.
 */
bool stamps_put(Memory *stamps, unsigned space, uint64_t addr, uint32_t stamp,
                unsigned len);

/* The stamp of the byte at @addr; 0: none */
uint32_t stamps_get(const Memory *stamps, unsigned space, uint64_t addr);

#endif /* ETRACE_REPLAY_STAMPS_H */
