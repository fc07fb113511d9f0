/*
 * What the commands of rvtrace share: options, losses, exit status
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_CLI_H
#define ETRACE_CLI_H

#include "analysis/job.h"
#include "analysis/loss-report.h"
#include "base/say.h"
#include "views/questions/event.h"
#include "views/report/table.h"

/* Exit status of every subcommand */
#define CLI_OK          0
#define CLI_DIFFERS     1   /* verification failed; losses with --strict */
#define CLI_ERROR       2   /* bad usage, bad input, I/O error */
#define CLI_GUEST_FAILED 3  /* run: QEMU's exit status was not 0 */

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

/* --window LENGTH --before EVENT or --after EVENT: see window_find() */
typedef struct CliWindow {
    const char *option, *text;  /* "--before" or "--after"; NULL: none */
    bool after;
    Duration length;
    Event event;
} CliWindow;

/* What the options say that many commands have */
typedef struct CliTrace {
    /* set before cli_parse() */
    char *const *instead;       /* an option that gives the trace, or NULL */
    bool selects;               /* it has --process ... */
    bool has_names;             /* ... and --sysroot ... */
    bool merges;                /* its operands are job.shard_files */
    bool takes_several;         /* a folder of processes will do */

    Job job;
    gboolean strict;
    gboolean make_index;        /* it is to be made on the way */
    char *index_every;          /* ... with so many instructions between */
    CliWindow window;
    LossReport losses;

    /* As given; cli_parse() has put what they say into the job. */
    char **session_args, **at_args;
    char *shard_arg, *limit_arg;
    char **folders;             /* operands */
    char *title;                /* of the folder that was taken; or NULL */
} CliTrace;

/* Say what is wrong, with the names of options if they are the reason. */
void cli_say(const GError *err);

/*
 * Parse @argv into @ct and @extra (may be NULL). An operand is the folder of a
 * run; without one, and without --trace, it is the newest folder here. Prints
 * what is wrong and returns false. @summary explains the subcommand.
 */
bool cli_parse(CliTrace *ct, GOptionEntry *extra, const char *summary,
               int argc, char **argv);

/* The same without the options of a CliTrace. */
bool cli_parse_only(GOptionEntry *entries, const char *summary,
                    const char *description, int argc, char **argv);

/*
 * The options of a selection, into @o; the caller frees the list. When they
 * have been parsed, cli_parse_selection() makes job.selection of job.select, and
 * the window; it prints what is wrong and returns false.
 */
GOptionEntry *cli_selection_options(SelectionOptions *o);
bool cli_parse_selection(CliTrace *ct);

/* Those of names, into @o; the caller frees the list. */
GOptionEntry *cli_name_options(NameOptions *o);

/* Both lists, each of which ends as GLib has it; the caller frees it. */
GOptionEntry *cli_join_entries(const GOptionEntry *a, const GOptionEntry *b);

/* Open what the options say; prints what is wrong and returns NULL. */
Trace *cli_open(CliTrace *ct);

void cli_trace_clear(CliTrace *ct);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CliTrace, cli_trace_clear)

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

/*
 * Instructions between two places of an index, at least, by @text, or what it
 * is if that is NULL. Prints what is wrong with the @option and returns false.
 */
bool cli_parse_spacing(const char *option, const char *text, uint64_t *spacing);

/*
 * What --format says of a table, into *@format, which stays if @text is NULL.
 * Prints what is wrong and returns false.
 */
bool cli_parse_format(const char *text, TableFormat *format);

/*
 * How many more there were; and the exit status that follows from losses, or
 * from having given up.
 */
int cli_finish_losses(const CliTrace *ct);

#endif /* ETRACE_CLI_H */
