/*
 * rvtrace: options that views share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEW_OPTIONS_H
#define ETRACE_VIEW_OPTIONS_H

#include <math.h>
#include "commands/views/view.h"
#include "elf/source.h"
#include "views/report/table.h"

/* Each is what the command line says; a process has one. */

/* --layers: what is below call stacks */
extern const OptionGroup layers_group;
bool layers_given(void);
/* Set r->layers and r->hart_layer, by the option or, if not given, @all. */
void layers_choose(Results *r, bool all);

/* --weight: is it given, and is it time? */
extern const OptionGroup weight_group;
bool weight_given(void);
bool weight_is_time(void);

/* --time */
extern const OptionGroup clock_group;
ClockChoice clock_choice(void);

/* --truth */
extern const OptionGroup truth_group;
extern char **truth_files;

/* --title; NULL: not given */
extern const OptionGroup title_group;
extern char *title_option;

/* --sort; NULL: not given */
extern const OptionGroup sort_group;
extern char *sort_option;

/* --comm, --dso, --sym: globs, or NULL */
typedef struct FilterOptions {
    char *comm, *dso, *sym;
} FilterOptions;

extern const OptionGroup filter_group;
extern const OptionGroup comm_group;      /* the first one alone */
extern FilterOptions filter_options;
/* RESULT_TASKS, if --comm is not given */
unsigned filter_spares(void);

/* --percent-limit, --rows */
typedef struct RowOptions {
    double min_percent;         /* NAN: not given */
    int max_rows;               /* 0: all */
} RowOptions;

extern const OptionGroup percent_group, rows_group;
extern RowOptions row_options;

/* --format: text, unless it is given */
extern const OptionGroup format_group;
bool format_given(void);
TableFormat format_choice(void);

/* --source-prefix: where sources are; the caller frees them. */
extern const OptionGroup sources_group;
extern char **source_prefixes;
SourceTree *source_options_tree(const Job *job);

/* --period, --branches */
extern const OptionGroup samples_group;
void samples_choose(SamplerOptions *o);

/* --min-duration, instructions or ns; @unset if it is not given */
extern const OptionGroup duration_group;
uint64_t duration_option(uint64_t unset);

#endif /* ETRACE_VIEW_OPTIONS_H */
