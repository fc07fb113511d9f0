/*
 * Index of an array's elements by what distinguishes them
 *
 * The elements are their own keys, so that an entry takes 8 bytes: there are
 * millions of some. Elements are not removed, and those that are in the index
 * stay where they are in the array.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_ELEMENT_INDEX_H
#define ETRACE_ELEMENT_INDEX_H

/* Zero it to make an empty one. */
typedef struct ElementIndex {
    uint64_t *slots;        /* hash << 32 | number of the element + 1, or 0 */
    unsigned bits;          /* log2 of their number; 0: there are none */
    unsigned used;
} ElementIndex;

/* Nothing is in it any more. */
void element_index_clear(ElementIndex *x);

/* Is @element of the array what is looked for? */
typedef bool ElementEqual(const void *element, const void *like);

/*
 * The number of the element of @array that is equal to @like, or if there is
 * none, that of @like, which is appended. @hash is that of @like: those of
 * equal ones are equal.
 */
unsigned element_index_intern(ElementIndex *x, GArray *array, uint32_t hash,
                              ElementEqual *equal, const void *like);

/* As above; -1: there is none, and none is appended. */
int64_t element_index_find(const ElementIndex *x, const GArray *array,
                           uint32_t hash, ElementEqual *equal,
                           const void *like);

/* The element with this number is in the array now. None is equal to it. */
void element_index_add(ElementIndex *x, uint32_t hash, unsigned number);

#endif /* ETRACE_ELEMENT_INDEX_H */
