/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Quicksort with a stack of its own, and insertion for what is short */
#include "program.h"

#define N 2048
#define SHORT 10

static int values[N];

static void insertion(int *a, int n)
{
    for (int i = 1; i < n; i++) {
        int value = a[i], j = i;

        for (; j > 0 && a[j - 1] > value; j--) {
            a[j] = a[j - 1];
        }
        a[j] = value;
    }
}

static inline void swap(int *a, int *b)
{
    int t = *a;

    *a = *b;
    *b = t;
}

static void sort(int *a, int n)
{
    int stack[64], top = 0, low = 0, high = n - 1;

    for (;;) {
        int i, j, pivot;

        if (high - low < SHORT) {
            insertion(a + low, high - low + 1);
            if (top == 0) {
                return;
            }
            high = stack[--top];
            low = stack[--top];
            continue;
        }
        i = (low + high) / 2;
        swap(&a[i], &a[low + 1]);
        if (a[low] > a[high]) {
            swap(&a[low], &a[high]);
        }
        if (a[low + 1] > a[high]) {
            swap(&a[low + 1], &a[high]);
        }
        if (a[low] > a[low + 1]) {
            swap(&a[low], &a[low + 1]);
        }
        pivot = a[low + 1];
        for (i = low + 1, j = high;;) {
            while (a[++i] < pivot) {
            }
            while (a[--j] > pivot) {
            }
            if (j < i) {
                break;
            }
            swap(&a[i], &a[j]);
        }
        a[low + 1] = a[j];
        a[j] = pivot;
        if (high - i + 1 >= j - low) {
            stack[top++] = i;
            stack[top++] = high;
            high = j - 1;
        } else {
            stack[top++] = low;
            stack[top++] = j - 1;
            low = i;
        }
    }
}

const uint32_t program_sum = 0x04efea7d;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < N; i++) {
            values[i] = next_random() >> 4;
        }
        sort(values, N);
        for (int i = 1; i < N; i++) {
            sum += values[i - 1] > values[i];
        }
        sum = mix(sum, values[N / 4 * round]);
    }
    return sum;
}
