/*
 * Where in the source the code of objects is
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SOURCE_PLACE_H
#define ETRACE_SOURCE_PLACE_H

#include "names/object.h"

typedef struct SourcePlaces SourcePlaces;

typedef struct SourcePlace {
    /* Interned, so the same file is the same pointer; NULL: not known */
    const char *file;
    unsigned line;          /* 0: not known */
} SourcePlace;

/*
 * Debug info of objects, read when it is asked for. @sysroots, NULL or a list
 * that ends with NULL, is where the objects' files are from and must live as
 * long.
 */
SourcePlaces *source_places_new(char **sysroots);
void source_places_free(SourcePlaces *places);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SourcePlaces, source_places_free)

/*
 * What @addr of @object is in the source: the file and line of the innermost
 * inlined function. The file's name has no "." and ".." in it.
 */
SourcePlace source_place_find(SourcePlaces *places, const Object *object,
                              uint64_t addr);

/* Was source_place_find() asked about @object? */
bool source_place_asked(const SourcePlaces *places, const Object *object);

/*
 * Why nothing is known of @object, or not all, as a sentence without a full
 * stop; NULL if nothing is known to be missing. To be freed with g_free().
 */
char *source_place_note(SourcePlaces *places, const Object *object);

/* How writers of files ask where code is in the source */
typedef struct LineFinder {
    /*
     * Sets *@file, which lives as long as the finder, and *@line to those of
     * @addr of @object. Returns false if they are not known.
     */
    bool (*find)(void *opaque, const Object *object, uint64_t addr,
                 const char **file, unsigned *line);
    void *opaque;
} LineFinder;

#endif /* ETRACE_SOURCE_PLACE_H */
