/*
 * Replay: what a system call of Linux may write to the program's memory
 *
 * By its number and arguments: QEMU's user mode has the generic numbers of both
 * widths, of which one stands for another call (llseek). What is longer on one of
 * the two counts for both. A mapping that the kernel chooses a place for is where
 * nothing is known: what was mapped there before has been unmapped. Files that are
 * mapped may be written to; so a call that writes to one may change anything, but
 * standard output and error are none.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/replay-state-private.h"

#define REG_A0          10
#define REG_A7          17

#define NR_FCNTL        25
#define NR_OPENAT       56
#define NR_LSEEK        62
#define NR_WRITE        64
#define NR_WRITEV       66
#define NR_FUTEX        98
#define NR_PRCTL        167
#define NR_BRK          214
#define NR_MUNMAP       215
#define NR_CLONE        220
#define NR_MMAP         222
#define NR_MADVISE      233
#define NR_FUTEX_TIME64 422

#define O_TRUNC_FLAG    0x200
#define MAP_FIXED_FLAG  0x10
#define CLONE_VFORK_FLAG 0x4000
#define PR_SET_NAME_OP  15
#define FUTEX_OP        0x7f
#define F_SETFL_OP      4

/* QEMU's user mode has pages of this size, whatever the host's are. */
#define PAGE_SIZE_MASK  UINT64_C(4095)

/* Up to where a heap may be that shrinks */
#define HEAP_MAX        (UINT64_C(1) << 36)

/* The argument with this number, from 1 on, is that of a buffer. 0: none */
typedef struct CallBuffer {
    uint8_t address;
    uint8_t length;             /* its length is this argument; or 0: ... */
    uint16_t size;              /* ... so many bytes */
} CallBuffer;

typedef struct CallKind {
    uint16_t number;
    CallBuffer writes[REPLAY_CALL_RANGES];
} CallKind;

static const CallKind kinds[] = {
    { 17, { { 1, 2 } } },                       /* getcwd */
    { 23 }, { 24 },                             /* dup, dup3 */
    { NR_FCNTL }, { 35 }, { 48 }, { 49 },       /* unlinkat, faccessat, chdir */
    { NR_OPENAT }, { 57 },                      /* close */
    { 59, { { 1, 0, 8 } } },                    /* pipe2 */
    { 61, { { 2, 3 } } },                       /* getdents64 */
    { NR_LSEEK },
    { 63, { { 2, 3 } } }, { 67, { { 2, 3 } } }, /* read, pread64 */
    { NR_WRITE }, { NR_WRITEV },
    { 78, { { 3, 4 } } },                       /* readlinkat */
    { 79, { { 3, 0, 128 } } },                  /* newfstatat */
    { 80, { { 2, 0, 128 } } },                  /* fstat */
    { 96 }, { NR_FUTEX }, { 99 },       /* set_tid_address, set_robust_list */
    { 101, { { 2, 0, 16 } } },                  /* nanosleep */
    { 113, { { 2, 0, 16 } } },                  /* clock_gettime */
    { 114, { { 2, 0, 16 } } },                  /* clock_getres */
    { 115, { { 4, 0, 16 } } },                  /* clock_nanosleep */
    { 124 }, { 129 }, { 130 }, { 131 },         /* sched_yield, kill ... */
    { 134, { { 3, 0, 32 } } },                  /* rt_sigaction */
    { 135, { { 3, 4 } } },                      /* rt_sigprocmask */
    { 160, { { 1, 0, 390 } } },                 /* uname */
    { NR_PRCTL },
    { 169, { { 1, 0, 16 }, { 2, 0, 8 } } },     /* gettimeofday */
    { 172 }, { 173 }, { 174 }, { 175 }, { 176 }, { 177 }, { 178 }, /* getpid */
    { 179, { { 1, 0, 112 } } },                 /* sysinfo */
    { NR_BRK }, { NR_MUNMAP, { { 1, 2 } } },
    { NR_CLONE, { { 3, 0, 4 }, { 5, 0, 4 } } },
    { NR_MMAP, { { 1, 2 } } }, { 226 },         /* mprotect */
    { NR_MADVISE, { { 1, 2 } } },
    { 259 },                                    /* riscv_flush_icache */
    { 261, { { 4, 0, 16 } } },                  /* prlimit64 */
    { 278, { { 1, 2 } } },                      /* getrandom */
    { 403, { { 2, 0, 16 } } },                  /* clock_gettime64 */
    { 407, { { 4, 0, 16 } } },                  /* clock_nanosleep_time64 */
    { NR_FUTEX_TIME64 },
    { 435 },                                    /* clone3: QEMU has none */
};

