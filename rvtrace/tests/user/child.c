/*
 * A program that forks; the child does something else and, if it is told a
 * program, becomes that
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) long child_work(long n)
{
    return n < 2 ? n : child_work(n - 1) + child_work(n - 2);
}

__attribute__((noinline)) long parent_work(long n)
{
    return n < 2 ? n : parent_work(n - 1) + parent_work(n - 2);
}

int main(int argc, char **argv)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        long done = child_work(12);

        if (argc > 1) {
            execv(argv[1], argv + 1);
        }
        _exit(done == 144 ? 3 : 4);
    }
    printf("%ld\n", parent_work(14));
    return waitpid(pid, &status, 0) != pid || status >> 8 != 3;
}
