/*
 * rvtrace ctr-sample: profiles of a machine that runs, from outside
 *
 * QEMU takes samples of each hart's last transfers of control, at a period of
 * virtual time. They become a perf.data file, of which everything else is
 * made as of one that perf has recorded.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include <signal.h>
#include <unistd.h>
#include "analysis/qmp.h"
#include "base/output.h"
#include "commands/views/view.h"
#include "samples/ctr-samples.h"

#define POLL_US         50000
#define PERIOD_DEFAULT  1000000     /* ns */

typedef struct CtrSample {
    CliTrace ct;
    char *address, *every, *length, *keep;
    gint64 samples;             /* 0: no limit */
    int transfers;
    gboolean cont, quit;
    char **views;
    uint64_t period, span;      /* ns; span 0: no limit */
    Qmp *qmp;
    CtrSamples *taken;
    uint64_t lost, late, idle;
    char *file;                 /* perf.data; removed if there is no --keep */
} CtrSample;

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
    interrupted = 1;
}

static void ctr_sample_clear(CtrSample *c)
{
    if (c->file && !c->keep) {
        g_remove(c->file);
    }
    cli_trace_clear(&c->ct);
    g_free(c->address);
    g_free(c->every);
    g_free(c->length);
    g_free(c->keep);
    g_free(c->file);
    g_strfreev(c->views);
    g_clear_pointer(&c->qmp, qmp_close);
    g_clear_pointer(&c->taken, ctr_samples_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CtrSample, ctr_sample_clear)

/* A time in ns; prints what is wrong and returns false. */
static bool parse_time(const char *option, const char *text, uint64_t *ns)
{
    if (!selection_parse_time(text, ns) || !*ns || *ns >= INT64_MAX / 4) {
        say_error("%s %s: a time like 100us, 1ms or 2s", option, text);
        return false;
    }
    return true;
}

static bool check_options(CtrSample *c)
{
    c->period = PERIOD_DEFAULT;
    if (!c->address) {
        say_error("which machine? give --qmp ADDRESS, and QEMU -qmp "
                  "unix:PATH,server=on,wait=off");
        return false;
    }
    if (c->transfers < 1 || c->transfers > SAMPLE_MAX_BRANCHES) {
        say_error("--transfers %d: must be from 1 to %u", c->transfers,
                  SAMPLE_MAX_BRANCHES);
        return false;
    }
    if (c->samples < 0) {
        say_error("--samples: a number, at least 1");
        return false;
    }
    return (!c->every || parse_time("--every", c->every, &c->period)) &&
           (!c->length || parse_time("--for", c->length, &c->span));
}

static bool parse_options(CtrSample *c, int argc, char **argv)
{
    GOptionEntry own[] = {
        { "qmp", 0, 0, G_OPTION_ARG_STRING, &c->address,
          "QEMU's machine protocol: unix:PATH or tcp:HOST:PORT, as with -qmp",
          "ADDRESS" },
        { "every", 0, 0, G_OPTION_ARG_STRING, &c->every,
          "Virtual time from one sample of a hart to the next (default: 1ms)",
          "TIME" },
        { "transfers", 0, 0, G_OPTION_ARG_INT, &c->transfers,
          "Transfers that each sample has, at most 127 (default: 64)", "N" },
        { "samples", 0, 0, G_OPTION_ARG_INT64, &c->samples,
          "End when there are so many", "N" },
        { "for", 0, 0, G_OPTION_ARG_STRING, &c->length,
          "End after so much virtual time", "TIME" },
        { "cont", 0, 0, G_OPTION_ARG_NONE, &c->cont,
          "Let a machine that was started with -S go on, when sampling has "
          "begun", NULL },
        { "quit", 0, 0, G_OPTION_ARG_NONE, &c->quit,
          "End QEMU afterwards", NULL },
        { "keep", 0, 0, G_OPTION_ARG_FILENAME, &c->keep,
          "Keep the samples as a perf.data file, for --trace of other "
          "commands", "FILE" },
        { "view", 'v', 0, G_OPTION_ARG_FILENAME_ARRAY, &c->views,
          "Write what the subcommand KIND does, as decode --output (default: "
          "report); can be repeated", "KIND[=FILE]" },
        { "hart", 0, 0, G_OPTION_ARG_INT, &c->ct.job.hart,
          "Only this hart", "N" },
        { "elf", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &c->ct.job.elfs,
          "ELF file, moved by BIAS bytes, or Linux' Image: code and symbols; "
          "can be repeated", "FILE[@BIAS]" },
        { "isa", 0, 0, G_OPTION_ARG_STRING, &c->ct.job.isa,
          "ISA string; needed for Zcmp and Zcmt", "rv64gc_zcmp_zcmt" },
        { NULL }
    };
    g_autofree GOptionEntry *names = cli_name_options(&c->ct.job.names);
    g_autofree GOptionEntry *views = view_options(VIEW_SAMPLED);
    g_autofree GOptionEntry *some = cli_join_entries(own, names);
    g_autofree GOptionEntry *entries = cli_join_entries(some, views);

    return cli_parse_only(
        entries, "Take samples of a machine that runs, by the transfers of "
        "control that its harts\nkeep, and write where the instructions went.",
        "The machine needs -qmp unix:PATH,server=on,wait=off and -cpu "
        "...,ctr-host=128; without\nctr-host, the samples are of the guest's "
        "own records (Smctr, Ssctr). The guest\nnotices nothing.\n\n"
        "  qemu-system-riscv64 -cpu rv64,ctr-host=128 -qmp "
        "unix:qmp,server=on,wait=off ...\n"
        "  rvtrace ctr-sample --qmp unix:qmp --every 100us --for 5s "
        "--elf firmware.elf \\\n      --view report --view folded=stacks\n\n"
        "It ends at --samples or --for, when the guest or QEMU ends, or at "
        "Ctrl-C. If QEMU is\nto wait for the last samples, give it -action "
        "shutdown=pause. Views are about the\ninstructions that the samples' "
        "transfers show, where --elf has their code.\n\n"
        "Exit status: 0 success, 2 an error.", argc, argv) &&
           check_options(c);
}

/*
 * Fetch what there is. Returns false with @errp set; *@left: there is more.
 */
static bool fetch(CtrSample *c, bool *left, GError **errp)
{
    g_autoptr(JsonNode) node = qmp_run(c->qmp, "x-riscv-ctr-sample-read", NULL,
                                       errp);
    g_autofree guchar *data = NULL;
    JsonObject *o;
    gsize size;

    if (!node) {
        return false;
    }
    if (!JSON_NODE_HOLDS_OBJECT(node)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "QEMU's answer makes no sense");
        return false;
    }
    o = json_node_get_object(node);
    data = g_base64_decode(qmp_string(node, "data"), &size);
    c->lost = json_object_get_int_member_with_default(o, "lost", 0);
    c->late = json_object_get_int_member_with_default(o, "late", 0);
    c->idle = json_object_get_int_member_with_default(o, "idle", 0);
    *left = json_object_get_int_member_with_default(o, "left", 0) > 0;
    return ctr_samples_add(c->taken, data, size, errp);
}

