/*
 * What the subcommands of rvtrace share: options, losses, exit status
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/cli.h"
#include "samples/samples-open.h"
#include "analysis/shards.h"

G_GNUC_PRINTF(2, 0)
static void print_message(const char *kind, const char *fmt, va_list ap)
{
    g_autofree char *text = g_strdup_vprintf(fmt, ap);

    fprintf(stderr, "rvtrace: %s%s\n", kind, text);
}

void cli_error(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    print_message("error: ", fmt, ap);
    va_end(ap);
}

void cli_warn(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    print_message("warning: ", fmt, ap);
    va_end(ap);
}

static void G_GNUC_PRINTF(1, 2) cli_note(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    print_message("note: ", fmt, ap);
    va_end(ap);
}

static bool parse_context(GOptionContext *context, int argc, char **argv)
{
    g_autoptr(GError) err = NULL;

    if (!g_option_context_parse(context, &argc, &argv, &err)) {
        cli_error("%s; try '%s --help'", err->message, g_get_prgname());
        return false;
    }
    if (argc > 1) {
        cli_error("unexpected argument '%s'; try '%s --help'", argv[1],
                  g_get_prgname());
        return false;
    }
    return true;
}

bool cli_parse_only(GOptionEntry *entries, const char *summary,
                    const char *description, int argc, char **argv)
{
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);

    g_option_context_set_summary(context, summary);
    g_option_context_set_description(context, description);
    g_option_context_add_main_entries(context, entries, NULL);
    return parse_context(context, argc, argv);
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
    unsigned n = ct->session_args ? g_strv_length(ct->session_args) : 0;
    unsigned parts = ct->sidebands ? g_strv_length(ct->sidebands) : 0;

    if (!n) {
        return true;
    }
    if (n != parts) {
        cli_error("%u --session and %u --sideband: give one for each, or "
                  "none to get the last session of each", n, parts);
        return false;
    }
    ct->sessions = g_new0(unsigned, n);
    for (unsigned i = 0; i < n; i++) {
        guint64 number;

        if (!g_ascii_string_to_unsigned(ct->session_args[i], 10, 1, UINT_MAX,
                                        &number, NULL)) {
            cli_error("--session %s: sessions are counted from 1",
                      ct->session_args[i]);
            return false;
        }
        ct->sessions[i] = number;
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
          "sym:FUNCTION", "BORDER" },
        { "to", 0, 0, G_OPTION_ARG_STRING, &o->to,
          "Only what ran before this border, as for --from", "BORDER" },
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

static void add_index_options(CliTrace *ct, GOptionContext *context)
{
    const GOptionEntry entries[] = {
        { "index", 0, 0, G_OPTION_ARG_FILENAME, &ct->index,
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
        { "merge", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &ct->shard_files,
          "Add up what --shard wrote instead of decoding; repeated, for each "
          "piece", "FILE" },
        { NULL }
    };

    g_option_context_add_main_entries(context, entries, NULL);
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
        !g_ascii_string_to_unsigned(slash + 1, 10, 1, CLI_MAX_SHARDS, &n,
                                    NULL) ||
        !g_ascii_string_to_unsigned(first, 10, 1, n, &k, NULL)) {
        cli_error("--shard %s: must be K/N, piece K from 1 on of N, at most "
                  "%u", ct->shard_arg, CLI_MAX_SHARDS);
        return false;
    }
    if (ct->selection && selection_has_functions(ct->selection)) {
        cli_error("--shard: a piece does not know whether sym:FUNCTION was "
                  "before it; give --from and --to in another way");
        return false;
    }
    ct->shard = k;
    ct->shards = n;
    return true;
}

bool cli_parse_selection(CliTrace *ct)
{
    g_autoptr(GError) err = NULL;

    if (ct->select.tick_rate < 0) {
        cli_error("--tick-rate: ticks a second, at least 1");
        return false;
    }
    ct->selection = selection_new(&ct->select, &err);
    if (err) {
        cli_error("%s", err->message);
        return false;
    }
    return true;
}

/* --at: where each piece was stored */
static bool parse_at(CliTrace *ct)
{
    unsigned n = ct->at_args ? g_strv_length(ct->at_args) : 0;

    if (!n) {
        return true;
    }
    if (!ct->traces || n != g_strv_length(ct->traces)) {
        cli_error("%u --at and %u --trace: every piece needs one, in order; "
                  "--at '?' if it is not known", n,
                  ct->traces ? g_strv_length(ct->traces) : 0);
        return false;
    }
    ct->at = g_new(int64_t, n);
    for (unsigned i = 0; i < n; i++) {
        const char *arg = ct->at_args[i];
        char *end;

        ct->at[i] = g_ascii_strtoull(arg, &end, 0);
        if (g_str_equal(arg, "?")) {
            ct->at[i] = PIECE_AT_UNKNOWN;
        } else if (!g_ascii_isdigit(*arg) || *end || ct->at[i] < 0) {
            cli_error("--at %s: not a number of bytes, nor '?'", arg);
            return false;
        }
    }
    return true;
}

