/*
 * rvtrace: edges: maps of edges for fuzzers, one for each input
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/questions/edges.h"

static char *each;
static gboolean exact;
static const char *function, *region;

static bool check(const View *only)
{
    function = region = NULL;
    if (!each) {
        return true;
    }
    if (g_str_has_prefix(each, "sym:")) {
        function = each + strlen("sym:");
    } else if (g_str_has_prefix(each, "region:")) {
        region = each + strlen("region:");
    }
    if (!(function && *function) && !(region && *region)) {
        say_error("--each %s: must be sym:FUNCTION, a glob, or region:NAME",
                  each);
        return false;
    }
    return true;
}

static const OptionGroup group = {
    .entries = (const GOptionEntry[]) {
        { "each", 0, 0, G_OPTION_ARG_STRING, &each,
          "A map for each call of a function, a glob, or for each region "
          "between notes 'begin NAME' and 'end NAME' (default: one for each "
          "hart)", "sym:FUNCTION|region:NAME" },
        { "exact-counts", 0, 0, G_OPTION_ARG_NONE, &exact,
          "Counts as they are (default: the eight classes of AFL, as "
          "afl-showmap without -r)", NULL },
        { NULL }
    },
    .check = check,
};

static void *begin_hart(void *opaque, const HartResult *h)
{
    return edges_hart(opaque, h->hart, hart_profile(h), h->all->names,
                      h->all->tasks);
}

static bool begin(ViewOutput *o, Results *r)
{
    g_autoptr(GError) err = NULL;

    o->state = edges_new(o->path, &(EdgesOptions) {
        .function = function,
        .region = region,
        .comm = filter_options.comm,
        .dso = filter_options.dso,
        .sym = filter_options.sym,
        .exact = exact,
    }, &err);
    if (!o->state) {
        say_error("edges: %s", err->message);
        return false;
    }
    results_watch(r, &(Watcher) {
        .begin = begin_hart,
        .moment = edges_moment,
        .mark = edges_mark,
        .runs = edges_runs,
        .end = edges_end,
        .opaque = o->state,
        .timeless = true,
    });
    return true;
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    g_autoptr(GError) err = NULL;
    uint64_t maps, left_out;

    if (!edges_finish(o->state, &maps, &left_out, &err)) {
        say_error("edges: %s", err->message);
        return CLI_ERROR;
    }
    if (!maps && each) {
        say_warn("edges: --each %s: there is none; 'rvtrace report' lists the "
                 "functions that ran, 'rvtrace decode --emit note' the notes",
                 each);
    }
    if (left_out) {
        say_warn("edges: %" PRIu64 " more are not written: a hart has at most "
                 "%u maps, of which %u at the same time; take a part of the "
                 "run with --from and --to", left_out, EDGES_MAX_MAPS,
                 EDGES_MAX_OPEN);
    }
    return CLI_OK;
}

static void free_edges(void *state)
{
    edges_free(state);
}

const View view_edges = {
    .name = "edges",
    .summary = "write maps of edges for fuzzers, one for each input",
    .about = "Write which blocks of code ran behind which, as maps of 65536 "
             "counters in the format\nof afl-showmap: a file for each call of "
             "a function (--each sym:FUNCTION), or for\neach region that the "
             "guest has noted, in a folder.",
    .needs = RESULT_PROFILE,
    .flags = VIEW_WATCHES | VIEW_FOLDER,
    .groups = { &group, &filter_group },
    .begin = begin,
    .write = write_view,
    .free = free_edges,
};
