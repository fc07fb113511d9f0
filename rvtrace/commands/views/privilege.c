/*
 * rvtrace: privilege: how much ran in which privilege level, when
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "profile/selection.h"
#include "views/time/privilege.h"

#define DEFAULT_NS      1000000000
#define DEFAULT_INSNS   1000000

static char *interval_text;

/* Is --every a time, in ns, or else a number of instructions? Neither: 0 */
static uint64_t parse_interval(bool *is_time)
{
    uint64_t interval = 0;

    *is_time = selection_parse_time(interval_text, &interval);
    if (!*is_time) {
        selection_parse_count(interval_text, &interval);
    }
    return interval;
}

static bool check(const View *only)
{
    bool is_time;

    if (interval_text && !parse_interval(&is_time)) {
        say_error("--every %s: must be a time, as in 100ms, or a number of "
                  "instructions, as in 500k", interval_text);
        return false;
    }
    return true;
}

static const OptionGroup group = {
    .entries = (const GOptionEntry[]) {
        { "every", 0, 0, G_OPTION_ARG_STRING, &interval_text,
          "How long each row's interval is, by the clock (default: 1s, or 1M "
          "instructions)", "TIME|N" },
        { NULL }
    },
    .check = check,
};

/* Prints what is wrong with an --every that the clock does not have. */
static bool fits_clock(bool is_time, bool virtual_time)
{
    if (is_time && !virtual_time) {
        say_error("--every %s: %s: give a number of instructions",
                  interval_text, clock_choice() == CLOCK_INSTRUCTIONS ?
                  "there is --time instructions" :
                  "the trace does not report the time");
    } else if (!is_time && virtual_time) {
        say_error("--every %s: the clock is virtual time: give a time, as "
                  "in 100ms, or --time instructions", interval_text);
    }
    return is_time == virtual_time;
}

static void *begin_hart(void *opaque, const HartResult *h)
{
    return privilege_hart(opaque);
}

static void end_hart(void *hart, const CallStackMoment *when)
{
    privilege_end(hart, when->insns, when->time);
}

static bool begin(ViewOutput *o, Results *r)
{
    uint64_t interval = r->virtual_time ? DEFAULT_NS : DEFAULT_INSNS;
    bool is_time = r->virtual_time;

    if (interval_text) {
        interval = parse_interval(&is_time);
        if (!fits_clock(is_time, r->virtual_time)) {
            return false;
        }
    }
    o->state = privilege_new(interval, r->virtual_time);
    results_watch(r, &(Watcher) {
        .begin = begin_hart,
        .moment = privilege_moment,
        .end = end_hart,
        .opaque = o->state,
        .forgets = true,
    });
    return true;
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    uint64_t wider = privilege_write(o->state, format_choice(), o->f);

    if (wider) {
        say_warn("there would have been more than %u intervals: each has %"
                 PRIu64 " %s", PRIVILEGE_MAX_INTERVALS, wider,
                 p->r->virtual_time ? "ns" : "instructions");
    }
    return CLI_OK;
}

static void free_table(void *state)
{
    privilege_free(state);
}

const View view_privilege = {
    .name = "privilege",
    .summary = "list how much ran in which privilege level, when",
    .about = "Write how many instructions ran in each privilege level, as a "
             "table: a row for\neach second of virtual time, or for each "
             "million of instructions.",
    .needs = RESULT_PROFILE,
    .flags = VIEW_WATCHES,
    .groups = { &group, &clock_group, &format_group },
    .begin = begin,
    .write = write_view,
    .free = free_table,
};
