/*
 * What rvtrace/tests/machines/unwind takes from its guests, for programs
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef GUEST_H
#define GUEST_H

#include <stdint.h>

typedef unsigned long xlen_t;

/* Ends the program. */
void pass(void) __attribute__((noreturn));

#endif