static bool enough(const CtrSample *c)
{
    const CtrSamples *t = c->taken;

    return interrupted || qmp_shut_down(c->qmp) ||
           (c->samples && t->samples >= (uint64_t)c->samples) ||
           (c->span && t->samples && t->last - t->first >= c->span);
}

/* A command that has no result */
static bool run(CtrSample *c, const char *command, const char *arguments,
                GError **errp)
{
    g_autoptr(JsonNode) node = qmp_run(c->qmp, command, arguments, errp);

    return node;
}

/* Can anything run any more? */
static bool can_run(CtrSample *c, GError **errp)
{
    g_autoptr(JsonNode) node = qmp_run(c->qmp, "query-status", NULL, errp);
    const char *status;

    if (!node) {
        return false;
    }
    status = qmp_string(node, "status");
    if (g_str_equal(status, "shutdown") ||
        g_str_equal(status, "guest-panicked") ||
        g_str_equal(status, "internal-error")) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_FAILED,
                    "the guest has ended (status %s)", status);
        return false;
    }
    return true;
}

/* Until it is enough, and then what is left; QEMU may end meanwhile. */
static bool take_all(CtrSample *c, GError **errp)
{
    bool left, ok;

    for (;;) {
        if (!fetch(c, &left, errp)) {
            return false;
        }
        if (enough(c)) {
            break;
        }
        if (!left) {
            g_usleep(POLL_US);
        }
    }
    if (!run(c, "x-riscv-ctr-sample-stop", NULL, errp)) {
        return false;
    }
    do {
        ok = fetch(c, &left, errp);
    } while (ok && left);
    return ok && (!c->quit || run(c, "quit", NULL, errp));
}

