/*
 * gdb's target: where the files of a program of user mode lay
 *
 * Without this, gdb would look for them in memory, which an instruction trace
 * does not have.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/text-plain.h"
#include "elf/elf-file.h"
#include "gdb/target-private.h"

typedef struct GdbLibrary {
    char *file;
    uint64_t bias;
    uint64_t dynamic;           /* address of its dynamic section */
    bool there;                 /* it is a library, and at hand */
} GdbLibrary;

static void library_clear(gpointer opaque)
{
    g_free(((GdbLibrary *)opaque)->file);
}

GArray *gdb_libraries_new(void)
{
    GArray *libraries = g_array_new(FALSE, FALSE, sizeof(GdbLibrary));

    g_array_set_clear_func(libraries, library_clear);
    return libraries;
}

void gdb_target_add_file(GdbTarget *g, const char *file, uint64_t bias,
                         bool there)
{
    g_autoptr(ElfFile) elf = NULL;
    GdbLibrary library = { .bias = bias, .there = there };
    bool pie = false;

    for (guint i = 0; i < g->libraries->len; i++) {
        const GdbLibrary *l = &g_array_index(g->libraries, GdbLibrary, i);

        if (l->bias == bias && g_str_equal(l->file, file)) {
            return;
        }
    }
    if (there) {
        elf = elf_file_open(file, NULL);
        library.there = elf && elf_file_dynamic(elf, &library.dynamic, &pie);
    }
    if (pie) {
        library.there = false;
        g->has_offset = true;
        g->offset = bias;
    }
    library.file = g_strdup(file);
    library.dynamic += bias;
    g_array_append_val(g->libraries, library);
}

/*
 * May gdb ask for libraries? If none is at hand, it looks in memory itself, but
 * not for those of a program that had no file mapped but itself.
 */
bool gdb_libraries_known(const GdbTarget *g)
{
    for (guint i = 0; i < g->libraries->len; i++) {
        if (g_array_index(g->libraries, GdbLibrary, i).there) {
            return true;
        }
    }
    return g->has_offset || g->libraries->len == 1;
}

/* qXfer:libraries-svr4:read::OFFSET,LENGTH */
void gdb_libraries_read(GdbTarget *g, const char *args)
{
    g_autoptr(GString) s = g_string_new("<library-list-svr4 version=\"1.0\">");

    for (guint i = 0; i < g->libraries->len; i++) {
        const GdbLibrary *l = &g_array_index(g->libraries, GdbLibrary, i);
        g_autofree char *name = g_markup_escape_text(l->file, -1);

        if (!l->there) {
            continue;
        }
        /* lm only has to be another one for each. */
        g_string_append_printf(s, "<library name=\"%s\" lm=\"0x%x\" l_addr="
                               "\"0x%" PRIx64 "\" l_ld=\"0x%" PRIx64 "\" lmid=\"0x0\"/>",
                               name, i + 1, l->bias, l->dynamic);
    }
    g_string_append(s, "</library-list-svr4>\n");
    gdb_put_part(g, s, args);
}

bool gdb_monitor_libraries(GdbTarget *g, const char *arg, GString *out)
{
    for (guint i = 0; i < g->libraries->len; i++) {
        const GdbLibrary *l = &g_array_index(g->libraries, GdbLibrary, i);

        if (l->there) {
            g_string_append_printf(out, "0x%" PRIx64 " %s\n", l->bias,
                                   text_plain(l->file));
        }
    }
    if (!out->len) {
        g_string_append(out, "no shared library is known\n");
    }
    return true;
}

/*
 * How far a program that its file does not call one that lies anywhere has been
 * moved: it has the function "main".
 */
static uint64_t find_offset(GdbTarget *g)
{
    GdbHart *h = gdb_hart(g);
    const GArray *stack = NULL;
    unsigned depth;

    if (h->stacks && g->t->sideband && sideband_is_process(g->t->sideband)) {
        stack = replay_stack(h->stacks, h->at, &depth);
    }
    for (guint i = 0; stack && i < stack->len; i++) {
        const ReplayFrame *frame = &g_array_index(stack, ReplayFrame, i);

        if (frame->symbol && g_str_equal(frame->symbol->name, "main")) {
            return frame->bias;
        }
    }
    return 0;
}

/*
 * qOffsets. A program that is not where it was linked to was linked to 0, where
 * its first segment is then.
 */
void gdb_libraries_offset(GdbTarget *g, const char *args)
{
    uint64_t offset = g->has_offset ? g->offset : find_offset(g);
    g_autofree char *text = g_strdup_printf("TextSeg=%" PRIx64, offset);

    gdb_puts(g, offset ? text : "");
}
