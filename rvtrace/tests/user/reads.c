/*
 * A program that computes with what it reads: the kernel changes a buffer that
 * it has loaded from and stored to
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define WORDS 256

static uint32_t words[WORDS];
static uint64_t all;

__attribute__((noinline)) static void sort(uint32_t *first, uint32_t *last)
{
    while (last - first > 1) {
        uint32_t *low = first, *high = last - 1, pivot = *first;

        while (low < high) {
            while (low < high && *high >= pivot) {
                high--;
            }
            *low = *high;
            while (low < high && *low <= pivot) {
                low++;
            }
            *high = *low;
        }
        *low = pivot;
        sort(first, low);
        first = low + 1;
    }
}

int main(void)
{
    volatile double mean = 0;
    ssize_t size;

    while ((size = read(0, words, sizeof(words))) > 0) {
        unsigned n = size / sizeof(*words);

        sort(words, words + n);
        for (unsigned i = 0; i < n; i++) {
            words[i] = words[i] * 2654435761u + i;
            mean += words[i] / (double)n;
            __atomic_fetch_add((uint32_t *)&all, words[i], __ATOMIC_RELAXED);
        }
    }
    printf("%u\n", (unsigned)all);
    return 0;
}
