/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A product of two matrices in double precision, block by block */
#include "program.h"

#define N 24
#define BLOCK 8

static double a[N][N], b[N][N], c[N][N];

static void block(int i0, int j0, int k0)
{
    for (int i = i0; i < i0 + BLOCK; i++) {
        for (int j = j0; j < j0 + BLOCK; j += 4) {
            double s0 = c[i][j], s1 = c[i][j + 1];
            double s2 = c[i][j + 2], s3 = c[i][j + 3];

            for (int k = k0; k < k0 + BLOCK; k++) {
                s0 += a[i][k] * b[k][j];
                s1 += a[i][k] * b[k][j + 1];
                s2 += a[i][k] * b[k][j + 2];
                s3 += a[i][k] * b[k][j + 3];
            }
            c[i][j] = s0;
            c[i][j + 1] = s1;
            c[i][j + 2] = s2;
            c[i][j + 3] = s3;
        }
    }
}

const uint32_t program_sum = 0x03ac74b9;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            a[i][j] = next_random() % 16;
            b[i][j] = next_random() % 16;
        }
    }
    for (int round = 0; round < 12; round++) {
        memset(c, 0, sizeof(c));
        for (int i = 0; i < N; i += BLOCK) {
            for (int j = 0; j < N; j += BLOCK) {
                for (int k = 0; k < N; k += BLOCK) {
                    block(i, j, k);
                }
            }
        }
        sum = mix(sum, (int32_t)c[round][N - 1]);
        a[round][round] += 1;
    }
    return sum;
}
