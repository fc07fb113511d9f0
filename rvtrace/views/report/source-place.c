/*
 * Where in the source the code of objects is
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "elf/debug-info.h"
#include "views/report/source-place.h"

typedef struct ObjectPlaces {
    DebugInfo *info;        /* NULL: there is none */
    char *error;            /* why */
    GHashTable *found;      /* address to SourcePlace */
} ObjectPlaces;

struct SourcePlaces {
    char **sysroots;
    GHashTable *objects;    /* id of the Object to ObjectPlaces */
    /* Names of files as DWARF has them, interned, to what they are here */
    GHashTable *files;
};

static void object_places_free(gpointer opaque)
{
    ObjectPlaces *o = opaque;

    g_clear_pointer(&o->info, debug_info_free);
    g_hash_table_unref(o->found);
    g_free(o->error);
    g_free(o);
}

SourcePlaces *source_places_new(char **sysroots)
{
    SourcePlaces *places = g_new0(SourcePlaces, 1);

    places->sysroots = sysroots;
    places->objects = g_hash_table_new_full(NULL, NULL, NULL,
                                            object_places_free);
    places->files = g_hash_table_new(g_str_hash, g_str_equal);
    return places;
}

void source_places_free(SourcePlaces *places)
{
    g_hash_table_unref(places->objects);
    g_hash_table_unref(places->files);
    g_free(places);
}

static void open_object(const SourcePlaces *places, const Object *object,
                        ObjectPlaces *o)
{
    g_autoptr(GError) err = NULL;

    if (!object->file) {
        o->error = g_strdup_printf("%s: there is no file of it; give it with "
                                   "--elf or --sysroot", object->name);
    } else if (object->kind == OBJECT_MODULE) {
        /* The object's addresses are not those of the file. */
        o->error = g_strdup_printf("%s: debug info of modules is not read",
                                   object->file);
    } else {
        o->info = debug_info_open(object->file, places->sysroots, &err);
        if (!o->info) {
            o->error = g_strdup(err->message);
        }
    }
}

static ObjectPlaces *get_object(SourcePlaces *places, const Object *object)
{
    gpointer key = GUINT_TO_POINTER(object->id);
    ObjectPlaces *o = g_hash_table_lookup(places->objects, key);

    if (!o) {
        o = g_new0(ObjectPlaces, 1);
        o->found = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                         g_free);
        open_object(places, object, o);
        g_hash_table_insert(places->objects, key, o);
    }
    return o;
}

/* What the compiler calls /a/b/../c.h is /a/c.h. */
static const char *file_name(SourcePlaces *places, const char *name)
{
    const char *known = g_hash_table_lookup(places->files, name);

    if (!known) {
        g_autofree char *path = g_path_is_absolute(name) ?
            g_canonicalize_filename(name, "/") : g_strdup(name);

        known = g_intern_string(path);
        g_hash_table_insert(places->files,
                            (gpointer)g_intern_string(name),
                            (gpointer)known);
    }
    return known;
}

SourcePlace source_place_find(SourcePlaces *places, const Object *object,
                              uint64_t addr)
{
    ObjectPlaces *o = get_object(places, object);
    SourcePlace *place;
    DebugFrame frame;

    if (!o->info) {
        return (SourcePlace) { 0 };
    }
    place = g_hash_table_lookup(o->found, &addr);
    if (!place) {
        place = g_new0(SourcePlace, 1);
        if (debug_info_line(o->info, addr, &frame) && frame.file) {
            place->file = file_name(places, frame.file);
            place->line = frame.line;
        }
        g_hash_table_insert(o->found, g_memdup2(&addr, sizeof(addr)), place);
    }
    return *place;
}

bool source_place_asked(const SourcePlaces *places, const Object *object)
{
    return g_hash_table_contains(places->objects,
                                 GUINT_TO_POINTER(object->id));
}

char *source_place_note(SourcePlaces *places, const Object *object)
{
    ObjectPlaces *o = get_object(places, object);

    return g_strdup(o->info ? debug_info_note(o->info) : o->error);
}
