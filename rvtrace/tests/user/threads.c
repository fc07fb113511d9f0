/*
 * A program of threads that rename themselves, of which two generations have
 * the same numbers, and that ends while one of them runs
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define THREADS 8

static int loops = 20000;

static void *work(void *number)
{
    int n = (long)number;
    volatile double x = 0;
    char name[16];

    for (int i = 0; i < n * loops; i++) {
        x += i % 7;
    }
    snprintf(name, sizeof(name), "worker-%hhu", (unsigned char)n);
    prctl(PR_SET_NAME, name);
    for (int i = 0; i < n; i++) {
        usleep(100);
    }
    return NULL;
}

static void *runs_on(void *unused)
{
    for (volatile long i = 0;; i++) {
    }
    return NULL;
}

/* With an argument, it does little. */
int main(int argc, char **argv)
{
    pthread_t threads[THREADS];

    if (argc > 1) {
        loops = 100;
    }
    for (int round = 0; round < 2; round++) {
        for (long i = 0; i < THREADS; i++) {
            pthread_create(&threads[i], NULL, work, (void *)(i + 1));
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
        }
    }
    pthread_create(&threads[0], NULL, runs_on, NULL);
    usleep(1000);
    puts("ends");
    exit(7);
}
