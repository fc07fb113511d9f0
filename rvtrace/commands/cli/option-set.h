/*
 * The options of a command: parsed, and explained by its --help
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_OPTION_SET_H
#define ETRACE_OPTION_SET_H

#include <stdbool.h>
#include <glib.h>

typedef struct OptionSet OptionSet;

/* For the command that g_get_prgname() names; frees itself when parsed */
OptionSet *option_set_new(void);

/* Add the entries, which end with { NULL }; their texts have to stay. */
void option_set_add(OptionSet *set, const GOptionEntry *entries);

/*
 * Parse @argv, and free @set. --help shows the options that help.c names for
 * the command, with an example, and --help-all shows all; @summary stands
 * before them, @description (may be NULL) behind them. Prints what is wrong and
 * returns false.
 */
bool option_set_parse(OptionSet *set, const char *summary,
                      const char *description, int argc, char **argv);

/*
 * The index in @argv of the first word that is neither an option of @entries
 * nor the value of one: "--", an operand, or @argc if there is none.
 */
int option_first_operand(const GOptionEntry *entries, int argc, char **argv);

/* help.c: what --help says of a command, besides all its options */
typedef struct CommandHelp {
    const char *name;
    const char *first;      /* options that it shows, separated by spaces */
    const char *example;    /* lines */
} CommandHelp;

/* Of the command @name; NULL: --help shows all options. */
const CommandHelp *command_help(const char *name);

#endif /* ETRACE_OPTION_SET_H */
