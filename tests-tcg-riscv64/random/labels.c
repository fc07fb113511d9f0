/*
 * What the program does where: the lines that run_case.py writes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "history.h"

static Label *labels;
static size_t nlabels;

/* Of the program, whatever window it is seen in; not of the boot ROM */
static uint64_t physical(uint64_t pc)
{
    return pc >> 30 ? (pc & 0x3fffffff) + 0x80000000 : pc;
}

static int compare_labels(const void *a, const void *b)
{
    uint64_t x = ((const Label *)a)->addr, y = ((const Label *)b)->addr;

    return x < y ? -1 : x > y;
}

void read_labels(const char *path)
{
    static const struct {
        const char *name;
        int numbers;
    } names[] = {
        [OFF] = { "off", 0 }, [ON] = { "on", 0 }, [MASK] = { "mask", 1 },
        [RANGE] = { "range", 2 }, [CTR_WRITE] = { "ctr-write", 2 },
        [CTR_CLEAR] = { "ctr-clear", 0 }, [CTR_DUMP] = { "ctr-dump", 1 },
        [CTR_DUMPED] = { "ctr-dumped", 0 }, [SATP] = { "satp", 1 },
        [VSATP] = { "vsatp", 1 }, [HGATP] = { "hgatp", 1 },
        [OTHER_HGATP] = { "other-hgatp", 1 },
    };
    FILE *file = fopen(path, "r");
    char word[16];
    uint64_t addr;

    if (!file) {
        die("%s: %s", path, strerror(errno));
    }
    while (fscanf(file, "%" SCNx64 " %15s", &addr, word) == 2) {
        Label label = { .addr = addr, .what = 0 };
        int n;

        while (label.what < WHATS && strcmp(word, names[label.what].name)) {
            label.what++;
        }
        if (label.what == WHATS) {
            die("%s: what is %s?", path, word);
        }
        n = names[label.what].numbers;
        if ((n > 0 && fscanf(file, "%" SCNx64, &label.a) != 1) ||
            (n > 1 && fscanf(file, "%" SCNx64, &label.b) != 1)) {
            die("%s: label %zu", path, nlabels + 1);
        }
        labels = grow(labels, nlabels + 1, sizeof(label));
        labels[nlabels++] = label;
    }
    if (!feof(file)) {
        die("%s: behind label %zu", path, nlabels);
    }
    fclose(file);
    qsort(labels, nlabels, sizeof(*labels), compare_labels);
}

const Label *label_at(uint64_t pc)
{
    static uint64_t filter[1 << 10];    /* most places have none */
    static bool ready;
    uint64_t addr = physical(pc);
    Label key = { .addr = addr };

    if (!ready) {
        ready = true;
        for (size_t i = 0; i < nlabels; i++) {
            uint64_t bit = labels[i].addr >> 1;

            filter[bit >> 6 & 1023] |= 1ull << (bit & 63);
        }
    }
    if (!(filter[addr >> 7 & 1023] >> (addr >> 1 & 63) & 1)) {
        return NULL;
    }
    return bsearch(&key, labels, nlabels, sizeof(*labels), compare_labels);
}
