/*
 * A program that runs until it ends, and signals meanwhile
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/child.h"

#define IMPATIENT   3

/* What the handler needs; it may interrupt anything. */
static volatile sig_atomic_t child, signals;
static const char *to_remove[CHILD_MAX_PATHS + 1];

static void on_signal(int number)
{
    int saved = errno;

    if (child > 0) {
        signals = signals + 1;
        kill(child, signals < IMPATIENT ? number : SIGKILL);
        errno = saved;
        return;
    }
    for (const char **p = to_remove; *p; p++) {
        if (unlink(*p) != 0) {
            rmdir(*p);
        }
    }
    _exit(128 + number);
}

void child_catch_signals(char **paths)
{
    static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction action = {
        .sa_handler = on_signal,
        .sa_flags = SA_RESTART,
    };

    for (size_t i = 0; i < CHILD_MAX_PATHS && paths[i]; i++) {
        to_remove[i] = paths[i];
    }
    for (size_t i = 0; i < ARRAY_SIZE(caught); i++) {
        sigaddset(&action.sa_mask, caught[i]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(caught); i++) {
        struct sigaction old;

        /* Who starts us so that we do not see one (nohup) has a reason. */
        if (sigaction(caught[i], NULL, &old) == 0 &&
            old.sa_handler != SIG_IGN) {
            sigaction(caught[i], &action, NULL);
        }
    }
}

/*
 * In the child: it does not outlive us, even if we cannot say so to it. QEMU
 * takes SIGTERM for a request to end.
 */
static void die_with(gpointer parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != GPOINTER_TO_INT(parent)) {
        raise(SIGTERM);
    }
}

bool child_run(char **argv, int *status, GError **errp)
{
    const GSpawnFlags flags = G_SPAWN_SEARCH_PATH |
                              G_SPAWN_DO_NOT_REAP_CHILD |
                              G_SPAWN_CHILD_INHERITS_STDIN |
                              G_SPAWN_LEAVE_DESCRIPTORS_OPEN;
    siginfo_t info;
    GPid pid;
    int ret;

    if (!g_spawn_async(NULL, argv, NULL, flags, die_with,
                       GINT_TO_POINTER(getpid()), &pid, errp)) {
        return false;
    }
    child = pid;
    /* Nobody else gets its number before it has been waited for. */
    do {
        ret = waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
    } while (ret != 0 && errno == EINTR);
    child = 0;
    do {
        ret = waitpid(pid, status, 0);
    } while (ret < 0 && errno == EINTR);
    return true;
}
