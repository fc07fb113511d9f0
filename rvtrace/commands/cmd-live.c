/*
 * rvtrace live: who runs what, while the machine runs
 *
 * The streams go to files, as by 'rvtrace listen', and are decoded from there.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <math.h>
#include <unistd.h>
#include <glib-unix.h>
#include "base/stream-file.h"
#include "commands/cli/channel-options.h"
#include "live/live.h"
#include "live/live-screen.h"
#include "commands/cli/cli.h"
#include "commands/run-live.h"

#define DEFAULT_ROWS    20      /* of text */
#define DEFAULT_LAG     2.0     /* intervals */
#define WAKE_UP_MS      50

/* What key 's' goes through, behind what --sort says */
static const char *const sorts[] = {
    "comm,dso,sym", "pid", "comm,dso", "hart,priv",
};

static const char help[] =
    "# q  quit: the streams are not collected any further\n"
    "# p  pause: keep this interval on the screen; all goes on behind it\n"
    "# s  sort by the next of: function, process, object, hart\n"
    "# h  this help; any key: back\n";

typedef struct LiveCommand {
    Channel channels[2];
    int timeout, count, rows, load;
    double interval, max_lag;
    gboolean batch;
    char *sort;
    CliTrace ct;

    GCancellable *cancel;
    Live *live;
    bool screen;
    /* lock: both threads use what is below */
    GMutex lock;
    ReportOptions report;
    unsigned next_sort;
    bool paused, helping;
    char *text;                 /* on the screen */
    unsigned header;
    uint64_t shown;             /* intervals */
    bool wrote;                 /* all of it, so far */
} LiveCommand;

/* With the lock held */
static void draw(LiveCommand *c)
{
    const char *status = c->paused ?
        " paused   q quit   p go on   s sort   h help " :
        " q quit   p pause   s sort   h help ";

    if (c->helping) {
        screen_draw(help, 0, status);
    } else {
        screen_draw(c->text ?: "# waiting for the trace\n", c->header, status);
    }
}

/* From the thread that decodes */
static void show(void *opaque, const LiveBlock *block)
{
    LiveCommand *c = opaque;

    g_mutex_lock(&c->lock);
    if (!c->count || c->shown < (unsigned)c->count || c->screen) {
        unsigned rows = 0, columns;
        ReportOptions report = c->report;

        if (c->screen) {
            screen_size(&rows, &columns);
            report.max_rows = MAX(rows, 5) - 4;
        }
        g_free(c->text);
        c->text = live_text(block, &report, &c->header);
        if (!c->screen) {
            c->wrote &= fputs(c->text, stdout) >= 0 &&
                        putchar('\n') >= 0 && fflush(stdout) == 0;
        } else {
            draw(c);
        }
        c->shown = block->number;
    }
    g_mutex_unlock(&c->lock);
}

static void show_total(void *opaque, const LiveBlock *block)
{
    LiveCommand *c = opaque;
    g_autofree char *text = live_text(block, &c->report, &c->header);

    /* What the screen showed last stays readable. */
    c->wrote &= (!c->screen || fputs(c->text ?: "", stdout) >= 0) &&
                fputs(text, stdout) >= 0 && fflush(stdout) == 0;
}

static void next_sort(LiveCommand *c)
{
    const char *keys = sorts[c->next_sort++ % ARRAY_SIZE(sorts)];

    if (c->sort && g_str_equal(keys, c->sort)) {
        keys = sorts[c->next_sort++ % ARRAY_SIZE(sorts)];
    }
    report_parse_keys(keys, &c->report);
}

static void press(LiveCommand *c, char key)
{
    g_mutex_lock(&c->lock);
    if (c->helping) {
        c->helping = false;
        key = key == 'q' ? key : 0;
    }
    switch (key) {
    case 'p':
        c->paused = !c->paused;
        live_pause(c->live, c->paused);
        break;
    case 's':
        next_sort(c);
        live_redraw(c->live);
        break;
    case 'h':
    case '?':
        c->helping = true;
        break;
    case 'q':
        g_cancellable_cancel(c->cancel);
        break;
    }
    draw(c);
    g_mutex_unlock(&c->lock);
}

