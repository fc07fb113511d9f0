/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inverse and determinant of small matrices, by elimination with pivots */
#include "program.h"

#define N 6

static double magnitude(double x)
{
    return x < 0 ? -x : x;
}

static double invert(double m[N][N], double inverse[N][N])
{
    double determinant = 1;

    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            inverse[i][j] = i == j;
        }
    }
    for (int i = 0; i < N; i++) {
        int pivot = i;
        double factor;

        for (int j = i + 1; j < N; j++) {
            if (magnitude(m[j][i]) > magnitude(m[pivot][i])) {
                pivot = j;
            }
        }
        if (magnitude(m[pivot][i]) < 1e-6) {
            return 0;
        }
        if (pivot != i) {
            determinant = -determinant;
            for (int k = 0; k < N; k++) {
                double t = m[i][k];

                m[i][k] = m[pivot][k];
                m[pivot][k] = t;
                t = inverse[i][k];
                inverse[i][k] = inverse[pivot][k];
                inverse[pivot][k] = t;
            }
        }
        determinant *= m[i][i];
        factor = 1 / m[i][i];
        for (int k = 0; k < N; k++) {
            m[i][k] *= factor;
            inverse[i][k] *= factor;
        }
        for (int j = 0; j < N; j++) {
            if (j == i) {
                continue;
            }
            factor = m[j][i];
            for (int k = 0; k < N; k++) {
                m[j][k] -= factor * m[i][k];
                inverse[j][k] -= factor * inverse[i][k];
            }
        }
    }
    return determinant;
}

const uint32_t program_sum = 0x6e385d11;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int round = 0; round < 120; round++) {
        double m[N][N], inverse[N][N], determinant;

        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                m[i][j] = (int)(next_random() % 19) - 9;
            }
        }
        determinant = invert(m, inverse);
        sum = mix(sum, (int32_t)(determinant * 4));
        if (determinant != 0) {
            sum = mix(sum, (int32_t)(inverse[1][2] * 4096));
        }
    }
    return sum;
}
