/*
 * What has to be decoded: what retired, less what software has switched off
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "history.h"

#define MAX(a, b) ((a) > (b) ? (a) : (b))

#define FENCE_I 0x100f

/* What software has switched */
typedef struct Rules {
    bool on;
    uint64_t mask, low, high;
} Rules;

static bool is_traced(const Rules *rules, const Item *item)
{
    return !item->filtered && rules->on && rules->mask >> privilege(item->mode) & 1 &&
           item->pc >= rules->low && item->pc <= rules->high;
}

/*
 * What is decoded: a number a line, read in large parts. The last ones stay,
 * for what is not known yet.
 */
#define KEPT    (1u << 20)

static struct {
    char buf[1 << 16];
    ssize_t at, end;
    uint64_t pcs[KEPT];
    Lines lines[KEPT];          /* behind the pc, with data */
    uint64_t count;             /* read so far */
    uint64_t waiting;           /* the next one, read with data */
    bool data, some, over;
} decoded;

static int next_char(void)
{
    if (decoded.at == decoded.end) {
        decoded.at = 0;
        decoded.end = read(0, decoded.buf, sizeof(decoded.buf));
        if (decoded.end < 0) {
            die("standard input: %s", strerror(errno));
        }
        if (!decoded.end) {
            return EOF;
        }
    }
    return (unsigned char)decoded.buf[decoded.at++];
}

/* The lines of accesses that come now */
static void read_accesses(void)
{
    uint64_t last = decoded.count - 1;
    char line[256];

    for (;;) {
        size_t n = 0;
        int c;

        /* "PC KIND...", "- KIND..." or "PC" */
        while (n + 1 < sizeof(line) && (c = next_char()) != EOF && c != '\n') {
            line[n++] = c;
        }
        line[n] = 0;
        if (!strchr(line, ' ')) {
            decoded.over = !n;
            decoded.waiting = strtoull(line, NULL, 16);
            return;
        }
        if (decoded.count) {
            add_line(&decoded.lines[last % KEPT], decoded.pcs[last % KEPT],
                     line);
        }
    }
}

static void read_with_data(void)
{
    if (!decoded.count) {
        read_accesses();
    }
    if (!decoded.over) {
        uint64_t at = decoded.count++ % KEPT;

        decoded.pcs[at] = decoded.waiting;
        decoded.lines[at] = (Lines) { 0 };
        read_accesses();
    }
}

static void read_decoded(void)
{
    uint64_t pc = 0;
    int c, digits = 0;

    if (decoded.data) {
        read_with_data();
        return;
    }
    while ((c = next_char()) != EOF && c != '\n') {
        int digit = c >= '0' && c <= '9' ? c - '0' :
                    c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

        if (digit < 0 || ++digits > 18) {
            /* with 0x */
            if (c != 'x' || pc) {
                die("decoded %" PRIu64 ": not a number", decoded.count);
            }
            continue;
        }
        pc = pc << 4 | digit;
    }
    decoded.over = c == EOF && !digits;
    if (!decoded.over) {
        decoded.pcs[decoded.count++ % KEPT] = pc;
    }
}

/* Number @n of what is decoded, from 0; false if there is none */
static bool decoded_at(uint64_t n, uint64_t *pc)
{
    while (n >= decoded.count && !decoded.over) {
        read_decoded();
    }
    if (n >= decoded.count) {
        return false;
    }
    if (decoded.count - n > KEPT) {
        die("decoded %" PRIu64 ": too much is open", n);
    }
    *pc = decoded.pcs[n % KEPT];
    return true;
}

/*
 * From the write of a register up to the fence.i behind it, which ends a
 * translation block, what it says may hold or not yet: first it does not, then
 * it does. So there are several places in what is decoded that the hart may be
 * at by now; those of which version of the rules, counted from the settled one,
 * are in ascending order in places[version].
 */
#define VERSIONS    16

/*
 * A guest that switches in a loop leaves more and more of them open, up to the
 * end. Those that are furthest behind are given up.
 */
#define PLACES_MAX  1024

typedef struct Places {
    uint64_t *at;
    size_t n, room;
} Places;

/* A hart may never come to the fence.i; no block is nearly as long as that. */
#define SETTLED_AFTER   1024

static Rules rules[VERSIONS];
static Places places[VERSIONS], scratch;
static unsigned newest, waiting;        /* instructions since a switch */

static void add_place(Places *p, uint64_t at)
{
    if (p->n && p->at[p->n - 1] == at) {
        return;
    }
    if (p->n == p->room) {
        p->room = p->room ? 2 * p->room : 64;
        p->at = grow(p->at, p->room, sizeof(*p->at));
    }
    p->at[p->n++] = at;
}

/* @p becomes what is in scratch. */
static void take_scratch(Places *p)
{
    Places old = *p;

    if (scratch.n > PLACES_MAX) {
        memmove(scratch.at, scratch.at + scratch.n - PLACES_MAX,
                PLACES_MAX * sizeof(*scratch.at));
        scratch.n = PLACES_MAX;
    }
    *p = scratch;
    scratch = old;
}

