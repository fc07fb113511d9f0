/*
 * What has to be decoded: what retired, less what software has switched off
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "history.h"

#define FENCE_I 0x100f

enum { MUST, MAY, NOT };        /* be decoded */

/*
 * What software has switched. From the write of a register up to the fence.i
 * behind it, which ends a translation block, it may be either way.
 */
typedef struct Software {
    bool on, settled;
    uint64_t mask, low, high;
} Software;

/* E-Trace's privilege of U, S, M, VU and VS: QEMU's number, and 4 for V=1 */
static unsigned privilege(unsigned mode)
{
    return mode == 4 ? 5 : mode == 5 ? 6 : mode;
}

static int expected(Software *now, const Item *item)
{
    const Label *label = label_at(item->pc);
    int how;

    if (label && label->what <= RANGE) {
        now->settled = false;
        switch (label->what) {
        case OFF:
        case ON:
            now->on = label->what == ON;
            break;
        case MASK:
            now->mask = label->a;
            now->low = 0;
            now->high = UINT64_MAX;
            break;
        default:
            now->mask = UINT64_MAX;
            now->low = label->a;
            now->high = label->b;
        }
    }
    if (!now->settled || item->doubtful) {
        how = MAY;
    } else {
        how = now->on && now->mask >> privilege(item->mode) & 1 &&
              item->pc >= now->low && item->pc <= now->high ? MUST : NOT;
    }
    if (item->code == FENCE_I) {
        now->settled = true;
    }
    return how;
}

/* What is decoded: a number a line, read in large parts */
typedef struct Decoded {
    char buf[1 << 16];
    ssize_t at, end;
    uint64_t pc, count, before[3];
    bool over;
} Decoded;

static int next_char(Decoded *d)
{
    if (d->at == d->end) {
        d->at = 0;
        d->end = read(0, d->buf, sizeof(d->buf));
        if (d->end < 0) {
            die("standard input: %s", strerror(errno));
        }
        if (!d->end) {
            return EOF;
        }
    }
    return (unsigned char)d->buf[d->at++];
}

static void next_decoded(Decoded *d)
{
    uint64_t pc = 0;
    int c, digits = 0;

    d->before[d->count++ % 3] = d->pc;
    while ((c = next_char(d)) != EOF && c != '\n') {
        int digit = c >= '0' && c <= '9' ? c - '0' :
                    c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

        if (digit < 0 || ++digits > 18) {
            /* with 0x */
            if (c != 'x' || pc) {
                die("decoded %" PRIu64 ": not a number", d->count);
            }
            continue;
        }
        pc = pc << 4 | digit;
    }
    d->pc = pc;
    d->over = c == EOF && !digits;
}

static void show_decoded(Decoded *d)
{
    uint64_t first = d->count;

    printf("decoded %" PRIu64 ":", first - 1);
    for (uint64_t k = first > 4 ? first - 4 : 0; k + 1 < first; k++) {
        printf(" %" PRIx64, d->before[(k + 1) % 3]);
    }
    printf(" >");
    for (int k = 0; k < 4 && !d->over; k++) {
        printf("%" PRIx64 " ", d->pc);
        next_decoded(d);
    }
}

static void show_expected(size_t at)
{
    size_t first = at, n = 3;

    while (first && n) {
        n -= items[--first].kind == BEGAN;
    }
    printf("\nexpected:");
    for (n = 0; first < nitems && n < 4; first++) {
        if (items[first].kind == BEGAN) {
            printf(first == at ? " >%" PRIx64 : " %" PRIx64, items[first].pc);
            n += first >= at;
        }
    }
    printf("\n");
}

bool compare_decoded(void)
{
    static Decoded d;
    Software now = { true, true, 0xff, 0, UINT64_MAX };

    next_decoded(&d);
    for (size_t i = 0; i < nitems; i++) {
        int how;

        if (items[i].kind != BEGAN) {
            continue;
        }
        how = expected(&now, &items[i]);
        if (how == NOT) {
            continue;
        }
        if (!d.over && d.pc == items[i].pc) {
            next_decoded(&d);
        } else if (how == MUST) {
            show_decoded(&d);
            show_expected(i);
            return false;
        }
    }
    if (!d.over) {
        printf("decoded, but did not retire:\n");
        show_decoded(&d);
        printf("\n");
        return false;
    }
    return true;
}

