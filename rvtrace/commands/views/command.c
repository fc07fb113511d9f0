/*
 * rvtrace: commands that write one view, or one of several by --format
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"

/* "llvm (for llvm-profgen), bolt (for perf2bolt) or gcov (for gcc)" */
static char *formats(const GPtrArray *views, bool with_uses)
{
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *list = NULL, *by_default = NULL;

    for (guint i = 0; i < views->len; i++) {
        const View *v = views->pdata[i];

        g_ptr_array_add(words, with_uses && v->format_use ?
                        g_strdup_printf("%s (%s)", v->format, v->format_use) :
                        g_strdup(v->format));
        if (with_uses && v->default_format) {
            by_default = g_strdup_printf(" (default: %s)", v->format);
        }
    }
    list = view_join_words(words, " or ");
    return g_strconcat(list, by_default, NULL);
}

/* Which of @views? Prints what is wrong and returns NULL. */
static const View *choose_format(const GPtrArray *views, const char *format)
{
    g_autofree char *list = NULL;

    for (guint i = 0; i < views->len; i++) {
        const View *v = views->pdata[i];

        if (views->len == 1 || (format ? g_str_equal(format, v->format) :
                                         v->default_format)) {
            return v;
        }
    }
    list = formats(views, false);
    if (format) {
        say_error("--format %s: must be %s", format, list);
    } else {
        say_error("--format must be %s", list);
    }
    return NULL;
}

int view_command(const char *name, int argc, char **argv)
{
    g_autoptr(GPtrArray) views = views_of_command(name);
    const View *first = views->pdata[0], *view;
    bool several = views->len > 1, folder = first->flags & VIEW_FOLDER;
    bool names = first->needs & (RESULT_COUNTS | RESULT_PROFILE);
    g_auto(CliTrace) ct = {
        .selects = names, .has_names = names,
        .takes_several = view_needs_only(first, VIEW_ADDED),
    };
    g_autofree char *file = NULL, *format = NULL, *output = NULL;
    g_autofree char *format_text = several ? formats(views, true) : NULL;
    const GOptionEntry own[] = {
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &file,
          folder ? "Folder to write to, which must be new or empty" :
          "Where to write to (default: standard output)",
          folder ? "FOLDER" : "FILE" },
        { several ? "format" : NULL, 0, 0, G_OPTION_ARG_STRING, &format,
          format_text, "FORMAT" },
        { NULL }
    };
    g_autofree GOptionEntry *options = views_options(views);
    g_autofree GOptionEntry *entries = cli_join_entries(own, options);
    char *outputs[] = { NULL, NULL };

    if (!cli_parse(&ct, entries, first->about, argc, argv)) {
        return CLI_ERROR;
    }
    title_option = title_option ?: g_steal_pointer(&ct.title);
    view = choose_format(views, format);
    if (!view) {
        return CLI_ERROR;
    }
    outputs[0] = output = g_strconcat(view->name, file ? "=" : NULL, file,
                                      NULL);
    return views_write(&ct, outputs, "--output");
}
