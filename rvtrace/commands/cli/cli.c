/*
 * What the commands of rvtrace share: options, losses, exit status
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/shards.h"
#include "base/option-error.h"
#include "commands/cli/cli.h"
#include "commands/cli/folder.h"
#include "commands/cli/option-set.h"
#include "trace/trace-text.h"

#define FOLDERS \
    "FOLDER is what 'rvtrace run' has written (default: the newest one " \
    "here); it says\nwhich files have names. --trace and --sideband give " \
    "streams instead, and\n--help-all lists all options.\n\n"
#define FOLDERS_OF_PROCESSES \
    FOLDERS "FOLDER may also have traces of many processes of user mode " \
    "(etrace=FOLDER/%p):\nwhat all of them ran is added up.\n\n"
#define STATUSES \
    "Exit status: 0 success, 1 a difference or, with --strict, a loss, 2 an " \
    "error."

void cli_say(const GError *err)
{
    static const struct {
        const char *before, *behind;
    } texts[OPTION_NR_ERRORS] = {
        [OPTION_PARAM] = { "--param ", "" },
        [OPTION_UNIT] = { "--unit ", "" },
        [OPTION_TVEC] = { "--tvec ", "" },
        [OPTION_ISA] = { "--isa ", "" },
        [OPTION_FROM] = { "--from ", "" },
        [OPTION_TO] = { "--to ", "" },
        [OPTION_PROCESS] = { "--process ", "" },
        [OPTION_REGION] = { "--region ", "" },
        [OPTION_WRAPPED_AT] = { "--wrapped-at ", "" },
        [OPTION_PARAMS] = { "--param: ", "" },
        [OPTION_PIECES_WRAPPED] = { "--wrapped-at ", "" },
        [OPTION_NEEDS_PROGRAM] = {
            "", ": give --sideband FILE or --elf FILE",
        },
        [OPTION_NEEDS_PARTS] = {
            "", ": --trace A --sideband A.sb --trace B --sideband B.sb",
        },
        [OPTION_NEEDS_WRAPPED_AT] = {
            "", "; if the ring has wrapped, give --wrapped-at OFFSET",
        },
        [OPTION_NEEDS_NO_SIDEBAND] = { "", "; leave out its --sideband" },
        [OPTION_NEEDS_AT] = { "", ": give --at OFFSET" },
        [OPTION_NEEDS_NO_AT] = {
            "", "; leave out --at and it is looked for",
        },
        [OPTION_NEEDS_CHOICE] = {
            "", ": give --at OFFSET, if you know which are meant, or the "
            "pieces before it, too",
        },
        [OPTION_NEEDS_SESSION] = {
            "", "; give another --session, or --at OFFSET",
        },
        [OPTION_NEEDS_ROOM] = {
            "", "; set TMPDIR to where there is room, or --min-duration to "
            "more",
        },
    };
    bool known = err->domain == OPTION_ERROR;

    say_error("%s%s%s", known ? texts[err->code].before : "", err->message,
              known ? texts[err->code].behind : "");
}

bool cli_parse_only(GOptionEntry *entries, const char *summary,
                    const char *description, int argc, char **argv)
{
    OptionSet *set = option_set_new();

    option_set_add(set, entries);
    return option_set_parse(set, summary, description, argc, argv);
}

GOptionEntry *cli_join_entries(const GOptionEntry *a, const GOptionEntry *b)
{
    GArray *all = g_array_new(TRUE, FALSE, sizeof(*a));

    for (; a->long_name; a++) {
        g_array_append_vals(all, a, 1);
    }
    for (; b->long_name; b++) {
        g_array_append_vals(all, b, 1);
    }
    return (GOptionEntry *)g_array_free(all, FALSE);
}

static bool parse_sessions(CliTrace *ct)
{
    unsigned n = ct->session_args ? g_strv_length(ct->session_args) :
                 ct->job.nr_sessions;
    unsigned parts = ct->job.sidebands ? g_strv_length(ct->job.sidebands) : 0;

    if (!n) {
        return true;
    }
    if (n != parts) {
        say_error("%u --session and %u --sideband: give one for each, or "
                  "none to get the last session of each", n, parts);
        return false;
    }
    if (!ct->session_args) {
        return true;
    }
    g_free(ct->job.sessions);
    ct->job.sessions = g_new0(unsigned, n);
    ct->job.nr_sessions = n;
    for (unsigned i = 0; i < n; i++) {
        guint64 number;

        if (!g_ascii_string_to_unsigned(ct->session_args[i], 10, 1, UINT_MAX,
                                        &number, NULL)) {
            say_error("--session %s: sessions are counted from 1",
                      ct->session_args[i]);
            return false;
        }
        ct->job.sessions[i] = number;
    }
    return true;
}

GOptionEntry *cli_selection_options(SelectionOptions *o)
{
    const GOptionEntry entries[] = {
        { "process", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->processes,
          "Only what ran for such tasks: a glob of their names, or the number "
          "of a process or thread; can be repeated", "NAME|PID" },
        { "region", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->regions,
          "Only what ran between the notes 'begin NAME' and 'end NAME' of a "
          "hart, or 'mark A' and 'mark B'; can be repeated", "NAME|A..B" },
        { "from", 0, 0, G_OPTION_ARG_STRING, &o->from,
          "Only what ran behind this border of each hart: a number of "
          "instructions (with k, M or G), a virtual time (1.5s, ms, us, ns), "
          "either counted back from the end with a minus sign, mark:NOTE, or "
          "sym:FUNCTION, sym:FUNCTION#N for the N-th time that it is entered",
          "BORDER" },
        { "to", 0, 0, G_OPTION_ARG_STRING, &o->to,
          "Only what ran before this border, as for --from", "BORDER" },
        { "window", 0, 0, G_OPTION_ARG_STRING, &o->window,
          "Only so much in front of an event or behind it: a virtual time, of "
          "all harts, or a number of instructions of the hart of the event",
          "LENGTH" },
        { "before", 0, 0, G_OPTION_ARG_STRING, &o->before,
          "The event that --window ends with: sym:FUNCTION, mark:NOTE, "
          "trap:CAUSE, slower:FUNCTION>LENGTH, slowest:FUNCTION, with #N for "
          "the N-th one", "EVENT" },
        { "after", 0, 0, G_OPTION_ARG_STRING, &o->after,
          "The event that --window begins with, as for --before", "EVENT" },
        { "tick-rate", 0, 0, G_OPTION_ARG_INT64, &o->tick_rate,
          "Ticks of virtual time a second (default: 1000000000 for timestamps, "
          "10000000 for time fields)", "HZ" },
        { NULL }
    };

    return g_memdup2(entries, sizeof(entries));
}

GOptionEntry *cli_name_options(NameOptions *o)
{
    const GOptionEntry entries[] = {
        { "kallsyms", 'k', 0, G_OPTION_ARG_FILENAME_ARRAY, &o->kallsyms,
          "Symbols of the kernel: a copy of its /proc/kallsyms, or a "
          "System.map; can be repeated", "FILE" },
        { "sysroot", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->sysroots,
          "Find what ran in the files below this folder, by its bytes: "
          "programs, libraries, modules, kernel; can be repeated", "DIR" },
        { "no-demangle", 0, 0, G_OPTION_ARG_NONE, &o->no_demangle,
          "Names of C++ and Rust as linkers know them", NULL },
        { NULL }
    };

    return g_memdup2(entries, sizeof(entries));
}

static void add_index_options(CliTrace *ct, OptionSet *set)
{
    const GOptionEntry entries[] = {
        { "index", 0, 0, G_OPTION_ARG_FILENAME, &ct->job.index,
          "What 'rvtrace index' made of this trace: what is before --from is "
          "not decoded then (default: TRACE.rvidx, if it is there)", "FILE" },
        { "make-index", 0, 0, G_OPTION_ARG_NONE, &ct->make_index,
          "Make the index on the way, at --index or TRACE.rvidx: all of the "
          "trace is decoded, whatever is asked for", NULL },
        { "index-every", 0, 0, G_OPTION_ARG_STRING, &ct->index_every,
          "With --make-index: instructions of a hart between two places, at "
          "least (default: 1M)", "N" },
        { "shard", 0, 0, G_OPTION_ARG_STRING, &ct->shard_arg,
          "Only piece K, from 1 on, of N of the trace, by its index; writes a "
          "result for 'rvtrace merge' instead", "K/N" },
        { "merge", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &ct->job.shard_files,
          "Add up what --shard wrote instead of decoding; repeated, for each "
          "piece", "FILE" },
        { NULL }
    };

    option_set_add(set, entries);
}

static bool parse_shard(CliTrace *ct)
{
    char *slash = ct->shard_arg ? strchr(ct->shard_arg, '/') : NULL;
    g_autofree char *first = NULL;
    guint64 k, n;

    if (!ct->shard_arg) {
        return true;
    }
    first = g_strndup(ct->shard_arg, slash ? slash - ct->shard_arg : 0);
    if (!slash ||
        !g_ascii_string_to_unsigned(slash + 1, 10, 1, JOB_MAX_SHARDS, &n,
                                    NULL) ||
        !g_ascii_string_to_unsigned(first, 10, 1, n, &k, NULL)) {
        say_error("--shard %s: must be K/N, piece K from 1 on of N, at most "
                  "%u", ct->shard_arg, JOB_MAX_SHARDS);
        return false;
    }
    if (ct->job.selection && selection_has_functions(ct->job.selection)) {
        say_error("--shard: a piece does not know whether sym:FUNCTION was "
                  "before it; give --from and --to in another way");
        return false;
    }
    if (ct->window.option) {
        say_error("--shard: a piece does not know whether the event of "
                  "%s was before it; give --from and --to", ct->window.option);
        return false;
    }
    ct->job.shard = k;
    ct->job.shards = n;
    return true;
}

/* Prints what is wrong and returns false. */
static bool parse_window(CliTrace *ct)
{
    const SelectionOptions *o = &ct->job.select;
    CliWindow *w = &ct->window;
    const char *option = o->after ? "--after" : "--before";
    const char *text = o->after ?: o->before;

    if (!o->window && !text) {
        return true;
    }
    if (!o->window || !text || (o->before && o->after) || o->from || o->to) {
        say_error("--window LENGTH goes with --before EVENT or --after EVENT, "
                  "and without --from and --to");
        return false;
    }
    if (!duration_parse(&w->length, o->window)) {
        say_error("--window %s: must be a time, with s, ms, us or ns behind "
                  "it, or a number of instructions, with k, M or G behind it "
                  "or not", o->window);
        return false;
    }
    if (!event_parse(&w->event, text)) {
        say_error("%s %s: must be sym:FUNCTION, mark:NOTE, trap:CAUSE, "
                  "slower:FUNCTION>LENGTH, or slowest:FUNCTION; #N behind it "
                  "is for the N-th one, at most %u, of the slowest ones %u",
                  option, text, EVENT_MAX_NTH, EVENT_MAX_SLOWEST);
        return false;
    }
    w->option = option;
    w->text = text;
    w->after = o->after;
    return true;
}

