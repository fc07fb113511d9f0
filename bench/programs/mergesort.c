/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stable sort in place, by a function that compares */
#include "program.h"

#define N 400

typedef struct Item {
    int value, index;
} Item;

typedef int (*Less)(const Item *a, const Item *b);

static Item items[N], spare[N];

static int less_value(const Item *a, const Item *b)
{
    return a->value < b->value;
}

static int less_digit(const Item *a, const Item *b)
{
    return a->value % 10 < b->value % 10;
}

static void insertion(Item *from, int n, Less less)
{
    for (int i = 1; i < n; i++) {
        Item item = from[i];
        int j = i;

        for (; j > 0 && less(&item, &from[j - 1]); j--) {
            from[j] = from[j - 1];
        }
        from[j] = item;
    }
}

static void merge(Item *from, int middle, int n, Less less)
{
    int i = 0, j = middle, k = 0;

    memcpy(spare, from, middle * sizeof(Item));
    while (i < middle) {
        if (j < n && less(&from[j], &spare[i])) {
            from[k++] = from[j++];
        } else {
            from[k++] = spare[i++];
        }
    }
}

static void sort(Item *from, int n, Less less)
{
    int middle = n / 2;

    if (n <= 12) {
        insertion(from, n, less);
        return;
    }
    sort(from, middle, less);
    sort(from + middle, n - middle, less);
    if (less(&from[middle], &from[middle - 1])) {
        merge(from, middle, n, less);
    }
}

const uint32_t program_sum = 0xac137bbb;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < N; i++) {
            int value = next_random() % 1000;

            switch (round) {
            case 1:
                value = i;
                break;
            case 2:
                value = N - i;
                break;
            case 3:
                value = i + value % 8;
                break;
            }
            items[i] = (Item){ value, i };
        }
        sort(items, N, less_value);
        sum = mix(sum, items[N / 3].value);
        sort(items, N, less_digit);
        for (int i = 1; i < N; i++) {
            sum += items[i - 1].value % 10 == items[i].value % 10 &&
                   items[i - 1].value > items[i].value;
        }
        sum = mix(sum, items[N / 2].index);
    }
    return sum;
}
