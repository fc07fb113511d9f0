/*
 * A test suite in one program: threads, children, and children that become
 * other processes. Each of them calls what counted.c has.
 *
 * suite N              call it N times
 * suite N COMMAND      and in two threads, in three children, and in what a
 *                      shell starts with COMMAND
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "counted.h"

static void *count(void *opaque)
{
    int n = (int)(long)opaque;

    for (int i = 1; i <= n; i++) {
        counted(i % 3 ? COUNTED_STEPS : COUNTED_SIGN, i);
    }
    counted(COUNTED_OTHER, n);
    return NULL;
}

int main(int argc, char **argv)
{
    int n = atoi(argv[1]), status, bad = 0;
    pthread_t threads[2];

    count((void *)(long)n);
    if (argc < 3) {
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        if (fork() == 0) {
            count((void *)(long)(n + i));
            exit(0);
        }
    }
    while (wait(&status) > 0) {
        bad |= status;
    }
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, count, (void *)(long)(2 * n));
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    return bad || system(argv[2]);
}
