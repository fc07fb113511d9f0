/*
 * Encoder parameters by name: NAME=VALUE, and files that others read
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PARAMS_TEXT_H
#define ETRACE_PARAMS_TEXT_H

#include <glib.h>
#include "etrace/packet.h"

/*
 * Set the parameter @name (of the specification, without _p; wire_format,
 * src_bits, ts_bytes, src_id, ioptions, doptions) to @value. Returns false
 * and sets @errp if there is none of that name or it cannot have the value.
 */
bool params_text_set(ETraceParams *p, const char *name, const char *value,
                     GError **errp);

/* Every parameter but src_id, each as " NAME=VALUE" */
void params_text_append(GString *out, const ETraceParams *p);

typedef enum ParamsFormat {
    PARAMS_CSV,     /* riscv-etrace-lib: ".itrace.NAME_p,VALUE" */
    PARAMS_TOML,    /* riscv-etrace crate: "NAME_p=VALUE" */
    PARAMS_SCF,     /* reference flow: static configuration, instructions */
    PARAMS_DSCF,    /* reference flow: static configuration, data */
    PARAMS_JSON,    /* everything, under our names */
    PARAMS_NR_FORMATS,
} ParamsFormat;

/* "csv", ...; PARAMS_NR_FORMATS if there is none of that name */
ParamsFormat params_format_parse(const char *name);

/* @p as a file of @format. */
void params_text_file(GString *out, const ETraceParams *p,
                      ParamsFormat format);

#endif /* ETRACE_PARAMS_TEXT_H */
