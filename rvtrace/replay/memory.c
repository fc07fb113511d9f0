/*
 * Memory, as far as it is known
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "replay/memory.h"

#define PAGE_BITS   10
#define PAGE_SIZE   (1u << PAGE_BITS)
#define PAGE_MASK   (PAGE_SIZE - 1)

#define NR_LAST     8

/* Of a memory and its copies, together: 300 MiB */
#define MAX_PAGES   (1u << 18)

/* What a memory and its copies have in common */
typedef struct Pool {
    unsigned refs;              /* memories */
    unsigned nr_pages;          /* each counts once */
} Pool;

typedef struct Page {
    uint64_t number;            /* addr >> PAGE_BITS */
    unsigned space;
    unsigned refs;              /* memories that it is in */
    Pool *pool;
    uint64_t known[PAGE_SIZE / 64];     /* bit per byte */
    uint8_t bytes[PAGE_SIZE];
} Page;

struct Memory {
    Pool *pool;
    GHashTable *pages;          /* Page */
    bool overflowed;            /* and memory_take_overflow() has not said so */
    /* Found last, and this memory's alone, by number; or NULL */
    Page *last[NR_LAST];
};

static guint page_hash(gconstpointer key)
{
    const Page *p = key;
    uint64_t hash = (p->number + ((uint64_t)p->space << 40)) *
                    0x9e3779b97f4a7c15ull;

    return hash >> 32;
}

static gboolean page_equal(gconstpointer pa, gconstpointer pb)
{
    const Page *a = pa, *b = pb;

    return a->number == b->number && a->space == b->space;
}

static void page_unref(gpointer opaque)
{
    Page *p = opaque;

    if (!--p->refs) {
        p->pool->nr_pages--;
        g_free(p);
    }
}

static Memory *new_of(Pool *pool)
{
    Memory *m = g_new0(Memory, 1);

    m->pool = pool;
    pool->refs++;
    m->pages = g_hash_table_new_full(page_hash, page_equal, page_unref, NULL);
    return m;
}

Memory *memory_new(void)
{
    return new_of(g_new0(Pool, 1));
}

Memory *memory_copy(const Memory *m)
{
    Memory *copy = new_of(m->pool);
    GHashTableIter iter;
    gpointer key;

    copy->overflowed = m->overflowed;
    g_hash_table_iter_init(&iter, m->pages);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        ((Page *)key)->refs++;
        g_hash_table_add(copy->pages, key);
    }
    /* It is shared now. */
    memset(((Memory *)m)->last, 0, sizeof(m->last));
    return copy;
}

void memory_free(Memory *m)
{
    g_hash_table_unref(m->pages);
    if (!--m->pool->refs) {
        g_free(m->pool);
    }
    g_free(m);
}

bool memory_is_crowded(const Memory *m)
{
    return m->pool->nr_pages >= MAX_PAGES / 2;
}

static Page *find(const Memory *m, unsigned space, uint64_t addr)
{
    Page key = { .number = addr >> PAGE_BITS, .space = space };

    return g_hash_table_lookup(m->pages, &key);
}

/* The page of @addr, to be written to; made if there is none and @make */
static Page *own(Memory *m, unsigned space, uint64_t addr, bool make)
{
    Page **last = &m->last[(addr >> PAGE_BITS) % NR_LAST];
    Page *p = *last, *copy;

    if (p && p->number == addr >> PAGE_BITS && p->space == space) {
        return p;
    }
    p = find(m, space, addr);
    if (!p && !make) {
        return NULL;
    }
    if ((!p || p->refs > 1) && m->pool->nr_pages >= MAX_PAGES) {
        memory_forget_all(m);
        m->overflowed = true;
        p = NULL;
    }
    if (!p || p->refs > 1) {
        /* If the copies have all the room, there is one page more than that. */
        copy = p ? g_memdup2(p, sizeof(*p)) : g_new0(Page, 1);
        copy->refs = 1;
        copy->pool = m->pool;
        m->pool->nr_pages++;
        copy->number = addr >> PAGE_BITS;
        copy->space = space;
        g_hash_table_replace(m->pages, copy, copy);
        p = copy;
    }
    *last = p;
    return p;
}

static inline void put_bytes(uint8_t *to, uint64_t value, unsigned n)
{
    uint64_t bytes = GUINT64_TO_LE(value);

    /* Most are one of these, which are one store of the host's. */
    if (n == 8) {
        memcpy(to, &bytes, 8);
    } else if (n == 4) {
        memcpy(to, &bytes, 4);
    } else {
        memcpy(to, &bytes, n);
    }
}

void memory_put(Memory *m, unsigned space, uint64_t addr, uint64_t value,
                unsigned len)
{
    while (len) {
        Page *p = own(m, space, addr, true);
        unsigned off = addr & PAGE_MASK;
        /* Of one page, and of one word of its bits */
        unsigned n = MIN(len, 64 - off % 64);

        put_bytes(p->bytes + off, value, n);
        p->known[off / 64] |= ((1ull << n) - 1) << off % 64;
        value = n < 8 ? value >> 8 * n : 0;
        addr += n;
        len -= n;
    }
}

static void forget_bytes(Memory *m, unsigned space, uint64_t addr,
                         unsigned len)
{
    for (unsigned i = 0; i < len; i++, addr++) {
        Page *p = own(m, space, addr, false);
        unsigned off = addr & PAGE_MASK;

        if (p) {
            p->known[off / 64] &= ~(1ull << off % 64);
        }
    }
}

/* All of each page of which @addr is, or that is behind it, up to @len bytes */
static void forget_pages(Memory *m, unsigned space, uint64_t addr,
                         uint64_t len)
{
    GHashTableIter iter;
    gpointer key;

    g_hash_table_iter_init(&iter, m->pages);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        const Page *p = key;

        if (p->space == space &&
            p->number - (addr >> PAGE_BITS) < len >> PAGE_BITS) {
            g_hash_table_iter_remove(&iter);
        }
    }
    memset(m->last, 0, sizeof(m->last));
}

void memory_forget(Memory *m, unsigned space, uint64_t addr, uint64_t len)
{
    uint64_t head = MIN(len, -addr & PAGE_MASK), tail;

    forget_bytes(m, space, addr, head);
    addr += head;
    len -= head;
    tail = len & PAGE_MASK;
    if (len > tail) {
        forget_pages(m, space, addr, len - tail);
    }
    forget_bytes(m, space, addr + len - tail, tail);
}

void memory_forget_all(Memory *m)
{
    g_hash_table_remove_all(m->pages);
    memset(m->last, 0, sizeof(m->last));
}

bool memory_take_overflow(Memory *m)
{
    bool overflowed = m->overflowed;

    m->overflowed = false;
    return overflowed;
}

size_t memory_read(const Memory *m, unsigned space, uint64_t addr,
                   uint8_t *buf, size_t len)
{
    for (size_t i = 0; i < len; i++, addr++) {
        const Page *p = find(m, space, addr);
        unsigned off = addr & PAGE_MASK;

        if (!p || !(p->known[off / 64] >> off % 64 & 1)) {
            return i;
        }
        buf[i] = p->bytes[off];
    }
    return len;
}
