/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "self.h"

unsigned library_work(unsigned n)
{
    volatile unsigned sum = n;

    for (unsigned i = 0; i < 30; i++) {
        sum = sum * 3 + i;
    }
    return sum;
}
