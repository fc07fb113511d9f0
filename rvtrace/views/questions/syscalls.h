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
 * The name of the system call that the kernel's @function is, in it; NULL: it
 * is none.
 */
const char *syscall_name(const char *function);

/* The name of Linux' system call @number; NULL: not known. */
const char *syscall_number_name(unsigned number);

#endif /* ETRACE_SYSCALLS_H */
