/*
 * A trace to decode: what describes it as text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TRACE_TEXT_H
#define ETRACE_TRACE_TEXT_H

#include "trace/trace.h"

/*
 * Each returns false, or NULL, and sets @errp if it makes no sense; the code is
 * an OptionError.
 */

/*
 * Set each NAME=VALUE of @args (NULL terminated; or NULL) in @params. Together
 * they have to be possible.
 */
bool trace_parse_params(ETraceParams *params, char **args, GError **errp);

/* PRIV=VALUE: m=, s=, vs= */
bool trace_parse_tvec(TraceTvec *tvec, const char *arg, GError **errp);

bool trace_parse_isa(InsnIsa *isa, const char *text, GError **errp);

/* The code of @files, FILE[@BIAS] */
ElfCode *trace_load_program(char **files, GError **errp);

/* Those of QEMU's encoder; @draft: with its wire format 2.1-draft */
void trace_default_params(ETraceParams *params, unsigned xlen, bool draft);

#endif /* ETRACE_TRACE_TEXT_H */
