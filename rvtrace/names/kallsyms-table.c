/*
 * The kernel's own table of symbols, as it is in its image
 *
 * scripts/kallsyms.c writes one behind the other, each aligned to 8 bytes:
 *
 *  num_syms        u32
 *  names           of each symbol: its length (one byte, or two if bit 7 of
 *                  the first is set), then as many indices of tokens; the
 *                  first character of what they spell is the symbol's type
 *  markers         u32: where in names each 256th symbol begins
 *  token_table     256 strings
 *  token_index     u16: where in token_table each of them begins
 *  offsets         u32 of each symbol, from the lowest of them
 *
 * Nothing points to them from outside, so they are looked for: tokens that
 * stand for a character of their own are at the index of that character, and
 * so "0" to "9" follow each other.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "names/kallsyms-table.h"

#define TOKENS          256
#define SYMS_PER_MARKER 256
#define MAX_SYMS        (1u << 22)
#define MAX_NAME        512

typedef struct Tables {
    const uint8_t *data;
    size_t size;
    size_t tokens, index;       /* offsets in data */
    size_t markers;
    unsigned nr_markers;
    size_t names;
    unsigned nr_syms;
    size_t offsets;
} Tables;

static uint32_t get16(const Tables *t, size_t off)
{
    return t->data[off] | t->data[off + 1] << 8;
}

static uint32_t get32(const Tables *t, size_t off)
{
    return get16(t, off) | get16(t, off + 2) << 16;
}

/* The end of the string at @off, where its NUL is */
static size_t string_end(const Tables *t, size_t off)
{
    const uint8_t *nul = memchr(t->data + off, 0, t->size - off);

    return nul ? (size_t)(nul - t->data) : t->size;
}

/* Is the token_index at @off that of the strings from t->tokens on? */
static bool is_index(const Tables *t, size_t off)
{
    size_t at = t->tokens;

    if (off > t->size || t->size - off < 2 * TOKENS) {
        return false;
    }
    for (unsigned i = 0; i < TOKENS; i++) {
        if (t->tokens + get16(t, off + 2 * i) != at) {
            return false;
        }
        at = string_end(t, at) + 1;
        if (at > off) {
            return false;
        }
    }
    return true;
}

/* @digits is where the strings "0" to "9" stand. */
static bool find_tokens(Tables *t, size_t digits)
{
    size_t at = digits, end;

    /* Back over the strings before them, each behind a NUL */
    for (unsigned i = 0; i < '0'; i++) {
        if (at < 2 || t->data[at - 1]) {
            return false;
        }
        for (at--; at > 0 && t->data[at - 1]; at--) {
            if (digits - at > 0x10000) {
                return false;
            }
        }
    }
    /* What is before the first may be padding instead of a string's end. */
    t->tokens = at;
    end = at;
    for (unsigned i = 0; i < TOKENS; i++) {
        end = string_end(t, end) + 1;
        if (end >= t->size || end - at > 0x10000) {
            return false;
        }
    }
    t->index = ROUND_UP(end, 8);
    return is_index(t, t->index);
}

/* Markers end, with padding, where the tokens begin; the first one is 0. */
static bool find_markers(Tables *t)
{
    size_t end = t->tokens, off;

    for (unsigned pad = 0; pad < 2; pad++) {
        off = end - 4 * pad;
        /* The last one is not 0 unless it is the only one. */
        while (off >= 4 && get32(t, off - 4) &&
               (off == end - 4 * pad ||
                get32(t, off - 4) < get32(t, off))) {
            off -= 4;
        }
        if (off >= 4 && off < end - 4 * pad && !get32(t, off - 4)) {
            t->markers = off - 4;
            t->nr_markers = (end - 4 * pad - t->markers) / 4;
            return true;
        }
    }
    return false;
}

/* Move *@off behind the name there; returns its length in tokens, 0: damaged */
static unsigned next_name(const Tables *t, size_t *off, size_t end)
{
    unsigned len;

    if (end - *off < 2) {
        return 0;
    }
    len = t->data[(*off)++];
    if (len & 0x80) {
        len = (len & 0x7f) | t->data[(*off)++] << 7;
    }
    if (len > end - *off) {
        return 0;
    }
    *off += len;
    return len;
}

