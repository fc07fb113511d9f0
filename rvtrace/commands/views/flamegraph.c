/*
 * rvtrace: flamegraph: call stacks as a picture
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/report/flamegraph.h"

static struct {
    int width;
    double min_width;
    gboolean icicle;
} options = { .width = 1200, .min_width = 0.3 };

static bool check(const View *only)
{
    if (options.width < 200 || options.width > 100000) {
        say_error("--width %d: must be between 200 and 100000 pixels",
                  options.width);
        return false;
    }
    if (!(options.min_width >= 0)) {
        say_error("--min-width: must not be negative");
        return false;
    }
    return true;
}

static const OptionGroup group = {
    .entries = (const GOptionEntry[]) {
        { "width", 0, 0, G_OPTION_ARG_INT, &options.width,
          "Width of the picture, pixels, before a browser makes it as wide as "
          "its window (default: 1200)", "N" },
        { "min-width", 0, 0, G_OPTION_ARG_DOUBLE, &options.min_width,
          "Leave out what is narrower, pixels (default: 0.3)", "X" },
        { "icicle", 0, 0, G_OPTION_ARG_NONE, &options.icicle,
          "Upside down: callers above what they call", NULL },
        { NULL }
    },
    .check = check,
};

static int write_view(ViewOutput *o, const ViewPass *p)
{
    const Results *r = p->r;
    const Job *job = r->job;
    uint64_t selected;
    g_autofree char *count = flamegraph_commas(profile_sum(p->weighed));
    g_autofree char *ran = flamegraph_commas(results_insns(r, &selected));
    g_autofree char *base = g_path_get_basename(*job->traces);
    g_autofree char *title = title_option ? g_strdup(title_option) :
        g_strdup_printf("%s by call stack: %s", r->by_time ?
                        "Virtual time" : "Instructions", base);
    g_autoptr(GString) subtitle = g_string_new(NULL);

    g_string_append_printf(subtitle, "%s %s", count, r->by_time ?
                           "ns of virtual time" : "instructions");
    if (job->hart >= 0) {
        g_string_append_printf(subtitle, " of hart %d", job->hart);
    }
    if (job->selection) {
        g_string_append_printf(subtitle, ", selected from %s%s", ran,
                               r->by_time ? " instructions" : "");
    }
    flamegraph_write(p->weighed, &(FlameOptions) {
        .title = title,
        .subtitle = subtitle->str,
        .width = options.width,
        .min_width = options.min_width,
        .unit = r->by_time ? "ns" : NULL,
        .icicle = options.icicle,
    }, o->f);
    return CLI_OK;
}

const View view_flamegraph = {
    .name = "flamegraph",
    .summary = "draw where the instructions went, as an SVG",
    .about = "Draw a flame graph: how many instructions were executed in each "
             "call stack, as\nan SVG. A browser lets one zoom and search in "
             "it.",
    .needs = RESULT_PROFILE,
    .flags = VIEW_BINARY,
    .groups = { &layers_group, &title_group, &group, &weight_group },
    .write = write_view,
};
