/*
 * "Did you mean ...?"
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/cli/suggest.h"

/* Words are compared up to here. */
#define MAX_WORD    32

/*
 * How many letters have to be changed, left out, put in, or exchanged with the
 * next one to make @b of @a
 */
static unsigned distance(const char *a, const char *b)
{
    unsigned rows[MAX_WORD + 1][MAX_WORD + 1];
    size_t n = MIN(strlen(a), MAX_WORD), m = MIN(strlen(b), MAX_WORD);

    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            unsigned best;

            if (!i || !j) {
                rows[i][j] = i + j;
                continue;
            }
            best = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = MIN(best, rows[i - 1][j] + 1);
            best = MIN(best, rows[i][j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
                a[i - 2] == b[j - 1]) {
                best = MIN(best, rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    return rows[n][m];
}

char *suggest(const char *word, const GPtrArray *names, const char *prefix)
{
    unsigned least = 1 + strlen(word) / 4;
    const char *best = NULL;

    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        unsigned d = distance(word, name);

        /* The beginning of a name is like it, whatever is missing. */
        if (strlen(word) >= 3 && g_str_has_prefix(name, word)) {
            d = MIN(d, 1);
        }
        if (d <= least && (!best || d < least)) {
            least = d;
            best = name;
        }
    }
    return best ? g_strdup_printf(" (did you mean '%s%s'?)", prefix, best) :
                  g_strdup("");
}
