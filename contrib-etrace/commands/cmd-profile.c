/*
 * rvtrace folded, flamegraph: where the instructions went
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "results.h"

static int profile_command(bool svg, const char *summary, int argc,
                           char **argv)
{
    g_auto(CliTrace) ct = { 0 };
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;
    g_autofree char *file = NULL, *output = NULL;
    char *outputs[] = { NULL, NULL };
    GOptionEntry entries[] = {
        { "kallsyms", 'k', 0, G_OPTION_ARG_FILENAME_ARRAY, &o.kallsyms,
          "Symbols of the kernel: a copy of its /proc/kallsyms, or a "
          "System.map; can be repeated", "FILE" },
        { "layers", 0, 0, G_OPTION_ARG_STRING, &o.layers,
          "What is below the stacks, the lowest first: hart, comm (the "
          "task's name), process, thread, priv (default: comm)", "LIST" },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &file,
          "Where to write to (default: standard output)", "FILE" },
        /* of flamegraph only; see below */
        { "title", 0, 0, G_OPTION_ARG_STRING, &o.title,
          "Title of the picture", "TEXT" },
        { "width", 0, 0, G_OPTION_ARG_INT, &o.width,
          "Width of the picture, pixels (default: 1200)", "N" },
        { "min-width", 0, 0, G_OPTION_ARG_DOUBLE, &o.min_width,
          "Leave out what is narrower, pixels (default: 0.3)", "X" },
        { "icicle", 0, 0, G_OPTION_ARG_NONE, &o.icicle,
          "Upside down: callers above what they call", NULL },
        G_OPTION_ENTRY_NULL
    };

    if (!svg) {
        entries[3] = (GOptionEntry) G_OPTION_ENTRY_NULL;
    }
    if (!cli_parse(&ct, entries, summary, argc, argv)) {
        return CLI_ERROR;
    }
    output = g_strconcat(svg ? "flamegraph" : "folded", file ? "=" : NULL,
                         file, NULL);
    outputs[0] = output;
    return cmd_decode_outputs(&ct, outputs, NULL, &o);
}

int cmd_folded(int argc, char **argv)
{
    return profile_command(false, "Write how many instructions were executed "
                           "in each call stack: a line\n'frame;frame;frame "
                           "count' for each.", argc, argv);
}

int cmd_flamegraph(int argc, char **argv)
{
    return profile_command(true, "Draw a flame graph: how many instructions "
                           "were executed in each call stack, as\nan SVG. A "
                           "browser lets one zoom and search in it.",
                           argc, argv);
}
