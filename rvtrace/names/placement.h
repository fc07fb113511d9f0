/*
 * Placement: which object lies where, found by its bytes
 *
 * The sideband holds the bytes that ran, by physical page, in pieces, and
 * which pages they were mapped at. Each piece that an object has at the same
 * offset of a page speaks for that page of the object being there; what
 * contradicts all of the page's pieces was another page before. Nothing is
 * asked of the guest.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PLACEMENT_H
#define ETRACE_PLACEMENT_H

#include "names/object.h"
#include "code/sideband.h"

typedef struct Placement Placement;

/* What ran, by @sb, which must live as long. */
Placement *placement_new(const Sideband *sb);
void placement_free(Placement *p);

const Sideband *placement_sideband(const Placement *p);

/*
 * Look for @object's code in what ran. Returns how many pages it may be in; 0:
 * the object is not needed. Objects must live as long as @p.
 */
unsigned placement_try(Placement *p, const Object *object);

/*
 * Modules of the kernel are going to be tried, behind what else there is: until
 * placement_end_modules(), only pages of the kernel's half of the address space
 * of which something is in no file are searched for them. Returns false if
 * there are none, and so no module is needed. Where nothing is mapped at all,
 * any page may be a module's.
 */
bool placement_begin_modules(Placement *p);
void placement_end_modules(Placement *p);

/* When all objects have been tried: decide, page by page */
void placement_decide(Placement *p);

/* May placement_find() find @object? After placement_decide(). */
bool placement_has(const Placement *p, const Object *object);

/*
 * The object at @vaddr, whose place in the sideband is @where, for privilege
 * level @priv; NULL if it is not known. *@addr is set to the address in the
 * object. Where nothing is mapped yet, or nothing has run since it was, it is
 * what runs there next, and *@ahead is set: its bytes are not known at this
 * place. Where several objects have the same page, it is the one with the path
 * @path, which may be NULL, or else the program that a task there was last
 * named after, or else the one that most of the space's pages belong to.
 */
const Object *placement_find(const Placement *p, const SidebandWhere *where,
                             unsigned priv, uint64_t vaddr, const char *path,
                             uint64_t *addr, bool *ahead);

/*
 * How many pages are @object's where it lies @bias above its own addresses, in
 * the address space that has most of them
 */
uint64_t placement_most_pages(const Placement *p, const Object *object,
                              uint64_t bias);

/* The program of the address space at that place, or NULL */
const Object *placement_program(const Placement *p,
                                const SidebandWhere *where);

/* How much of what ran was found */
typedef struct PlacementStats {
    unsigned pages, placed, ambiguous;
    uint64_t bytes, placed_bytes;   /* of code that ran */
} PlacementStats;

void placement_stats(const Placement *p, PlacementStats *stats);

#endif /* ETRACE_PLACEMENT_H */
