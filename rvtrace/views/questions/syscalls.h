/*
 * System calls: their numbers and names, from the code that ran
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SYSCALLS_H
#define ETRACE_SYSCALLS_H

#include "flow/flow.h"

#define SYSCALL_UNKNOWN UINT_MAX

/*
 * The number of the system call that @trap is, where @image's decoder is: by
 * the instruction in front of it that gives a7 a constant. SYSCALL_UNKNOWN if
 * there is none, or @image is NULL.
 */
unsigned syscall_number(Image *image, const FlowTrap *trap);

/*
 * Numbers of the system calls of a hart, from where traps are decoded to where
 * watchers are told of them, later: a Watcher's trap() puts what a trap is in
 * (other traps do nothing), its mark() takes it out for each MOMENT_TRAP of
 * SYSCALL_CAUSE, in the same order.
 */
#define SYSCALL_CAUSE   8       /* ecall from U */

typedef struct SyscallQueue {
    GArray *numbers;            /* unsigned */
    guint next;                 /* the first one that is still to come */
} SyscallQueue;

void syscall_queue_init(SyscallQueue *q);
void syscall_queue_clear(SyscallQueue *q);
void syscall_queue_put(SyscallQueue *q, Image *image, const FlowTrap *trap);
unsigned syscall_queue_take(SyscallQueue *q);

/*
 * The name of the system call that the kernel's @function is, in it; NULL: it
 * is none.
 */
const char *syscall_name(const char *function);

/* The name of Linux' system call @number; NULL: not known. */
const char *syscall_number_name(unsigned number);

#endif /* ETRACE_SYSCALLS_H */
