/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of a text: split, found, counted, turned */
#include "program.h"

static const char text[] =
    "A trace says where a program went and leaves out what can be told "
    "without it: a branch is one bit, a call is none, and a return whose "
    "call was seen is none either. What is left are the jumps through "
    "registers, the traps and the interrupts. ";

static char copy[sizeof(text)];
static char words[80][16];
static int counts[80];

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static int is_letter(char c)
{
    c = lower(c);
    return c >= 'a' && c <= 'z';
}

static const char *find(const char *in, const char *what)
{
    for (; *in; in++) {
        size_t i = 0;

        while (what[i] && in[i] == what[i]) {
            i++;
        }
        if (!what[i]) {
            return in;
        }
    }
    return NULL;
}

/* Looks at the end of the word first, and skips as far as that allows. */
static int find_skipping(const char *in, int n, const char *what, int m)
{
    uint8_t skip[128];

    memset(skip, m, sizeof(skip));
    for (int i = 0; i < m - 1; i++) {
        skip[(int)what[i]] = m - 1 - i;
    }
    for (int at = 0; at + m <= n; at += skip[(int)in[at + m - 1]]) {
        int i = m - 1;

        while (i >= 0 && in[at + i] == what[i]) {
            i--;
        }
        if (i < 0) {
            return at;
        }
    }
    return -1;
}

static int count_words(void)
{
    int n = 0;

    for (const char *p = text; *p;) {
        char word[16];
        int length = 0, i = 0;

        while (is_letter(*p)) {
            if (length < 15) {
                word[length++] = lower(*p);
            }
            p++;
        }
        while (*p && !is_letter(*p)) {
            p++;
        }
        word[length] = 0;
        while (i < n && strcmp(words[i], word) != 0) {
            i++;
        }
        if (i == n) {
            memcpy(words[n], word, length + 1);
            counts[n++] = 0;
        }
        counts[i]++;
    }
    return n;
}

static void reverse(char *s, int n)
{
    for (int i = 0, j = n - 1; i < j; i++, j--) {
        char t = s[i];

        s[i] = s[j];
        s[j] = t;
    }
}

const uint32_t program_sum = 0xbdc6943f;

uint32_t program(void)
{
    uint32_t sum = 0;

    memcpy(copy, text, sizeof(text));
    for (int round = 0; round < 12; round++) {
        int n = count_words();

        for (int i = 0; i < n; i++) {
            const char *at = find(text, words[i]);

            sum = mix(sum, at ? at - text : -1);
            sum = mix(sum, find_skipping(copy, sizeof(copy) - 1, words[i],
                                         strlen(words[i])));
        }
        sum = mix(sum, counts[round]);
        reverse(copy, sizeof(copy) - 1);
    }
    return sum;
}
