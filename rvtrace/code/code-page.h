/*
 * A page of code, decoded once
 *
 * Following billions of instructions one by one costs too much. What a walk
 * needs to know at an address is: how many instructions follow in line, and
 * what ends the line. Both are worked out the first time an address is asked
 * for and kept until the page's bytes change.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_CODE_PAGE_H
#define ETRACE_CODE_PAGE_H

#include <glib.h>
#include "code/insn.h"

#define CODE_PAGE_BITS  12
#define CODE_PAGE_SIZE  (1u << CODE_PAGE_BITS)
#define CODE_PAGE_MASK  (CODE_PAGE_SIZE - 1)
#define CODE_PAGE_SLOTS (CODE_PAGE_SIZE / 2)

/* What ends a line of instructions. */
typedef enum CodeEndKind {
    CODE_END_PAGE,          /* sequential; the next page follows */
    CODE_END_BRANCH,
    CODE_END_JUMP,
    CODE_END_UPDISCON,
    CODE_END_XRET,
    CODE_END_CROSS,         /* an instruction that ends on the next page */
    CODE_END_MISSING,       /* no code known here */
} CodeEndKind;

typedef struct CodeEnd {
    uint16_t off;           /* byte in the page where the instruction starts */
    uint8_t kind;           /* CodeEndKind */
    uint8_t size;
    uint8_t itype;          /* as Insn.itype */
    /*
     * An uninferable jump: the instruction before it may load the upper part
     * of its register, so that it could be sequentially inferable
     */
    bool upper;
    int32_t offset;         /* as Insn.offset */
} CodeEnd;

typedef struct CodeSlot {
    /*
     * Instructions from here to the line's end, the one that ends it
     * included unless it is missing; 0: not decoded yet
     */
    uint16_t count;
    uint16_t end;           /* index into CodePage.ends */
} CodeSlot;

typedef struct CodePage {
    uint8_t bytes[CODE_PAGE_SIZE];
    uint64_t valid[CODE_PAGE_SLOTS / 64];   /* a bit per half-word */
    /*
     * A bit per half-word: an instruction that starts there has 4 bytes. One
     * word more, so that there is always one behind.
     */
    uint64_t wide[CODE_PAGE_SLOTS / 64 + 1];
    /*
     * Changes with the bytes, and is no other page's: who remembers something
     * of a page by its pointer sees by this whether it still holds.
     */
    uint64_t version;
    CodeSlot slots[CODE_PAGE_SLOTS];
    CodeEnd *ends;
    unsigned nr_ends, max_ends;
} CodePage;

/* A page without any code. Ownership goes to the caller. */
CodePage *code_page_new(void);
void code_page_free(CodePage *page);

/*
 * Put @len bytes at @off; both even, and within the page. What was decoded
 * is forgotten if that changes anything. Returns true if known bytes were
 * replaced by other ones.
 */
bool code_page_put(CodePage *page, unsigned off, const uint8_t *bytes,
                   unsigned len);

static inline bool code_page_valid(const CodePage *page, unsigned off)
{
    return (page->valid[off >> 7] >> ((off >> 1) & 63)) & 1;
}

static inline uint16_t code_page_half(const CodePage *page, unsigned off)
{
    return page->bytes[off] | page->bytes[off + 1] << 8;
}

/* CodePage.wide of the half-word at @off (even), bit 0, and the 63 behind */
static inline uint64_t code_page_wide(const CodePage *page, unsigned off)
{
    unsigned word = off >> 7, shift = (off >> 1) & 63;

    return page->wide[word] >> shift |
           page->wide[word + 1] << 1 << (63 - shift);
}

/*
 * Decode the line at @off (even). Returns its slot. If there is no code at
 * @off the count stays 0.
 */
const CodeSlot *code_page_decode(CodePage *page, const InsnIsa *isa,
                                 unsigned off);

/* The line of instructions at @off (even); see code_page_decode(). */
static inline const CodeSlot *code_page_line(CodePage *page,
                                             const InsnIsa *isa, unsigned off)
{
    const CodeSlot *slot = &page->slots[off >> 1];

    return G_LIKELY(slot->count) ? slot : code_page_decode(page, isa, off);
}

#endif /* ETRACE_CODE_PAGE_H */
