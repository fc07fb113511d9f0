/*
 * What stands around a random program of user mode: threads, signal handlers,
 * and the system calls that its elements make
 *
 * There is no C library: in the program's own code, tp points to a page of the
 * thread's own (random/runtime.inc of the machines' random guests), and
 * handlers come at any time.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <asm/sigcontext.h>
#include <asm/signal.h>
#include <asm/siginfo.h>
#include <asm/ucontext.h>
#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include "../user/call.h"

#define PAGE        4096
/* As many as HARTS are there from the beginning; spawn() makes the others. */
#define THREADS     24
#define AREA_SHIFT  15          /* HART_SHIFT of runtime.inc */
#define STACK_LOW   0x6000
#define STACK       0x7000
#define ALT_SIZE    32768
#define SIGNALS     400
#define ENDLESS     5           /* seconds of a processor */
#define WAYS_JOIN   0           /* how it ends: generator.py */
#define WAYS_GROUP  1
#define WAYS_CRASH  2

/* The beginning of a thread's area: offsets are those of runtime.inc. */
typedef struct Area {
    char unused[96];
    uint64_t fuel;              /* faults until the thread ends */
    uintptr_t entry;            /* CONTINUE */
    char unused2[80 - sizeof(uintptr_t)];
    uint32_t alive;             /* the kernel clears it; behind COUNT */
    uint32_t tid;
    uintptr_t resume;           /* RESUME of generator.py */
    uint32_t signals;           /* that it may yet send: handlers send some */
} Area;

_Static_assert(offsetof(Area, entry) == 104, "as in runtime.inc");
_Static_assert(offsetof(Area, alive) == 184, "behind COUNT");
_Static_assert(offsetof(Area, resume) == 192, "as in generator.py");

__attribute__((aligned(PAGE)))
static char areas[THREADS][1 << AREA_SHIFT];
__attribute__((aligned(16)))
static char alt_stacks[THREADS][ALT_SIZE];
/* The lines of atomics that all threads share */
__attribute__((aligned(64)))
uint64_t shared_data[64];

extern char text_start[], text_end[];
extern char flip_p[], flip_q[], hole[];
extern const uintptr_t mains[], functions[];
extern const uint32_t function_count;

static uint32_t claimed;        /* atomic: areas that have been given */
static uint32_t flipped;        /* atomic */
static int flip_file;           /* the two pages' bytes */

__attribute__((noreturn)) static void end_process(int status)
{
    for (;;) {
        call(__NR_exit_group, status, 0, 0, 0, 0, 0);
    }
}

static void must(bool condition, int status)
{
    if (!condition) {
        end_process(status);
    }
}

#if __riscv_xlen == 64
#define MMAP(at, len, prot, flags, fd, offset) \
    call(__NR_mmap, (long)(at), len, prot, flags, fd, offset)
#else
#define MMAP(at, len, prot, flags, fd, offset) \
    call(__NR_mmap2, (long)(at), len, prot, flags, fd, (offset) / PAGE)
#endif

static Area *own_area(void)
{
    Area *area;

    asm volatile("mv %0, tp" : "=r"(area));
    return area;
}

/* entry.S */
extern char thread_done[];
long clone_thread(long flags, void *sp, void *ptid, void *tp, void *ctid);
void on_signal(int sig, siginfo_t *info, struct ucontext *uc);
__attribute__((noreturn)) void enter(Area *area);
__attribute__((noreturn)) void begin_program(void);

/* Signals */

/*
 * Whatever has trapped goes on at s11, or, if it has left its stack or was in
 * another handler, in the thread's loop, until there is no fuel. compare.c is
 * told where this function is.
 */
void on_fault(int sig, siginfo_t *info, struct ucontext *uc)
{
    struct user_regs_struct *regs = &uc->uc_mcontext.sc_regs;
    Area *area = (Area *)regs->tp;
    uintptr_t stack = regs->sp - (uintptr_t)area;

    if (!area->fuel) {
        regs->pc = (uintptr_t)thread_done;
        return;
    }
    area->fuel--;
    if (stack < STACK_LOW || stack >= STACK_LOW + 2 * PAGE) {
        regs->sp = (uintptr_t)area + STACK - 16;
        regs->pc = area->resume;
        uc->uc_sigmask.sig[0] = 0;
    } else {
        regs->pc = regs->s11;
    }
}

static void handle(int sig, void (*handler)(int, siginfo_t *,
                                            struct ucontext *),
                   bool alone)
{
    struct sigaction action = {
        .sa_handler = (__sighandler_t)handler,
        .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART,
    };

    if (alone) {
        action.sa_mask.sig[0] = -1;
    }
    must(!call(__NR_rt_sigaction, sig, (long)&action, 0, sizeof(sigset_t), 0,
               0), 3);
}

