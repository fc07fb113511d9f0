/*
 * A program that counts and measures what it does: system calls by number, page
 * faults by getrusage(), switches by /proc/self/task/TID/status, and how long
 * calls take by rdtime. It prints how much there was of each, and from one look
 * to the other one.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define APART       __attribute__((noinline, noclone))
#define PAGES       77
#define ROUNDS      25
#define MEASURED    12
#define YIELDS      31

typedef struct Counts {
    long voluntary, other, minor, major;
} Counts;

typedef struct Side {
    int tid, in, out;
    Counts before, after;
} Side;

static uint64_t ticks[2][MEASURED];
static volatile unsigned sink;

static uint64_t now(void)
{
    uint64_t time;

    __asm__ volatile("rdtime %0" : "=r"(time));
    return time;
}

static long field(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? atol(at + strlen(name)) : -1;
}

/* What the kernel has counted of this thread so far */
static void count(Counts *c)
{
    struct rusage usage;
    char text[4096];
    int fd = open("/proc/thread-self/status", O_RDONLY);
    ssize_t n = read(fd, text, sizeof(text) - 1);

    text[n > 0 ? n : 0] = '\0';
    close(fd);
    /* "nonvoluntary_" ends with the other one's name. */
    c->voluntary = field(text, "\nvoluntary_ctxt_switches:");
    c->other = field(text, "\nnonvoluntary_ctxt_switches:");
    getrusage(RUSAGE_THREAD, &usage);
    c->minor = usage.ru_minflt;
    c->major = usage.ru_majflt;
}

static void say(const char *who, const Side *s)
{
    printf("asker: %s %d %ld %ld %ld %ld\n", who, s->tid,
           s->after.voluntary - s->before.voluntary,
           s->after.other - s->before.other,
           s->after.minor - s->before.minor,
           s->after.major - s->before.major);
}

/* To the other thread, if it is on the same hart */
static void yield_often(void)
{
    for (unsigned i = 0; i < YIELDS; i++) {
        sched_yield();
    }
}

/* Each round waits for the other side. */
static void *answer(void *opaque)
{
    Side *s = opaque;
    char c;

    s->tid = gettid();
    prctl(PR_SET_NAME, "answerer");
    count(&s->before);
    yield_often();
    while (read(s->in, &c, 1) == 1) {
        write(s->out, &c, 1);
    }
    count(&s->after);
    return NULL;
}

APART void touch(volatile char *pages)
{
    for (unsigned i = 0; i < PAGES; i++) {
        pages[i * 4096] = 1;
    }
}

APART void spin(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        sink += i;
    }
}

APART void nap(void)
{
    nanosleep(&(struct timespec) { .tv_nsec = 1500000 }, NULL);
}

static void measure(void)
{
    for (unsigned i = 0; i < MEASURED; i++) {
        uint64_t since = now();

        spin(20000 * (i + 1));
        ticks[0][i] = now() - since;
        since = now();
        nap();
        ticks[1][i] = now() - since;
    }
}

static void call_often(void)
{
    int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
    char text[64];

    for (unsigned i = 0; i < 137; i++) {
        getppid();
    }
    for (unsigned i = 0; i < 57; i++) {
        read(zero, text, sizeof(text));
    }
    for (unsigned i = 0; i < 23; i++) {
        write(null, text, sizeof(text));
    }
    close(zero);
    close(null);
}

int main(void)
{
    char *pages = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int to[2], from[2];
    Side own = { .tid = gettid() }, other = { 0 };
    pthread_t thread;
    char c = 0;

    madvise(pages, PAGES * 4096, MADV_NOHUGEPAGE);
    if (pipe(to) || pipe(from)) {
        return 1;
    }
    other.in = to[0];
    other.out = from[1];
    pthread_create(&thread, NULL, answer, &other);
    count(&own.before);
    yield_often();
    call_often();
    touch(pages);
    measure();
    for (unsigned i = 0; i < ROUNDS; i++) {
        write(to[1], &c, 1);
        read(from[0], &c, 1);
    }
    count(&own.after);
    close(to[1]);
    pthread_join(thread, NULL);
    say("main", &own);
    say("answerer", &other);
    for (unsigned i = 0; i < MEASURED; i++) {
        printf("asker: ticks %lu %lu\n", ticks[0][i], ticks[1][i]);
    }
    return 0;
}
