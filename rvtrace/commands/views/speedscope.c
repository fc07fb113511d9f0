/*
 * rvtrace: speedscope: what was called when, for speedscope.app
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/lines.h"
#include "commands/views/options.h"
#include "views/time/speedscope.h"

static gint64 max_events = SPEEDSCOPE_MAX_EVENTS;

static bool check(const View *only)
{
    if (max_events < 2) {
        say_error("--max-events: a number, at least 2");
        return false;
    }
    return true;
}

static const OptionGroup events = {
    .entries = (const GOptionEntry[]) {
        { "max-events", 0, 0, G_OPTION_ARG_INT64, &max_events,
          "Entries and exits of functions to write, at most (default: "
          "2000000)", "N" },
        { NULL }
    },
    .check = check,
};

static int write_view(ViewOutput *o, const ViewPass *p)
{
    const Results *r = p->r;
    g_autofree char *name = g_path_get_basename(r->job->traces[0]);
    g_autoptr(Lines) lines = lines_new(r->job);
    LineFinder finder = lines_finder(lines);
    g_autoptr(Speedscope) s = speedscope_new(name, r->virtual_time, max_events,
                                             &finder);
    g_autoptr(GError) err = NULL;
    uint64_t lost;

    speedscope_add_profile(s, p->profile);
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        const HartResult *h = r->harts[i];

        if (h && !speedscope_add_hart(s, hart_moments(h), i, hart_profile(h),
                                      hart_end_time(h), r->tasks,
                                      duration_option(0), &err)) {
            say_error("speedscope: %s", err->message);
            return CLI_ERROR;
        }
    }
    lost = speedscope_write(s, o->f);
    if (lost) {
        say_warn("speedscope: no room for %" PRIu64 " more events; have less "
                 "with --min-duration N, or room with --max-events N", lost);
    }
    return CLI_OK;
}

const View view_speedscope = {
    .name = "speedscope",
    .summary = "write what was called when for speedscope",
    .about = "Write what each task called when, and the call tree of all, "
             "for\nhttps://www.speedscope.app. Time is the task's own: "
             "instructions, or ns of virtual time.",
    .needs = RESULT_PROFILE | RESULT_MOMENTS,
    .flags = VIEW_BINARY,
    .groups = {
        &layers_group, &duration_group, &clock_group, &events, &sources_group,
    },
    .write = write_view,
};
