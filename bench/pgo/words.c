/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A parser and a sorter: a table of text, quoted or not, some of it wrong, is
 * read into records, which are sorted and looked up.
 */
#include "program.h"

const uint32_t program_sum = 0x47f29217;

#define RECORDS     1500
#define FIELDS      4

typedef struct Record {
    char name[16];
    int32_t numbers[FIELDS - 1];
} Record;

static char input[RECORDS * 64];
static Record records[RECORDS];
static Record *sorted[RECORDS];
static unsigned nr_records, bad[6];

enum { TOO_LONG, NO_NUMBER, TOO_BIG, UNCLOSED, TOO_FEW, TOO_MANY };

static char *put_number(char *p, int32_t v)
{
    char digits[12];
    int n = 0;

    if (v < 0) {
        *p++ = '-';
        v = -v;
    }
    do {
        digits[n++] = '0' + v % 10;
        v /= 10;
    } while (v);
    while (n) {
        *p++ = digits[--n];
    }
    return p;
}

/* One record of fifty is wrong in some way. */
static void make_input(void)
{
    char *p = input;

    for (unsigned i = 0; i < RECORDS; i++) {
        unsigned length = 3 + next_random() % 8;
        unsigned odd = next_random() % 50 ? 99 : next_random() % 6;
        int quoted = next_random() % 8 == 0;

        if (quoted) {
            *p++ = '"';
        }
        for (unsigned j = 0; j < (odd == TOO_LONG ? 20 : length); j++) {
            *p++ = 'a' + next_random() % 26;
        }
        if (quoted && odd != UNCLOSED) {
            *p++ = '"';
        }
        for (int j = 1; j < FIELDS + (odd == TOO_MANY) - (odd == TOO_FEW);
             j++) {
            *p++ = ',';
            p = put_number(p, (int32_t)(next_random() % 20001) - 10000);
            if (odd == NO_NUMBER && j == 2) {
                *p++ = 'x';
            }
            if (odd == TOO_BIG && j == 1) {
                p = put_number(p, 99999999);
            }
        }
        *p++ = '\n';
    }
    *p = 0;
}

static __attribute__((noinline)) const char *give_up(const char *p, int why)
{
    bad[why]++;
    while (*p && *p != '\n') {
        p++;
    }
    return *p ? p + 1 : p;
}

static const char *parse_name(const char *p, Record *r, int *why)
{
    unsigned n = 0;
    int quoted = *p == '"';

    p += quoted;
    while (*p && *p != '\n' && *p != (quoted ? '"' : ',')) {
        if (n == sizeof(r->name) - 1) {
            *why = TOO_LONG;
            return p;
        }
        r->name[n++] = *p++;
    }
    r->name[n] = 0;
    if (quoted && *p++ != '"') {
        *why = UNCLOSED;
        return p - 1;
    }
    return p;
}

static const char *parse_number(const char *p, int32_t *v, int *why)
{
    int negative = *p == '-';
    uint32_t value = 0;

    p += negative;
    if (*p < '0' || *p > '9') {
        *why = NO_NUMBER;
        return p;
    }
    while (*p >= '0' && *p <= '9') {
        value = value * 10 + (*p++ - '0');
        if (value > 1000000) {
            *why = TOO_BIG;
            return p;
        }
    }
    *v = negative ? -(int32_t)value : (int32_t)value;
    return p;
}

static const char *parse_record(const char *p, Record *r)
{
    int why = -1;

    p = parse_name(p, r, &why);
    for (unsigned i = 0; i < FIELDS - 1 && why < 0; i++) {
        if (*p != ',') {
            why = *p == '\n' ? TOO_FEW : NO_NUMBER;
            break;
        }
        p = parse_number(p + 1, &r->numbers[i], &why);
    }
    if (why >= 0) {
        return give_up(p, why);
    }
    if (*p != '\n') {
        return give_up(p, *p == ',' ? TOO_MANY : NO_NUMBER);
    }
    nr_records++;
    return p + 1;
}

static int by_name(const Record *a, const Record *b)
{
    return strcmp(a->name, b->name);
}

static int by_number(const Record *a, const Record *b)
{
    for (unsigned i = 0; i < FIELDS - 1; i++) {
        if (a->numbers[i] != b->numbers[i]) {
            return a->numbers[i] < b->numbers[i] ? -1 : 1;
        }
    }
    return by_name(a, b);
}

typedef int Compare(const Record *a, const Record *b);

static void insert_sort(Record **r, unsigned n, Compare *compare)
{
    for (unsigned i = 1; i < n; i++) {
        Record *x = r[i];
        unsigned j = i;

        for (; j && compare(r[j - 1], x) > 0; j--) {
            r[j] = r[j - 1];
        }
        r[j] = x;
    }
}

static void sort(Record **r, unsigned n, Compare *compare)
{
    while (n > 12) {
        Record *pivot = r[n / 2];
        unsigned i = 0, j = n - 1;

        for (;;) {
            while (compare(r[i], pivot) < 0) {
                i++;
            }
            while (compare(pivot, r[j]) < 0) {
                j--;
            }
            if (i >= j) {
                break;
            }
            Record *t = r[i];

            r[i++] = r[j];
            r[j--] = t;
        }
        sort(r, i, compare);
        r += i;
        n -= i;
    }
    insert_sort(r, n, compare);
}

static const Record *find(const char *name)
{
    unsigned first = 0, last = nr_records;

    while (first < last) {
        unsigned mid = (first + last) / 2;
        int d = strcmp(sorted[mid]->name, name);

        if (d == 0) {
            return sorted[mid];
        }
        if (d < 0) {
            first = mid + 1;
        } else {
            last = mid;
        }
    }
    return 0;
}

uint32_t program(void)
{
    uint32_t sum = 0;
    const char *p = input;

    make_input();
    while (*p) {
        p = parse_record(p, &records[nr_records]);
    }
    for (unsigned i = 0; i < nr_records; i++) {
        sorted[i] = &records[i];
    }
    sort(sorted, nr_records, by_number);
    for (unsigned i = 0; i < nr_records; i++) {
        sum = mix(sum, sorted[i]->numbers[1]);
    }
    sort(sorted, nr_records, by_name);
    for (unsigned i = 0; i < nr_records; i++) {
        const Record *r = find(records[i].name);

        sum = mix(sum, r ? r->numbers[2] : 1);
        sum = mix(sum, find("zzzzzz") != 0);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        sum = mix(sum, bad[i]);
    }
    return sum;
}
