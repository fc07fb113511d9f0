/*
 * What is known of a page of code, in little memory
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "code/code-store.h"

/* In a sideband, they take a quarter of the page's size. */
#define MAX_PIECES  64

typedef struct CodeBytes {
    uint8_t bytes[CODE_PAGE_SIZE];
    uint64_t valid[CODE_PAGE_SLOTS / 64];   /* a bit per half-word */
} CodeBytes;

void code_store_clear(CodeStore *store)
{
    code_store_trim(store);
    g_free(store->pieces);
    g_free(store->all);
}

void code_store_trim(CodeStore *store)
{
    g_clear_pointer(&store->page, code_page_free);
}

/* Returns true if that replaces known bytes by other ones. */
static bool put_all(CodeBytes *all, unsigned off, const uint8_t *bytes,
                    unsigned len)
{
    bool replaced = false;

    for (unsigned i = 0; i < len; i += 2) {
        unsigned at = off + i;
        uint64_t bit = 1ull << ((at >> 1) & 63);

        replaced |= (all->valid[at >> 7] & bit) &&
                    memcmp(&all->bytes[at], &bytes[i], 2) != 0;
        all->valid[at >> 7] |= bit;
        memcpy(&all->bytes[at], &bytes[i], 2);
    }
    return replaced;
}

/* The newest piece that has the half-word at @off, or NULL */
static const uint8_t *find_piece(const CodeStore *store, unsigned off)
{
    for (unsigned i = store->nr_pieces; i-- > 0;) {
        const CodePiece *p = &store->pieces[i];

        if (off >= p->off && off - p->off < p->len) {
            return p->bytes + (off - p->off);
        }
    }
    return NULL;
}

bool code_store_differs(const CodeStore *store, unsigned off,
                        const uint8_t *bytes, unsigned len)
{
    for (unsigned i = 0; i < len; i += 2) {
        unsigned at = off + i;
        const uint8_t *old;

        if (!store->all) {
            old = find_piece(store, at);
        } else if (store->all->valid[at >> 7] >> ((at >> 1) & 63) & 1) {
            old = &store->all->bytes[at];
        } else {
            old = NULL;
        }
        if (old && memcmp(old, &bytes[i], 2)) {
            return true;
        }
    }
    return false;
}

static void add_piece(CodeStore *store, unsigned off, const uint8_t *bytes,
                      unsigned len)
{
    unsigned n = store->nr_pieces++;

    if (!(n & (n - 1))) {
        store->pieces = g_renew(CodePiece, store->pieces, n ? 2 * n : 1);
    }
    store->pieces[n] = (CodePiece) { bytes, off, len };
}

static void take_all(CodeStore *store)
{
    store->all = g_new0(CodeBytes, 1);
    for (unsigned i = 0; i < store->nr_pieces; i++) {
        const CodePiece *p = &store->pieces[i];

        put_all(store->all, p->off, p->bytes, p->len);
    }
    g_clear_pointer(&store->pieces, g_free);
}

bool code_store_put(CodeStore *store, unsigned off, const uint8_t *bytes,
                    unsigned len)
{
    bool replaced = false, news = false;

    if (store->page) {
        code_page_put(store->page, off, bytes, len);
    }
    if (store->all) {
        return put_all(store->all, off, bytes, len);
    }
    for (unsigned i = 0; i < len; i += 2) {
        const uint8_t *old = find_piece(store, off + i);

        news |= !old;
        replaced |= old && memcmp(old, bytes + i, 2) != 0;
    }
    if (news || replaced) {
        if (store->nr_pieces == MAX_PIECES) {
            take_all(store);
            put_all(store->all, off, bytes, len);
        } else {
            add_piece(store, off, bytes, len);
        }
    }
    return replaced;
}

CodePage *code_store_page(CodeStore *store)
{
    if (store->page) {
        return store->page;
    }
    store->page = code_page_new();
    if (store->all) {
        for (unsigned off = 0; off < CODE_PAGE_SIZE; off += 2) {
            if (store->all->valid[off >> 7] >> ((off >> 1) & 63) & 1) {
                code_page_put(store->page, off, store->all->bytes + off, 2);
            }
        }
    }
    for (unsigned i = 0; !store->all && i < store->nr_pieces; i++) {
        const CodePiece *p = &store->pieces[i];

        code_page_put(store->page, p->off, p->bytes, p->len);
    }
    return store->page;
}
