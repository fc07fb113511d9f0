/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "self.h"

unsigned plugin_work(unsigned n)
{
    volatile unsigned sum = n;

    for (unsigned i = 0; i < 40; i++) {
        sum = sum * 7 + i;
    }
    return sum;
}
