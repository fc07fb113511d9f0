/*
 * A small integer program in the manner of the classic synthetic benchmarks:
 * records, strings, calls, branches, a list, a sort, a state machine. Used to
 * measure bits per instruction, and to run code that a compiler made.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "guest.h"

#ifndef ROUNDS
#define ROUNDS 400
#endif

typedef enum Colour { RED, GREEN, BLUE, N_COLOURS } Colour;

typedef struct Record {
    struct Record *next;
    Colour colour;
    int number;
    int (*weigh)(const struct Record *r);
    char name[32];
} Record;

static Record pool[24];
static int table[64];
static unsigned int seed = 12345;

/* The compiler would make calls of them anyway. */
void *memcpy(void *to, const void *from, unsigned long n)
{
    char *t = to;
    const char *f = from;

    while (n--) {
        *t++ = *f++;
    }
    return to;
}

void *memset(void *to, int c, unsigned long n)
{
    char *t = to;

    while (n--) {
        *t++ = c;
    }
    return to;
}

static __attribute__((noinline)) int compare(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

static __attribute__((noinline)) void copy(char *to, const char *from)
{
    do {
        *to = *from++;
    } while (*to++);
}

static __attribute__((noinline)) unsigned int next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

static int weigh_light(const Record *r)
{
    return r->number & 15;
}

static int weigh_heavy(const Record *r)
{
    return (r->number & 15) * 3 + r->colour;
}

static __attribute__((noinline)) Colour other_colour(Colour c, int n)
{
    switch (c) {
    case RED:
        return n > 100 ? GREEN : BLUE;
    case GREEN:
        return n & 1 ? RED : GREEN;
    default:
        return n % 3 ? RED : GREEN;
    }
}

static __attribute__((noinline)) void fill(Record *r, int i)
{
    static const char *const names[] = {
        "DHRYSTONE PROGRAM, 1'ST STRING", "DHRYSTONE PROGRAM, 2'ND STRING",
        "another name", "",
    };

    r->number = next_random() & 0xfff;
    r->colour = other_colour((Colour)(i % N_COLOURS), r->number);
    r->weigh = r->number & 64 ? weigh_heavy : weigh_light;
    copy(r->name, names[i & 3]);
}

static __attribute__((noinline)) Record *insert(Record *list, Record *r)
{
    Record **p = &list;

    while (*p && ((*p)->number < r->number ||
                  ((*p)->number == r->number &&
                   compare((*p)->name, r->name) < 0))) {
        p = &(*p)->next;
    }
    r->next = *p;
    *p = r;
    return list;
}

static __attribute__((noinline)) int is_sorted(const Record *list)
{
    for (; list && list->next; list = list->next) {
        if (list->number > list->next->number) {
            return 0;
        }
    }
    return 1;
}

static void quicksort(int *a, int from, int to)
{
    int i = from, j = to, pivot = a[(from + to) / 2];

    while (i <= j) {
        while (a[i] < pivot) {
            i++;
        }
        while (a[j] > pivot) {
            j--;
        }
        if (i <= j) {
            int t = a[i];

            a[i++] = a[j];
            a[j--] = t;
        }
    }
    if (from < j) {
        quicksort(a, from, j);
    }
    if (i < to) {
        quicksort(a, i, to);
    }
}

/* A scanner: what a switch in a loop compiles to */
static __attribute__((noinline)) int scan(const char *s)
{
    int words = 0, digits = 0, other = 0, in_word = 0;

    for (; *s; s++) {
        switch (*s) {
        case 'A': case 'E': case 'I': case 'O': case 'U':
        case 'B': case 'D': case 'G': case 'H': case 'M': case 'N':
        case 'P': case 'R': case 'S': case 'T': case 'Y':
            words += !in_word;
            in_word = 1;
            break;
        case '0': case '1': case '2': case '3': case '4':
            digits++;
            in_word = 0;
            break;
        case ' ':
            in_word = 0;
            break;
        case ',':
            other += 2;
            in_word = 0;
            break;
        case '\'':
            other++;
            break;
        default:
            in_word = 1;
            break;
        }
    }
    return words * 100 + digits * 10 + other;
}

int main(void)
{
    int weight = 0;

    for (int round = 0; round < ROUNDS; round++) {
        Record *list = 0;
        int scanned = 0;

        for (int i = 0; i < 24; i++) {
            fill(&pool[i], i);
            list = insert(list, &pool[i]);
        }
        CHECK(is_sorted(list));
        for (const Record *r = list; r; r = r->next) {
            weight += r->weigh(r);
            if (round % 4 == 0) {
                scanned += scan(r->name);
            }
        }
        CHECK(scanned == (round % 4 ? 0 : 4956));

        for (int i = 0; i < 64; i++) {
            table[i] = next_random() & 0xffff;
        }
        quicksort(table, 0, 63);
        for (int i = 1; i < 64; i++) {
            CHECK(table[i - 1] <= table[i]);
        }
    }
    CHECK(weight == 147596);
    pass_asleep();
}
