/*
 * rvtrace: options that views share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/report/report.h"

/*
 * --layers
 */

static struct {
    char *text;
    bool hart;
    CallStackLayer layers[CALLSTACK_NR_LAYERS];
    unsigned nr_layers;
} layers;

static bool add_layer(const char *word)
{
    static const char *const texts[CALLSTACK_NR_LAYERS] = {
        [CALLSTACK_LAYER_COMM] = "comm",
        [CALLSTACK_LAYER_PROCESS] = "process",
        [CALLSTACK_LAYER_THREAD] = "thread",
        [CALLSTACK_LAYER_PRIV] = "priv",
    };

    for (unsigned i = 0; i < CALLSTACK_NR_LAYERS; i++) {
        if (g_str_equal(word, texts[i])) {
            if (layers.nr_layers == CALLSTACK_NR_LAYERS) {
                return false;
            }
            layers.layers[layers.nr_layers++] = i;
            return true;
        }
    }
    return false;
}

static bool check_layers(const View *only)
{
    g_auto(GStrv) words = NULL;

    layers.nr_layers = 0;
    layers.hart = false;
    if (!layers.text) {
        return true;
    }
    words = g_strsplit(layers.text, ",", -1);
    for (char **w = words; *w; w++) {
        if (w == words && g_str_equal(*w, "hart")) {
            layers.hart = true;
        } else if (!add_layer(*w)) {
            say_error("--layers %s: must be some of comm, process, thread, "
                      "priv, separated by commas, with hart in front or not",
                      layers.text);
            return false;
        }
    }
    return true;
}

const OptionGroup layers_group = {
    .entries = (const GOptionEntry[]) {
        { "layers", 0, 0, G_OPTION_ARG_STRING, &layers.text,
          "What is below the stacks, the lowest first: hart, comm (the "
          "task's name), process, thread, priv (default: comm; html: "
          "hart,comm,process,thread,priv)", "LIST" },
        { NULL }
    },
    .check = check_layers,
};

bool layers_given(void)
{
    return layers.text;
}

void layers_choose(Results *r, bool all)
{
    static const CallStackLayer all_layers[] = {
        CALLSTACK_LAYER_COMM, CALLSTACK_LAYER_PROCESS,
        CALLSTACK_LAYER_THREAD, CALLSTACK_LAYER_PRIV,
    };
    CallStackOptions *o = &r->layers;

    if (layers.text) {
        r->hart_layer = layers.hart;
        o->nr_layers = layers.nr_layers;
        memcpy(o->layers, layers.layers, sizeof(layers.layers));
    } else {
        r->hart_layer = all;
        o->nr_layers = all ? ARRAY_SIZE(all_layers) : 1;
        memcpy(o->layers, all_layers, sizeof(all_layers));
    }
}

/*
 * --weight and --time
 */

static char *weight_text, *clock_text;

/* Is @text one of the two, or not given? Prints what is wrong. */
static bool is_word(const char *option, const char *text, const char *first)
{
    if (text && !g_str_equal(text, first) &&
        !g_str_equal(text, "instructions")) {
        say_error("%s %s: must be %s or instructions", option, text, first);
        return false;
    }
    return true;
}

static bool check_weight(const View *only)
{
    return is_word("--weight", weight_text, "time");
}

static bool check_clock(const View *only)
{
    return is_word("--time", clock_text, "virtual");
}

const OptionGroup weight_group = {
    .entries = (const GOptionEntry[]) {
        { "weight", 0, 0, G_OPTION_ARG_STRING, &weight_text,
          "What is counted: virtual time, by the trace's timestamps, in ns, "
          "or instructions (default: instructions)", "time|instructions" },
        { NULL }
    },
    .check = check_weight,
};

const OptionGroup clock_group = {
    .entries = (const GOptionEntry[]) {
        { "time", 0, 0, G_OPTION_ARG_STRING, &clock_text,
          "The clock: virtual time, by the trace's timestamps, or instructions "
          "(default: virtual, if there are some)", "virtual|instructions" },
        { NULL }
    },
    .check = check_clock,
};

bool weight_given(void)
{
    return weight_text;
}

bool weight_is_time(void)
{
    return !g_strcmp0(weight_text, "time");
}

ClockChoice clock_choice(void)
{
    return !clock_text ? CLOCK_BEST :
           g_str_equal(clock_text, "virtual") ? CLOCK_VIRTUAL :
                                                CLOCK_INSTRUCTIONS;
}

/*
 * What is simple
 */

char **truth_files;
char *title_option, *sort_option;

const OptionGroup truth_group = {
    .entries = (const GOptionEntry[]) {
        { "truth", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &truth_files,
          "What really retired, to compare with: counts and hashes; repeated, "
          "it goes on with what the next file says", "FILE" },
        { NULL }
    },
};

const OptionGroup title_group = {
    .entries = (const GOptionEntry[]) {
        { "title", 0, 0, G_OPTION_ARG_STRING, &title_option,
          "Title of the picture or report; of a timeline, what the tracks of "
          "harts are called", "TEXT" },
        { NULL }
    },
};

static bool check_sort(const View *only)
{
    ReportOptions report;

    if (sort_option && !report_parse_keys(sort_option, &report)) {
        say_error("--sort %s: must be some of comm, pid, tid, dso, sym, priv, "
                  "hart, srcline, srcfile, separated by commas", sort_option);
        return false;
    }
    return true;
}