bool cli_parse_selection(CliTrace *ct)
{
    g_autoptr(GError) err = NULL;

    if (ct->job.select.tick_rate < 0) {
        say_error("--tick-rate: ticks a second, at least 1");
        return false;
    }
    ct->job.selection = selection_new(&ct->job.select, &err);
    if (err) {
        cli_say(err);
        return false;
    }
    return parse_window(ct);
}

/* --at: where each piece was stored */
static bool parse_at(CliTrace *ct)
{
    unsigned n = ct->at_args ? g_strv_length(ct->at_args) : 0;

    if (!n) {
        return true;
    }
    if (!ct->job.traces || n != g_strv_length(ct->job.traces)) {
        say_error("%u --at and %u --trace: every piece needs one, in order; "
                  "--at '?' if it is not known", n,
                  ct->job.traces ? g_strv_length(ct->job.traces) : 0);
        return false;
    }
    ct->job.at = g_new(int64_t, n);
    for (unsigned i = 0; i < n; i++) {
        const char *arg = ct->at_args[i];
        char *end;

        ct->job.at[i] = g_ascii_strtoull(arg, &end, 0);
        if (g_str_equal(arg, "?")) {
            ct->job.at[i] = PIECE_AT_UNKNOWN;
        } else if (!g_ascii_isdigit(*arg) || *end || ct->job.at[i] < 0) {
            say_error("--at %s: not a number of bytes, nor '?'", arg);
            return false;
        }
    }
    return true;
}

