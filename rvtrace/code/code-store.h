/*
 * What is known of a page of code, in little memory
 *
 * A page's bytes come in pieces, which may be a half-word each. The pieces
 * are referred to where they are, until there are so many that the whole page
 * is no more than a few times their size.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_CODE_STORE_H
#define ETRACE_CODE_STORE_H

#include "code/code-page.h"

typedef struct CodePiece {
    const uint8_t *bytes;
    uint16_t off, len;
} CodePiece;

typedef struct CodeStore {
    CodePiece *pieces;      /* later ones lie over earlier ones */
    CodePage *page;         /* decoded, or NULL; code_store_trim() */
    unsigned nr_pieces;
    /* Instead of pieces: all of it */
    struct CodeBytes *all;
} CodeStore;

/* @store is zeroed at first. */
void code_store_clear(CodeStore *store);

/* Are bytes known at @off that are not these? As for code_store_put(). */
bool code_store_differs(const CodeStore *store, unsigned off,
                        const uint8_t *bytes, unsigned len);

/*
 * Put @len bytes at @off; both even, and within the page. They must stay as
 * long as the store. Returns true if known bytes were replaced by other ones.
 */
bool code_store_put(CodeStore *store, unsigned off, const uint8_t *bytes,
                    unsigned len);

/* The page to decode, made if there is none. Follows code_store_put(). */
CodePage *code_store_page(CodeStore *store);

/* Let go of it; another one can be made. */
void code_store_trim(CodeStore *store);

#endif /* ETRACE_CODE_STORE_H */