/* Whoever goes by a version may go by the next one from here on. */
static void may_switch(void)
{
    for (unsigned v = 0; v < newest; v++) {
        Places *from = &places[v], *to = &places[v + 1];
        size_t i = 0, k = 0;

        scratch.n = 0;
        while (i < from->n || k < to->n) {
            bool first = k == to->n ||
                         (i < from->n && from->at[i] <= to->at[k]);

            add_place(&scratch, first ? from->at[i++] : to->at[k++]);
        }
        take_scratch(to);
    }
}

static void add_version(const Rules *now)
{
    const Rules *old = &rules[newest];

    if (now->on == old->on && now->mask == old->mask &&
        now->low == old->low && now->high == old->high) {
        return;
    }
    if (++newest == VERSIONS) {
        die("software switches too often");
    }
    rules[newest] = *now;
    places[newest].n = 0;
    waiting = 0;
}

/* A register is written. */
static void obey(const Label *label)
{
    Rules now = rules[newest];

    if (label->what == OFF || label->what == ON) {
        now.on = label->what == ON;
    } else {
        /* Filters are switched off first. */
        now.mask = UINT64_MAX;
        now.low = 0;
        now.high = UINT64_MAX;
        add_version(&now);
        if (label->what == MASK) {
            now.mask = label->a;
        } else {
            now.low = label->a;
            now.high = label->b;
        }
    }
    add_version(&now);
}

/* The newest rules hold. */
static void settle(void)
{
    Places old;

    may_switch();
    rules[0] = rules[newest];
    old = places[0];
    places[0] = places[newest];
    places[newest] = old;
    newest = 0;
}

/*
 * How many accesses of instructions that did not retire there can be behind
 * the item, up to the next one that is traced
 */
static size_t accesses_behind(const Item *item)
{
    const Item *next = item + 1, *end = items + nitems;
    size_t n;

    while (next < end && (next->kind != BEGAN || next->doubtful ||
                          !is_traced(&rules[0], next))) {
        if (next->kind == BEGAN && label_at(next->pc)) {
            return SIZE_MAX;
        }
        next++;
    }
    n = accesses_between(item->step + 1, next < end ? next->step : SIZE_MAX);
    for (const Item *i = item + 1; i < next; i++) {
        if (i->kind == BEGAN) {
            n -= accesses_between(i->step, i->step + 1);
        }
    }
    return n;
}

/*
 * Are the accesses at that place those of the instruction? Where it is not
 * settled what is traced, or whether it retired, they may be missing.
 */
static bool same_accesses(const Item *item, uint64_t at)
{
    const Lines *lines = &decoded.lines[at % KEPT];

    if (!decoded.data || newest || item->doubtful) {
        return true;
    }
    if (decoded.some && !lines->own) {
        return true;
    }
    return (is_sc(item) || lines->own == expected_lines(item)) &&
           (!lines->others || decoded.some || lines->others <= accesses_behind(item));
}

/* @item retires; how many places are left, and the last one of those before */
static size_t retire(const Item *item, uint64_t *farthest)
{
    size_t left = 0;

    *farthest = 0;
    for (unsigned v = 0; v <= newest; v++) {
        Places *p = &places[v];
        bool traced = is_traced(&rules[v], item);

        if (p->n && p->at[p->n - 1] > *farthest) {
            *farthest = p->at[p->n - 1];
        }
        if (!traced && !item->doubtful) {
            left += p->n;
            continue;
        }
        scratch.n = 0;
        for (size_t i = 0; i < p->n; i++) {
            uint64_t pc;

            if (item->doubtful) {
                add_place(&scratch, p->at[i]);
            }
            if (decoded_at(p->at[i], &pc) && pc == item->pc &&
                same_accesses(item, p->at[i])) {
                add_place(&scratch, p->at[i] + 1);
            }
        }
        take_scratch(p);
        left += p->n;
    }
    return left;
}

static void show_decoded(uint64_t at)
{
    uint64_t pc;

    printf("decoded %" PRIu64 ":", at);
    for (uint64_t k = at > 3 ? at - 3 : 0; k < at + 4; k++) {
        if (decoded_at(k, &pc)) {
            printf(k == at ? " >%" PRIx64 : " %" PRIx64, pc);
        } else if (k == at) {
            printf(" > nothing");
        }
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

bool compare_decoded(bool data, bool some)
{
    uint64_t farthest = 0, pc;

    decoded.data = data;
    decoded.some = some;
    rules[0] = (Rules) { true, UINT64_MAX, 0, UINT64_MAX };
    add_place(&places[0], 0);
    for (size_t i = 0; i < nitems; i++) {
        const Label *label;

        if (items[i].kind != BEGAN) {
            continue;
        }
        label = label_at(items[i].pc);
        if (label && label->what <= RANGE) {
            obey(label);
        }
        may_switch();
        if (!retire(&items[i], &farthest)) {
            show_decoded(farthest);
            show_expected(i);
            return false;
        }
        if (newest && (items[i].code == FENCE_I ||
                       ++waiting == SETTLED_AFTER)) {
            settle();
        }
    }
    for (unsigned v = 0; v <= newest; v++) {
        for (size_t i = 0; i < places[v].n; i++) {
            farthest = MAX(farthest, places[v].at[i]);
            if (!decoded_at(places[v].at[i], &pc)) {
                return true;
            }
        }
    }
    printf("decoded, but did not retire:\n");
    show_decoded(farthest);
    printf("\n");
    return false;
}
