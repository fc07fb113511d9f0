/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256, its constants computed from primes */
#include "program.h"

static uint32_t k[64], h[8];

/* The first 32 bits behind the point of the square or cube root of n */
static uint32_t fraction(uint32_t n, int cube)
{
    __uint128_t low = 0, high = (__uint128_t)8 << 32;

    while (high - low > 1) {
        __uint128_t x = (low + high) / 2;
        int above = cube ? x * x * x > (__uint128_t)n << 96
                         : x * x > (__uint128_t)n << 64;

        if (above) {
            high = x;
        } else {
            low = x;
        }
    }
    return low;
}

static void make_constants(void)
{
    int n = 0;

    for (uint32_t p = 2; n < 64; p++) {
        uint32_t d = 2;

        while (d * d <= p && p % d) {
            d++;
        }
        if (d * d > p) {
            if (n < 8) {
                h[n] = fraction(p, 0);
            }
            k[n++] = fraction(p, 1);
        }
    }
}

static inline uint32_t turn(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void block(const uint8_t *m)
{
    uint32_t w[64], s[8];

    for (int i = 0; i < 16; i++, m += 4) {
        w[i] = (uint32_t)m[0] << 24 | m[1] << 16 | m[2] << 8 | m[3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];

        w[i] = w[i - 16] + w[i - 7] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) +
               (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
    memcpy(s, h, sizeof(s));
    for (int i = 0; i < 64; i++) {
        uint32_t e = s[4], a = s[0];
        uint32_t t1 = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                      ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i];
        uint32_t t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
                      ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

        for (int j = 7; j > 0; j--) {
            s[j] = s[j - 1];
        }
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) {
        h[i] += s[i];
    }
}

const uint32_t program_sum = 0x928f947f;

uint32_t program(void)
{
    uint8_t text[64] = "abc\x80";
    uint32_t sum;

    make_constants();
    text[63] = 24;
    block(text);
    sum = mix(0, h[0] == 0xba7816bf);      /* FIPS 180-2, B.1 */
    for (int round = 0; round < 250; round++) {
        text[round % 64] += round;
        block(text);
        sum = mix(sum, h[round % 8]);
    }
    return sum;
}
