/*
 * The options of a command: parsed, and explained by its --help
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/say.h"
#include "commands/cli/option-set.h"
#include "commands/cli/suggest.h"

struct OptionSet {
    GArray *entries;        /* GOptionEntry */
};

OptionSet *option_set_new(void)
{
    OptionSet *set = g_new0(OptionSet, 1);

    set->entries = g_array_new(true, true, sizeof(GOptionEntry));
    return set;
}

void option_set_add(OptionSet *set, const GOptionEntry *entries)
{
    for (; entries->long_name; entries++) {
        g_array_append_vals(set->entries, entries, 1);
    }
}

static const GOptionEntry *entry_number(const OptionSet *set, guint i)
{
    return &g_array_index(set->entries, GOptionEntry, i);
}

static bool takes_operands(const GOptionEntry *entry)
{
    return !*entry->long_name;
}

/* The entry with this long name, or NULL */
static const GOptionEntry *find_entry(const OptionSet *set, const char *name)
{
    for (guint i = 0; i < set->entries->len; i++) {
        if (g_str_equal(entry_number(set, i)->long_name, name)) {
            return entry_number(set, i);
        }
    }
    return NULL;
}

/* Show the options that @help names first, and in this order. */
static void add_first(const OptionSet *set, const CommandHelp *help,
                      GOptionContext *context)
{
    g_autoptr(GArray) first = g_array_new(true, true, sizeof(GOptionEntry));
    g_auto(GStrv) names = g_strsplit(help ? help->first : "", " ", -1);

    for (char **name = names; *name; name++) {
        const GOptionEntry *entry = find_entry(set, *name);

        if (entry && **name) {
            g_array_append_vals(first, entry, 1);
        }
    }
    for (guint i = 0; i < set->entries->len; i++) {
        const GOptionEntry *entry = entry_number(set, i);

        if (!help || takes_operands(entry)) {
            g_array_append_vals(first, entry, 1);
        }
    }
    g_option_context_add_main_entries(context,
                                      (const GOptionEntry *)first->data, NULL);
}

static void add_rest(const OptionSet *set, const CommandHelp *help,
                     GOptionContext *context)
{
    g_autoptr(GArray) rest = g_array_new(true, true, sizeof(GOptionEntry));
    g_auto(GStrv) names = g_strsplit(help ? help->first : "", " ", -1);
    GOptionGroup *group;

    for (guint i = 0; help && i < set->entries->len; i++) {
        const GOptionEntry *entry = entry_number(set, i);

        if (!takes_operands(entry) &&
            !g_strv_contains((const char *const *)names, entry->long_name)) {
            g_array_append_vals(rest, entry, 1);
        }
    }
    if (rest->len) {
        group = g_option_group_new("more", "More Options:",
                                   "Show the other options", NULL, NULL);
        g_option_group_add_entries(group, (const GOptionEntry *)rest->data);
        g_option_context_add_group(context, group);
    }
}

/* Does -@letter have a value? */
static bool has_value(const OptionSet *set, char letter)
{
    for (guint i = 0; i < set->entries->len; i++) {
        const GOptionEntry *entry = entry_number(set, i);

        if (entry->short_name == letter) {
            return entry->arg != G_OPTION_ARG_NONE;
        }
    }
    return false;
}

/* Is the word behind the option @word its value? */
static bool takes_next(const GOptionEntry *entries, const char *word)
{
    for (; entries->long_name; entries++) {
        bool is = word[1] == '-' ? g_str_equal(word + 2, entries->long_name) :
                  word[1] == entries->short_name && !word[2];

        if (is && *entries->long_name) {
            return entries->arg != G_OPTION_ARG_NONE;
        }
    }
    return false;
}

int option_first_operand(const GOptionEntry *entries, int argc, char **argv)
{
    int i;

    for (i = 1; i < argc; i++) {
        if (argv[i][0] != '-' || g_str_equal(argv[i], "--")) {
            break;
        }
        i += takes_next(entries, argv[i]);
    }
    return MIN(i, argc);
}

/* -j4 is -j 4, which GLib does not know. The caller frees the list alone. */
static char **split_values(const OptionSet *set, int argc, char **argv)
{
    GPtrArray *words = g_ptr_array_new();
    bool options = true;

    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];

        options &= i == 0 || !g_str_equal(word, "--");
        if (i && options && word[0] == '-' && g_ascii_isalpha(word[1]) &&
            word[2] && has_value(set, word[1])) {
            char text[] = { '-', word[1], '\0' };

            g_ptr_array_add(words, (gpointer)g_intern_string(text));
            word += word[2] == '=' ? 3 : 2;
        }
        g_ptr_array_add(words, (gpointer)word);
    }
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

/* GLib's message is "Unknown option --NAME". */
static char *suggest_option(const OptionSet *set, const GError *err)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autofree char *word = NULL;
    const char *dashes = strstr(err->message, "--");

    if (!g_error_matches(err, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION) ||
        !dashes) {
        return g_strdup("");
    }
    word = g_strndup(dashes + 2, strcspn(dashes + 2, "="));
    for (guint i = 0; i < set->entries->len; i++) {
        if (!takes_operands(entry_number(set, i))) {
            g_ptr_array_add(names, (gpointer)entry_number(set, i)->long_name);
        }
    }
    return suggest(word, names, "--");
}

static bool parse(const OptionSet *set, GOptionContext *context, int argc,
                  char **argv)
{
    g_autoptr(GError) err = NULL;
    g_autofree char **words = split_values(set, argc, argv);
    char **left = words;
    int n = g_strv_length(words);

    if (!g_option_context_parse(context, &n, &left, &err)) {
        g_autofree char *text = suggest_option(set, err);

        say_error("%s%s; try '%s --help'", err->message, text,
                  g_get_prgname());
        return false;
    }
    if (n > 1) {
        say_error("unexpected argument '%s'; try '%s --help'", left[1],
                  g_get_prgname());
        return false;
    }
    return true;
}

bool option_set_parse(OptionSet *set, const char *summary,
                      const char *description, int argc, char **argv)
{
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    const char *space = strchr(g_get_prgname(), ' ');
    const CommandHelp *help = command_help(space ? space + 1 : "");
    g_autofree char *behind = help ?
        g_strdup_printf("Example:\n%s%s%s", help->example,
                        description ? "\n\n" : "", description ?: "") :
        g_strdup(description);
    bool ok;

    g_option_context_set_summary(context, summary);
    g_option_context_set_description(context, behind);
    add_first(set, help, context);
    add_rest(set, help, context);
    ok = parse(set, context, argc, argv);
    g_array_unref(set->entries);
    g_free(set);
    return ok;
}
