/*
 * Names: what an address means, at a place of the trace
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_NAMES_H
#define ETRACE_NAMES_H

#include "image.h"
#include "object.h"

/* What is known of an address that ran */
typedef struct NamePlace {
    const Object *object;   /* never NULL: the table's first one if unknown */
    /* Object address = address that ran - bias; 0 if unknown */
    uint64_t bias;
    const Symbol *symbol;   /* the object's; or NULL */
    /* Addresses that ran, for which all this is the same: [lo, hi) */
    uint64_t lo, hi;
} NamePlace;

typedef struct Names Names;

/*
 * Names of code that lies where the user says, in every address space: @table
 * must live as long, and get no more objects when names_find() is called.
 */
Names *names_new(ObjectTable *table);
void names_free(Names *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Names, names_free)

const ObjectTable *names_objects(const Names *names);

/*
 * @object, of the table, lies everywhere @bias above its own addresses. What
 * was added first is asked first.
 */
void names_add_fixed(Names *names, const Object *object, uint64_t bias);

/*
 * What is at @pc, where @image's decoder is, for privilege level @priv. @image
 * may be NULL: then only objects that lie where the user says are known.
 * Several threads may ask at the same time.
 */
void names_find(const Names *names, const Image *image, unsigned priv,
                uint64_t pc, NamePlace *place);

#endif /* ETRACE_NAMES_H */