static bool parse_limit(CliTrace *ct)
{
    uint64_t limit;

    if (!ct->limit_arg) {
        return true;
    }
    if (g_str_equal(ct->limit_arg, "-1")) {
        ct->job.limit = JOB_LIMIT_NONE;
        return true;
    }
    if (!selection_parse_count(ct->limit_arg, &limit) || limit > INT64_MAX) {
        say_error("--limit %s: must be a number of instructions or packets, "
                  "with k, M or G behind it or not, or -1", ct->limit_arg);
        return false;
    }
    ct->job.limit = limit;
    return true;
}

/* The trace, if no option says it. Prints what is wrong and returns false. */
static bool choose_trace(CliTrace *ct)
{
    const char *folder = ct->folders ? ct->folders[0] : NULL;
    bool given = ct->job.traces || (ct->instead && *ct->instead);

    if (!folder_check_operands(ct->folders, given)) {
        return false;
    }
    if (given) {
        return true;
    }
    if (!folder && ct->job.sidebands) {
        say_error("which trace? give --trace FILE, too");
        return false;
    }
    return folder_take(folder, &ct->job, ct->has_names, ct->takes_several,
                       &ct->title);
}

bool cli_parse(CliTrace *ct, GOptionEntry *extra, const char *summary,
               int argc, char **argv)
{
    OptionSet *set = option_set_new();
    const GOptionEntry entries[] = {
        { "trace", 't', 0, G_OPTION_ARG_FILENAME_ARRAY, &ct->job.traces,
          "Trace: the bytes of trace-chardev, or of a RAM sink; repeated for "
          "the parts of a trace that was migrated, in order", "FILE" },
        { "ram", 0, 0, G_OPTION_ARG_NONE, &ct->job.ram,
          "The trace is a RAM sink's, from trRamStart to trRamWP; with a "
          "sideband also to trRamLimit", NULL },
        { "wrapped-at", 0, 0, G_OPTION_ARG_INT64, &ct->job.wrapped_at,
          "The trace is a RAM sink's that has wrapped, from trRamStart to "
          "trRamLimit; OFFSET: trRamWP - trRamStart", "OFFSET" },
        { "at", 0, 0, G_OPTION_ARG_STRING_ARRAY, &ct->at_args,
          "The trace is a piece of a RAM sink's, which had stored so many "
          "bytes of the session before it, or '?' (it is looked for); one for "
          "each --trace, or none", "OFFSET" },
        { "sideband", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &ct->job.sidebands,
          "Sideband: the bytes of trace-sideband; one for each part", "FILE" },
        { "session", 0, 0, G_OPTION_ARG_STRING_ARRAY, &ct->session_args,
          "Session of the sideband (default: the last one); one for each "
          "part, or none", "N" },
        { "hart", 0, 0, G_OPTION_ARG_INT, &ct->job.hart,
          "Only this hart", "N" },
        { "elf", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &ct->job.elfs,
          "ELF file, moved by BIAS bytes: symbols, and without a sideband "
          "the program; can be repeated", "FILE[@BIAS]" },
        { "isa", 0, 0, G_OPTION_ARG_STRING, &ct->job.isa,
          "ISA string; needed for Zcmp and Zcmt", "rv64gc_zcmp_zcmt" },
        { "param", 0, 0, G_OPTION_ARG_STRING_ARRAY, &ct->job.params,
          "Encoder parameter, without a sideband; can be repeated",
          "NAME=VALUE" },
        { "params", 0, 0, G_OPTION_ARG_FILENAME, &ct->job.params_file,
          "Encoder parameters, without a sideband: what 'rvtrace params' "
          "writes", "FILE" },
        { "unit", 0, 0, G_OPTION_ARG_STRING, &ct->job.unit,
          "The trace is another encoder's, whose packets differ: esp32c6, "
          "rv_tracer", "NAME" },
        { "tvec", 0, 0, G_OPTION_ARG_STRING_ARRAY, &ct->job.tvecs,
          "Value of mtvec, stvec or vstvec, for implicit exceptions where "
          "the sideband does not say; can be repeated", "m|s|vs=VALUE" },
        { "limit", 'l', 0, G_OPTION_ARG_STRING, &ct->limit_arg,
          "Stop after this many instructions of each hart (or packets, where "
          "these are written), with k, M or G behind it or not; -1: go on "
          "although it is far more work than so few bytes should be", "N" },
        { "jobs", 'j', 0, G_OPTION_ARG_INT, &ct->job.jobs,
          "Harts that are decoded at the same time (default: as many as there "
          "are processors)", "N" },
        { "strict", 0, 0, G_OPTION_ARG_NONE, &ct->strict,
          "Exit with status 1 if anything was lost", NULL },
        { NULL }
    };

    const GOptionEntry merged[] = {
        { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY,
          &ct->job.shard_files, NULL, "FILE..." },
        { NULL }
    };
    const GOptionEntry folder[] = {
        { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY,
          &ct->folders, NULL, "[FOLDER]" },
        { NULL }
    };

    ct->job.hart = -1;
    ct->job.wrapped_at = RING_NOT_WRAPPED;
    ct->job.limit = JOB_LIMIT_DEFAULT;
    if (ct->selects) {
        g_autofree GOptionEntry *more = cli_selection_options(&ct->job.select);

        option_set_add(set, more);
        add_index_options(ct, set);
    }
    if (ct->has_names) {
        g_autofree GOptionEntry *names = cli_name_options(&ct->job.names);

        option_set_add(set, names);
    }
    option_set_add(set, entries);
    if (extra) {
        option_set_add(set, extra);
    }
    option_set_add(set, ct->merges ? merged : folder);
    if (!option_set_parse(set, summary, ct->merges ? STATUSES :
                          ct->takes_several ? FOLDERS_OF_PROCESSES STATUSES :
                          FOLDERS STATUSES, argc, argv)) {
        return false;
    }
    if (ct->merges && !ct->job.shard_files) {
        say_error("which results? name what --shard wrote");
        return false;
    }
    if (ct->job.shard_files &&
        !shards_take_options(&ct->job, *ct->job.shard_files)) {
        return false;
    }
    if (!choose_trace(ct)) {
        return false;
    }
    if (ct->job.wrapped_at < 0 && ct->job.wrapped_at != RING_NOT_WRAPPED) {
        say_error("--wrapped-at: an offset in the dump is not negative");
        return false;
    }
    if (!parse_limit(ct)) {
        return false;
    }
    if (ct->job.jobs < 0) {
        say_error("--jobs: a number of harts, at least 1");
        return false;
    }
    return cli_parse_selection(ct) && parse_sessions(ct) && parse_at(ct) &&
           parse_shard(ct);
}

