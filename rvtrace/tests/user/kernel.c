/*
 * The kernel writes to the program's memory, which knows what was there before
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "call.h"

#define NR_LLSEEK   62      /* of riscv32 */

#define SIZE    0x3000

/* The observer looks at words of 8 bytes. */
static char buffer[0x1000] __attribute__((aligned(8)));
static int round;

/* Loaded again, so that the trace tells where it is, which mmap() has chosen. */
static char *volatile map;

/* The observer looks at what registers point to, which are these. */
static __attribute__((noinline)) void look(char *a, char *b, char *c, char *d)
{
    for (int i = 0; i < 8; i++) {
        __asm__ volatile("" : : "r" (a), "r" (b), "r" (c), "r" (d));
    }
}

/* Put something there that the kernel does not write. */
static __attribute__((noinline)) void put(char *a, char *b, char *c, char *d)
{
    *(volatile long *)a = *(volatile long *)b = *(volatile long *)c =
        *(volatile long *)d = (0x40L + round) * 0x0101010101010101;
}

#define AT(p, a, b, c, d) (p) + (a), (p) + (b), (p) + (c), (p) + (d)

/* What @call does to these places of @p */
#define TRY(p, a, b, c, d, call) do {   \
        put(AT(p, a, b, c, d));         \
        call;                           \
        look(AT(p, a, b, c, d));        \
    } while (0)

#define SMALL(size, call)   TRY(buffer + 64, -8, 0, (size) - 8, size, call)

#define MAP(flags, file)                                                \
    mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | (flags), file, 0)

#if __riscv_xlen == 32
int main(void)
{
    char *p = buffer + 64;

    for (round = 0; round < 60; round++) {
        SMALL(8, call(NR_LLSEEK, 0, 0, 8 * round, (long)p, SEEK_SET, 0));
    }
    return 0;
}
#else
int main(void)
{
    int self = open("/proc/self/exe", O_RDONLY);
    int null = open("/dev/null", O_WRONLY);
    char *p = buffer + 64;
    struct iovec iov[2] = { { p, 64 }, { p + 64, 64 } };

    for (round = 0; round < 60; round++) {
        SMALL(104, read(self, p, 104));
        SMALL(56, pread(self, p, 56, 3 * round));
        SMALL(128, readv(self, iov, 2));
        SMALL(16, clock_gettime(CLOCK_MONOTONIC, (struct timespec *)p));
        SMALL(16, syscall(SYS_clock_gettime, CLOCK_MONOTONIC, p));
        SMALL(16, syscall(SYS_clock_getres, CLOCK_MONOTONIC, p));
        SMALL(16, syscall(SYS_gettimeofday, p, p + 64));
        SMALL(128, syscall(SYS_fstat, self, p));
        SMALL(128, syscall(SYS_newfstatat, self, "", p, AT_EMPTY_PATH));
        SMALL(24, getrandom(p, 24, 0));
        SMALL(390 / 8 * 8, uname((struct utsname *)p));
        SMALL(16, syscall(SYS_rt_sigaction, SIGUSR1, NULL, p, 8));
        SMALL(8, syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, p, 8));
        SMALL(16, syscall(SYS_prlimit64, 0, 7, NULL, p));
        SMALL(64, syscall(SYS_getcwd, p, 64));
        SMALL(64, syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", p, 64));
        SMALL(112, syscall(SYS_sysinfo, p));
        SMALL(64, write(null, p, 8));
        SMALL(8, syscall(SYS_pipe2, p, 0));
        close(((int *)p)[0]);
        close(((int *)p)[1]);

        map = MAP(MAP_ANONYMOUS, -1);
        TRY(map, 0, 0x1000, 0x1ff8, 0x2000,
            madvise(map + 0x1000, 0x1000, MADV_DONTNEED));
        TRY(map, 0, 0x1000, 0x1ff8, 0x2000,
            mmap(map + 0x1000, 0x1000, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
        TRY(map, 0, 0x1000, 0x1ff8, 0x2ff8,
            (munmap(map, SIZE), map = MAP(0, self)));

        /* Of a page of which a byte is meant, all bytes are. */
        TRY(map, 0, 0x1000, 0x1ff8, 0x2000,
            madvise(map + 0x1000, 1, MADV_DONTNEED));
        TRY(map, 0, 0x1000, 0x1ff8, 0x2000,
            mmap(map + 0x1000, 1, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
        TRY(map, 0, 0x1000, 0x1ff8, 0x2ff8,
            (munmap(map, SIZE - 0xfff), map = MAP(0, self)));
        munmap(map, SIZE);

        map = sbrk(SIZE);
        TRY(map, 0, 0x1000, 0x1ff8, 0x2ff8, (sbrk(-SIZE), sbrk(SIZE)));
    }
    return 0;
}
#endif
