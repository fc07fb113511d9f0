/*
 * Two threads, each of which has the mutex that the other one waits for
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <pthread.h>

#define APART   __attribute__((noinline, noclone))

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static APART void meet(void)
{
    pthread_barrier_wait(&both);
}

APART void first(void)
{
    pthread_mutex_lock(&a);
    meet();
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
}

APART void second(void)
{
    pthread_mutex_lock(&b);
    meet();
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
}

static void *work(void *opaque)
{
    second();
    return opaque;
}

int main(void)
{
    pthread_t thread;

    pthread_barrier_init(&both, NULL, 2);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_create(&thread, NULL, work, NULL);
    first();
    pthread_join(thread, NULL);
    return 0;
}
