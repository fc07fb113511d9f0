/*
 * Programs for RISC-V, built while the tests run, and what binutils says of
 * them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TESTS_GUEST_BUILD_H
#define ETRACE_TESTS_GUEST_BUILD_H

#include <glib.h>

#define GUEST_TOOLS "riscv64-linux-gnu-"

/* A new folder for temporary files; guest_dir_remove() removes and frees it. */
char *guest_dir_new(void);
void guest_dir_remove(char *dir);

/* Write @text to @dir/@name. */
void guest_write(const char *dir, const char *name, const char *text);

/*
 * Run a command, whose words @command separates by spaces, in @dir, with
 * @input, which may be NULL, as its standard input. Returns what it writes, to
 * be freed with g_free(). It must succeed.
 */
char *guest_run(const char *dir, const char *input, const char *command, ...)
    G_GNUC_PRINTF(3, 4);

/* The same; returns whether it succeeds. */
bool guest_try(const char *dir, const char *command);

/*
 * Addresses of all instructions of a program (GArray of uint64_t), as objdump
 * sees them.
 */
GArray *guest_addresses(const char *dir, const char *program);

#endif /* ETRACE_TESTS_GUEST_BUILD_H */
