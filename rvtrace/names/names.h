/*
 * Names: what an address means, at a place of the trace
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_NAMES_H
#define ETRACE_NAMES_H

#include "code/image.h"
#include "names/object.h"
#include "names/placement.h"

/* What is known of an address that ran */
typedef struct NamePlace {
    const Object *object;   /* never NULL: the table's first one if unknown */
    /* Object address = address that ran - bias; 0 if unknown */
    uint64_t bias;
    const Symbol *symbol;   /* the object's; or NULL */
    /* Addresses that ran, for which all this is the same: [lo, hi) */
    uint64_t lo, hi;
    /* The process makes code here: the page's other code may lie elsewhere */
    bool made;
} NamePlace;

typedef struct Names Names;

/*
 * Names of the objects of @table, which must live as long. Objects lie where
 * the user says, in every address space, or where their bytes ran.
 */
Names *names_new(ObjectTable *table);
void names_free(Names *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Names, names_free)

const ObjectTable *names_objects(const Names *names);
ObjectTable *names_table(Names *names);

/*
 * @object, of the table, lies everywhere @bias above its own addresses. Only
 * what has no name by its bytes is asked of it, what was added first first.
 */
void names_add_fixed(Names *names, const Object *object, uint64_t bias);

/* Other names that begin with the objects of @names that lie everywhere */
Names *names_derive(const Names *names);

/*
 * At [@lo, @hi), @object lies @bias above its own addresses, whatever symbols
 * others have there.
 */
void names_add_mapped(Names *names, const Object *object, uint64_t bias,
                      uint64_t lo, uint64_t hi);

/*
 * Objects are going to be looked for in what ran by @sb, which must live as
 * long; to be called for each part of the trace, before names_try().
 */
void names_add_sideband(Names *names, const Sideband *sb);

/*
 * Take what the guest said of itself in all sidebands, after names_decide():
 * files are looked up below @roots (may be NULL). Where code is found in one
 * file only, that is believed rather than the guest. Returns how many lines
 * made no sense.
 */
unsigned names_add_texts(Names *names, char **roots);

/* See guest_text_files(), of all sidebands; names_add_texts() comes before. */
void names_files(const Names *names,
                 void (*fn)(void *opaque, const Object *object, uint64_t bias),
                 void *opaque);

/*
 * Look for the code of the table's objects from number @first on in what ran.
 * Those of which nothing ran are removed from the table again.
 */
void names_try(Names *names, unsigned first);

/*
 * Modules of the kernel are going to be tried, behind the other files at hand,
 * until names_end_modules(). Returns false if none is needed, because all that
 * the kernel ran is in those; then none of the two has to be called again.
 */
bool names_begin_modules(Names *names);
void names_end_modules(Names *names);

/* Can a module of this name have run, by what the guest said, if it did? */
bool names_may_have_module(const Names *names, const char *name);

/* When all objects have been tried: reads the symbols of those found. */
void names_decide(Names *names);

/*
 * Code that is in no object is told apart where it is known what it is, here
 * and in names that are derived from these. [firmware] is what ran in M-mode,
 * [jit] what ran in memory of no file, by the maps that the process had sent
 * before. Both objects are OBJECT_NONE.
 */
void names_add_unfiled(Names *names);

/* The names of all symbols become those that the source has. */
void names_demangle(Names *names);

/*
 * The program of the address space of @priv, where @image's decoder is; NULL
 * if it is not known.
 */
const Object *names_program(const Names *names, const Image *image,
                            unsigned priv);

/*
 * What is at @pc, where @image's decoder is, for privilege level @priv. Any
 * byte of an instruction will do, as the last one of a call for a caller.
 * @image may be NULL: then only objects that lie where the user says are known.
 * Several threads may ask at the same time.
 */
void names_find(const Names *names, Image *image, unsigned priv, uint64_t pc,
                NamePlace *place);

#endif /* ETRACE_NAMES_H */