/* Prints what is wrong and returns false. */
static bool sample(CtrSample *c)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(Address) address = address_parse(c->address, &err);
    g_autofree char *arguments = g_strdup_printf(
        "{\"period\":%" PRIu64 ",\"entries\":%d}", c->period, c->transfers);

    c->qmp = address ? qmp_open(address, 10, &err) : NULL;
    if (!c->qmp || !can_run(c, &err) ||
        !run(c, "x-riscv-ctr-sample-start", arguments, &err) ||
        (c->cont && !run(c, "cont", NULL, &err))) {
        say_error("--qmp %s: %s", c->address, err->message);
        return false;
    }
    if (!take_all(c, &err)) {
        if (!g_error_matches(err, G_IO_ERROR, G_IO_ERROR_CLOSED) ||
            !c->taken->samples) {
            say_error("%s", err->message);
            return false;
        }
        say_warn("QEMU has ended before its last samples were fetched; "
                 "-action shutdown=pause lets it wait");
    }
    return true;
}

/* Returns whether there is something to show; prints what is wrong. */
static bool explain(const CtrSample *c)
{
    if (c->lost) {
        say_warn("%" PRIu64 " samples are missing: they were not fetched in "
                 "time; make --every longer", c->lost);
    }
    if (c->late) {
        say_warn("%" PRIu64 " samples are missing: this machine is too slow "
                 "for so many (or virtual time leapt over them)", c->late);
    }
    if (c->taken->stacks) {
        say_warn("%" PRIu64 " samples are left out: the guest records call "
                 "stacks (RASEMU); -cpu ...,ctr-host=128 records for the host",
                 c->taken->stacks);
    }
    if (!c->taken->samples) {
        say_error("no samples: no hart ran for %s of virtual time%s",
                  c->every ?: "1ms", c->idle ? " (they sleep)" : "");
        return false;
    }
    fprintf(stderr, "rvtrace: %" PRIu64 " samples with %" PRIu64
            " transfers, %" PRIu64 " times a hart slept\n",
            c->taken->samples, c->taken->entries, c->idle);
    return true;
}

/* Prints what is wrong and returns false. */
static bool write_file(CtrSample *c)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(Output) out = NULL;
    int fd;

    c->file = g_strdup(c->keep);
    if (!c->file) {
        fd = g_file_open_tmp("rvtrace-XXXXXX", &c->file, &err);
        if (fd >= 0) {
            close(fd);
        }
    }
    out = err ? NULL : output_open(c->file, &err);
    if (!out ||
        !ctr_samples_write(c->taken, c->period, output_stream(out), &err) ||
        !output_commit(g_steal_pointer(&out), &err)) {
        say_error("%s", err->message);
        return false;
    }
    return true;
}

int cmd_ctr_sample(int argc, char **argv)
{
    g_auto(CtrSample) c = {
        .ct.job = { JOB_INIT },
        .transfers = 64,
    };
    struct sigaction action = { .sa_handler = on_signal };

    if (!parse_options(&c, argc, argv)) {
        return CLI_ERROR;
    }
    if (!c.views && !c.keep) {
        c.views = g_strsplit("report", " ", -1);
    }
    if (c.views && !views_check(c.views, "--view")) {
        return CLI_ERROR;
    }
    c.taken = ctr_samples_new();
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!sample(&c) || !explain(&c) || !write_file(&c)) {
        return CLI_ERROR;
    }
    if (!c.views) {
        return CLI_OK;
    }
    c.ct.job.traces = g_new0(char *, 2);
    c.ct.job.traces[0] = g_strdup(c.file);
    return views_write(&c.ct, c.views, "--view");
}
