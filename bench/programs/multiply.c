/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Products by shifts and additions */
#include "program.h"

static uint32_t multiply(uint32_t x, uint32_t y)
{
    uint32_t product = 0;

    for (int i = 0; i < 32; i++) {
        if (x & 1) {
            product += y << i;
        }
        x >>= 1;
    }
    return product;
}

const uint32_t program_sum = 0x35bed9f8;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int i = 0; i < 4000; i++) {
        uint32_t x = next_random(), y = next_random() >> (i & 31);
        uint32_t product = multiply(x, y);

        sum = mix(sum, product == x * y ? product : 1);
    }
    return sum;
}