static gboolean on_key(gint fd, GIOCondition condition, gpointer opaque)
{
    char key;

    if (read(fd, &key, 1) != 1) {
        /* The terminal is gone. */
        g_cancellable_cancel(((LiveCommand *)opaque)->cancel);
        return G_SOURCE_REMOVE;
    }
    press(opaque, key);
    return G_SOURCE_CONTINUE;
}

static gboolean on_resize(gpointer opaque)
{
    LiveCommand *c = opaque;

    live_redraw(c->live);
    g_mutex_lock(&c->lock);
    draw(c);
    g_mutex_unlock(&c->lock);
    return G_SOURCE_CONTINUE;
}

static gboolean on_signal(gpointer opaque)
{
    g_cancellable_cancel(((LiveCommand *)opaque)->cancel);
    return G_SOURCE_CONTINUE;
}

static gboolean wake_up(gpointer unused)
{
    return G_SOURCE_CONTINUE;
}

static bool has_enough(LiveCommand *c)
{
    bool enough;

    g_mutex_lock(&c->lock);
    enough = (c->count && c->shown >= (unsigned)c->count) || !c->wrote;
    g_mutex_unlock(&c->lock);
    return enough;
}

/* Until everything was collected and shown, or somebody wants to stop */
static void loop(LiveCommand *c)
{
    bool ended = false;

    while (!live_is_done(c->live)) {
        g_main_context_iteration(NULL, TRUE);
        if (has_enough(c)) {
            g_cancellable_cancel(c->cancel);
        }
        if (g_cancellable_is_cancelled(c->cancel)) {
            live_stop(c->live);
        } else if (!ended && channel_is_done(&c->channels[0]) &&
                   channel_is_done(&c->channels[1])) {
            ended = true;
            live_end(c->live);
        }
    }
    g_cancellable_cancel(c->cancel);
}

static void watch(LiveCommand *c)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

    for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
        g_unix_signal_add(signals[i], on_signal, c);
    }
    g_timeout_add(WAKE_UP_MS, wake_up, NULL);
    if (c->screen) {
        g_unix_signal_add(SIGWINCH, on_resize, c);
        g_unix_fd_add(STDIN_FILENO, G_IO_IN | G_IO_HUP | G_IO_ERR, on_key, c);
    }
}

static bool ready(void *opaque)
{
    LiveCommand *c = opaque;

    return channel_is_shown(&c->channels[0]) &&
           channel_is_shown(&c->channels[1]);
}

static int run(LiveCommand *c)
{
    const LiveOptions o = {
        .trace = c->channels[0].to,
        .sideband = c->channels[1].to,
        .ready = ready,
        .job = &c->ct.job,
        .interval = c->interval,
        .max_lag = isnan(c->max_lag) ? DEFAULT_LAG * c->interval : c->max_lag,
        .load = c->load,
        .show = show,
        .opaque = c,
    };
    bool ok = true;

    for (size_t i = 0; i < ARRAY_SIZE(c->channels); i++) {
        if (!channel_open(&c->channels[i], c->cancel, c->timeout)) {
            return CLI_ERROR;
        }
    }
    c->screen = !c->batch && screen_possible() && screen_open();
    for (size_t i = 0; i < ARRAY_SIZE(c->channels); i++) {
        channel_start(&c->channels[i]);
    }
    g_mutex_lock(&c->lock);
    if (c->screen) {
        draw(c);
    }
    c->live = live_new(&o);
    g_mutex_unlock(&c->lock);
    watch(c);
    loop(c);
    if (c->screen) {
        screen_close();
    }
    for (size_t i = 0; i < ARRAY_SIZE(c->channels); i++) {
        ok &= channel_finish(&c->channels[i]);
    }
    ok &= live_finish(c->live, show_total);
    if (!c->wrote) {
        say_error("cannot write standard output");
    }
    return ok && c->wrote ? CLI_OK : CLI_ERROR;
}

