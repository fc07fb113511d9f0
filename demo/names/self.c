/*
 * A program that knows what it does
 *
 * Every process and thread calls functions of its own, of a library and of a
 * plugin, and prints how often: what a trace of it has to say as well. Lines
 * are "self: TID COMM OBJECT FUNCTION CALLS".
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "self.h"

#ifndef PROGRAM
#define PROGRAM "self-one"
#endif

static void report(const char *object, const char *function, unsigned calls)
{
    char comm[17] = "";

    prctl(PR_GET_NAME, comm);
    printf("self: %d %s %s %s %u\n", gettid(), comm, object, function,
           calls);
}

#define FUNCTION(name)                                                      \
    static __attribute__((noinline)) unsigned name(unsigned n)              \
    {                                                                       \
        volatile unsigned sum = n;                                          \
                                                                            \
        for (unsigned i = 0; i < 20; i++) {                                 \
            sum = sum * 5 + i;                                              \
        }                                                                   \
        return sum;                                                         \
    }

FUNCTION(work_parent)
FUNCTION(work_child)
FUNCTION(work_thread)
FUNCTION(work_again)

static unsigned run(unsigned (*function)(unsigned), unsigned times)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < times; i++) {
        sum += function(i);
    }
    return sum;
}

static void *thread(void *opaque)
{
    unsigned times = (size_t)opaque;

    run(work_thread, times);
    run(library_work, times + 7);
    report(PROGRAM, "work_thread", times);
    report("libself.so", "library_work", times + 7);
    return NULL;
}

static void with_plugin(unsigned times)
{
    void *plugin = dlopen("/lib/plugin.so", RTLD_NOW);
    unsigned (*work)(unsigned) = plugin ? dlsym(plugin, "plugin_work") : NULL;

    if (!work) {
        printf("self: no plugin: %s\n", dlerror());
        exit(1);
    }
    run(work, times);
    report("plugin.so", "plugin_work", times);
    dlclose(plugin);
}

static void child(char **argv, unsigned times)
{
    run(work_child, times);
    report(PROGRAM, "work_child", times);
    fflush(stdout);
    if (argv[1]) {
        /* The other program, or this one, with what is left to do */
        execv(argv[1], argv + 1);
        _exit(1);
    }
    _exit(0);
}

int main(int argc, char **argv)
{
    pthread_t threads[2];

    setvbuf(stdout, NULL, _IOLBF, 0);
    run(work_parent, 1000);
    report(PROGRAM, "work_parent", 1000);
    for (unsigned i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, thread, (void *)(500 + 100ul * i));
    }
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    with_plugin(300);
    for (unsigned i = 0; i < 4; i++) {
        if (!fork()) {
            child(argv, 200 + i);
        }
        wait(NULL);
    }
    run(work_again, 50);
    report(PROGRAM, "work_again", 50);
    return 0;
}
