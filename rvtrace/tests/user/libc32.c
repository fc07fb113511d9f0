/*
 * The functions of the C library that programs of these tests call, for RV32
 *
 * Debian has no C library for it. The declarations are those of the headers for
 * RV64, which both have in common.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "call.h"

/* System calls of riscv32, which has those with times of 64 bits only */
#define NR_EXECVE           221
#define NR_EXIT             93
#define NR_EXIT_GROUP       94
#define NR_WAITID           95
#define NR_SETITIMER        103
#define NR_RT_SIGACTION     134
#define NR_PRCTL            167
#define NR_CLONE            220
#define NR_MMAP2            222
#define NR_READ             63
#define NR_WRITE            64
#define NR_CLOCK_NANOSLEEP  407
#define NR_FUTEX            422

#define FUTEX_WAIT          0

/* memory, files, signal handlers, thread group, System V, and the two tids */
#define THREAD_FLAGS        (0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | \
                             0x40000 | 0x100000 | 0x200000)
#define STACK_SIZE          65536

/* Beginning and end */

int main(int argc, char **argv);

__attribute__((used, noreturn)) static void begin(long *sp)
{
    exit(main(*sp, (char **)(sp + 1)));
}

asm(".globl _start\n"
    "_start:\n"
    "    .option push\n"
    "    .option norelax\n"
    "    la gp, __global_pointer$\n"
    "    .option pop\n"
    "    mv a0, sp\n"
    "    andi sp, sp, -16\n"
    "    tail begin\n");

void _exit(int status)
{
    for (;;) {
        call(NR_EXIT_GROUP, status, 0, 0, 0, 0, 0);
    }
}

void exit(int status)
{
    _exit(status);
}

/* Memory and text */

void *memset(void *to, int c, size_t n)
{
    for (volatile char *p = to; n; n--) {
        *p++ = c;
    }
    return to;
}

void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    return (void *)call(NR_MMAP2, (long)at, len, prot, flags, fd,
                        offset >> 12);
}

ssize_t read(int fd, void *to, size_t len)
{
    return call(NR_READ, fd, (long)to, len, 0, 0, 0);
}

static size_t put_number(char *out, long value)
{
    char digits[12];
    size_t n = 0, len = 0;
    unsigned long rest = value < 0 ? -value : value;

    do {
        digits[n++] = '0' + rest % 10;
        rest /= 10;
    } while (rest);
    if (value < 0) {
        out[len++] = '-';
    }
    while (n) {
        out[len++] = digits[--n];
    }
    return len;
}

/* Integers; of other conversions, there is a question mark. */
static size_t format(char *out, const char *text, va_list list)
{
    size_t len = 0;

    for (; *text; text++) {
        if (*text != '%') {
            out[len++] = *text;
            continue;
        }
        do {
            text++;
        } while (*text == 'l' || *text == 'h');
        if (*text == 'd' || *text == 'u') {
            len += put_number(out + len, va_arg(list, long));
        } else {
            out[len++] = '?';
        }
    }
    out[len] = 0;
    return len;
}

int snprintf(char *out, size_t size, const char *text, ...)
{
    va_list list;
    size_t len;

    va_start(list, text);
    len = format(out, text, list);
    va_end(list);
    return len;
}

int printf(const char *text, ...)
{
    char out[128];
    va_list list;
    size_t len;

    va_start(list, text);
    len = format(out, text, list);
    va_end(list);
    return call(NR_WRITE, 1, (long)out, len, 0, 0, 0);
}

int puts(const char *text)
{
    return printf(text) + printf("\n");
}

/* Signals, which are not blocked in their handlers */

typedef struct KernelAction {
    void (*handler)(int);
    unsigned long flags;
    unsigned long mask[2];
} KernelAction;

void (*signal(int sig, void (*handler)(int)))(int)
{
    KernelAction action = { handler, SA_NODEFER }, old = { };

    call(NR_RT_SIGACTION, sig, (long)&action, (long)&old,
         sizeof(action.mask), 0, 0);
    return old.handler;
}

int setitimer(__itimer_which_t which, const struct itimerval *value,
              struct itimerval *old)
{
    long words[4] = {
        value->it_interval.tv_sec, value->it_interval.tv_usec,
        value->it_value.tv_sec, value->it_value.tv_usec,
    };

