/*
 * A hart's history, for all parts of the program "history"
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BEGAN, TRAP, RESTS, MEPC, SEPC, VSEPC };     /* kinds of steps */
typedef struct Step {
    uint64_t pc;
    uint32_t code;
    uint8_t length, mode, kind, from;
} Step;

/* An instruction that retired, or a trap that was taken (pc is epc) */
typedef struct Item {
    uint64_t pc;
    uint32_t code;
    uint8_t length, mode, kind, from;
    bool doubtful;      /* of an instruction: it may have trapped */
    bool done;          /* for records.c */
} Item;

/* What the program does somewhere, in whatever window it is seen */
typedef struct Label {
    uint64_t addr;
    enum { OFF, ON, MASK, RANGE, CTR_WRITE, CTR_CLEAR, CTR_DUMP, CTR_DUMPED,
           WHATS } what;
    uint64_t a, b;      /* the line's numbers */
} Label;

/* history.c */
extern Item *items;
extern size_t nitems;
void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...);
void *grow(void *old, size_t count, size_t size);
bool is_handler(uint64_t pc);

/* labels.c */
void read_labels(const char *path);
const Label *label_at(uint64_t pc);

/* compare.c: is that what is decoded? Says what is not */
bool compare_decoded(void);

/*
 * records.c: is the CTR that the guest has copied what a model has? file: the
 * guest's memory; offset: of the hart's copies in it
 */
bool compare_records(const char *file, uint64_t offset, bool hypervisor);

#endif