static bool argument(const Cpu *cpu, unsigned n, uint64_t *value)
{
    *value = cpu->x[REG_A0 + n - 1];
    return cpu->known_x >> (REG_A0 + n - 1) & 1;
}

static const CallKind *find_kind(const Cpu *cpu)
{
    for (size_t i = 0; (cpu->known_x >> REG_A7 & 1) && i < ARRAY_SIZE(kinds);
         i++) {
        if (kinds[i].number == cpu->x[REG_A7]) {
            return &kinds[i];
        }
    }
    return NULL;
}

/* Is it one of those calls of its number that do what the table says? */
static bool is_usual(const Cpu *cpu, unsigned number)
{
    uint64_t value;

    switch (number) {
    case NR_FCNTL:
        return argument(cpu, 2, &value) && value <= F_SETFL_OP;
    case NR_OPENAT:
        return argument(cpu, 3, &value) && !(value & O_TRUNC_FLAG);
    case NR_WRITE:
    case NR_WRITEV:
        return argument(cpu, 1, &value) && (value == 1 || value == 2);
    case NR_FUTEX:
    case NR_FUTEX_TIME64:
        /* wait, wake, and both with a mask */
        return argument(cpu, 2, &value) &&
               ((value & FUTEX_OP) <= 1 || (value & FUTEX_OP) == 9 ||
                (value & FUTEX_OP) == 10);
    case NR_PRCTL:
        return argument(cpu, 1, &value) && value == PR_SET_NAME_OP;
    case NR_CLONE:
        return argument(cpu, 1, &value) && !(value & CLONE_VFORK_FLAG);
    default:
        return true;
    }
}

/* Does it change whole pages, where a length ends amid one? */
static bool is_of_pages(unsigned number)
{
    return number == NR_MUNMAP || number == NR_MMAP || number == NR_MADVISE;
}

bool replay_call_ranges(const Cpu *cpu, ReplayRange *ranges, unsigned *n)
{
    const CallKind *kind = find_kind(cpu);
    uint64_t value;

    *n = 0;
    if (!kind || !is_usual(cpu, kind->number)) {
        return false;
    }
    if (kind->number == NR_LSEEK && cpu->isa.xlen == 32) {
        /* It is llseek, and writes the place. */
        ranges[*n].len = sizeof(uint64_t);
        return argument(cpu, 4, &ranges[(*n)++].addr);
    }
    if (kind->number == NR_BRK) {
        /* 0 asks where it is; else, what is above it is gone, or new. */
        ranges[0] = (ReplayRange) { cpu->x[REG_A0], HEAP_MAX };
        *n = cpu->x[REG_A0] != 0;
        return argument(cpu, 1, &value);
    }
    if (kind->number == NR_MMAP && argument(cpu, 4, &value) &&
        !(value & MAP_FIXED_FLAG)) {
        return true;
    }
    for (unsigned i = 0; i < REPLAY_CALL_RANGES && kind->writes[i].address;
         i++) {
        const CallBuffer *buffer = &kind->writes[i];
        ReplayRange range = { .len = buffer->size };

        if (!argument(cpu, buffer->address, &range.addr) ||
            (buffer->length && !argument(cpu, buffer->length, &range.len))) {
            return false;
        }
        if (is_of_pages(kind->number)) {
            /* A length that overflows is refused. */
            range.len = (range.len + PAGE_SIZE_MASK) & ~PAGE_SIZE_MASK;
        }
        ranges[(*n)++] = range;
    }
    return true;
}
