/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs of this folder have in common
 *
 * Each is one file with program() and program_sum. They do what the programs
 * of the well-known suites for small processors do (Dhrystone, CoreMark,
 * Embench, riscv-tests), and are written anew. None needs a library or an
 * operating system; each runs for about a million instructions.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))

/*
 * Does its work and returns a checksum of the results, the same on every
 * processor.
 */
uint32_t program(void);

/* What program() has to return; found with a compiler for another processor. */
extern const uint32_t program_sum;

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);

/* The next of a fixed sequence of numbers */
uint32_t next_random(void);

/* Adds a value to a checksum. */
static inline uint32_t mix(uint32_t sum, uint32_t value)
{
    return ((sum << 5 | sum >> 27) ^ value) * 0x9e3779b1u;
}

#endif
