/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Coefficients from a bit stream, inverse cosine transform, colours */
#include "program.h"

#define BLOCKS 60

static uint8_t stream[BLOCKS * 64], pixel[64];
static uint32_t at;
static int16_t block[64];
static uint8_t order[64];

static uint32_t bits(int n)
{
    uint32_t value = 0;

    while (n--) {
        value = value << 1 | (stream[at >> 3] >> (7 - (at & 7)) & 1);
        at = (at + 1) % (8 * sizeof(stream));
    }
    return value;
}

/* Zigzag */
static void make_order(void)
{
    int x = 0, y = 0;

    for (int i = 0; i < 64; i++) {
        order[i] = y * 8 + x;
        if ((x + y) % 2 == 0) {
            if (x == 7) {
                y++;
            } else {
                x++;
                y -= y > 0;
            }
        } else if (y == 7) {
            x++;
        } else {
            y++;
            x -= x > 0;
        }
    }
}

static int extend(int value, int n)
{
    return n && value < 1 << (n - 1) ? value - (1 << n) + 1 : value;
}

/* A code of up to 4 ones and a zero is a size, then comes a run */
static void read_block(void)
{
    memset(block, 0, sizeof(block));
    block[0] = extend(bits(6), 6) * 16;
    for (int i = 1; i < 64; i++) {
        int size = 0;

        while (size < 5 && bits(1)) {
            size++;
        }
        if (size == 5) {
            break;
        }
        if (size == 0) {
            i += bits(3);
            continue;
        }
        block[order[i]] = extend(bits(size), size) * (8 + i / 4);
    }
}

static inline int scale(int value, int factor)
{
    return (value * factor + 128) >> 8;
}

/* Eight values STEP apart */
static void transform(int16_t *v, int step)
{
    int e0 = v[0] + v[4 * step], e1 = v[0] - v[4 * step];
    int e2 = scale(v[2 * step], 98) - scale(v[6 * step], 237);
    int e3 = scale(v[2 * step], 237) + scale(v[6 * step], 98);
    int o0 = scale(v[step], 251) + scale(v[7 * step], 50);
    int o1 = scale(v[3 * step], 213) + scale(v[5 * step], 142);
    int o2 = scale(v[3 * step], 142) - scale(v[5 * step], 213);
    int o3 = scale(v[step], 50) - scale(v[7 * step], 251);
    int even[4] = { e0 + e3, e1 + e2, e1 - e2, e0 - e3 };
    int odd[4] = { o0 + o1, scale(o0 - o1 + o2, 181),
                   scale(o0 - o1 - o2, 181), o3 - o2 };

    for (int i = 0; i < 4; i++) {
        v[i * step] = (even[i] + odd[i]) >> 1;
        v[(7 - i) * step] = (even[i] - odd[i]) >> 1;
    }
}

static uint8_t clamp(int value)
{
    if (value < 0) {
        return 0;
    }
    return value > 255 ? 255 : value;
}

static void inverse(void)
{
    for (int i = 0; i < 8; i++) {
        int16_t *row = block + 8 * i;

        if (row[1] | row[2] | row[3] | row[4] | row[5] | row[6] | row[7]) {
            transform(row, 1);
        } else {
            for (int j = 1; j < 8; j++) {
                row[j] = row[0];
            }
        }
    }
    for (int i = 0; i < 8; i++) {
        transform(block + i, 8);
    }
    for (int i = 0; i < 64; i++) {
        pixel[i] = clamp((block[i] >> 3) + 128);
    }
}

const uint32_t program_sum = 0xea413aae;

uint32_t program(void)
{
    uint32_t sum = 0;

    make_order();
    for (size_t i = 0; i < sizeof(stream); i++) {
        stream[i] = next_random() >> 11;
    }
    for (int i = 0; i < BLOCKS * 2; i++) {
        read_block();
        inverse();
        for (int j = 0; j < 64; j++) {
            sum = mix(sum, pixel[j]);
        }
    }
    return sum;
}
