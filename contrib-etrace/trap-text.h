/*
 * What traps are called
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TRAP_TEXT_H
#define ETRACE_TRAP_TEXT_H

#include <stdbool.h>

/*
 * The name of a cause of the privileged architecture ("ecall from U",
 * "supervisor timer interrupt"), or NULL if it has none
 */
const char *trap_cause_text(bool interrupt, unsigned cause);

#endif /* ETRACE_TRAP_TEXT_H */
