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

/* kinds of steps */
enum { BEGAN, TRAP, RESTS, MEPC, SEPC, VSEPC, ACCESS, DATA };
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
    bool filtered;      /* not traced, by the encoder's property */
    size_t step;        /* its number */
} Item;

/* A load or store of an instruction that began */
typedef struct Access {
    size_t step;        /* the instruction's number */
    uint64_t addr, value;
    uint8_t bytes;
    bool store;
} Access;

/* What the program does somewhere, in whatever window it is seen */
typedef struct Label {
    uint64_t addr;
    enum { OFF, ON, MASK, RANGE, CTR_WRITE, CTR_CLEAR, CTR_DUMP, CTR_DUMPED,
           SATP, VSATP, HGATP, OTHER_HGATP, WHATS } what;
    uint64_t a, b;      /* the line's numbers */
} Label;

/* history.c */
extern Item *items;
extern size_t nitems;
void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...);
void *grow(void *old, size_t count, size_t size);
bool is_handler(uint64_t pc);
bool never_retires(const Step *s);

/* filter.c: the encoder's property "filter"; what it leaves out is marked. */
void read_filter(const char *path);
void filter_items(void);
unsigned privilege(unsigned mode);

/*
 * accesses.c: loads and stores, and what is decoded of them. The lines of
 * "decode --emit pc,data" that are of one instruction become one number.
 */
extern Access *accesses;
extern size_t naccesses;
void add_access(size_t step, const Step *where, const Step *what);
/* of the instruction at pc; lines of another, or of none, are in others */
typedef struct Lines {
    uint64_t own;
    unsigned others;
} Lines;
void add_line(Lines *lines, uint64_t pc, const char *line);
/* What the lines of an item have to be; nothing is expected of an sc. */
uint64_t expected_lines(const Item *item);
bool is_sc(const Item *item);
/* How many there are from a step on up to another */
size_t accesses_between(size_t first, size_t end);

/* labels.c */
void read_labels(const char *path);
const Label *label_at(uint64_t pc);

/*
 * compare.c: is that what is decoded, data too, all or some of it? Says what is
 * not
 */
bool compare_decoded(bool data, bool some);

/*
 * records.c: is the CTR that the guest has copied what a model has? file: the
 * guest's memory; offset: of the hart's copies in it
 */
bool compare_records(const char *file, uint64_t offset, bool hypervisor);

#endif
