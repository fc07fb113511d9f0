/*
 * rvtrace: latency: how long interrupts, system calls, faults or functions take
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/questions/latency.h"

#define DEFAULT_WORST   5

static int worst = DEFAULT_WORST;
static char *between, *table_name;
static char *first, *last;
static LatencyTable table;

/* Returns false, having said what is wrong, if it is not A..B. */
static bool parse_between(void)
{
    const char *dots = between ? strstr(between, "..") : NULL;

    g_clear_pointer(&first, g_free);
    g_clear_pointer(&last, g_free);
    if (!between) {
        return true;
    }
    if (!dots || dots == between || !dots[2]) {
        say_error("--between %s: must be A..B, names of functions or of traps "
                  "in [], as globs", between);
        return false;
    }
    first = g_strndup(between, dots - between);
    last = g_strdup(dots + 2);
    return true;
}

static bool check(const View *only)
{
    static const char *const tables[LATENCY_NR_TABLES] = {
        [LATENCY_SUMMARY] = "summary",
        [LATENCY_WORST] = "worst",
        [LATENCY_HISTOGRAM] = "histogram",
    };

    table = LATENCY_SUMMARY;
    while (table_name && table < LATENCY_NR_TABLES &&
           strcmp(table_name, tables[table])) {
        table++;
    }
    if (table == LATENCY_NR_TABLES) {
        say_error("--table %s: must be summary, worst or histogram",
                  table_name);
        return false;
    }
    if (worst < 0 || worst > LATENCY_MAX_WORST) {
        say_error("--worst %d: must be from 0 to %u", worst,
                  LATENCY_MAX_WORST);
        return false;
    }
    return parse_between();
}

static const OptionGroup group = {
    .entries = (const GOptionEntry[]) {
        { "between", 0, 0, G_OPTION_ARG_STRING, &between,
          "Instead: from the beginning of A to the next one of B on the same "
          "hart: functions, or traps in [], as globs", "A..B" },
        { "worst", 0, 0, G_OPTION_ARG_INT, &worst,
          "So many of the longest ones of each kind, with their places "
          "(default: 5)", "N" },
        { "table", 0, 0, G_OPTION_ARG_STRING, &table_name,
          "Which one --format tsv writes (default: summary)",
          "summary|worst|histogram" },
        { NULL }
    },
    .check = check,
};

static void *begin_hart(void *opaque, const HartResult *h)
{
    return latency_hart(opaque, h->hart, hart_profile(h), h->all->tasks);
}

static bool begin(ViewOutput *o, Results *r)
{
    o->state = latency_new(&(LatencyOptions) {
        .comm = filter_options.comm,
        .dso = filter_options.dso,
        .sym = filter_options.sym,
        .first = first,
        .last = last,
        .worst = worst,
        .virtual_time = r->virtual_time,
        .format = format_choice(),
        .table = table,
    });
    results_watch(r, &(Watcher) {
        .begin = begin_hart,
        .moment = latency_moment,
        .mark = latency_mark,
        .trap = latency_trap,
        .end = latency_end,
        .opaque = o->state,
    });
    return true;
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    if (!latency_write(o->state, o->f)) {
        say_warn("latency: nothing like that has begun and ended; 'rvtrace "
                 "report' lists what ran, and --sym takes its functions");
    }
    return CLI_OK;
}

static void free_latency(void *state)
{
    latency_free(state);
}

const View view_latency = {
    .name = "latency",
    .summary = "how long interrupts, system calls, faults, functions take",
    .about = "Write how long interrupts, system calls, page faults and other "
             "exceptions took,\nfrom the trap to the return; or functions "
             "(--sym), or the way from one to another\n(--between).",
    .needs = RESULT_PROFILE,
    .flags = VIEW_WATCHES,
    .groups = { &group, &format_group, &filter_group, &clock_group },
    .begin = begin,
    .write = write_view,
    .free = free_latency,
};
