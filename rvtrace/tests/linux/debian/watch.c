/*
 * watch PROGRAM ARGUMENT...: run it, and write what each of its processes had
 * mapped when it ended to file descriptor 9: "maps PID", and lines of
 * /proc/PID/maps.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS (PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK | \
                 PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | \
                 PTRACE_O_TRACECLONE)
#define TRUTH   9

/* At once, for others write there, too */
static void say_maps(pid_t pid)
{
    static char text[1 << 18];
    char path[64];
    size_t len = snprintf(text, sizeof(text), "maps %d\n", pid);
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/maps", pid);
    file = fopen(path, "r");
    if (!file) {
        return;
    }
    len += fread(text + len, 1, sizeof(text) - len, file);
    fclose(file);
    for (size_t done = 0; done < len; ) {
        ssize_t n = write(TRUTH, text + done, len - done);

        if (n <= 0) {
            perror("watch: the truth");
            exit(125);
        }
        done += n;
    }
}

int main(int argc, char **argv)
{
    int result = 125, status;
    pid_t child = fork(), pid;

    if (!child) {
        close(TRUTH);
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    waitpid(child, &status, 0);
    ptrace(PTRACE_SETOPTIONS, child, 0, OPTIONS);
    ptrace(PTRACE_CONT, child, 0, 0);
    while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
        int event = status >> 16, sig = 0;

        if (pid == child && (WIFEXITED(status) || WIFSIGNALED(status))) {
            result = WIFEXITED(status) ? WEXITSTATUS(status) : 126;
        }
        if (!WIFSTOPPED(status)) {
            continue;
        }
        if (event == PTRACE_EVENT_EXIT) {
            say_maps(pid);
        } else if (!event && WSTOPSIG(status) != SIGSTOP &&
                   WSTOPSIG(status) != SIGTRAP) {
            sig = WSTOPSIG(status);
        }
        ptrace(PTRACE_CONT, pid, 0, sig);
    }
    return result;
}
