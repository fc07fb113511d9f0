/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A product of two matrices of integers */
#include "program.h"

#define N 20

static int32_t a[N][N], b[N][N], c[N][N];

static void fill(int32_t m[N][N])
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            m[i][j] = next_random() % 8095;
        }
    }
}

static void multiply(void)
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            int32_t sum = 0;

            for (int k = 0; k < N; k++) {
                sum += a[i][k] * b[k][j];
            }
            c[i][j] = sum;
        }
    }
}

const uint32_t program_sum = 0xd62ea01d;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int round = 0; round < 12; round++) {
        fill(a);
        fill(b);
        multiply();
        for (int i = 0; i < N; i++) {
            sum = mix(sum, c[i][N - 1 - i]);
        }
    }
    return sum;
}
