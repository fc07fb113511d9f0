/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linear equations in integers by LU decomposition */
#include "program.h"

#define N 12

static int64_t a[N][N], b[N], x[N], y[N];

static void decompose(void)
{
    for (int i = 0; i < N; i++) {
        for (int j = i + 1; j < N; j++) {
            int64_t w = a[j][i];

            for (int k = 0; k < i; k++) {
                w -= a[j][k] * a[k][i];
            }
            a[j][i] = a[i][i] ? w / a[i][i] : w;
        }
        for (int j = i + 1; j < N; j++) {
            int64_t w = a[i + 1 < N ? i + 1 : i][j];

            for (int k = 0; k <= i; k++) {
                w -= a[i + 1 < N ? i + 1 : i][k] * a[k][j];
            }
            a[i + 1 < N ? i + 1 : i][j] = w % 65521;
        }
    }
}

static void substitute(void)
{
    y[0] = b[0];
    for (int i = 1; i < N; i++) {
        y[i] = b[i];
        for (int j = 0; j < i; j++) {
            y[i] -= a[i][j] * y[j] % 65521;
        }
    }
    for (int i = N - 1; i >= 0; i--) {
        int64_t w = y[i];

        for (int j = i + 1; j < N; j++) {
            w -= a[i][j] * x[j] % 65521;
        }
        x[i] = a[i][i] ? w / a[i][i] : w;
    }
}

const uint32_t program_sum = 0x701fffc6;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int round = 0; round < 70; round++) {
        for (int i = 0; i < N; i++) {
            b[i] = 0;
            for (int j = 0; j < N; j++) {
                a[i][j] = i + j + 2 + (i == j ? 10 * round : 0);
                b[i] += a[i][j];
            }
        }
        decompose();
        substitute();
        for (int i = 0; i < N; i++) {
            sum = mix(sum, x[i]);
        }
    }
    return sum;
}
