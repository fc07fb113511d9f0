/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters and transforms of a signal processor */
#include "program.h"

#define N 100

static int16_t x[N + 64], h[64];
static int32_t y[N];

static void fir(int taps)
{
    for (int i = 0; i < N; i++) {
        int32_t sum = 0;

        for (int j = 0; j < taps; j++) {
            sum += x[i + j] * h[j];
        }
        y[i] = sum >> 15;
    }
}

/* Two samples at a time, no saturation */
static void fir_unrolled(int taps)
{
    for (int i = 0; i < N; i += 2) {
        int32_t s0 = 0, s1 = 0;

        for (int j = 0; j < taps; j += 2) {
            s0 += x[i + j] * h[j] + x[i + j + 1] * h[j + 1];
            s1 += x[i + j + 1] * h[j] + x[i + j + 2] * h[j + 1];
        }
        y[i] = s0 >> 15;
        y[i + 1] = s1 >> 15;
    }
}

static int32_t dot(const int16_t *a, const int16_t *b, int n)
{
    int32_t sum = 0;

    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static int32_t lattice(int n, const int16_t *k, int16_t *b, int32_t f)
{
    f -= b[n - 1] * k[n - 1];
    for (int i = n - 2; i >= 0; i--) {
        f -= b[i] * k[i];
        b[i + 1] = b[i] + (k[i] * (f >> 16) >> 16);
    }
    b[0] = f >> 16;
    return f;
}

static int32_t biquads(int32_t in, const int16_t *c, int16_t *w, int n)
{
    for (int i = 0; i < n; i++, c += 4, w += 2) {
        int32_t middle = in - ((c[0] * w[0] + c[1] * w[1]) >> 15);

        in = middle + ((c[2] * w[0] + c[3] * w[1]) >> 15);
        w[1] = w[0];
        w[0] = middle;
    }
    return in;
}

const uint32_t program_sum = 0x0a00d42c;

uint32_t program(void)
{
    int16_t w[16] = { 0 }, b[16] = { 0 };
    uint32_t sum = 0;

    for (size_t i = 0; i < ARRAY_SIZE(x); i++) {
        x[i] = (int)(next_random() & 0x7fff) - 0x4000;
    }
    for (size_t i = 0; i < ARRAY_SIZE(h); i++) {
        h[i] = (int)(next_random() & 0x1fff) - 0x1000;
    }
    for (int round = 0; round < 8; round++) {
        fir(50);
        sum = mix(sum, y[round]);
        fir_unrolled(32);
        sum = mix(sum, y[N - 1 - round]);
        sum = mix(sum, dot(x, x + 4, N));
        for (int i = 0; i < N; i++) {
            sum = mix(sum, lattice(16, h, b, y[i]));
            sum = mix(sum, biquads(x[i] >> 2, h + 8, w, 8));
        }
    }
    return sum;
}
