/*
 * rvtrace: what has to be said of files whose lines are not known
 *
 * A root file system has hundreds of them. A warning for each would hide those
 * that matter.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/say.h"
#include "commands/views/missing.h"

/* Names of files in a warning, besides the first one */
#define MAX_NAMES   5

typedef struct Missing {
    const Object *object;
    char *note;
    uint64_t insns;             /* that ran */
} Missing;

struct MissingLines {
    uint64_t *insns;            /* by id of the object */
    GArray *files;              /* Missing */
};

static void clear(gpointer opaque)
{
    Missing *m = opaque;

    g_free(m->note);
}

MissingLines *missing_lines_new(const Counts *counts)
{
    MissingLines *missing = g_new0(MissingLines, 1);

    missing->insns = counts_insns_by_object(counts);
    missing->files = g_array_new(false, false, sizeof(Missing));
    g_array_set_clear_func(missing->files, clear);
    return missing;
}

void missing_lines_free(MissingLines *missing)
{
    g_array_unref(missing->files);
    g_free(missing->insns);
    g_free(missing);
}

void missing_lines_add(MissingLines *missing, const Object *object,
                       char *note)
{
    Missing m = { object, note, missing->insns[object->id] };

    if (note && m.insns) {
        g_array_append_val(missing->files, m);
    } else {
        g_free(note);
    }
}

/* In a fixed order, too */
static int compare(gconstpointer a, gconstpointer b)
{
    const Missing *x = a, *y = b;

    if (x->insns != y->insns) {
        return x->insns > y->insns ? -1 : 1;
    }
    return x->object->id < y->object->id ? -1 : 1;
}

void missing_lines_say(const MissingLines *missing)
{
    const Missing *files = (const Missing *)missing->files->data;
    guint n = missing->files->len;
    g_autoptr(GString) names = g_string_new(NULL);

    g_array_sort(missing->files, compare);
    for (guint i = 1; i < MIN(n, 1 + MAX_NAMES); i++) {
        g_string_append_printf(names, "%s%s", i > 1 ? ", " : "",
                               files[i].object->name);
    }
    if (n == 1) {
        say_warn("%s", files->note);
    } else if (n) {
        say_warn("%s; and %u more files with no or incomplete debug info: "
                 "%s%s", files->note, n - 1, names->str,
                 n > 1 + MAX_NAMES ? ", ..." : "");
    }
}