void cli_trace_clear(CliTrace *ct)
{
    job_clear(&ct->job);
    event_clear(&ct->window.event);
    g_strfreev(ct->session_args);
    g_strfreev(ct->at_args);
    g_free(ct->shard_arg);
    g_free(ct->limit_arg);
    g_free(ct->index_every);
    g_strfreev(ct->folders);
    g_free(ct->title);
}

Trace *cli_open(CliTrace *ct)
{
    g_autoptr(GError) err = NULL;
    Trace *t = job_open(&ct->job, &err);

    if (!t) {
        cli_say(err);
        return NULL;
    }
    ct->losses.several = ct->job.traces[1] || ct->job.processes;
    ct->losses.looks_like = t->data ? unit_guess(t->data, t->end) : NULL;
    for (Trace *p = t; p; p = p->next) {
        if (p->sideband && sideband_problem(p->sideband)) {
            say_warn("%s: %s", p->sideband_path,
                     sideband_problem(p->sideband));
        }
        if (p->head || p->goes_on) {
            say_note("%s is a piece, from byte %" PRIu64 " of the trace on: "
                     "what ran %s it is in others", p->path,
                     (uint64_t)(p->at + p->begin),
                     !p->goes_on ? "before" : !p->head ? "behind" :
                     "before and behind");
        }
        if (p->pieces.truncated) {
            say_warn("%s: the AUX buffer had no room for the ends of %u "
                     "recordings, which are left out; give perf record a "
                     "larger one (-m ,SIZE)", p->path, p->pieces.truncated);
        }
    }
    return t;
}

bool cli_set_params(ETraceParams *params, char **args)
{
    g_autoptr(GError) err = NULL;

    if (!trace_parse_params(params, args, &err)) {
        cli_say(err);
        return false;
    }
    return true;
}

int cli_finish_losses(const CliTrace *ct)
{
    loss_report_finish(&ct->losses);
    if (ct->losses.gave_up ||
        (ct->job.limit && loss_report_is_all(&ct->losses))) {
        return CLI_ERROR;
    }
    return ct->losses.losses && ct->strict ? CLI_DIFFERS : CLI_OK;
}

bool cli_parse_format(const char *text, TableFormat *format)
{
    if (text && !table_parse_format(text, format)) {
        say_error("--format %s: must be text, tsv or json", text);
        return false;
    }
    return true;
}

bool cli_parse_spacing(const char *option, const char *text, uint64_t *spacing)
{
    *spacing = INDEX_SPACING;
    if (text && (!selection_parse_count(text, spacing) || !*spacing)) {
        say_error("%s %s: must be a number of instructions, with k, M or G "
                  "behind it or not", option, text);
        return false;
    }
    return true;
}
