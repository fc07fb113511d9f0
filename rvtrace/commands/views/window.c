/*
 * rvtrace: --window, a part of a run in front of an event or behind it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/load-names.h"
#include "commands/views/options.h"
#include "commands/views/window.h"

static void *begin_hart(void *opaque, const HartResult *h)
{
    return event_search_hart(opaque, h->hart, hart_profile(h), h->all->tasks);
}

static bool choose_time(const CliWindow *w, Results *r)
{
    bool must = w->length.timed || w->event.limit.timed;

    if (!results_choose_time(r, must ? CLOCK_BEST : clock_choice(), false)) {
        return false;
    }
    if (must && !r->virtual_time) {
        say_error("--window, %s: the trace does not report the time; have "
                  TIMES_REMEDY ", or give numbers of instructions, as 100k",
                  w->option);
    }
    return !must || r->virtual_time;
}

/* Prints why it is not there and returns false. */
static bool find(const CliWindow *w, const EventSearch *search,
                 EventPlace *place)
{
    uint64_t count = event_search_find(search, place);

    if (count >= w->event.nth) {
        return true;
    }
    if (count) {
        say_error("%s %s: there %s only %" PRIu64 " of these; give a number "
                  "up to that", w->option, w->text, count == 1 ? "is" : "are",
                  count);
    } else {
        say_error("%s %s: there is none; 'rvtrace latency --sym' says how long "
                  "functions take, 'rvtrace faults' which exceptions there "
                  "were, 'rvtrace report' what ran", w->option, w->text);
    }
    return false;
}

/* The search in all of the trace; prints what is wrong and returns false. */
static bool look(const CliWindow *w, const Job *job, Trace *t,
                 EventSearch *search)
{
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(Names) names = load_names(job, t, objects);
    LossReport losses = { 0 };
    g_auto(Results) r = {
        .job = job, .losses = &losses, .t = t, .what = RESULT_PROFILE,
        .names = names, .tasks = tasks,
    };

    if (!names || !choose_time(w, &r)) {
        return false;
    }
    r.layers.names = names;
    layers_choose(&r, false);
    event_search_clocks(search, r.virtual_time);
    results_watch(&r, &(Watcher) {
        .begin = begin_hart,
        .moment = event_moment,
        .mark = event_mark,
        .end = event_end,
        .opaque = search,
    });
    return results_scan(&r);
}

/* From place @at on, or up to there */
static void set_borders(const CliWindow *w, uint64_t at, uint64_t *from,
                        uint64_t *to)
{
    uint64_t length = w->length.amount;

    *from = w->after ? at : at - MIN(at, length);
    *to = w->after ? at + MIN(length, UINT64_MAX - at) : at;
}

/* The same time of all harts; that of the event begins or ends exactly there. */
static void pin_harts(const CliWindow *w, Selection *s,
                      const EventSearch *search, const EventPlace *place)
{
    uint64_t since, until, from, to;
    unsigned hart;

    set_borders(w, w->after ? place->from.time : place->to.time, &since,
                &until);
    for (unsigned i = 0; event_search_clock(search, i, since, &hart, &from);
         i++) {
        event_search_clock(search, i, until, &hart, &to);
        if (hart == place->hart && w->after) {
            from = place->from.insns;
            to = MAX(from, to);
        } else if (hart == place->hart) {
            to = place->to.insns;
            from = MIN(from, to);
        }
        selection_pin(s, hart, from, to);
    }
}

static void say_where(const CliWindow *w, const EventPlace *p)
{
    if (p->from.insns == p->to.insns) {
        say_note("%s %s: hart %u, instruction %" PRIu64, w->option, w->text,
                 p->hart, p->from.insns);
    } else {
        say_note("%s %s: hart %u, instructions %" PRIu64 " to %" PRIu64,
                 w->option, w->text, p->hart, p->from.insns, p->to.insns);
    }
}

/* Have @job select what is around @place. */
static bool select_window(const CliWindow *w, Job *job,
                          const EventSearch *search, const EventPlace *place)
{
    g_autoptr(GError) err = NULL;
    uint64_t from, to;

    /* What is selected has a beginning, whichever it is: see --index. */
    job->select.from = g_strdup("0");
    g_clear_pointer(&job->selection, selection_free);
    job->selection = selection_new(&job->select, &err);
    if (err) {
        cli_say(err);
        return false;
    }
    if (w->length.timed) {
        pin_harts(w, job->selection, search, place);
    } else {
        set_borders(w, w->after ? place->from.insns : place->to.insns, &from,
                    &to);
        selection_pin(job->selection, place->hart, from, to);
        job->hart = place->hart;
    }
    return true;
}

bool window_find(CliTrace *ct, Trace *t)
{
    const CliWindow *w = &ct->window;
    g_autoptr(EventSearch) search = NULL;
    Job all = ct->job;
    EventPlace place;

    if (!w->option) {
        return true;
    }
    if (ct->job.processes && ct->job.processes->len > 1) {
        say_error("--window, %s: around the event of which process? Give the "
                  "trace of one, as in --trace %s --sideband %s --sysroot %s",
                  w->option, ct->job.traces[0], ct->job.sidebands[0],
                  ct->job.names.sysroots ? *ct->job.names.sysroots : "/");
        return false;
    }
    if (t->samples) {
        say_error("%s: samples do not say what happened between them",
                  w->option);
        return false;
    }
    all.selection = NULL;
    search = event_search_new(&w->event, ct->job.selection);
    if (!look(w, &all, t, search) || !find(w, search, &place)) {
        return false;
    }
    say_where(w, &place);
    return select_window(w, &ct->job, search, &place);
}