static bool options_valid(LiveCommand *c)
{
    for (size_t i = 0; i < ARRAY_SIZE(c->channels); i++) {
        const Channel *ch = &c->channels[i];

        if (!ch->from || !ch->to) {
            say_error("live needs both streams: --%s%s %s", ch->what,
                      ch->from ? "-out" : "", ch->from ? "FILE" : "ADDRESS");
            return false;
        }
        if (g_str_has_suffix(ch->to, STREAM_FILE_SUFFIX)) {
            say_error("--%s-out %s: live reads what it writes, as it is; "
                      "leave out " STREAM_FILE_SUFFIX ", or use listen",
                      ch->what, ch->to);
            return false;
        }
    }
    channel_options_take(c->channels);
    if (c->timeout < 0) {
        say_error("--timeout: seconds, 0 for no limit");
        return false;
    }
    if (c->count < 0 || c->rows < 0) {
        say_error("--%s: a number, 0 for no limit",
                  c->count < 0 ? "count" : "rows");
        return false;
    }
    if (!live_check_options(c->interval, c->max_lag, c->load)) {
        return false;
    }
    c->report.max_rows = c->rows;
    return live_parse_sort(c->sort ?: sorts[0], &c->report);
}

static void command_clear(LiveCommand *c)
{
    channel_options_clear(c->channels);
    cli_trace_clear(&c->ct);
    g_free(c->sort);
    g_free(c->text);
    g_clear_object(&c->cancel);
    g_mutex_clear(&c->lock);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LiveCommand, command_clear)

int cmd_live(int argc, char **argv)
{
    g_auto(LiveCommand) c = {
        .channels = { { .what = "trace" }, { .what = "sideband" } },
        .timeout = 60,
        .rows = DEFAULT_ROWS,
        .interval = 1,
        .max_lag = NAN,
        .load = 100,
        .ct.job.hart = -1,
        .cancel = g_cancellable_new(),
        .next_sort = 1,
        .wrote = true,
    };
    const GOptionEntry own[] = {
        { "interval", 'd', 0, G_OPTION_ARG_DOUBLE, &c.interval,
          "Seconds from one screen to the next (default: 1)", "SECONDS" },
        { "sort", 0, 0, G_OPTION_ARG_STRING, &c.sort,
          "What distinguishes rows: comm, pid, tid, dso (the object), "
          "sym, priv, hart (default: comm,dso,sym)", "LIST" },
        { "hart", 0, 0, G_OPTION_ARG_INT, &c.ct.job.hart,
          "Only this hart", "N" },
        { "elf", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &c.ct.job.elfs,
          "ELF file, moved by BIAS bytes: symbols; can be repeated",
          "FILE[@BIAS]" },
        { "max-lag", 0, 0, G_OPTION_ARG_DOUBLE, &c.max_lag,
          "Leave something out when so many seconds of decoding wait to be "
          "done; 0: never (default: two intervals)", "SECONDS" },
        { "load", 0, 0, G_OPTION_ARG_INT, &c.load,
          "Decode for at most so much of the time, per cent (default: 100)",
          "N" },
        { "jobs", 'j', 0, G_OPTION_ARG_INT, &c.ct.job.jobs,
          "Harts that are decoded at the same time (default: as many as there "
          "are processors)", "N" },
        { "batch", 'b', 0, G_OPTION_ARG_NONE, &c.batch,
          "Write text behind text, as if there were no terminal", NULL },
        { "count", 'n', 0, G_OPTION_ARG_INT, &c.count,
          "Quit after so many intervals (default: 0, when the trace ends)",
          "N" },
        { "rows", 0, 0, G_OPTION_ARG_INT, &c.rows,
          "Of text, at most so many rows for each interval; 0: all (default: "
          "20)", "N" },
        { NULL }
    };
    g_autofree GOptionEntry *streams = channel_options(c.channels, &c.timeout);
    g_autofree GOptionEntry *names = cli_name_options(&c.ct.job.names);
    g_autofree GOptionEntry *some = cli_join_entries(streams, own);
    g_autofree GOptionEntry *entries = cli_join_entries(some, names);

    g_mutex_init(&c.lock);
    if (!cli_parse_only(entries, "Show what the machine runs while it runs, as "
                        "top does, and collect the trace and\nthe sideband "
                        "into files as listen does.",
                        CHANNEL_ADDRESS_HELP
                        "\nKeys: q quit, p pause, s sort "
                        "by function, process, object, hart, h help. Where\n"
                        "decoding is too slow for what runs, it leaves "
                        "something out and says how much; the\nfiles have "
                        "everything. Rates are per second of this machine's "
                        "time.\n\nExit status: 0 success, 2 an error.",
                        argc, argv) || !options_valid(&c)) {
        return CLI_ERROR;
    }
    return run(&c);
}
