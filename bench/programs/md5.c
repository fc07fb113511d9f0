/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MD5 of a message */
#include "program.h"

static uint32_t k[64], state[4];

/* floor(2^32 * |sin i|), with Taylor's series */
static void make_constants(void)
{
    for (int i = 0; i < 64; i++) {
        double x = i + 1, term, sine;

        while (x > 3.14159265358979323846) {
            x -= 3.14159265358979323846;
        }
        term = sine = x;
        for (int n = 2; n < 40; n += 2) {
            term = -term * x * x / (n * (n + 1));
            sine += term;
        }
        k[i] = (uint32_t)(sine * 4294967296.0);
    }
}

static uint32_t turn(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static void block(const uint32_t m[16])
{
    static const uint8_t shift[4][4] = {
        { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 },
        { 6, 10, 15, 21 },
    };
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];

    for (int i = 0; i < 64; i++) {
        uint32_t f, t;
        int g;

        switch (i / 16) {
        case 0:
            f = (b & c) | (~b & d);
            g = i;
            break;
        case 1:
            f = (d & b) | (~d & c);
            g = 5 * i + 1;
            break;
        case 2:
            f = b ^ c ^ d;
            g = 3 * i + 5;
            break;
        default:
            f = c ^ (b | ~d);
            g = 7 * i;
            break;
        }
        t = d;
        d = c;
        c = b;
        b += turn(a + f + k[i] + m[g % 16], shift[i / 16][i % 4]);
        a = t;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

const uint32_t program_sum = 0x21bd75df;

uint32_t program(void)
{
    /* "abc" with its padding: RFC 1321 has the hash */
    uint32_t m[16] = { 0x80636261, [14] = 24 }, sum;

    make_constants();
    state[0] = 0x67452301;
    state[1] = 0xefcdab89;
    state[2] = 0x98badcfe;
    state[3] = 0x10325476;
    block(m);
    sum = mix(0, state[0] == 0x98500190);
    for (int round = 0; round < 500; round++) {
        m[round % 16] += round;
        block(m);
        sum = mix(sum, state[round % 4]);
    }
    return sum;
}
