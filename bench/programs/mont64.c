/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Montgomery's multiplication modulo 64-bit numbers */
#include "program.h"

typedef struct Wide {
    uint64_t high, low;
} Wide;

static Wide multiply(uint64_t a, uint64_t b)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
    uint64_t middle = (p00 >> 32) + (uint32_t)p01 + (uint32_t)p10;

    return (Wide){ p11 + (p01 >> 32) + (p10 >> 32) + (middle >> 32),
                   middle << 32 | (uint32_t)p00 };
}

/* The remainder of a number below modulus * 2^64 */
static uint64_t reduce(Wide x, uint64_t modulus)
{
    for (int i = 0; i < 64; i++) {
        uint64_t carry = x.high >> 63;

        x.high = x.high << 1 | x.low >> 63;
        x.low <<= 1;
        if (carry || x.high >= modulus) {
            x.high -= modulus;
            x.low++;
        }
    }
    return x.high;
}

/* The inverse of an odd number modulo 2^64, by Newton */
static uint64_t inverse(uint64_t x)
{
    uint64_t y = x;

    while (x * y != 1) {
        y *= 2 - x * y;
    }
    return y;
}

static uint64_t montgomery(uint64_t a, uint64_t b, uint64_t modulus,
                           uint64_t factor)
{
    Wide product = multiply(a, b);
    Wide other = multiply(product.low * factor, modulus);
    uint64_t low = product.low + other.low;
    uint64_t carry = low < product.low;
    uint64_t high = product.high + other.high + carry;

    if (high < product.high || (carry && high == product.high) ||
        high >= modulus) {
        high -= modulus;
    }
    return high;
}

const uint32_t program_sum = 0x6cb7b06b;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int round = 0; round < 400; round++) {
        uint64_t high = next_random();
        uint64_t modulus = high << 32 | next_random() | 1;
        uint64_t a = ((uint64_t)next_random() << 32 | 77) % modulus;
        uint64_t b = ((uint64_t)next_random() << 32 | 99) % modulus;
        uint64_t factor = -inverse(modulus);
        uint64_t am = reduce((Wide){ a, 0 }, modulus);
        uint64_t bm = reduce((Wide){ b, 0 }, modulus);
        uint64_t p = montgomery(montgomery(am, bm, modulus, factor), 1,
                                modulus, factor);

        sum = mix(sum, p == reduce(multiply(a, b), modulus));
        sum = mix(sum, p);
    }
    return sum;
}
