/*
 * What the guest said of itself: texts of the sideband that name things
 *
 * rvtrace-guest sends /proc/PID/maps, /tmp/perf-PID.map, /proc/kallsyms and
 * /proc/modules, line by line. A line is of the place of the stream where it
 * stands, and what it says of a process is of the program that the process
 * runs there: exec and exit end it. TASK records say which process runs.
 *
 * Texts are the guest's choice: lines that make no sense are left out, and
 * what is kept of the others is no larger than they are.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_GUEST_TEXT_H
#define ETRACE_GUEST_TEXT_H

#include "names/object.h"
#include "code/sideband.h"

typedef struct GuestText GuestText;

/* Are there any texts in @sb? */
bool guest_text_in(const Sideband *sb);

/* Read them all. @sb must live as long. */
GuestText *guest_text_new(const Sideband *sb);
void guest_text_free(GuestText *g);

/* Lines that made no sense */
unsigned guest_text_malformed(const GuestText *g);

/*
 * Make objects of @table for what is named: the kernel and its modules, code
 * that was made at run time, and files. Files that are there, with a path that
 * the guest uses, are taken; others are loaded from the folders @roots (NULL:
 * none), and those that are not there either have no code and no symbols.
 * Nothing is added to the texts after that.
 */
void guest_text_objects(GuestText *g, ObjectTable *table, char **roots);

/*
 * Can the kernel have a module named @name? Not if the guest has said which
 * ones it has, and that is none of them.
 */
bool guest_text_may_have_module(const GuestText *g, const char *name);

/*
 * The object with the kernel's symbols, at their own addresses, or with those
 * of a module: the @i th one; NULL: there are not so many
 */
const Object *guest_text_kernel(const GuestText *g, unsigned i);

/* Where a process had mapped a file, or memory of none, to execute it */
typedef struct GuestMapping {
    uint64_t lo, hi;            /* addresses */
    uint64_t bias;              /* of @object, if it has code */
    const Object *object;       /* has code, or else only its path is known */
    /* The same path without code and symbols; NULL: memory of no file */
    const Object *path;
    bool later;                 /* it was said behind that place */
} GuestMapping;

/*
 * What process @tgid had at @vaddr to execute, at the place @where; false: not
 * known.
 */
bool guest_text_mapping(const GuestText *g, const SidebandWhere *where,
                        uint32_t tgid, uint64_t vaddr, GuestMapping *mapping);

typedef void GuestFileFn(void *opaque, const Object *object, uint64_t bias);

/*
 * Call @fn for each file that processes had mapped to execute, each time that one
 * says so: @object has its code, @bias below where it lay; or, if there is none,
 * only its path.
 */
void guest_text_files(const GuestText *g, GuestFileFn *fn, void *opaque);

/*
 * The function that process @tgid made at run time at @vaddr, whose code is
 * what is there at the place @where; false: not known. Functions that lay at
 * the same address, one after the other, have different ones in the object.
 * If the process named functions near @vaddr, @mapping->lo and hi are set in
 * any case: between them, the answer is the same.
 */
bool guest_text_jit(const GuestText *g, const SidebandWhere *where,
                    uint32_t tgid, uint64_t vaddr, GuestMapping *mapping);

#endif /* ETRACE_GUEST_TEXT_H */