bool cli_parse(CliTrace *ct, GOptionEntry *extra, const char *summary,
               int argc, char **argv)
{
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    const GOptionEntry entries[] = {
        { "trace", 't', 0, G_OPTION_ARG_FILENAME_ARRAY, &ct->traces,
          "Trace: the bytes of trace-chardev, or of a RAM sink; repeated for "
          "the parts of a trace that was migrated, in order", "FILE" },
        { "ram", 0, 0, G_OPTION_ARG_NONE, &ct->ram,
          "The trace is a RAM sink's, from trRamStart to trRamWP; with a "
          "sideband also to trRamLimit", NULL },
        { "wrapped-at", 0, 0, G_OPTION_ARG_INT64, &ct->wrapped_at,
          "The trace is a RAM sink's that has wrapped, from trRamStart to "
          "trRamLimit; OFFSET: trRamWP - trRamStart", "OFFSET" },
        { "at", 0, 0, G_OPTION_ARG_STRING_ARRAY, &ct->at_args,
          "The trace is a piece of a RAM sink's, which had stored so many "
          "bytes of the session before it, or '?' (it is looked for); one for "
          "each --trace, or none", "OFFSET" },
        { "sideband", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &ct->sidebands,
          "Sideband: the bytes of trace-sideband; one for each part", "FILE" },
        { "session", 0, 0, G_OPTION_ARG_STRING_ARRAY, &ct->session_args,
          "Session of the sideband (default: the last one); one for each "
          "part, or none", "N" },
        { "hart", 0, 0, G_OPTION_ARG_INT, &ct->hart,
          "Only this hart", "N" },
        { "elf", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &ct->elfs,
          "ELF file, moved by BIAS bytes: symbols, and without a sideband "
          "the program; can be repeated", "FILE[@BIAS]" },
        { "isa", 0, 0, G_OPTION_ARG_STRING, &ct->isa,
          "ISA string; needed for Zcmp and Zcmt", "rv64gc_zcmp_zcmt" },
        { "param", 0, 0, G_OPTION_ARG_STRING_ARRAY, &ct->params,
          "Encoder parameter, without a sideband; can be repeated",
          "NAME=VALUE" },
        { "tvec", 0, 0, G_OPTION_ARG_STRING_ARRAY, &ct->tvecs,
          "Value of mtvec, stvec or vstvec, for implicit exceptions where "
          "the sideband does not say; can be repeated", "m|s|vs=VALUE" },
        { "limit", 'l', 0, G_OPTION_ARG_INT64, &ct->limit,
          "Stop after this many instructions of each hart (or packets, where "
          "these are written); -1: go on although it is far more work than "
          "so few bytes should be", "N" },
        { "jobs", 'j', 0, G_OPTION_ARG_INT, &ct->jobs,
          "Harts that are decoded at the same time (default: as many as there "
          "are processors)", "N" },
        { "strict", 0, 0, G_OPTION_ARG_NONE, &ct->strict,
          "Exit with status 1 if anything was lost", NULL },
        { NULL }
    };

    const GOptionEntry merged[] = {
        { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY,
          &ct->shard_files, NULL, "FILE..." },
        { NULL }
    };

    ct->hart = -1;
    ct->wrapped_at = RING_NOT_WRAPPED;
    ct->limit = CLI_LIMIT_DEFAULT;
    g_option_context_set_summary(context, summary);
    g_option_context_set_description(context,
        "Exit status: 0 success, 1 a difference or, with --strict, a loss, "
        "2 an error.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (ct->selects) {
        g_autofree GOptionEntry *more = cli_selection_options(&ct->select);

        g_option_context_add_main_entries(context, more, NULL);
        add_index_options(ct, context);
    }
    if (ct->has_names) {
        g_autofree GOptionEntry *names = cli_name_options(&ct->names);

        g_option_context_add_main_entries(context, names, NULL);
    }
    if (extra) {
        g_option_context_add_main_entries(context, extra, NULL);
    }
    if (ct->merges) {
        g_option_context_add_main_entries(context, merged, NULL);
    }
    if (!parse_context(context, argc, argv)) {
        return false;
    }
    if (ct->merges && !ct->shard_files) {
        cli_error("which results? name what --shard wrote");
        return false;
    }
    if (ct->shard_files && !shards_take_options(ct, *ct->shard_files)) {
        return false;
    }
    if (!ct->traces && !ct->needs_no_trace) {
        cli_error("which trace? give --trace FILE");
        return false;
    }
    if (ct->wrapped_at < 0 && ct->wrapped_at != RING_NOT_WRAPPED) {
        cli_error("--wrapped-at: an offset in the dump is not negative");
        return false;
    }
    if (ct->limit < CLI_LIMIT_NONE && ct->limit != CLI_LIMIT_DEFAULT) {
        cli_error("--limit: a number of instructions or packets, or -1");
        return false;
    }
    if (ct->jobs < 0) {
        cli_error("--jobs: a number of harts, at least 1");
        return false;
    }
    return cli_parse_selection(ct) && parse_sessions(ct) && parse_at(ct) &&
           parse_shard(ct);
}

