/*
 * rvtrace run: report.html, in a process of its own
 *
 * It takes longer than the ten lines that people read first. Each of the two
 * decodes the trace, which takes a processor that is free.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "code/sideband.h"
#include "commands/run-report.h"
#include "commands/views/view.h"

/* In the other process. What it warns of, the first one warns of, too. */
static void G_GNUC_NORETURN write_report(pid_t parent, FILE *said, CliTrace *ct,
                                         char *view)
{
    char *views[] = { view, NULL };
    int status = CLI_ERROR;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent && dup2(fileno(said), STDERR_FILENO) >= 0) {
        status = views_write(ct, views, "--view");
    }
    fflush(stderr);
    _exit(status);
}

/*
 * Processors that we may run on (GLib counts all) and that others leave to us,
 * now that QEMU, which had one for each of @harts, has ended. What comes and
 * goes is half a processor.
 */
static double free_processors(unsigned harts)
{
    cpu_set_t set;
    double all = sched_getaffinity(0, sizeof(set), &set) == 0 ?
                 CPU_COUNT(&set) : g_get_num_processors();
    double busy;

    if (getloadavg(&busy, 1) != 1) {
        busy = 0;
    }
    return all - MAX(busy - harts - 0.5, 0);
}

/* Are there processors for all harts twice? */
static bool has_room(const Job *job)
{
    Sideband *sb = job->jobs == 1 ? NULL :
                   sideband_open(job->sidebands[0], 0, NULL);
    unsigned harts = 0;

    for (unsigned i = 0; sb && i < sideband_nr_harts(sb); i++) {
        harts += sideband_hart(sb, i)->present;
    }
    g_clear_pointer(&sb, sideband_free);
    return harts && 2 * harts <= (job->jobs ?: free_processors(harts));
}

bool run_report_begin(RunReport *report, CliTrace *ct, char *view)
{
    pid_t parent = getpid();

    *report = (RunReport) { 0 };
    report->said = has_room(&ct->job) ? tmpfile() : NULL;
    if (!report->said) {
        return false;
    }
    fflush(stdout);
    report->pid = fork();
    if (!report->pid) {
        write_report(parent, report->said, ct, view);
    }
    if (report->pid < 0) {
        fclose(report->said);
        *report = (RunReport) { 0 };
    }
    return report->pid;
}

int run_report_end(RunReport *report)
{
    g_autofree char *line = NULL;
    size_t size = 0;
    int status;

    if (waitpid(report->pid, &status, 0) < 0 || !WIFEXITED(status)) {
        say_error("the process that writes report.html has ended too early");
        status = CLI_ERROR;
    } else {
        status = WEXITSTATUS(status);
    }
    rewind(report->said);
    while (status == CLI_ERROR && getline(&line, &size, report->said) > 0) {
        fputs(line, stderr);
    }
    fclose(report->said);
    return status;
}
