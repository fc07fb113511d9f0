/*
 * fork() again and again, while other threads pass bad addresses to the
 * kernel and change mappings
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKS   100

static void *change_maps(void *opaque)
{
    for (;;) {
        munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
                    -1, 0), 4096);
    }
    return opaque;
}

static void *ask(void *opaque)
{
    for (;;) {
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, (uintptr_t)8, NULL, 8);
    }
    return opaque;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, change_maps, NULL);
    pthread_create(&thread, NULL, ask, NULL);
    pthread_create(&thread, NULL, ask, NULL);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();

        if (!child) {
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    _exit(0);
}
