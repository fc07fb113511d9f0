/*
 * rvtrace run: from QEMU's command line to what was executed, in one step
 *
 * The streams go to files, which takes nobody to collect them: whatever ends
 * QEMU, what it wrote is there.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <math.h>
#include <glib/gstdio.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include "base/child.h"
#include "commands/cli/folder.h"
#include "commands/cli/option-set.h"
#include "commands/qemu-line.h"
#include "commands/run-debug.h"
#include "commands/run-kernel.h"
#include "commands/run-live.h"
#include "commands/run-report.h"
#include "commands/run-streams.h"
#include "commands/views/options.h"

#define REPORT  "report.html"

typedef struct Run {
    CliTrace ct;
    char **views;
    bool plain;                 /* no view was asked for: see plain_views() */
    char *keep;
    gboolean compress, debug;
    RunLocks locks;
    bool taken;                 /* another run writes to the folder */
    char *folder;               /* where the streams are */
    bool made;                  /* it was not there before */
    bool temporary;             /* and it is removed afterwards */
    char *files[CHILD_MAX_PATHS + 1];   /* in it, and itself */
    char *about;                /* run.ini in it; NULL: temporary */
    QemuLine *line;
    char *live_path;            /* of --view live; NULL: there is none */
    double interval;
    RunLive *live;
} Run;