uint64_t cli_limit(const CliTrace *ct)
{
    return ct->limit < 0 ? UINT64_MAX : (uint64_t)ct->limit;
}

void cli_trace_clear(CliTrace *ct)
{
    g_strfreev(ct->traces);
    g_strfreev(ct->sidebands);
    g_strfreev(ct->session_args);
    g_free(ct->sessions);
    g_strfreev(ct->at_args);
    g_free(ct->at);
    g_free(ct->isa);
    g_strfreev(ct->elfs);
    g_strfreev(ct->params);
    g_strfreev(ct->tvecs);
    g_strfreev(ct->select.processes);
    g_strfreev(ct->select.regions);
    g_free(ct->select.from);
    g_free(ct->select.to);
    g_free(ct->index);
    g_free(ct->index_every);
    g_free(ct->shard_arg);
    g_strfreev(ct->shard_files);
    g_strfreev(ct->names.kallsyms);
    g_strfreev(ct->names.sysroots);
    g_clear_pointer(&ct->selection, selection_free);
}

/* As trace_open() and samples_open() */
static Trace *open_any(const CliTrace *ct, GError **errp)
{
    bool is = false;
    Trace *t = ct->takes_samples && !ct->traces[1] ?
               samples_open(*ct->traces, ct->isa, &is, errp) : NULL;

    if (t || is) {
        return t;
    }
    return trace_open(&(TraceOptions) {
        .traces = ct->traces,
        .sidebands = ct->sidebands,
        .sessions = ct->sessions,
        .elfs = ct->elfs,
        .isa = ct->isa,
        .params = ct->params,
        .packets_only = ct->packets_only,
        .ram = ct->ram || ct->at || trace_is_perf_data(*ct->traces) ||
               ct->wrapped_at != RING_NOT_WRAPPED,
        .wrapped_at = ct->wrapped_at,
        .at = ct->at,
        .tvecs = ct->tvecs,
    }, errp);
}

