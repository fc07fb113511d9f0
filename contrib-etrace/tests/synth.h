/*
 * Synthetic harts: random programs, run for real, traced by the encoder
 *
 * A synthetic hart makes up a program in a few pages of memory and walks
 * through it: it chooses the outcome of branches, the targets of uninferable
 * jumps, traps, returns and changes of the code at random. What it did is
 * known exactly; trace and sideband are what QEMU would have written.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TESTS_SYNTH_H
#define ETRACE_TESTS_SYNTH_H

#include <glib.h>
#include "etrace/encoder.h"

typedef struct SynthOptions {
    uint32_t seed;
    unsigned xlen;
    unsigned nr_harts;
    unsigned insns;             /* to retire on each hart, about */
    unsigned code_bytes;        /* of each privilege's program */
    ETraceSyncMode sync_mode;
    uint64_t sync_max;
    uint8_t ioptions;
    bool modes;                 /* random modes and parameters for them */
    unsigned trap_permille;     /* chance before each instruction */
    unsigned change_permille;   /* chance of changed code or mappings */
    unsigned window_permille;   /* chance of the window's end */
    unsigned lose_permille;     /* chance that the sink refuses a packet */
    bool notes;                 /* see SynthHart.notes */
} SynthOptions;

typedef struct SynthTrap {
    uint64_t index;             /* instructions retired before it */
    bool interrupt;
    uint8_t cause;
    uint64_t epc;
    uint64_t tval;
} SynthTrap;

typedef struct SynthHart {
    GArray *pcs;                /* uint64_t, in the order of retirement */
    GArray *traps;              /* SynthTrap */
    /*
     * uint64_t, instructions retired before each: in turn "begin work" with
     * "mark a", and "end work" with "mark b"
     */
    GArray *notes;
} SynthHart;

typedef struct Synth {
    SynthOptions opts;
    GByteArray *trace;
    GByteArray *sideband;
    SynthHart *harts;
    unsigned packets_lost;
    GArray *ends;               /* size_t: where each packet ends in trace */
} Synth;

/* Make up programs and run them. */
Synth *synth_run(const SynthOptions *opts);
void synth_free(Synth *synth);

/* The truth file's text for all harts, with a checkpoint every @every. */
GString *synth_truth(const Synth *synth, unsigned every);

#endif /* ETRACE_TESTS_SYNTH_H */
