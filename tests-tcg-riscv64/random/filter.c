/*
 * The encoder's property "filter": which instructions it lets through
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "history.h"

#define TERMS 8

static struct {
    uint64_t mask;              /* a bit for each privilege; 0: any */
    struct {
        uint64_t low, high;
    } ranges[TERMS];
    uint64_t contexts[TERMS];
    unsigned nranges, ncontexts;
} filter;

/* E-Trace's privilege of U, S, M, VU and VS: QEMU's number, and 4 for V=1 */
unsigned privilege(unsigned mode)
{
    return mode == 4 ? 5 : mode == 5 ? 6 : mode;
}

/* Lines: "mask HEX", "range LOW HIGH", "context HEX" */
void read_filter(const char *path)
{
    FILE *file = fopen(path, "r");
    char word[16];
    uint64_t a, b;

    if (!file) {
        die("%s: %s", path, strerror(errno));
    }
    while (fscanf(file, "%15s %" SCNx64, word, &a) == 2) {
        if (!strcmp(word, "mask")) {
            filter.mask = a;
        } else if (!strcmp(word, "context") && filter.ncontexts < TERMS) {
            filter.contexts[filter.ncontexts++] = a;
        } else if (!strcmp(word, "range") && filter.nranges < TERMS &&
                   fscanf(file, "%" SCNx64, &b) == 1) {
            filter.ranges[filter.nranges].low = a;
            filter.ranges[filter.nranges++].high = b;
        } else {
            die("%s: what is %s?", path, word);
        }
    }
    fclose(file);
}

/* The context of 4.2.3, from RV64's registers */
static uint64_t context_of(unsigned mode, uint64_t satp, uint64_t vsatp,
                           uint64_t hgatp)
{
    return mode & 4 ? (hgatp >> 44 & 0x3fff) << 16 | (vsatp >> 44 & 0xffff)
                    : satp >> 44 & 0xffff;
}

static bool is_let_through(const Item *item, uint64_t context)
{
    bool in_range = !filter.nranges, in_context = !filter.ncontexts;

    for (unsigned i = 0; i < filter.nranges; i++) {
        in_range |= item->pc >= filter.ranges[i].low &&
                    item->pc <= filter.ranges[i].high;
    }
    for (unsigned i = 0; i < filter.ncontexts; i++) {
        in_context |= context == filter.contexts[i];
    }
    return in_range && in_context &&
           (!filter.mask || filter.mask >> privilege(item->mode) & 1);
}

/* An instruction that changes the context is in the one before. */
void filter_items(void)
{
    uint64_t satp = 0, vsatp = 0, hgatp = 0;

    for (size_t i = 0; i < nitems; i++) {
        Item *item = &items[i];
        const Label *label;

        if (item->kind != BEGAN) {
            continue;
        }
        item->filtered = !is_let_through(
            item, context_of(item->mode, satp, vsatp, hgatp));
        label = label_at(item->pc);
        switch (label ? (int)label->what : -1) {
        case SATP:
            satp = label->a;
            break;
        case VSATP:
            vsatp = label->a;
            break;
        case HGATP:
            hgatp = label->a;
            break;
        case OTHER_HGATP:
            hgatp ^= label->a;
            break;
        }
    }
}
