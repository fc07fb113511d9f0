/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Roots of cubic polynomials in double precision */
#include "program.h"

static double root(double x)
{
    double y = x > 1 ? x : 1;

    if (x <= 0) {
        return 0;
    }
    for (int i = 0; i < 40; i++) {
        double next = (y + x / y) / 2;

        if (next >= y) {
            break;
        }
        y = next;
    }
    return y;
}

static double value(const double c[4], double x)
{
    return ((c[0] * x + c[1]) * x + c[2]) * x + c[3];
}

static double bisect(const double c[4], double low, double high)
{
    int rising = value(c, high) > 0;

    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;

        if ((value(c, middle) > 0) == rising) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return low;
}

/* Finds the real roots between -1000 and 1000; returns how many. */
static int solve(const double c[4], double roots[3])
{
    double edge[4] = { -1000, 0, 0, 1000 };
    double d = c[1] * c[1] - 3 * c[0] * c[2];
    int n_edges = 2, n = 0;

    edge[1] = 1000;
    if (d > 0) {
        double s = root(d);
        double x = (-c[1] - s) / (3 * c[0]), y = (-c[1] + s) / (3 * c[0]);

        edge[1] = x < y ? x : y;
        edge[2] = x < y ? y : x;
        n_edges = 4;
    }
    for (int i = 0; i + 1 < n_edges; i++) {
        if ((value(c, edge[i]) > 0) != (value(c, edge[i + 1]) > 0)) {
            roots[n++] = bisect(c, edge[i], edge[i + 1]);
        }
    }
    return n;
}

const uint32_t program_sum = 0xb423c2b6;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int a = 1; a < 6; a++) {
        for (int b = 10; b > -10; b -= 3) {
            for (int k = 5; k < 15; k += 2) {
                double c[4] = { a, b, k, -k * b * 0.5 }, roots[3];
                int n = solve(c, roots);

                sum = mix(sum, n);
                for (int i = 0; i < n; i++) {
                    sum = mix(sum, (int32_t)(roots[i] * 65536));
                }
            }
        }
    }
    return sum;
}
