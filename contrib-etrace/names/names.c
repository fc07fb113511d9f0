/*
 * Names: what an address means, at a place of the trace
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "names.h"

/* An object that lies at the same place in every address space */
typedef struct FixedObject {
    const Object *object;
    uint64_t bias;
} FixedObject;

struct Names {
    ObjectTable *table;
    GArray *fixed;          /* FixedObject */
};

Names *names_new(ObjectTable *table)
{
    Names *names = g_new0(Names, 1);

    names->table = table;
    names->fixed = g_array_new(false, false, sizeof(FixedObject));
    return names;
}

void names_free(Names *names)
{
    g_array_unref(names->fixed);
    g_free(names);
}

const ObjectTable *names_objects(const Names *names)
{
    return names->table;
}

void names_add_fixed(Names *names, const Object *object, uint64_t bias)
{
    FixedObject fixed = { .object = object, .bias = bias };

    g_array_append_val(names->fixed, fixed);
}

/* The range of *@place cannot extend beyond [@lo, @hi). */
static void narrow(NamePlace *place, uint64_t lo, uint64_t hi)
{
    place->lo = MAX(place->lo, lo);
    place->hi = MIN(place->hi, hi);
}

/*
 * The symbol of @object, moved by @bias, at @pc. If there is none, *@place is
 * only narrowed to where that is so.
 */
static bool find_symbol(const Object *object, uint64_t bias, uint64_t pc,
                        NamePlace *place)
{
    uint64_t lo, hi;
    const Symbol *symbol = symbols_find(object->symbols, pc - bias, &lo, &hi);

    /* What begins before the object's address 0 extends to no lower one. */
    narrow(place, lo ? lo + bias : 0,
           hi == UINT64_MAX ? UINT64_MAX : hi + bias);
    if (!symbol) {
        return false;
    }
    place->object = object;
    place->bias = bias;
    place->symbol = symbol;
    return true;
}

void names_find(const Names *names, const Image *image, unsigned priv,
                uint64_t pc, NamePlace *place)
{
    *place = (NamePlace) {
        .object = object_get(names->table, OBJECT_UNKNOWN),
        .hi = UINT64_MAX,
    };
    for (guint i = 0; i < names->fixed->len; i++) {
        const FixedObject *f = &g_array_index(names->fixed, FixedObject, i);

        if (find_symbol(f->object, f->bias, pc, place)) {
            return;
        }
    }
}
