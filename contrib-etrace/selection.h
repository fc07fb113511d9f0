/*
 * Selection: which of the executed instructions views look at
 *
 * By the task that runs, by the number of instructions that retired on the
 * hart before, and by what software noted down: an instruction is selected if
 * it is so in each of these respects that anything was said of.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SELECTION_H
#define ETRACE_SELECTION_H

#include "flow.h"
#include "names/task.h"
#include "sideband.h"

/* As options give it; what is NULL or empty says nothing */
typedef struct SelectionOptions {
    /* Each a glob for the task's name, or the number of a thread or process */
    char **processes;
    /* Each NAME, from its begin to its end, or A..B, between two marks */
    char **regions;
    /* Numbers of instructions, from which on and up to which; k, M, G */
    char *from, *to;
} SelectionOptions;

/* The same for all harts, and read by their threads at the same time */
typedef struct Selection Selection;

/*
 * Returns NULL if @options say nothing, and NULL with @errp set if they are
 * wrong.
 */
Selection *selection_new(const SelectionOptions *options, GError **errp);

/* One that selects everything, for selection_hart_narrow() */
Selection *selection_all(void);
void selection_free(Selection *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Selection, selection_free)

/*
 * Parse a number of instructions, with k, M or G behind it for 10^3, 10^6 and
 * 10^9. Returns false if it is none or too large.
 */
bool selection_parse_count(const char *text, uint64_t *count);

/* How far a hart is, and what that means for the instructions to come */
typedef struct SelectionHart SelectionHart;

/* @s must live as long. */
SelectionHart *selection_hart_new(const Selection *s);
void selection_hart_free(SelectionHart *h);

/* Of what is selected, only instructions @from to @to of this hart */
void selection_hart_narrow(SelectionHart *h, uint64_t from, uint64_t to);

/* The first instruction that may be selected, and the first that cannot be */
void selection_hart_range(const SelectionHart *h, uint64_t *from,
                          uint64_t *to);

/* The hart begins behind @insns instructions that retired. */
void selection_hart_start(SelectionHart *h, uint64_t insns);

/* Has an instruction retired behind the last one that can be selected? */
bool selection_over(const SelectionHart *h);

/*
 * The hart goes on with @task (NULL: not known, which no process is). Returns
 * whether the instructions to come are selected, up to selection_room() of
 * them.
 */
bool selection_covers(SelectionHart *h, const Task *task);

/*
 * Instructions until the answer may be another one by their number alone, at
 * least 1; UINT64_MAX: it will not.
 */
uint64_t selection_room(const SelectionHart *h);

/* @insns instructions retired, at most selection_room(). */
void selection_ran(SelectionHart *h, uint64_t insns);

/* The hart has come to a note. */
void selection_note(SelectionHart *h, const SidebandNote *note);

/*
 * A round of a loop begins; it was gone round @times times more, each like
 * what was run since. Returns false if the rounds would not all be selected
 * like that one.
 */
void selection_mark(SelectionHart *h);
bool selection_can_repeat(const SelectionHart *h, uint64_t times);
void selection_repeat(SelectionHart *h, uint64_t times);

/*
 * Take the first @count instructions off @run, which has more than that. They
 * are what is returned; how the last one was left stays with the others.
 */
FlowRun selection_split(FlowRun *run, unsigned count);

#endif /* ETRACE_SELECTION_H */