const OptionGroup sort_group = {
    .entries = (const GOptionEntry[]) {
        { "sort", 0, 0, G_OPTION_ARG_STRING, &sort_option,
          "What distinguishes rows: comm, pid, tid, dso (the object), "
          "sym, priv, hart, srcline, srcfile (default: dso,sym)", "LIST" },
        { NULL }
    },
    .check = check_sort,
};

FilterOptions filter_options;

unsigned filter_spares(void)
{
    return filter_options.comm ? 0 : RESULT_TASKS;
}

const OptionGroup filter_group = {
    .entries = (const GOptionEntry[]) {
        { "comm", 0, 0, G_OPTION_ARG_STRING, &filter_options.comm,
          "Only tasks with such a name, a glob", "NAME" },
        { "dso", 0, 0, G_OPTION_ARG_STRING, &filter_options.dso,
          "Only objects with such a name, a glob", "NAME" },
        { "sym", 0, 0, G_OPTION_ARG_STRING, &filter_options.sym,
          "Only functions with such a name, a glob", "NAME" },
        { NULL }
    },
};

const OptionGroup comm_group = {
    .entries = (const GOptionEntry[]) {
        { "comm", 0, 0, G_OPTION_ARG_STRING, &filter_options.comm,
          "Only tasks with such a name, a glob", "NAME" },
        { NULL }
    },
};

RowOptions row_options = { .min_percent = NAN };

static bool check_rows(const View *only)
{
    if (row_options.min_percent < 0 || row_options.max_rows < 0) {
        say_error("--percent-limit, --rows: must not be negative");
        return false;
    }
    return true;
}

const OptionGroup percent_group = {
    .entries = (const GOptionEntry[]) {
        { "percent-limit", 0, 0, G_OPTION_ARG_DOUBLE, &row_options.min_percent,
          "Leave out rows of a report with less (default: 0.05; 0 with "
          "--format), or functions with less of all (default: 1; 0 with "
          "--sym or --format)", "X" },
        { NULL }
    },
    .check = check_rows,
};

const OptionGroup rows_group = {
    .entries = (const GOptionEntry[]) {
        { "rows", 0, 0, G_OPTION_ARG_INT, &row_options.max_rows,
          "At most so many rows or functions (default: 0, all)", "N" },
        { NULL }
    },
    .check = check_rows,
};

/*
 * --format
 */

static char *format_text;
static TableFormat format;

static bool check_format(const View *only)
{
    format = TABLE_TEXT;
    return cli_parse_format(format_text, &format);
}

const OptionGroup format_group = {
    .entries = (const GOptionEntry[]) {
        { "format", 0, 0, G_OPTION_ARG_STRING, &format_text,
          "text (default), or for scripts, with all rows: tsv, json",
          "text|tsv|json" },
        { NULL }
    },
    .check = check_format,
};

TableFormat format_choice(void)
{
    return format;
}

bool format_given(void)
{
    return format_text;
}

/*
 * --source-prefix
 */

char **source_prefixes;

static bool check_sources(const View *only)
{
    g_autoptr(SourceTree) sources = NULL;
    g_autoptr(GError) err = NULL;

    sources = source_tree_new(source_prefixes, NULL, &err);
    if (!sources) {
        say_error("--source-prefix: %s", err->message);
        return false;
    }
    return true;
}

const OptionGroup sources_group = {
    .entries = (const GOptionEntry[]) {
        { "source-prefix", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &source_prefixes,
          "Source files whose names begin with OLD are below NEW; others are "
          "read from --sysroot only; a folder alone is both; can be repeated",
          "OLD=NEW" },
        { NULL }
    },
    .check = check_sources,
};

SourceTree *source_options_tree(const Job *job)
{
    return source_tree_new(source_prefixes, job->names.sysroots, NULL);
}

/*
 * --period, --branches, --min-duration
 */

static gint64 period = SAMPLER_PERIOD;
static int branches = SAMPLER_BRANCHES;
static gint64 min_duration = -1;    /* not given */

static bool check_samples(const View *only)
{
    if (period < 1) {
        say_error("--period: a number of instructions, at least 1");
        return false;
    }
    if (branches < 0 || branches > SAMPLER_MAX_BRANCHES) {
        say_error("--branches %d: must be from 0 to %u", branches,
                  SAMPLER_MAX_BRANCHES);
        return false;
    }
    return true;
}

static bool check_duration(const View *only)
{
    if (min_duration < -1) {
        say_error("--min-duration: a number of instructions, not negative");
        return false;
    }
    return true;
}

const OptionGroup samples_group = {
    .entries = (const GOptionEntry[]) {
        { "period", 0, 0, G_OPTION_ARG_INT64, &period,
          "Instructions of a hart from one sample to the next (default: "
          "100003)", "N" },
        { "branches", 0, 0, G_OPTION_ARG_INT, &branches,
          "Taken transfers before it that each sample has, at most 64 "
          "(default: 32)", "N" },
        { NULL }
    },
    .check = check_samples,
};

const OptionGroup duration_group = {
    .entries = (const GOptionEntry[]) {
        { "min-duration", 0, 0, G_OPTION_ARG_INT64, &min_duration,
          "Leave out functions that took fewer instructions or ns (default: "
          "0; timeline: 10000)", "N" },
        { NULL }
    },
    .check = check_duration,
};

void samples_choose(SamplerOptions *o)
{
    o->period = period;
    o->branches = branches;
}

uint64_t duration_option(uint64_t unset)
{
    return min_duration >= 0 ? (uint64_t)min_duration : unset;
}
