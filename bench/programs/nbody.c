/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Planets that attract each other */
#include "program.h"

#define BODIES 5

typedef struct Body {
    double x[3], v[3], mass;
} Body;

static Body bodies[BODIES] = {
    { { 0, 0, 0 }, { 0, 0, 0 }, 39.5 },
    { { 4.84, -1.16, -0.10 }, { 0.6, 2.8, -0.02 }, 0.037 },
    { { 8.34, 4.12, -0.40 }, { -1.01, 1.82, 0.008 }, 0.011 },
    { { 12.89, -15.11, -0.22 }, { 1.08, 0.86, -0.01 }, 0.0017 },
    { { 15.37, -25.92, 0.18 }, { 0.98, 0.59, -0.03 }, 0.002 },
};

static double root(double x)
{
    double y = x > 1 ? x : 1;

    for (int i = 0; i < 12; i++) {
        y = (y + x / y) / 2;
    }
    return y;
}

static void advance(double dt)
{
    for (int i = 0; i < BODIES; i++) {
        for (int j = i + 1; j < BODIES; j++) {
            Body *a = &bodies[i], *b = &bodies[j];
            double d[3], square = 0, force;

            for (int k = 0; k < 3; k++) {
                d[k] = a->x[k] - b->x[k];
                square += d[k] * d[k];
            }
            force = dt / (square * root(square));
            for (int k = 0; k < 3; k++) {
                a->v[k] -= d[k] * b->mass * force;
                b->v[k] += d[k] * a->mass * force;
            }
        }
    }
    for (int i = 0; i < BODIES; i++) {
        for (int k = 0; k < 3; k++) {
            bodies[i].x[k] += dt * bodies[i].v[k];
        }
    }
}

static double energy(void)
{
    double e = 0;

    for (int i = 0; i < BODIES; i++) {
        const Body *a = &bodies[i];

        e += a->mass / 2 *
             (a->v[0] * a->v[0] + a->v[1] * a->v[1] + a->v[2] * a->v[2]);
        for (int j = i + 1; j < BODIES; j++) {
            const Body *b = &bodies[j];
            double square = 0;

            for (int k = 0; k < 3; k++) {
                square += (a->x[k] - b->x[k]) * (a->x[k] - b->x[k]);
            }
            e -= a->mass * b->mass / root(square);
        }
    }
    return e;
}

const uint32_t program_sum = 0xc652c8c8;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int i = 0; i < 400; i++) {
        advance(0.01);
        if (i % 20 == 0) {
            sum = mix(sum, (int32_t)(energy() * 1e6));
        }
    }
    return sum;
}