/* Are there nr_syms names, from t->names to the markers, as the markers say? */
static bool names_fit(const Tables *t)
{
    size_t off = t->names;

    for (unsigned i = 0; i < t->nr_syms; i++) {
        if (i % SYMS_PER_MARKER == 0 &&
            t->names + get32(t, t->markers + i / SYMS_PER_MARKER * 4) !=
            off) {
            return false;
        }
        if (!next_name(t, &off, t->markers)) {
            return false;
        }
    }
    return ROUND_UP(off, 8) == t->markers;
}

/* The number of symbols is 8 bytes before the names. */
static bool find_names(Tables *t)
{
    uint64_t last = get32(t, t->markers + 4 * (t->nr_markers - 1));
    size_t off = t->markers;

    if (last >= t->markers) {
        return false;
    }
    /* Behind the last marker there are 256 names at most. */
    for (off = ROUND_UP(t->markers - last - MIN(t->markers - last,
                        SYMS_PER_MARKER * MAX_NAME), 8);
         off + last < t->markers; off += 8) {
        if (off < 8) {
            continue;
        }
        t->names = off;
        t->nr_syms = get32(t, off - 8);
        if (t->nr_syms && t->nr_syms <= MAX_SYMS &&
            DIV_ROUND_UP(t->nr_syms, SYMS_PER_MARKER) == t->nr_markers &&
            names_fit(t)) {
            return true;
        }
    }
    return false;
}

static bool find_tables(Tables *t)
{
    static const char digits[] = "0\0001\0002\0003\0004\000"
                                 "5\0006\0007\0008\0009";
    const uint8_t *at = t->data, *end = t->data + t->size;

    while ((at = memmem(at, end - at, digits, sizeof(digits)))) {
        if (find_tokens(t, at - t->data) && find_markers(t) &&
            find_names(t)) {
            t->offsets = t->index + 2 * TOKENS;
            return t->size - t->offsets >= 4 * (uint64_t)t->nr_syms;
        }
        at++;
    }
    return false;
}

/* What @len tokens at @off spell */
static void spell(const Tables *t, size_t off, unsigned len, GString *name)
{
    g_string_truncate(name, 0);
    for (unsigned i = 0; i < len && name->len < MAX_NAME; i++) {
        g_string_append(name, (const char *)t->data + t->tokens +
                              get16(t, t->index + 2 * t->data[off + i]));
    }
}

typedef struct Found {
    uint32_t offset;
    bool function;
    char *name;
} Found;

static void found_clear(gpointer opaque)
{
    g_free(((Found *)opaque)->name);
}

unsigned kallsyms_table_read(const uint8_t *data, size_t size,
                             SymbolTable *symbols)
{
    g_autoptr(GArray) all = g_array_new(false, false, sizeof(Found));
    g_autoptr(GString) name = g_string_new(NULL);
    Tables t = { .data = data, .size = size };
    uint32_t start = 0;
    unsigned count = 0;
    size_t off;

    g_array_set_clear_func(all, found_clear);
    if (!find_tables(&t)) {
        return 0;
    }
    off = t.names;
    for (unsigned i = 0; i < t.nr_syms; i++) {
        unsigned len = next_name(&t, &off, t.markers);
        Found f = { .offset = get32(&t, t.offsets + 4 * i) };

        spell(&t, off - len, len, name);
        if (name->len < 2) {
            continue;
        }
        if (g_str_equal(name->str + 1, "_start")) {
            start = f.offset;
        }
        f.function = strchr("tTwW", name->str[0]);
        f.name = g_strdup(name->str + 1);
        g_array_append_val(all, f);
    }
    for (guint i = 0; i < all->len; i++) {
        const Found *f = &g_array_index(all, Found, i);

        /* Local labels and marks of a data section name no functions. */
        if (f->function && f->offset >= start && f->name[0] != '$' &&
            !g_str_has_prefix(f->name, ".L")) {
            symbols_add(symbols, f->offset - start, 0, f->name);
            count++;
        }
    }
    return count;
}
