/*
 * rvtrace: views, each of which is a command and a KIND of decode --output
 *
 * To add a view, write its descriptor in a file here, and name it in the table
 * of views.c and in meson.build. Its command, --help, completion, manual,
 * decode --output and run --view follow from the descriptor.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEW_H
#define ETRACE_VIEW_H

#include "analysis/results.h"
#include "base/output.h"
#include "commands/cli/cli.h"

#define VIEW_MAX_GROUPS 8

typedef struct View View;
typedef struct ViewOutput ViewOutput;
typedef struct ViewPass ViewPass;

/* Options that views share, or those of one view, each declared once */
typedef struct OptionGroup {
    const GOptionEntry *entries;
    /*
     * Is what they say possible? @only: the one view that is written, NULL if
     * there may be more. Prints what is wrong; may be NULL.
     */
    bool (*check)(const View *only);
} OptionGroup;

typedef enum ViewFlags {
    VIEW_FOLDER = 1 << 0,       /* it writes a folder, not a file */
    /* It shows all layers below stacks, or lets one choose, by default. */
    VIEW_ALL_LAYERS = 1 << 1,
    /* It watches call stacks change, which neither samples nor pieces tell. */
    VIEW_WATCHES = 1 << 2,
    /* It writes nothing that one reads on a terminal. */
    VIEW_BINARY = 1 << 3,
} ViewFlags;

struct View {
    const char *name;
    /* In the list of commands, and what the command's --help begins with */
    const char *summary, *about;
    /*
     * Views of one command, if that is not the name: the first one has the
     * texts, and --format says which; @format_use is what it is for, or NULL.
     */
    const char *command, *format, *format_use;
    bool default_format;
    unsigned needs;             /* RESULT_* */
    unsigned (*spares)(void);   /* those that its options spare, or NULL */
    unsigned compares;          /* more of those, if --truth is given */
    unsigned flags;             /* VIEW_* */
    const OptionGroup *groups[VIEW_MAX_GROUPS + 1];     /* ends with NULL */
    /*
     * Before anything is decoded: make o->state, if need be, and have @r
     * watched. Prints what is wrong and returns false. May be NULL.
     */
    bool (*begin)(ViewOutput *o, Results *r);
    /* Returns an exit status. */
    int (*write)(ViewOutput *o, const ViewPass *p);
    void (*free)(void *state);  /* NULL: there is no state */
};

/* A view that was asked for */
struct ViewOutput {
    const View *view;
    const char *path;           /* NULL: standard output */
    Output *out;                /* NULL: not opened yet, or a folder */
    FILE *f;                    /* the same, to write to */
    void *state;                /* the view's own */
};

/* What was decoded; what no view needs is NULL. */
struct ViewPass {
    const Results *r;
    Profile *profile;           /* with all the layers of @r */
    Profile *stacks;            /* with those that were asked for */
    Profile *weighed;           /* the same, with weights by --weight */
    Counts *counts;
    const char *verdict;        /* NULL: nothing was compared */
    int verify_status;
};

/* views.c */

/* Views by number, from 0 on; NULL: there are no more. */
const View *view_number(unsigned i);

/* The command that writes it */
const char *view_command_name(const View *view);

/* For @results below: what can be added up of pieces, and had of samples */
#define VIEW_ANY        (~0u)
#define VIEW_ADDED      (RESULT_COUNTS | RESULT_TASKS | RESULT_PROFILE)
#define VIEW_SAMPLED    (VIEW_ADDED | RESULT_SAMPLES)

/* Can @view be written of nothing but @results (RESULT_*)? */
bool view_needs_only(const View *view, unsigned results);

/*
 * "a, b or c", where @and is " or ": the kinds of all views that can, and the
 * commands that write them; the caller frees it.
 */
char *view_kinds(unsigned results, const char *and);
char *view_commands(unsigned results, const char *and);

/* All their options, which say what they are for; the caller frees the list. */
GOptionEntry *view_options(unsigned results);

/* The views (View) that a command writes, and the same of them */
GPtrArray *views_of_command(const char *name);
GOptionEntry *views_options(const GPtrArray *views);

/* "a, b and c", where @and is " and "; the caller frees it. */
char *view_join_words(const GPtrArray *words, const char *and);

/* Are they possible? See OptionGroup; prints what is wrong. */
bool view_options_possible(const View *only);

/* pass.c */

/*
 * Decode once, and write each of @outputs, KIND[=FILE]; @option is the one
 * that they come from. Returns an exit status.
 */
int views_write(CliTrace *ct, char **outputs, const char *option);

/*
 * Could that be done with any trace, as far as can be known before there is
 * one? Prints what is wrong and returns false.
 */
bool views_check(char **outputs, const char *option);

/* command.c: run the command @name of a view; returns the exit status. */
int view_command(const char *name, int argc, char **argv);

#endif /* ETRACE_VIEW_H */
