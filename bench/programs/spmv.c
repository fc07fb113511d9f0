/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sparse matrix times a vector */
#include "program.h"

#define ROWS 300
#define FILLED 2400

static double value[FILLED], x[ROWS], y[ROWS];
static int column[FILLED], first[ROWS + 1];

static void multiply(void)
{
    for (int i = 0; i < ROWS; i++) {
        double sum = 0;

        for (int k = first[i]; k < first[i + 1]; k++) {
            sum += value[k] * x[column[k]];
        }
        y[i] = sum;
    }
}

const uint32_t program_sum = 0xc2e75ece;

uint32_t program(void)
{
    uint32_t sum = 0;
    int n = 0;

    for (int i = 0; i < ROWS; i++) {
        int length = next_random() % 15;

        first[i] = n;
        x[i] = i % 17;
        for (int k = 0; k < length && n < FILLED; k++, n++) {
            value[n] = (int)(next_random() % 9) - 4;
            column[n] = next_random() % ROWS;
        }
    }
    first[ROWS] = n;
    for (int round = 0; round < 40; round++) {
        multiply();
        for (int i = 0; i < ROWS; i++) {
            x[i] = (int32_t)y[i] % 64;
        }
        sum = mix(sum, (int32_t)y[round]);
    }
    return sum;
}
