/*
 * rvtrace merge: add up results of pieces of a trace
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/view.h"

int cmd_merge(int argc, char **argv)
{
    g_auto(CliTrace) ct = { .merges = true, .has_names = true };
    g_autofree char *kinds = view_kinds(VIEW_ADDED, ", ");
    g_autofree char *about = g_strdup_printf(
        "Write what the subcommand KIND would of the whole trace: %s; can be "
        "repeated (default: report)", kinds);
    g_auto(GStrv) outputs = NULL;
    GOptionEntry entries[] = {
        { "output", 'o', 0, G_OPTION_ARG_FILENAME_ARRAY, &outputs,
          about, "KIND[=FILE]" },
        { NULL }
    };
    g_autofree GOptionEntry *views = view_options(VIEW_ADDED);
    g_autofree GOptionEntry *all = cli_join_entries(entries, views);
    char *report[] = { (char *)"report", NULL };

    if (!cli_parse(&ct, all, "Add up the results FILE... that commands wrote "
                   "with --shard, and write what they\nwould have written "
                   "of the whole trace. Trace and names are looked for where "
                   "they\nwere then, unless options say something else.",
                   argc, argv)) {
        return CLI_ERROR;
    }
    return views_write(&ct, outputs ?: report, "--output");
}
