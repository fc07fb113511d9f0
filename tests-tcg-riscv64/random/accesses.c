/*
 * Loads and stores that a hart made, and what is decoded of them
 *
 * What an instruction accessed becomes a number, and so do the lines of
 * "rvtrace decode --emit pc,data" that are of it: "PC KIND BYTES ADDRESS DATA
 * [OPERAND]". Left out are accesses to CSRs, which plugins do not see, those of
 * sc, which may fail without any, and the operands of AMOs: plugins see them
 * only where several threads run harts, and the results where one does.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "history.h"

#define OPCODE_AMO  0x2f
#define FUNCT5_LR   2
#define FUNCT5_SC   3

Access *accesses;
size_t naccesses;

enum { LOAD, STORE, AMO };

void add_access(size_t step, const Step *where, const Step *what)
{
    if (!(naccesses & (naccesses - 1))) {
        accesses = grow(accesses, naccesses ? 2 * naccesses : 1,
                        sizeof(*accesses));
    }
    accesses[naccesses++] = (Access) {
        step, where->pc, what->pc, where->length, where->mode
    };
}

static uint64_t cut(uint64_t value, unsigned bytes)
{
    return bytes < 8 ? value & ((1ull << 8 * bytes) - 1) : value;
}

/* @so_far with one more access; data of an AMO: what it loads */
static uint64_t mix(uint64_t so_far, unsigned kind, unsigned bytes,
                    uint64_t addr, uint64_t data)
{
    const uint64_t words[] = { kind, bytes, addr, cut(data, bytes) };

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        so_far = (so_far ^ words[i]) * 0x9e3779b97f4a7c15;
        so_far ^= so_far >> 29;
    }
    return so_far + 1;
}

void add_line(Lines *lines, uint64_t pc, const char *line)
{
    uint64_t at, addr, data;
    unsigned kind, bytes;
    char word[16];
    int n = sscanf(line, "%" SCNx64 " %15s %x %" SCNx64 " %" SCNx64,
                   &at, word, &bytes, &addr, &data);

    if (n < 2) {
        /* "-" in the place of a pc: not put to an instruction */
        lines->others++;
        return;
    }
    if (!strncmp(word, "csr", 3) || !strcmp(word, "scfail")) {
        return;
    }
    if (at != pc) {
        lines->others++;
        return;
    }
    kind = !strcmp(word, "load") ? LOAD : !strcmp(word, "store") ? STORE : AMO;
    if (n != 5) {
        die("decoded: %s", line);
    }
    lines->own = mix(lines->own, kind, bytes, addr, data);
}

static bool is_amo(const Item *item)
{
    return item->length == 4 && (item->code & 0x7f) == OPCODE_AMO &&
           item->code >> 27 != FUNCT5_LR;
}

bool is_sc(const Item *item)
{
    return is_amo(item) && item->code >> 27 == FUNCT5_SC;
}

/* The number of the first one of that step or a later one */
static size_t first_access(size_t step)
{
    size_t low = 0, high = naccesses;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (accesses[middle].step < step) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

size_t accesses_between(size_t first, size_t end)
{
    return first_access(end) - first_access(first);
}

uint64_t expected_lines(const Item *item)
{
    uint64_t number = 0;

    for (size_t i = first_access(item->step);
         i < naccesses && accesses[i].step == item->step; i++) {
        const Access *a = &accesses[i];

        if (is_amo(item) && i + 1 < naccesses &&
            a[1].step == item->step && !a->store && a[1].store) {
            number = mix(number, AMO, a->bytes, a->addr, a->value);
            i++;
        } else {
            number = mix(number, a->store ? STORE : LOAD, a->bytes, a->addr,
                         a->value);
        }
    }
    return number;
}
