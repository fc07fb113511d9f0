/*
 * What traps and privilege levels are called
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

/* The trap was recorded without its cause */
#define TRAP_CAUSE_UNKNOWN  255

/*
 * The same, but for each: "exception 24", or "exception" if it is not known.
 * In user mode, signal N is interrupt 64 + N: "signal 14". The caller frees it.
 */
char *trap_text(bool interrupt, unsigned cause);

/* "U-mode" and so on, for an ETracePriv */
const char *priv_text(unsigned priv);

#endif /* ETRACE_TRAP_TEXT_H */
