/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that call themselves: Fibonacci, Ackermann, queens, Takeuchi */
#include "program.h"

static int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static int ackermann(int m, int n)
{
    if (m == 0) {
        return n + 1;
    }
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

static int takeuchi(int x, int y, int z)
{
    if (x <= y) {
        return z;
    }
    return takeuchi(takeuchi(x - 1, y, z), takeuchi(y - 1, z, x),
                    takeuchi(z - 1, x, y));
}

static int queens(int row, uint32_t columns, uint32_t left, uint32_t right,
                  int n)
{
    int solutions = 0;

    if (row == n) {
        return 1;
    }
    for (int i = 0; i < n; i++) {
        uint32_t bit = 1u << i;

        if (!((columns | left | right) & bit)) {
            solutions += queens(row + 1, columns | bit, (left | bit) << 1,
                                (right | bit) >> 1, n);
        }
    }
    return solutions;
}

const uint32_t program_sum = 0x85b216cd;

uint32_t program(void)
{
    uint32_t sum = mix(0, fibonacci(19));

    sum = mix(sum, ackermann(2, 40));
    sum = mix(sum, takeuchi(12, 8, 3));
    return mix(sum, queens(0, 0, 0, 0, 7));
}