static void run_clear(Run *r)
{
    for (char **p = r->files; *p; p++) {
        if (r->temporary) {
            g_remove(*p);
        }
        g_free(*p);
    }
    cli_trace_clear(&r->ct);
    g_strfreev(r->views);
    g_free(r->keep);
    g_free(r->folder);
    g_free(r->about);
    g_free(r->live_path);
    g_clear_pointer(&r->line, qemu_line_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

/* *@split: the index of the first word behind the options, "--" or QEMU */
static bool parse_options(Run *r, int argc, char **argv, int *split)
{
    g_auto(GStrv) operands = NULL;
    GOptionEntry own[] = {
        { "view", 'v', 0, G_OPTION_ARG_FILENAME_ARRAY, &r->views,
          "Instead: write what the subcommand KIND does, as decode --output, "
          "or live: as text, while QEMU runs; can be repeated",
          "KIND[=FILE]" },
        { "interval", 0, 0, G_OPTION_ARG_DOUBLE, &r->interval,
          "For live: seconds from one text to the next (default: 1)",
          "SECONDS" },
        { "out", 'o', 0, G_OPTION_ARG_FILENAME, &r->keep,
          "Write the streams, what was run and report.html to this folder, "
          "which is made if need be and must not have any yet (default: "
          FOLDER_DEFAULT ", " FOLDER_DEFAULT ".2 and so on)", "DIR" },
        { "keep", 0, 0, G_OPTION_ARG_FILENAME, &r->keep,
          "The same, also with --view, which else keeps nothing", "DIR" },
        { "compress", 'z', 0, G_OPTION_ARG_NONE, &r->compress,
          "Compress the streams in the folder with zstd when all is written, "
          "to a tenth or so; all commands read them", NULL },
        { "debug", 0, 0, G_OPTION_ARG_NONE, &r->debug,
          "Instead: trace loads and stores, too, and when QEMU has ended, "
          "start gdb at the last instruction of the trace (GDB in the environment "
          "names another one than gdb-multiarch)", NULL },
        { "hart", 0, 0, G_OPTION_ARG_INT, &r->ct.job.hart,
          "Only this hart", "N" },
        { "elf", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &r->ct.job.elfs,
          "ELF file, moved by BIAS bytes: symbols; can be repeated",
          "FILE[@BIAS]" },
        { "isa", 0, 0, G_OPTION_ARG_STRING, &r->ct.job.isa,
          "ISA string; needed for Zcmp and Zcmt", "rv64gc_zcmp_zcmt" },
        { "jobs", 'j', 0, G_OPTION_ARG_INT, &r->ct.job.jobs,
          "Harts that are decoded at the same time (default: as many as there "
          "are processors)", "N" },
        { "strict", 0, 0, G_OPTION_ARG_NONE, &r->ct.strict,
          "Exit with status 1 if anything was lost", NULL },
        { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &operands,
          NULL, "[--] QEMU ARG..." },
        { NULL }
    };
    g_autofree GOptionEntry *views = view_options(VIEW_ANY);
    g_autofree GOptionEntry *selection =
        cli_selection_options(&r->ct.job.select);
    g_autofree GOptionEntry *names = cli_name_options(&r->ct.job.names);
    g_autofree GOptionEntry *some = cli_join_entries(own, selection);
    g_autofree GOptionEntry *more = cli_join_entries(some, names);
    g_autofree GOptionEntry *entries = cli_join_entries(more, views);

    *split = option_first_operand(entries, argc, argv);
    if (!cli_parse_only(entries, "Run QEMU with its machine traced from the "
                        "first instruction on. When it has\nended, say in ten "
                        "lines what ran, and leave a folder with report.html, "
                        "which all\nother commands take.",
                        "QEMU ARG... is the command line that starts the "
                        "machine without a trace. What is\nmissing for one is "
                        "added to it: trace=on and trace-autostart=on for "
                        "-M virt, or\nelse -device riscv-trace; files for the "
                        "two streams; how tasks are found, where the\nkernel "
                        "(-kernel, or one in --sysroot) has BTF; and without "
                        "--view, times. Names\nare looked for in the files of "
                        "-kernel and -bios, too. A program of user mode,\n"
                        "qemu-riscv64 PROGRAM ARG..., gets -cpu CPU,etrace="
                        "FILE, and the files that it has\nmapped have the "
                        "names. --process, --region, --from and --to are about "
                        "what is\nwritten behind the run; live shows "
                        "everything.\n\n"
                        "--debug begins gdb when the machine has crashed or "
                        "was ended: backtrace,\nreverse-continue, watch and "
                        "others go back in time.\n\n"
                        "End the machine as usual, from -nographic with Ctrl-A "
                        "X. Where Ctrl-C does not\ngo to the guest, it ends "
                        "QEMU, and what was traced until then is written; a\n"
                        "third one kills it.\n\n"
                        "Exit status: 0 success, 1 a difference or, with "
                        "--strict, a loss, 2 an error\nor a disk that is "
                        "full, 3 the views are written, but QEMU ended with "
                        "another\nstatus than 0.",
                        *split, argv)) {
        return false;
    }
    if (r->ct.job.jobs < 0) {
        say_error("--jobs: a number of harts, at least 1");
        return false;
    }
    return live_check_options(r->interval, NAN, 100) &&
           cli_parse_selection(&r->ct);
}

/* --out, or a new one, or a temporary one. Prints what is wrong. */
static bool make_folder(Run *r)
{
    g_autoptr(GError) err = NULL;

    if (r->keep) {
        r->folder = g_strdup(r->keep);
        r->made = !g_file_test(r->folder, G_FILE_TEST_EXISTS);
        if (g_mkdir_with_parents(r->folder, 0777) != 0) {
            say_error("cannot make the folder %s: %s; choose another one with "
                      "--out DIR", r->folder, g_strerror(errno));
            return false;
        }
    } else if (r->plain) {
        r->folder = folder_make(&err);
        r->made = true;
        if (!r->folder) {
            say_error("%s; choose another place with --out DIR", err->message);
            return false;
        }
    } else {
        r->folder = g_dir_make_tmp("rvtrace-XXXXXX", &err);
        if (!r->folder) {
            say_error("%s; choose another place with TMPDIR or --keep DIR",
                      err->message);
            return false;
        }
        r->temporary = true;
    }
    return true;
}

static bool choose_folder(Run *r)
{
    g_autofree char *whole = NULL;

    if (!make_folder(r)) {
        return false;
    }
    /* QEMU may be started from somewhere else, by a script. */
    whole = g_canonicalize_filename(r->folder, NULL);
    r->files[0] = g_build_filename(whole, FOLDER_TRACE, NULL);
    r->files[1] = g_build_filename(whole, FOLDER_SIDEBAND, NULL);
    r->files[2] = g_steal_pointer(&whole);
    if (r->temporary) {
        return true;
    }
    r->about = g_build_filename(r->files[2], FOLDER_ABOUT, NULL);
    /* QEMU writes to them as it runs, so an older run's would be gone. */
    for (unsigned i = 0; i < 3; i++) {
        const char *file = i < 2 ? r->files[i] : r->about;

        if (g_file_test(file, G_FILE_TEST_EXISTS)) {
            say_error("%s is there already; choose another folder with --out "
                      "DIR, or remove it", file);
            return false;
        }
    }
    return true;
}

/* Without a trace, the folder is not one of a run, and is gone again. */
static void drop_folder(const Run *r)
{
    if (r->line) {
        run_drop(&r->locks, (const char *[]) { r->line->trace,
                                               r->line->sideband });
    }
    if (!r->temporary && !r->taken) {
        g_remove(r->files[0]);
        g_remove(r->files[1]);
        g_remove(r->about);
        if (r->made) {
            g_rmdir(r->files[2]);
        }
    }
}

/* Say in the folder what is run: others read the trace by that. */
static bool describe(const Run *r)
{
    g_autoptr(GError) err = NULL;
    g_auto(GStrv) firmware = NULL;
    const char *kernel = r->line->kernel;

    if (!r->line->program) {
        firmware = run_kernel_files(NULL, r->line->argv->pdata[0], NULL,
                                    r->line->bios);
    }
    if (!folder_describe(r->files[2], &(FolderRun) {
            .command = (char **)r->line->argv->pdata,
            .trace = r->line->trace,
            .sideband = r->line->sideband,
            .kernel = kernel && g_file_test(kernel, G_FILE_TEST_IS_REGULAR) ?
                      kernel : NULL,
            .firmware = firmware,
            .sysroots = r->ct.job.names.sysroots,
            .kallsyms = r->ct.job.names.kallsyms,
            .elfs = r->ct.job.elfs,
            .isa = r->ct.job.isa,
            .title = title_option,
        }, &err)) {
        say_error("%s", err->message);
        return false;
    }
    return true;
}

/* Complete r->line, and the options that follow from it. */
static bool prepare_line(Run *r, char **args)
{
    g_autoptr(GError) err = NULL;
    char **sysroots;
    char *host[] = { "/", NULL };

    r->line = qemu_line_new(args, r->files[2], &err);
    if (!r->line) {
        say_error("%s", err->message);
        return false;
    }
    if (!run_lock(&r->locks, (const char *[]) { r->line->trace,
                                                r->line->sideband })) {
        r->taken = true;
        return false;
    }
    if (r->line->program) {
        /* User mode locks them itself, for as long as it writes. */
        run_unlock(&r->locks);
    }
    if (!r->line->guest_info) {
        g_autofree char *info = run_kernel_guest_info(r->line->kernel,
                                                      r->line->bios,
                                                      r->ct.job.names.sysroots);

        if (info) {
            qemu_line_set_guest_info(r->line, info);
        }
    }
    if (r->plain) {
        qemu_line_add_time(r->line);
    }
    if (r->debug) {
        qemu_line_add_data(r->line);
    }
    if (r->line->program && !r->ct.job.names.sysroots) {
        /* Its files are the host's; they are looked up, not searched for. */
        r->ct.job.names.sysroots = g_strdupv(host);
    }
    if (!title_option && (r->line->kernel || r->line->program)) {
        title_option = g_path_get_basename(r->line->program ?:
                                           r->line->kernel);
    }
    if (r->about && !describe(r)) {
        return false;
    }
    if (r->line->program) {
        return true;
    }
    sysroots = run_kernel_files(r->ct.job.names.sysroots,
                                r->line->argv->pdata[0], r->line->kernel,
                                r->line->bios);
    g_strfreev(r->ct.job.names.sysroots);
    r->ct.job.names.sysroots = sysroots;
    return true;
}

/* How it ended, for the caller to free; NULL: well */
static char *describe_end(int status)
{
    if (WIFSIGNALED(status)) {
        return g_strdup_printf("was ended by signal %d (%s)", WTERMSIG(status),
                               strsignal(WTERMSIG(status)));
    }
    return WEXITSTATUS(status) == 0 ? NULL :
           g_strdup_printf("ended with exit status %d", WEXITSTATUS(status));
}

static bool disk_is_full(const Run *r)
{
    struct statvfs fs;

    return statvfs(r->folder, &fs) == 0 && fs.f_blocks && fs.f_bavail == 0;
}

/* What may be wrong with a QEMU that ended like that, and traced nothing */
static const char *advice(const Run *r, int status)
{
    if (WIFSIGNALED(status)) {
        return "";
    }
    return r->line->program ?
           ". If it does not know etrace or its CPU, it is a QEMU without the "
           "encoder: use the one that 'make build' makes (of its Debian "
           "package: qemu-riscv64-trace)" :
           ". If it does not know trace=on, riscv-trace or its CPU, it is a "
           "QEMU without the encoder: use the one that 'make build' makes (of "
           "its Debian package: qemu-system-riscv64-trace)";
}

/* Is there something to decode? Prints why not. */
static bool has_trace(const Run *r, const char *end, int status)
{
    struct stat st;

    if (stat(r->line->trace, &st) == 0 && st.st_size > 0) {
        return true;
    }
    if (disk_is_full(r)) {
        say_error("there is no space left in %s, and nothing was traced; "
                  "choose another folder with --keep DIR", r->folder);
    } else if (end) {
        say_error("QEMU %s and traced nothing; what it has to say is above%s",
                  end, advice(r, status));
    } else if (r->line->program) {
        say_error("the program has ended, but nothing was traced: what QEMU "
                  "has to say is above; if the disk has no room, choose "
                  "another folder with --keep DIR");
    } else {
        say_error("QEMU ended, but nothing was traced: nothing ran, or the "
                  "guest has not switched tracing on (trace-autostart=off)");
    }
    return false;
}

/* The views, the last one of plain ones at the same time as the first */
static int write_views(Run *r)
{
    char *first[] = { r->views[0], NULL };
    RunReport report;
    int status, other;

    if (!r->plain || !run_report_begin(&report, &r->ct, r->views[1])) {
        return views_write(&r->ct, r->views, "--view");
    }
    status = views_write(&r->ct, first, "--view");
    fflush(stdout);
    other = run_report_end(&report);
    return MAX(status, other);
}

static int decode(Run *r, const char *end)
{
    bool full = disk_is_full(r);
    int status;

    if (full) {
        say_error("there is no space left in %s: the trace ends early, or "
                  "something is missing in it; choose another folder with "
                  "--keep DIR", r->folder);
    }
    r->ct.job.traces = g_new0(char *, 2);
    r->ct.job.traces[0] = g_strdup(r->line->trace);
    r->ct.job.sidebands = g_new0(char *, 2);
    r->ct.job.sidebands[0] = g_strdup(r->line->sideband);
    status = write_views(r);
    if (r->plain && status != CLI_ERROR) {
        printf("report: %s/" REPORT "\nmore: rvtrace report %s; 'rvtrace "
               "--help' lists what else takes this folder\n", r->folder,
               r->folder);
        fflush(stdout);
    } else if (r->plain) {
        say_warn("the streams are kept: rvtrace report %s", r->folder);
    }
    if (end) {
        say_warn("QEMU %s", end);
    }
    if (full) {
        return CLI_ERROR;
    }
    if (status == CLI_ERROR && r->temporary) {
        say_warn("the streams are kept: decode --trace %s --sideband %s",
                 r->line->trace, r->line->sideband);
        r->temporary = false;
    }
    return status == CLI_OK && end ? CLI_GUEST_FAILED : status;
}

/* --view live reads what QEMU writes to files that were not there before. */
static bool begin_live(Run *r)
{
    if (!r->live_path) {
        return true;
    }
    if (strcmp(r->line->trace, r->files[0]) ||
        strcmp(r->line->sideband, r->files[1])) {
        say_error("--view live: leave trace-chardev and trace-sideband out of "
                  "QEMU's command line, and keep the streams with --keep DIR");
        return false;
    }
    r->live = run_live_begin(r->live_path, r->line->trace, r->line->sideband,
                             &r->ct.job, sort_option, r->interval);
    return r->live;
}

/* Those in the folder: the user has chosen the place and name of others. */
static bool pack_streams(const Run *r)
{
    const char *streams[RUN_STREAMS] = { r->line->trace, r->line->sideband };
    bool ok = true;

    for (unsigned i = 0; i < RUN_STREAMS; i++) {
        if (g_str_equal(streams[i], r->files[i])) {
            ok &= run_pack(streams[i]);
        }
    }
    return ok;
}

/* Returns an exit status. QEMU's was @ended, and @end says so. */
static int finish(Run *r, int ended, const char *end, bool live_ok)
{
    int status;

    if (!has_trace(r, end, ended)) {
        drop_folder(r);
        return CLI_ERROR;
    }
    if (*r->views) {
        status = decode(r, end);
    } else {
        if (end) {
            say_warn("QEMU %s", end);
        }
        status = disk_is_full(r) ? CLI_ERROR : end ? CLI_GUEST_FAILED : CLI_OK;
    }
    if (r->compress && !pack_streams(r)) {
        return CLI_ERROR;
    }
    if (r->debug) {
        /* It is gdb's status from here on, unless there is none. */
        run_debug(r->folder, r->line, r->ct.job.elfs);
        return CLI_ERROR;
    }
    return live_ok ? status : CLI_ERROR;
}

/* Without --view: what people want to know first, and all of it to look at */
static char **plain_views(const char *folder)
{
    char **views = g_new0(char *, 3);

    views[0] = g_strdup("summary");
    views[1] = g_strdup_printf("html=%s/" REPORT, folder);
    return views;
}

/* A terminal whose keys are the guest's has to be left in another way. */
static void say_how_to_end(const Run *r)
{
    if (r->line->takes_keys && isatty(STDIN_FILENO)) {
        say_note("Ctrl-C goes to the guest: end the machine with Ctrl-A, then "
                 "X; the results are written then");
    }
}

int cmd_run(int argc, char **argv)
{
    g_auto(Run) r = {
        .ct.job = { JOB_INIT },
        .interval = 1,
        .locks = RUN_LOCKS_INIT,
    };
    char *nothing[] = { NULL };
    g_autoptr(GError) err = NULL;
    g_autofree char *end = NULL;
    bool live_ok = true, started;
    int split, status;

    if (!parse_options(&r, argc, argv, &split)) {
        return CLI_ERROR;
    }
    split += split < argc && g_str_equal(argv[split], "--");
    if (split >= argc) {
        say_error("which QEMU? give its command line: rvtrace run -- "
                  "qemu-system-riscv64 -M virt ...");
        return CLI_ERROR;
    }
    r.plain = !r.views;
    if (r.debug && r.views) {
        say_error("--debug: leave --view out; 'rvtrace decode --output' writes "
                  "views of the folder that is kept");
        return CLI_ERROR;
    }
    if (r.compress && !r.plain && !r.keep) {
        say_error("--compress: with --view, nothing is kept that could be "
                  "compressed; give --keep DIR, too");
        return CLI_ERROR;
    }
    if (!r.plain && !run_live_take(r.views, &r.live_path)) {
        return CLI_ERROR;
    }
    if (!views_check(r.plain ? nothing : r.views, "--view") ||
        !choose_folder(&r)) {
        return CLI_ERROR;
    }
    r.views = r.views ?: r.debug ? g_new0(char *, 1) : plain_views(r.folder);
    if (!prepare_line(&r, argv + split)) {
        drop_folder(&r);
        return CLI_ERROR;
    }
    child_catch_signals(r.temporary ? r.files : nothing);
    if (!begin_live(&r)) {
        drop_folder(&r);
        return CLI_ERROR;
    }
    say_how_to_end(&r);
    started = child_run((char **)r.line->argv->pdata, &status, &err);
    run_unlock(&r.locks);
    if (r.live) {
        live_ok = run_live_end(r.live);
    }
    if (!started) {
        drop_folder(&r);
        say_error("cannot start QEMU: %s", err->message);
        return CLI_ERROR;
    }
    end = describe_end(status);
    return finish(&r, status, end, live_ok);
}
