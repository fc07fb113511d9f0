/*
 * Calls, tail calls, recursion, longjmp
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdbool.h>
#include "walk.h"

void begin(void)
{
    struct walk w = { .random = 0x9e3779b9 };

    for (unsigned i = 0; i < ROUNDS; i++) {
        walk_any(&w);
        if (i % 256 == 128) {
            walk_down(&w, 600);
        }
    }
    pass();
}
