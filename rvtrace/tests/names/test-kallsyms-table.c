/*
 * The kernel's own table of symbols, as scripts/kallsyms.c writes it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "names/kallsyms-table.h"

#define NR_SYMS     700         /* three markers */

static void align(GByteArray *b, unsigned to)
{
    static const uint8_t zeros[8];

    g_byte_array_append(b, zeros, -b->len % to);
}

static void put(GByteArray *b, uint64_t val, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        g_byte_array_append(b, &(uint8_t){ val >> 8 * i }, 1);
    }
}

static void put_name(GByteArray *b, const uint8_t *tokens, unsigned len)
{
    if (len < 0x80) {
        put(b, len, 1);
    } else {
        put(b, (len & 0x7f) | 0x80, 1);
        put(b, len >> 7, 1);
    }
    g_byte_array_append(b, tokens, len);
}

/* Symbol @i: its type and name, in characters; token 1 stands for "func" */
static GString *spell(unsigned i)
{
    GString *s = g_string_new(NULL);

    if (i == 1) {
        g_string_append(s, "T_start");
    } else if (i == 2) {
        g_string_append(s, "Dsome_data");
    } else if (i == 3) {            /* two bytes of length */
        g_string_append_c(s, 't');
        for (unsigned k = 0; k < 300; k++) {
            g_string_append_c(s, 'a' + k % 26);
        }
    } else {
        g_string_append_printf(s, "%c\001_%u", i % 2 ? 't' : 'T', i);
    }
    return s;
}

static uint32_t offset_of(unsigned i)
{
    return 0x40 * i;
}

/* What could be in front of the tables, and behind: not one of them */
static GByteArray *image(void)
{
    GByteArray *b = g_byte_array_new();
    uint32_t markers[(NR_SYMS + 255) / 256];
    uint16_t index[256];
    unsigned begin;

    for (unsigned i = 0; i < 1000; i++) {
        put(b, i * 0x9e3779b1u, 4);
    }
    for (unsigned i = 0; i < 10; i++) {     /* other people's digits */
        put(b, '0' + i, 2);
    }
    align(b, 8);
    put(b, NR_SYMS, 4);
    align(b, 8);
    begin = b->len;
    for (unsigned i = 0; i < NR_SYMS; i++) {
        GString *s = spell(i);

        if (i % 256 == 0) {
            markers[i / 256] = b->len - begin;
        }
        put_name(b, (uint8_t *)s->str, s->len);
        g_string_free(s, true);
    }
    align(b, 8);
    for (unsigned i = 0; i < ARRAY_SIZE(markers); i++) {
        put(b, markers[i], 4);
    }
    align(b, 8);
    begin = b->len;
    for (unsigned i = 0; i < 256; i++) {
        index[i] = b->len - begin;
        if (i == 1) {
            g_byte_array_append(b, (const uint8_t *)"func", 5);
        } else {
            /* characters that no symbol has get longer tokens */
            put(b, i < 0x20 || i > 0x7e ? 'x' : i, 1);
            put(b, 0, 1);
        }
    }
    align(b, 8);
    for (unsigned i = 0; i < 256; i++) {
        put(b, index[i], 2);
    }
    align(b, 8);
    for (unsigned i = 0; i < NR_SYMS; i++) {
        put(b, offset_of(i), 4);
    }
    align(b, 8);
    put(b, 0, 8);
    return b;
}

static void test_read(void)
{
    g_autoptr(GByteArray) b = image();
    g_autoptr(SymbolTable) t = symbols_new();
    const Symbol *s;

    /* Before _start there is one, and one is no function. */
    check_cmpuint(kallsyms_table_read(b->data, b->len, t), ==, NR_SYMS - 2);
    symbols_sort(t);
    check_cmpstr(symbols_find(t, 0, NULL, NULL)->name, ==, "_start");
    for (unsigned i = 4; i < NR_SYMS; i++) {
        g_autofree char *want = g_strdup_printf("func_%u", i);

        s = symbols_find(t, offset_of(i) - offset_of(1), NULL, NULL);
        check_nonnull(s);
        check_cmpstr(s->name, ==, want);
    }
    s = symbols_find(t, offset_of(3) - offset_of(1), NULL, NULL);
    check_cmpuint(strlen(s->name), ==, 300);
}

/* Whatever byte is damaged: fewer names or none, but never a crash */
static void test_damaged(void)
{
    g_autoptr(GByteArray) b = image();
    unsigned refused = 0;

    for (unsigned i = 0; i < b->len; i += 7) {
        g_autoptr(SymbolTable) t = symbols_new();

        b->data[i] ^= 0xff;
        refused += !kallsyms_table_read(b->data, b->len, t);
        b->data[i] ^= 0xff;
    }
    check_cmpuint(refused, >, 100);
    for (unsigned len = 0; len < b->len; len += 61) {
        g_autofree uint8_t *cut = g_memdup2(b->data, MAX(len, 1));
        g_autoptr(SymbolTable) t = symbols_new();

        check_cmpuint(kallsyms_table_read(cut, len, t), ==,
                      len >= b->len - 8 ? NR_SYMS - 2 : 0);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kallsyms-table/read", test_read);
    g_test_add_func("/kallsyms-table/damaged", test_damaged);
    return g_test_run();
}
