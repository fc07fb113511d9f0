/*
 * E-Trace branch predictor, as encoder and decoder keep it
 *
 * Section 3.2.6, "Branch prediction mode". The text leaves open whether the
 * branch that a synchronisation packet reports is learned: the table is
 * initialised when the packet is sent, and the branch, whose outcome is in the
 * packet, counts afterwards, because a decoder (chapter 11 of 2.0.5) comes to
 * its outcome when it goes on from there.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_PREDICTOR_H
#define HW_TRACE_ETRACE_PREDICTOR_H

#include "etrace.h"

/* bpred_size_p, at most */
#define ETRACE_BPRED_SIZE_MAX   12

typedef struct ETracePredictor {
    uint8_t lsb;                /* of the address that is part of the index */
    bool used;                  /* since it was initialised */
    uint16_t mask;
    /* 2 bits: MSB the prediction, LSB the last outcome; 1: taken */
    uint8_t state[1u << ETRACE_BPRED_SIZE_MAX];
} ETracePredictor;

void etrace_predictor_init(ETracePredictor *p, const ETraceParams *params);

/* As a synchronisation packet does: every entry is 01. */
void etrace_predictor_reset(ETracePredictor *p);

/* Is the branch at @pc expected to be taken? */
static inline bool etrace_predictor_taken(const ETracePredictor *p,
                                          uint64_t pc)
{
    return p->state[(pc >> p->lsb) & p->mask] & 2;
}

/* Does the outcome of the branch at @pc change what is known of it? */
static inline bool etrace_predictor_changes(const ETracePredictor *p,
                                            uint64_t pc, bool taken)
{
    return p->state[(pc >> p->lsb) & p->mask] != (taken ? 3 : 0);
}

/* Learn the outcome of the branch at @pc. Returns true if it was expected. */
static inline bool etrace_predictor_learn(ETracePredictor *p, uint64_t pc,
                                          bool taken)
{
    /* by state and outcome */
    static const uint8_t next[4][2] = {
        { 0, 1 }, { 0, 3 }, { 0, 3 }, { 2, 3 },
    };
    uint8_t *state = &p->state[(pc >> p->lsb) & p->mask];
    bool expected = (*state >> 1) == taken;

    *state = next[*state][taken];
    p->used = true;
    return expected;
}

#endif /* HW_TRACE_ETRACE_PREDICTOR_H */
