/*
 * What the subcommands of rvtrace share: options, losses, exit status
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_CLI_H
#define ETRACE_CLI_H

#include "profile/selection.h"
#include "trace/trace.h"

/* Exit status of every subcommand */
#define CLI_OK          0
#define CLI_DIFFERS     1   /* verification failed; losses with --strict */
#define CLI_ERROR       2   /* bad usage, bad input, I/O error */
#define CLI_GUEST_FAILED 3  /* run: QEMU's exit status was not 0 */

/* Pieces that --shard can have */
#define CLI_MAX_SHARDS  65536

typedef struct CliCommand {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} CliCommand;

int cmd_decode(int argc, char **argv);
int cmd_encode(int argc, char **argv);
int cmd_params(int argc, char **argv);
int cmd_guest_info(int argc, char **argv);
int cmd_kernel_elf(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_ctr_sample(int argc, char **argv);
int cmd_gdbserver(int argc, char **argv);
int cmd_listen(int argc, char **argv);
int cmd_index(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_live(int argc, char **argv);
int cmd_run(int argc, char **argv);

/* cli_report_loss() shows so many of each run. */
#define CLI_MAX_LOSSES_SHOWN    20

/* --limit: not given, which limits the work; and no limit of anything */
#define CLI_LIMIT_DEFAULT   G_MININT64
#define CLI_LIMIT_NONE      (-1)

/* Where names are from, besides the trace and its ELF files */
typedef struct NameOptions {
    char **kallsyms, **sysroots;
    gboolean no_demangle;
} NameOptions;

/* The options that say what to decode, and --strict */
typedef struct CliTrace {
    char **traces, **sidebands; /* an entry for each part */
    char **session_args;
    unsigned *sessions;         /* what they say, for each part; or NULL */
    char *isa;
    int hart;                   /* -1: not given */
    char **elfs, **params, **tvecs;
    gboolean strict;
    bool needs_no_trace;        /* set before cli_parse(): no --trace is fine */
    bool packets_only;          /* set before cli_open(): no program needed */
    bool takes_samples;         /* ... and branch stacks of perf do, too */
    gboolean ram;
    gint64 wrapped_at;          /* -1: not given */
    char **at_args;             /* --at; or NULL */
    int64_t *at;                /* what they say, for each trace; or NULL */
    gint64 limit;               /* CLI_LIMIT_*, or a number */
    gint jobs;                  /* 0: as many as there are processors */
    bool selects;               /* set before cli_parse(): it has --process */
    SelectionOptions select;
    Selection *selection;       /* NULL: everything */
    bool has_names;             /* set before cli_parse(): --sysroot ... */
    NameOptions names;
    char *index;                /* see results-index.c; NULL: not given */
    gboolean make_index;        /* ... and it is to be made on the way */
    char *index_every;          /* ... with so many instructions between */
    char *shard_arg;            /* K/N, as parsed: 1 <= shard <= shards */
    unsigned shard, shards;     /* 0: the whole trace */
    bool merges;                /* set before cli_parse(): operands are ... */
    char **shard_files;         /* to be added up; NULL: decode the trace */

    uint64_t losses;            /* reported by cli_report_loss() */
    bool gave_up;               /* and one of them was that */
    bool noted_end;             /* by cli_note_end() */
} CliTrace;

/*
 * Parse @argv into @ct and @extra (may be NULL). Operands are errors. Prints
 * what is wrong and returns false. @summary explains the subcommand.
 */
bool cli_parse(CliTrace *ct, GOptionEntry *extra, const char *summary,
               int argc, char **argv);

/* The same without the options of a CliTrace. */
bool cli_parse_only(GOptionEntry *entries, const char *summary,
                    const char *description, int argc, char **argv);

/*
 * The options of a selection, into @o; the caller frees the list. When they
 * have been parsed, cli_parse_selection() makes ct->selection of ct->select;
 * it prints what is wrong and returns false.
 */
GOptionEntry *cli_selection_options(SelectionOptions *o);
bool cli_parse_selection(CliTrace *ct);

/* Those of names, into @o; the caller frees the list. */
GOptionEntry *cli_name_options(NameOptions *o);

/* Both lists, each of which ends as GLib has it; the caller frees it. */
GOptionEntry *cli_join_entries(const GOptionEntry *a, const GOptionEntry *b);

/* Open what the options say; prints what is wrong and returns NULL. */
Trace *cli_open(const CliTrace *ct);

void cli_trace_clear(CliTrace *ct);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CliTrace, cli_trace_clear)

/* How many there may be, by --limit */
uint64_t cli_limit(const CliTrace *ct);

/*
 * decode --emit packets: write the packets of the harts that were asked for,
 * at most as many lines behind the parameters as --limit says. Returns the
 * exit status.
 */
int cmd_decode_packets(const CliTrace *ct, const Trace *t);

/*
 * Set each NAME=VALUE of @args (may be NULL) in @params and see whether they
 * can be; prints what is wrong and returns false.
 */
bool cli_set_params(ETraceParams *params, char **args);

/* Has @hart been asked for, and is it there? */
bool cli_hart_selected(const CliTrace *ct, const Trace *t, unsigned hart);

/* A loss, for people, on stderr. Only the first ones of each run. */
void cli_report_loss(CliTrace *ct, const TraceLoss *loss);

/*
 * Where nobody says whether something is missing at the end of the trace, or a
 * RAM sink had stopped before it, say so; once.
 */
void cli_note_end(CliTrace *ct, const TraceStats *stats);

/*
 * How many more there were; and the exit status that follows from losses, or
 * from having given up.
 */
int cli_finish_losses(const CliTrace *ct);

void G_GNUC_PRINTF(1, 2) cli_error(const char *fmt, ...);
void G_GNUC_PRINTF(1, 2) cli_warn(const char *fmt, ...);

/* Flush @f, checking that everything was written; prints what is wrong. */
bool cli_flush(FILE *f, const char *what);

#endif /* ETRACE_CLI_H */
