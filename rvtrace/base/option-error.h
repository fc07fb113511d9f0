/*
 * Errors that options are the reason for
 *
 * The code says which one it is; what that is called, and how it is given, only
 * the command line knows (see cli_say()).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_OPTION_ERROR_H
#define ETRACE_OPTION_ERROR_H

#include <glib.h>

#define OPTION_ERROR option_error_quark()

typedef enum OptionError {
    /* The message begins with the value of the option that is wrong. */
    OPTION_PARAM,
    OPTION_UNIT,
    OPTION_TVEC,
    OPTION_ISA,
    OPTION_FROM,
    OPTION_TO,
    OPTION_PROCESS,
    OPTION_REGION,
    OPTION_WRAPPED_AT,
    /* It is about several of them, or about what they are together. */
    OPTION_PARAMS,
    OPTION_PIECES_WRAPPED,      /* pieces have no place where a ring wrapped */
    /* Another option would help. */
    OPTION_NEEDS_PROGRAM,
    OPTION_NEEDS_PARTS,         /* a trace and a sideband for each part */
    OPTION_NEEDS_WRAPPED_AT,
    OPTION_NEEDS_NO_SIDEBAND,
    OPTION_NEEDS_AT,            /* where a piece was stored */
    OPTION_NEEDS_NO_AT,
    OPTION_NEEDS_CHOICE,        /* ... of several places */
    OPTION_NEEDS_SESSION,       /* another one; or where it was stored */
    OPTION_NEEDS_ROOM,          /* for temporary files */
    OPTION_NR_ERRORS,
} OptionError;

GQuark option_error_quark(void);

#endif /* ETRACE_OPTION_ERROR_H */