    return call(NR_SETITIMER, which, (long)words, 0, 0, 0, 0);
}

asm(".globl __sigsetjmp\n"
    "__sigsetjmp:\n"
    "    sw ra, 0(a0)\n"
    "    sw sp, 4(a0)\n"
    "    sw s0, 8(a0)\n"
    "    sw s1, 12(a0)\n"
    "    sw s2, 16(a0)\n"
    "    sw s3, 20(a0)\n"
    "    sw s4, 24(a0)\n"
    "    sw s5, 28(a0)\n"
    "    sw s6, 32(a0)\n"
    "    sw s7, 36(a0)\n"
    "    sw s8, 40(a0)\n"
    "    sw s9, 44(a0)\n"
    "    sw s10, 48(a0)\n"
    "    sw s11, 52(a0)\n"
    "    li a0, 0\n"
    "    ret\n"
    ".globl siglongjmp\n"
    "siglongjmp:\n"
    "    lw ra, 0(a0)\n"
    "    lw sp, 4(a0)\n"
    "    lw s0, 8(a0)\n"
    "    lw s1, 12(a0)\n"
    "    lw s2, 16(a0)\n"
    "    lw s3, 20(a0)\n"
    "    lw s4, 24(a0)\n"
    "    lw s5, 28(a0)\n"
    "    lw s6, 32(a0)\n"
    "    lw s7, 36(a0)\n"
    "    lw s8, 40(a0)\n"
    "    lw s9, 44(a0)\n"
    "    lw s10, 48(a0)\n"
    "    lw s11, 52(a0)\n"
    "    mv a0, a1\n"
    "    ret\n");

/* GCC's __builtin___clear_cache() */
void __riscv_flush_icache(void *start, void *end, unsigned long flags)
{
    asm volatile("fence.i" : : : "memory");
}

/* Threads, whose stacks stay: of a thread, this is at the low end of it */

typedef struct Thread {
    volatile int tid;       /* 0 when it has ended */
    void *(*work)(void *);
    void *argument;
} Thread;

__attribute__((used, noreturn)) static void work(Thread *t)
{
    t->work(t->argument);
    for (;;) {
        call(NR_EXIT, 0, 0, 0, 0, 0, 0);
    }
}

/* clone(), whose child calls work() of its stack's low end */
long clone_thread(long flags, char *sp, volatile int *tid, void *tls,
                  volatile int *cleared, Thread *t);

asm(".globl clone_thread\n"
    "clone_thread:\n"
    "    li a7, 220\n"
    "    ecall\n"
    "    bnez a0, 1f\n"
    "    mv a0, a5\n"
    "    j work\n"
    "1:  ret\n");

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                   void *(*function)(void *), void *argument)
{
    char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Thread *t = (Thread *)stack;

    *t = (Thread) { -1, function, argument };
    *thread = (pthread_t)t;
    return clone_thread(THREAD_FLAGS, stack + STACK_SIZE, &t->tid, NULL,
                        &t->tid, t) < 0;
}

int pthread_join(pthread_t thread, void **result)
{
    Thread *t = (Thread *)thread;
    int tid;

    while ((tid = t->tid)) {
        call(NR_FUTEX, (long)&t->tid, FUTEX_WAIT, tid, 0, 0, 0);
    }
    return 0;
}

int prctl(int option, ...)
{
    va_list list;
    long argument;

    va_start(list, option);
    argument = va_arg(list, long);
    va_end(list);
    return call(NR_PRCTL, option, argument, 0, 0, 0, 0);
}

int usleep(useconds_t us)
{
    long long time[2] = { 0, us * 1000 };

    return call(NR_CLOCK_NANOSLEEP, 1, 0, (long)time, 0, 0, 0);
}

/* Processes */

pid_t fork(void)
{
    return call(NR_CLONE, SIGCHLD, 0, 0, 0, 0, 0);
}

int execv(const char *path, char *const argv[])
{
    char *none = NULL;

    return call(NR_EXECVE, (long)path, (long)argv, (long)&none, 0, 0, 0);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
    siginfo_t info = { };
    long err = call(NR_WAITID, P_PID, pid, (long)&info, WEXITED | options, 0,
                    0);

    *status = info.si_code == CLD_EXITED ? info.si_status << 8
                                         : info.si_status;
    return err < 0 ? -1 : pid;
}