/* Block these; returns what was blocked before */
static uint64_t set_mask(uint64_t mask)
{
    uint64_t old = 0;

    call(__NR_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&old,
         sizeof(mask), 0, 0);
    return old;
}

/* Threads */

/* In a new thread: its tp and sp are set. */
__attribute__((noreturn)) void thread_begins(void)
{
    Area *area = own_area();
    stack_t stack = {
        .ss_sp = alt_stacks[((char *)area - areas[0]) >> AREA_SHIFT],
        .ss_size = ALT_SIZE,
    };

    must(!call(__NR_sigaltstack, (long)&stack, 0, 0, 0, 0, 0), 4);
    area->tid = call(__NR_gettid, 0, 0, 0, 0, 0, 0);
    set_mask(0);
#ifdef HAS_ZC
    {
        extern char jump_table[];

        asm volatile("csrw 0x017, %0" : : "r"(jump_table));
    }
#endif
    begin_program();
}

/* Where programs end; thread_done gives it a stack. */
__attribute__((noreturn)) void thread_ends(void)
{
    Area *area = own_area();

    if ((char *)area != areas[0]) {
        for (;;) {
            call(__NR_exit, 0, 0, 0, 0, 0, 0);
        }
    }
    if (WAY == WAYS_JOIN) {
        for (int i = 1; i < THREADS; i++) {
            Area *other = (Area *)areas[i];

            while (*(volatile uint32_t *)&other->alive) {
                call(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
            }
        }
    } else if (WAY == WAYS_CRASH) {
        struct sigaction action = { .sa_handler = SIG_DFL };

        call(__NR_rt_sigaction, SIGSEGV, (long)&action, 0, sizeof(sigset_t),
             0, 0);
        asm volatile("sw zero, 8(zero)");
        __builtin_unreachable();
    }
    end_process(0);
}

static void begin_thread(unsigned number, uintptr_t entry)
{
    char *at = areas[number];
    Area *area = (Area *)at;
    /* until it has a stack for handlers */
    uint64_t mask = set_mask(-1);

    area->fuel = FUEL_START;
    area->signals = SIGNALS;
    area->entry = entry;
    area->alive = 1;
    if (clone_thread(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                     CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                     CLONE_CHILD_CLEARTID, at + STACK - 16, NULL, at,
                     &area->alive) < 0) {
        area->alive = 0;
    }
    set_mask(mask);
}

/* What elements call; the argument is a random number. */

void user_spawn(unsigned number)
{
    extern char spawned[];
    unsigned next = __atomic_fetch_add(&claimed, 1, __ATOMIC_SEQ_CST);

    if (next < THREADS) {
        begin_thread(next, (uintptr_t)spawned);
    }
}

/* A signal for this thread, or the one of another area */
void user_signal(unsigned number)
{
    static const int signals[] = { SIGUSR1, SIGUSR2, SIGALRM };
    Area *area = number & 1 ? own_area() :
                 (Area *)areas[number / 8 % THREADS];

    if (area->tid && own_area()->signals) {
        own_area()->signals--;
        call(__NR_tgkill, call(__NR_getpid, 0, 0, 0, 0, 0, 0), area->tid,
             signals[number / 2 % 3], 0, 0, 0);
    }
}

/* The two pages of code exchange their places, one after the other. */
void user_flip(unsigned number)
{
    uint32_t now = __atomic_xor_fetch(&flipped, 1, __ATOMIC_SEQ_CST) & 1;

    MMAP(flip_p, PAGE, PROT_READ | PROT_EXEC, MAP_FIXED |
         (number & 1 ? MAP_SHARED : MAP_PRIVATE), flip_file, now * PAGE);
    MMAP(flip_q, PAGE, PROT_READ | PROT_EXEC, MAP_FIXED |
         (number & 1 ? MAP_SHARED : MAP_PRIVATE), flip_file, !now * PAGE);
}

/* All code can be written, or that of flip_q cannot be executed. */
void user_protect(unsigned number)
{
    if (number & 1) {
        call(__NR_mprotect, (long)text_start, text_end - text_start,
             PROT_READ | PROT_WRITE | PROT_EXEC, 0, 0, 0);
    } else {
        call(__NR_mprotect, (long)flip_q, PAGE,
             number & 2 ? PROT_READ : PROT_READ | PROT_EXEC, 0, 0, 0);
    }
}

/* Code that is made, run and forgotten; often at the same address */
void user_jit(unsigned number)
{
    uint32_t *code = (uint32_t *)MMAP(0, 2 * PAGE,
                                      PROT_READ | PROT_WRITE | PROT_EXEC,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned n = number & 15;
    /* from one page into the other */
    uint32_t *at = code + PAGE / sizeof(*code) - (number >> 4 & 15);

    if ((uintptr_t)code >= (uintptr_t)-PAGE) {
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        at[i] = 0x00150513 | (number >> 8 & 0x7ff) << 20;  /* addi a0, a0 */
    }
    at[n] = 0x00008067;                                    /* ret */
    asm volatile("fence.i" : : : "memory");
    ((void (*)(void))at)();
    if (number & 0x10000) {
        at[0] = 0x00008067;
        asm volatile("fence.i" : : : "memory");
        ((void (*)(void))at)();
    }
    call(__NR_munmap, (long)code, 2 * PAGE, 0, 0, 0, 0);
}

/* A child that ends at once, or runs as long as it may */
void user_fork(unsigned number)
{
    /* it has no other threads, which a handler could lead it to wait for */
    uint64_t mask = set_mask(-1);
    long pid = call(__NR_clone, SIGCHLD, 0, 0, 0, 0, 0);

    if (!pid) {
        if (number & 1) {
            user_jit(number);
        }
        end_process(0);
    }
    if (pid > 0) {
        /* QEMU may hang there, traced or not: it has forked among threads. */
        call(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
        call(__NR_kill, pid, SIGKILL, 0, 0, 0, 0);
        call(__NR_waitid, 1 /* P_PID */, pid, 0, 4 /* WEXITED */, 0, 0);
    }
    set_mask(mask);
}

void user_call(unsigned number)
{
    static const uint64_t mask = 1 << (SIGUSR1 - 1) | 1 << (SIGALRM - 1);

    switch (number % 4) {
    case 0:
        call(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
        break;
    case 1:
        call(__NR_getpid, 0, 0, 0, 0, 0, 0);
        break;
    case 2:
        call(__NR_rt_sigprocmask, number / 4 % 2, (long)&mask, 0,
             sizeof(mask), 0, 0);
        break;
    case 3:
        /* a bad address */
        call(__NR_rt_sigprocmask, 0, 8, 0, sizeof(mask), 0, 0);
        break;
    }
}

/* The signal of a timer (ITIMER_*) after this time, and again */
static void set_timer(int which, long seconds, long us)
{
    struct {
        long interval[2], value[2];
    } timer = { { seconds, us }, { seconds, us } };

    call(__NR_setitimer, which, (long)&timer, 0, 0, 0, 0);
}

__attribute__((noreturn)) void begin(void)
{
    static const char name[] = "pages";
    Area *area = (Area *)areas[0];

    /* Every page is there; then the two are those of a file. */
    flip_file = call(__NR_memfd_create, (long)name, 0, 0, 0, 0, 0);
    must(flip_file >= 0, 5);
    must(call(__NR_write, flip_file, (long)flip_p, PAGE, 0, 0, 0) == PAGE, 6);
    must(call(__NR_write, flip_file, (long)flip_q, PAGE, 0, 0, 0) == PAGE, 7);
    must(!call(__NR_mprotect, (long)text_start, text_end - text_start,
               PROT_READ | PROT_WRITE | PROT_EXEC, 0, 0, 0), 8);
    must(!call(__NR_mprotect, (long)hole & -PAGE, PAGE, PROT_NONE, 0, 0, 0), 9);
    handle(SIGSEGV, on_fault, true);
    handle(SIGBUS, on_fault, true);
    handle(SIGILL, on_fault, true);
    handle(SIGTRAP, on_fault, true);
    handle(SIGFPE, on_fault, true);
    handle(SIGUSR1, on_signal, false);
    handle(SIGUSR2, on_signal, false);
    handle(SIGALRM, on_signal, false);
    area->fuel = FUEL_START;
    area->signals = SIGNALS;
    area->entry = mains[0];
    claimed = HARTS;
    /* no signals until tp is set, as in other threads */
    set_mask(-1);
    for (unsigned i = 1; i < HARTS; i++) {
        begin_thread(i, mains[i]);
    }
    if (TIMER) {
        set_timer(0 /* ITIMER_REAL */, 0, 900);
    }
    /* Where it comes to no end, SIGVTALRM, which has no handler, is one. */
    set_timer(1 /* ITIMER_VIRTUAL */, ENDLESS, 0);
    enter(area);
}