Trace *cli_open(const CliTrace *ct)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(Trace) t = open_any(ct, &err);

    if (!t) {
        cli_error("%s", err->message);
        return NULL;
    }
    if (ct->hart >= 0 && ((unsigned)ct->hart >= t->nr_harts ||
                          !t->harts[ct->hart].present)) {
        cli_error("hart %d is not in the trace; it has %u hart%s from 0 on",
                  ct->hart, t->nr_harts, t->nr_harts == 1 ? "" : "s");
        return NULL;
    }
    t->limit = cli_limit(ct);
    t->patient = ct->limit != CLI_LIMIT_DEFAULT;
    for (Trace *p = t; p; p = p->next) {
        if (p->sideband && sideband_problem(p->sideband)) {
            cli_warn("%s: %s", p->sideband_path, sideband_problem(p->sideband));
        }
        if (p->pieces.truncated) {
            cli_warn("%s: the AUX buffer had no room for the ends of %u "
                     "recordings, which are left out; give perf record a "
                     "larger one (-m ,SIZE)", p->path, p->pieces.truncated);
        }
    }
    return g_steal_pointer(&t);
}

bool cli_set_params(ETraceParams *params, char **args)
{
    g_autoptr(GError) err = NULL;

    if (!trace_set_params(params, args, &err)) {
        cli_error("%s", err->message);
        return false;
    }
    return true;
}

bool cli_hart_selected(const CliTrace *ct, const Trace *t, unsigned hart)
{
    return t->harts[hart].present &&
           (ct->hart < 0 || (unsigned)ct->hart == hart);
}

void cli_report_loss(CliTrace *ct, const TraceLoss *loss)
{
    g_autoptr(GString) text = g_string_new(NULL);

    ct->gave_up |= loss->flow.kind == FLOW_LOST_WORK;
    if (ct->losses++ >= CLI_MAX_LOSSES_SHOWN &&
        loss->flow.kind != FLOW_LOST_WORK) {
        return;
    }
    g_string_append(text, flow_loss_text(loss->flow.kind));
    if (loss->flow.kind == FLOW_LOST_CODE) {
        g_string_append_printf(text, " 0x%" PRIx64, loss->flow.address);
    }
    if (loss->flow.packets) {
        g_string_append_printf(text, ": %" PRIu64 " packets of hart %u are "
                               "missing", loss->flow.packets, loss->hart);
    }
    if (loss->flow.kind == FLOW_LOST_WORK) {
        g_string_append_printf(text, ": more than %u instructions for each "
                               "byte of the trace; --limit -1 goes on",
                               TRACE_WORK_PER_BYTE);
    }
    if (loss->bytes) {
        g_string_append_printf(text, " (%zu bytes skipped)", loss->bytes);
    }
    if (loss->flow.pc_known) {
        g_string_append_printf(text, "; last instruction 0x%" PRIx64,
                               loss->flow.pc);
    }
    cli_warn("%s%shart %u: packet %" PRIu64 " at byte %zu: %s",
             ct->traces[1] ? loss->part->path : "", ct->traces[1] ? ": " : "",
             loss->hart, loss->packet, loss->offset, text->str);
}

void cli_note_end(CliTrace *ct, const TraceStats *stats)
{
    if (ct->noted_end) {
        return;
    }
    if (stats->unknown_ends) {
        cli_note("the sideband does not say where the trace ends (QEMU was "
                 "killed, or is older): if something is missing there, it "
                 "cannot be seen");
    }
    if (stats->late_packets) {
        cli_note("the RAM sink had stopped: %" PRIu64 " packets came later",
                 stats->late_packets);
    }
    ct->noted_end = stats->unknown_ends || stats->late_packets;
}

int cli_finish_losses(const CliTrace *ct)
{
    if (ct->losses > CLI_MAX_LOSSES_SHOWN) {
        cli_warn("... and %" PRIu64 " more losses",
                 ct->losses - CLI_MAX_LOSSES_SHOWN);
    }
    if (ct->gave_up) {
        return CLI_ERROR;
    }
    return ct->losses && ct->strict ? CLI_DIFFERS : CLI_OK;
}

bool cli_flush(FILE *f, const char *what)
{
    if (fflush(f) != 0 || ferror(f)) {
        cli_error("cannot write %s: %s", what, g_strerror(errno));
        return false;
    }
    return true;
}
