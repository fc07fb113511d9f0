/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mean, variance and correlation of two rows of numbers */
#include "program.h"

#define N 100

static double a[N], b[N];

static void fill(double *row)
{
    for (int i = 0; i < N; i++) {
        row[i] = i + (next_random() % 8095) / 8095.0;
    }
}

static double square(double x)
{
    return x * x;
}

static double root(double x)
{
    double y = x > 1 ? x : 1;

    for (int i = 0; i < 30; i++) {
        y = (y + x / y) / 2;
    }
    return y;
}

static void moments(const double *row, double *mean, double *variance)
{
    double sum = 0;

    for (int i = 0; i < N; i++) {
        sum += row[i];
    }
    *mean = sum / N;
    sum = 0;
    for (int i = 0; i < N; i++) {
        sum += square(row[i] - *mean);
    }
    *variance = sum / N;
}

static double correlation(double mean_a, double mean_b)
{
    double up = 0, x = 0, y = 0;

    for (int i = 0; i < N; i++) {
        up += (a[i] - mean_a) * (b[i] - mean_b);
        x += square(a[i] - mean_a);
        y += square(b[i] - mean_b);
    }
    return up / (root(x) * root(y));
}

const uint32_t program_sum = 0xbc077b35;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int round = 0; round < 60; round++) {
        double mean_a, mean_b, variance_a, variance_b;

        fill(a);
        moments(a, &mean_a, &variance_a);
        fill(b);
        moments(b, &mean_b, &variance_b);
        sum = mix(sum, (int32_t)(mean_a * 1e5));
        sum = mix(sum, (int32_t)(root(variance_b) * 1e5));
        sum = mix(sum, (int32_t)(correlation(mean_a, mean_b) * 1e8));
    }
    return sum;
}
