/*
 * Profiles for compilers: which object, and whether its file is the right one
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "views/pgo/pgo.h"

/* So many objects are named in a message. */
#define MAX_NAMED   8

bool pgo_parse_format(const char *text, PgoFormat *format)
{
    static const char *const names[PGO_NR_FORMATS] = {
        [PGO_LLVM] = "llvm",
        [PGO_BOLT] = "bolt",
        [PGO_GCOV] = "gcov",
    };

    for (unsigned i = 0; i < PGO_NR_FORMATS; i++) {
        if (g_str_equal(text, names[i])) {
            *format = i;
            return true;
        }
    }
    return false;
}

static bool is_last_part(const char *path, const char *name)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return path && g_str_equal(slash ? slash + 1 : path, name);
}

/* How well @name names @o; 0: not at all */
static unsigned name_fits(const Object *o, const char *name)
{
    if (!g_strcmp0(o->build_id, name)) {
        return 3;
    }
    if (g_str_equal(o->path, name) || !g_strcmp0(o->file, name)) {
        return 2;
    }
    return is_last_part(o->path, name) || is_last_part(o->file, name);
}

/* Paths of those that are in @some, for a message */
static char *list(const Counts *c, const bool *some)
{
    GString *s = g_string_new(NULL);
    unsigned n = 0;

    for (unsigned i = 1; i < object_table_size(c->objects); i++) {
        const Object *o = object_get(c->objects, i);

        if (some[i] && n++ < MAX_NAMED) {
            g_string_append_printf(s, "%s%s", s->len ? ", " : "", o->path);
            if (o->build_id) {
                g_string_append_printf(s, " (build-id %s)", o->build_id);
            }
        }
    }
    if (n > MAX_NAMED) {
        g_string_append_printf(s, " and %u more", n - MAX_NAMED);
    }
    return g_string_free(s, false);
}

static const Object *only_one(const Counts *c, const bool *some)
{
    const Object *found = NULL;

    for (unsigned i = 1; i < object_table_size(c->objects); i++) {
        if (some[i]) {
            if (found) {
                return NULL;
            }
            found = object_get(c->objects, i);
        }
    }
    return found;
}

static void explain_none(const Counts *c, const char *name, bool known,
                         const bool *ran, GError **errp)
{
    g_autofree char *these = list(c, ran);

    if (!*these) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                    "no code of a known object ran; name the ELF files of "
                    "what ran");
    } else if (known) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                    "object %s: none of its code ran; what ran is %s", name,
                    these);
    } else {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                    "object %s: there is none of that name; what ran is %s",
                    name, these);
    }
}

const Object *pgo_find_object(const Counts *c, const char *name,
                              GError **errp)
{
    unsigned nr = object_table_size(c->objects), best = 0;
    g_autofree uint64_t *insns = counts_insns_by_object(c);
    g_autofree bool *ran = g_new0(bool, nr), *fits = g_new0(bool, nr);
    g_autofree char *these = NULL;
    const Object *found;
    bool known = false, any = false;

    for (unsigned i = 0; i < nr; i++) {
        const Object *o = object_get(c->objects, i);
        /* If nobody says, it is the program, and no library of it. */
        unsigned how = name ? name_fits(o, name) :
                       o->kind == OBJECT_PROGRAM ? 2 : 1;

        if (o->kind == OBJECT_NONE) {
            continue;
        }
        ran[i] = insns[i];
        known |= how > 0;
        if (how && ran[i]) {
            if (how > best) {
                memset(fits, 0, nr * sizeof(fits[0]));
                best = how;
            }
            fits[i] = how == best;
            any = true;
        }
    }
    if (!any) {
        explain_none(c, name, known && name, ran, errp);
        return NULL;
    }
    found = only_one(c, fits);
    these = found ? NULL : list(c, fits);
    if (!found && name) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                    "object %s: several have that name; give the path or "
                    "build-id of one of %s", name, these);
    } else if (!found) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                    "several objects ran; choose one of them with --object "
                    "NAME: %s", these);
    }
    return found;
}

bool pgo_write(const Counts *c, const PgoOptions *o, FILE *f,
               uint64_t *dropped, GError **errp)
{
    const Object *object = pgo_find_object(c, o->object, errp);
    g_autoptr(ObjectText) text = NULL;
    g_autoptr(ObjectCounts) oc = NULL;

    if (!object) {
        return false;
    }
    if (object->kind == OBJECT_MODULE) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                    "%s: is a module of the kernel, which has its addresses "
                    "only when it is loaded; no compiler reads profiles of "
                    "those", object->path);
        return false;
    }
    text = object_text_open(object, o->elf, errp);
    if (!text) {
        return false;
    }
    oc = object_counts_new(c, object);
    if (!object_counts_check(oc, text, errp)) {
        return false;
    }
    if (dropped) {
        *dropped = oc->dropped;
    }
    switch (o->format) {
    case PGO_LLVM:
        pgo_write_llvm(oc, f);
        return true;
    case PGO_BOLT:
        pgo_write_bolt(oc, f);
        return true;
    default:
        object_counts_spread(oc);
        return pgo_write_gcov(oc, text, o->sysroots, f, errp);
    }
}
