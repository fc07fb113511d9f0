/*
 * Rounds: does what happened end in a loop?
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_ROUNDS_H
#define ETRACE_ROUNDS_H

#include <stdint.h>

/* The period of an end, and how long it has it; 0, if it has none */
typedef struct Rounds {
    unsigned period, length;
} Rounds;

/*
 * Of @values, @n of them in order: the longest end in which each value is the
 * same as that of one period before, with at least three periods.
 */
Rounds rounds_find(const uint64_t *values, unsigned n);

#endif /* ETRACE_ROUNDS_H */
