/*
 * Rounds: does what happened end in a loop?
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/questions/rounds.h"

Rounds rounds_find(const uint64_t *values, unsigned n)
{
    /*
     * same[p]: how many values, from the last one back, are those of @p before:
     * the Z-function of the reversed list, which takes time in proportion to it
     */
    g_autofree unsigned *same = g_new0(unsigned, n + 1);
    unsigned from = 0, to = 0;      /* a stretch that is known to be the same */
    Rounds best = { 0 };

#define BACK(i) values[n - 1 - (i)]
    for (unsigned p = 1; p < n; p++) {
        if (p < to) {
            same[p] = MIN(to - p, same[p - from]);
        }
        while (p + same[p] < n && BACK(same[p]) == BACK(p + same[p])) {
            same[p]++;
        }
        if (p + same[p] > to) {
            from = p;
            to = p + same[p];
        }
        if (same[p] / 2 >= p && p + same[p] > best.length) {
            best = (Rounds) { .period = p, .length = p + same[p] };
        }
    }
#undef BACK
    return best;
}
