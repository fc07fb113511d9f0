/*
 * Count the words of a text, and write the most frequent ones: a program of
 * the demo, in C
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 256

typedef struct Word {
    struct Word *next;
    unsigned count;
    char text[];
} Word;

typedef unsigned Hash(const char *text);
typedef bool Equal(const char *a, const char *b);

/* Hashes and compares by functions of its user's choice */
typedef struct Table {
    Hash *hash;
    Equal *equal;
    unsigned words;
    Word *bucket[BUCKETS];
} Table;

static unsigned hash_text(const char *text)
{
    uint32_t hash = 2166136261;

    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * 16777619;
    }
    return hash;
}

static bool equal_text(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static void count_word(Table *table, const char *text)
{
    Word **place = &table->bucket[table->hash(text) % BUCKETS];
    Word *word;

    for (word = *place; word; word = word->next) {
        if (table->equal(word->text, text)) {
            word->count++;
            return;
        }
    }
    word = malloc(sizeof(*word) + strlen(text) + 1);
    strcpy(word->text, text);
    word->count = 1;
    word->next = *place;
    *place = word;
    table->words++;
}

static void count_words(Table *table, FILE *file)
{
    char text[64];
    unsigned len = 0;
    int c;

    do {
        c = getc_unlocked(file);
        if (c > ' ' && len < sizeof(text) - 1) {
            text[len++] = c;
        } else if (len > 0) {
            text[len] = 0;
            count_word(table, text);
            len = 0;
        }
    } while (c != EOF);
}

static int by_count(const void *a, const void *b)
{
    const Word *x = *(Word *const *)a, *y = *(Word *const *)b;

    return x->count == y->count ? strcmp(x->text, y->text) :
           x->count < y->count ? 1 : -1;
}

static Word **sorted(const Table *table)
{
    Word **list = calloc(table->words, sizeof(*list));
    unsigned n = 0;

    for (unsigned i = 0; i < BUCKETS; i++) {
        for (Word *word = table->bucket[i]; word; word = word->next) {
            list[n++] = word;
        }
    }
    qsort(list, n, sizeof(*list), by_count);
    return list;
}

int main(int argc, char **argv)
{
    static Table table = { .hash = hash_text, .equal = equal_text };
    FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
    Word **list;

    if (!file) {
        perror(argv[1]);
        return 1;
    }
    count_words(&table, file);
    list = sorted(&table);
    for (unsigned i = 0; i < 3 && i < table.words; i++) {
        printf("%u %s\n", list[i]->count, list[i]->text);
    }
    return 0;
}
