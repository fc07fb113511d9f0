/*
 * Index of an array's elements: each is found, and no two are equal
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "base/element-index.h"

typedef struct Element {
    unsigned key;
    unsigned value;         /* is not what distinguishes elements */
} Element;

static bool equal(const void *element, const void *like)
{
    const Element *a = element, *b = like;

    return a->key == b->key;
}

static uint32_t spread(unsigned key)
{
    return key * 0x9e3779b1u;
}

static uint32_t same(unsigned key)
{
    return 0xffffffff;
}

/* Random keys, most of them several times, against a hash table */
static void check(uint32_t (*hash)(unsigned key), unsigned n)
{
    g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
    g_autoptr(GArray) array = g_array_new(false, false, sizeof(Element));
    ElementIndex x = { };

    for (unsigned i = 0; i < n; i++) {
        Element e = { .key = g_test_rand_int_range(0, n / 4 + 1), .value = i };
        gpointer number;
        bool there = g_hash_table_lookup_extended(known,
                                                  GUINT_TO_POINTER(e.key),
                                                  NULL, &number);
        int64_t found = element_index_find(&x, array, hash(e.key), equal, &e);
        unsigned interned;

        check_cmpint(found, ==,
                     there ? (int64_t)GPOINTER_TO_UINT(number) : -1);
        interned = element_index_intern(&x, array, hash(e.key), equal, &e);
        if (there) {
            check_cmpuint(interned, ==, found);
        } else {
            check_cmpuint(interned, ==, g_hash_table_size(known));
            g_hash_table_insert(known, GUINT_TO_POINTER(e.key),
                                GUINT_TO_POINTER(interned));
        }
        check_cmpuint(g_array_index(array, Element, interned).key, ==, e.key);
        check_cmpuint(array->len, ==, g_hash_table_size(known));
    }
    element_index_clear(&x);
    check_cmpint(element_index_find(&x, array, hash(0), equal,
                                    &(Element) { }), ==, -1);
}

static void test_intern(void)
{
    check(spread, 200000);
}

/* Equal hashes are only slow. */
static void test_same_hash(void)
{
    check(same, 2000);
}

/* An array that was filled without the index can be indexed later. */
static void test_add(void)
{
    g_autoptr(GArray) array = g_array_new(false, false, sizeof(Element));
    ElementIndex x = { };

    for (unsigned i = 0; i < 1000; i++) {
        Element e = { .key = 7 * i, .value = i };

        g_array_append_val(array, e);
    }
    for (unsigned i = x.used; i < array->len; i++) {
        element_index_add(&x, spread(7 * i), i);
    }
    for (unsigned i = 0; i < 7000; i++) {
        Element e = { .key = i };

        check_cmpint(element_index_find(&x, array, spread(i), equal, &e), ==,
                     i % 7 ? -1 : (int64_t)(i / 7));
    }
    element_index_clear(&x);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/element-index/intern", test_intern);
    g_test_add_func("/element-index/same-hash", test_same_hash);
    g_test_add_func("/element-index/add", test_add);
    return g_test_run();
}
