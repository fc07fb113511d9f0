/*
 * rvtrace merge: add up results of pieces of a trace
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/shards.h"

int cmd_merge(int argc, char **argv)
{
    g_auto(CliTrace) ct = { .merges = true };
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;
    g_auto(GStrv) outputs = NULL;
    GOptionEntry entries[] = {
        { "output", 'o', 0, G_OPTION_ARG_FILENAME_ARRAY, &outputs,
          "Write what the subcommand KIND would of the whole trace: report, "
          "annotate, flamegraph, folded, callgrind, pprof; can be repeated "
          "(default: report)", "KIND[=FILE]" },
        { NULL }
    };
    g_autofree GOptionEntry *views = view_options(&o);
    g_autofree GOptionEntry *all = cli_join_entries(entries, views);
    char *report[] = { (char *)"report", NULL };

    if (!cli_parse(&ct, all, "Add up the results FILE... that commands wrote "
                   "with --shard, and write what they\nwould have written "
                   "of the whole trace. Trace and names are looked for where "
                   "they\nwere then, unless options say something else.",
                   argc, argv)) {
        return CLI_ERROR;
    }
    return cmd_decode_outputs(&ct, outputs ?: report, NULL, &o);
}
