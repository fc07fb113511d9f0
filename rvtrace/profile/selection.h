/*
 * Selection: which of the executed instructions views look at
 *
 * By the task that runs, by what is between two borders of each hart, and by
 * what software noted down: an instruction is selected if it is so in each of
 * these respects that anything was said of.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SELECTION_H
#define ETRACE_SELECTION_H

#include "flow/flow.h"
#include "profile/task.h"
#include "code/sideband.h"

/* As options give it; what is NULL or empty says nothing */
typedef struct SelectionOptions {
    /* Each a glob for the task's name, or the number of a thread or process */
    char **processes;
    /* Each NAME, from its begin to its end, or A..B, between two marks */
    char **regions;
    /*
     * Borders of each hart, from which on and up to which: a number of
     * instructions, with k, M, G; a virtual time, with s, ms, us, ns; either
     * with a minus sign, counted from the end of the trace; mark:NOTE; or
     * sym:FUNCTION, which a selected process enters, sym:FUNCTION#N for the
     * N-th time since the hart began
     */
    char *from, *to;
    /* In place of them, for the command line: around an event */
    char *window, *before, *after;
    gint64 tick_rate;   /* of virtual time; 0: as QEMU has it */
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

/*
 * Parse the #N at the end of an event's or function's name: sets *@nth, from 1
 * on, or 0 if there is none, and returns what is in front of it, which the
 * caller frees; NULL if N is 0.
 */
char *selection_split_nth(const char *text, uint64_t *nth);

/* A time like 1.5s, 20ms, 7us, 100ns; false if @text is none. */
bool selection_parse_time(const char *text, uint64_t *ns);

/* Is a border a time, or counted from the end, or a function? */
bool selection_has_times(const Selection *s);
bool selection_has_end(const Selection *s);
bool selection_has_functions(const Selection *s);

/*
 * Of this hart, instructions @from to @to are between the borders, whatever
 * these are; to be called before it has a SelectionHart.
 */
void selection_pin(Selection *s, unsigned hart, uint64_t from, uint64_t to);

/* Does --process select @task? NULL: it is not known, which no process is. */
bool selection_has_task(const Selection *s, const Task *task);

/* The functions that are borders: 0 is --from, 1 --to; NULL: it is none. */
const char *selection_function(const Selection *s, unsigned border);

/* How far a hart is, and what that means for the instructions to come */
typedef struct SelectionHart SelectionHart;

/* Of hart number @hart; @s must live as long. */
SelectionHart *selection_hart_new(const Selection *s, unsigned hart);
void selection_hart_free(SelectionHart *h);

/* Of what is selected, only instructions @from to @to of this hart */
void selection_hart_narrow(SelectionHart *h, uint64_t from, uint64_t to);

/*
 * The hart has @insns instructions, and the trace ends at @ns of virtual time:
 * to be called if selection_has_end().
 */
void selection_hart_end(SelectionHart *h, uint64_t insns, uint64_t ns);

/*
 * The first instruction that may be selected, and the first that cannot be, as
 * far as their numbers are known
 */
void selection_hart_range(const SelectionHart *h, uint64_t *from,
                          uint64_t *to);

/* The time before which nothing is selected, ns; 0: whenever it is */
uint64_t selection_hart_since(const SelectionHart *h);

/* May the selection end before the hart's last instruction, of @insns? */
bool selection_hart_ends(const SelectionHart *h, uint64_t insns);

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

/* It is @ns of virtual time: later than all that the hart has executed. */
void selection_time(SelectionHart *h, uint64_t ns);

/* Is a function waited for, where the selection begins or ends? */
bool selection_awaits(const SelectionHart *h);

/* The next instruction, of @task, is the first one of @function. */
void selection_enter(SelectionHart *h, const Task *task,
                     const char *function);

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
