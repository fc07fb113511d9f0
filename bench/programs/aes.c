/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AES with keys of 128 bits, byte by byte */
#include "program.h"

static uint8_t sbox[256], inverse_sbox[256], keys[11][16];

static uint8_t times(uint8_t a, uint8_t b)
{
    uint8_t p = 0;

    for (; b; b >>= 1) {
        if (b & 1) {
            p ^= a;
        }
        a = a << 1 ^ (a & 0x80 ? 0x1b : 0);
    }
    return p;
}

static void make_sbox(void)
{
    uint8_t p = 1, q = 1;

    do {
        uint8_t x;

        p = p ^ p << 1 ^ (p & 0x80 ? 0x1b : 0);     /* times 3 */
        q ^= q << 1;                                /* divided by 3 */
        q ^= q << 2;
        q ^= q << 4;
        if (q & 0x80) {
            q ^= 0x09;
        }
        x = q ^ (uint8_t)(q << 1 | q >> 7) ^ (uint8_t)(q << 2 | q >> 6) ^
            (uint8_t)(q << 3 | q >> 5) ^ (uint8_t)(q << 4 | q >> 4) ^ 0x63;
        sbox[p] = x;
        inverse_sbox[x] = p;
    } while (p != 1);
    sbox[0] = 0x63;
    inverse_sbox[0x63] = 0;
}

static void expand(const uint8_t key[16])
{
    uint8_t *k = keys[0], factor = 1;

    memcpy(k, key, 16);
    for (int i = 16; i < 176; i += 4) {
        uint8_t t[4];

        memcpy(t, k + i - 4, 4);
        if (i % 16 == 0) {
            uint8_t first = t[0];

            t[0] = sbox[t[1]] ^ factor;
            t[1] = sbox[t[2]];
            t[2] = sbox[t[3]];
            t[3] = sbox[first];
            factor = times(factor, 2);
        }
        for (int j = 0; j < 4; j++) {
            k[i + j] = k[i + j - 16] ^ t[j];
        }
    }
}

static void add_key(uint8_t s[16], const uint8_t key[16])
{
    for (int i = 0; i < 16; i++) {
        s[i] ^= key[i];
    }
}

/* SubBytes and ShiftRows; direction 1, or 3 for the inverse */
static void substitute(uint8_t s[16], const uint8_t *box, int direction)
{
    uint8_t t[16];

    for (int i = 0; i < 16; i++) {
        t[i] = box[s[(i + 4 * direction * (i % 4)) % 16]];
    }
    memcpy(s, t, 16);
}

static void mix_columns(uint8_t s[16], const uint8_t factor[4])
{
    for (int c = 0; c < 16; c += 4) {
        uint8_t t[4];

        for (int i = 0; i < 4; i++) {
            t[i] = 0;
            for (int j = 0; j < 4; j++) {
                t[i] ^= times(s[c + j], factor[(j - i) & 3]);
            }
        }
        memcpy(s + c, t, 4);
    }
}

static void encrypt(uint8_t s[16])
{
    static const uint8_t factor[4] = { 2, 3, 1, 1 };

    add_key(s, keys[0]);
    for (int round = 1; round <= 10; round++) {
        substitute(s, sbox, 1);
        if (round < 10) {
            mix_columns(s, factor);
        }
        add_key(s, keys[round]);
    }
}

static void decrypt(uint8_t s[16])
{
    static const uint8_t factor[4] = { 14, 11, 13, 9 };

    for (int round = 10; round > 0; round--) {
        add_key(s, keys[round]);
        if (round < 10) {
            mix_columns(s, factor);
        }
        substitute(s, inverse_sbox, 3);
    }
    add_key(s, keys[0]);
}

const uint32_t program_sum = 0xd1504b59;

uint32_t program(void)
{
    /* the example of FIPS 197, appendix C.1 */
    uint8_t key[16], text[16], s[16];
    uint32_t sum = 0;

    make_sbox();
    for (int i = 0; i < 16; i++) {
        key[i] = i;
        text[i] = i * 0x11;
    }
    for (int round = 0; round < 12; round++) {
        expand(key);
        memcpy(s, text, 16);
        encrypt(s);
        for (int i = 0; i < 16; i++) {
            sum = mix(sum, s[i]);
        }
        memcpy(key, s, 16);
        decrypt(s);
        sum = mix(sum, memcmp(s, text, 16) == 0);
    }
    return sum;
}
