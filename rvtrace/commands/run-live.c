/*
 * rvtrace run --view live: what runs, as text, while QEMU runs
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <math.h>
#include "base/output.h"
#include "base/say.h"
#include "commands/run-live.h"

#define ROWS    20
#define KEYS    "comm,dso,sym"

struct RunLive {
    Live *live;
    ReportOptions report;
    char *path;
    Output *out;        /* NULL: standard error */
    FILE *f;
};

bool run_live_take(char **views, char **path)
{
    char **to = views;
    bool ok = true;

    *path = NULL;
    for (char **v = views; *v; v++) {
        if (!g_str_equal(*v, "live") && !g_str_has_prefix(*v, "live=")) {
            *to++ = *v;
            continue;
        }
        if (*path && ok) {
            say_error("--view live is there twice");
            ok = false;
        }
        g_free(*path);
        *path = g_strdup((*v)[4] ? *v + 5 : "-");
        g_free(*v);
    }
    *to = NULL;
    return ok;
}

static void show(void *opaque, const LiveBlock *block)
{
    RunLive *r = opaque;
    unsigned header;
    g_autofree char *text = live_text(block, &r->report, &header);
    g_autoptr(GError) err = NULL;

    /* Somebody may look at it while it grows. */
    if (r->out && !output_show(r->out, &err)) {
        say_error("--view live: %s", err->message);
        g_clear_pointer(&r->out, output_discard);
        r->f = NULL;
    }
    if (r->f) {
        fprintf(r->f, "%s\n", text);
        fflush(r->f);
    }
}

RunLive *run_live_begin(const char *path, const char *trace,
                        const char *sideband, const Job *job,
                        const char *keys, double interval)
{
    RunLive *r = g_new0(RunLive, 1);
    g_autoptr(GError) err = NULL;
    const LiveOptions o = {
        .trace = trace,
        .sideband = sideband,
        .job = job,
        .interval = interval,
        .max_lag = 2 * interval,
        .load = 100,
        .show = show,
        .opaque = r,
    };

    r->path = g_strdup(path);
    r->report.max_rows = ROWS;
    if (g_str_equal(path, "-")) {
        r->f = stderr;
    } else {
        r->out = output_open_growing(path, &err);
        r->f = r->out ? output_stream(r->out) : NULL;
    }
    if (err) {
        say_error("--view live: %s", err->message);
    }
    if (!r->f || !live_parse_sort(keys ?: KEYS, &r->report)) {
        g_clear_pointer(&r->out, output_discard);
        g_free(r->path);
        g_free(r);
        return NULL;
    }
    r->live = live_new(&o);
    return r;
}

bool run_live_end(RunLive *r)
{
    g_autoptr(GError) err = NULL;
    bool ok;

    live_end(r->live);
    ok = live_finish(r->live, show);
    if (!r->f) {
        ok = false;
    } else if (!r->out) {
        ok &= flush_output(r->f, r->path);
    } else if (!output_commit(r->out, &err)) {
        say_error("%s", err->message);
        ok = false;
    }
    g_free(r->path);
    g_free(r);
    return ok;
}

bool live_parse_sort(const char *keys, ReportOptions *report)
{
    if (!report_parse_keys(keys, report) || report_needs_source(report)) {
        say_error("--sort %s: must be some of comm, pid, tid, dso, sym, priv, "
                  "hart, separated by commas", keys);
        return false;
    }
    return true;
}

bool live_check_options(double interval, double max_lag, int load)
{
    if (!(interval >= 0.05 && interval <= 3600)) {
        say_error("--interval: seconds, from 0.05 to 3600");
        return false;
    }
    if (!isnan(max_lag) && !(max_lag >= 0)) {
        say_error("--max-lag: seconds, 0 to leave nothing out");
        return false;
    }
    if (load < 1 || load > 100) {
        say_error("--load: per cent, from 1 to 100");
        return false;
    }
    return true;
}
