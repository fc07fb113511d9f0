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

/*
 * What an entry can be: what is predicted and what happened last (N: not
 * taken, T: taken); the text's 00, 01, 10 and 11. Bit 0 is the prediction.
 * Each one is a number of bits, by which the constant for an outcome is
 * shifted: what comes next is then in the lowest 8. Translated code does that,
 * too.
 */
#define ETRACE_PREDICTOR_NN     0u
#define ETRACE_PREDICTOR_NT     8u
#define ETRACE_PREDICTOR_TN     17u
#define ETRACE_PREDICTOR_TT     25u

#define ETRACE_PREDICTOR_NEXT(nn, nt, tn, tt)                           \
    ((nn) << ETRACE_PREDICTOR_NN | (nt) << ETRACE_PREDICTOR_NT |        \
     (tn) << ETRACE_PREDICTOR_TN | (tt) << ETRACE_PREDICTOR_TT)

/* If the outcome is as predicted or as the last one, it is predicted next. */
#define ETRACE_PREDICTOR_TAKEN                                          \
    ETRACE_PREDICTOR_NEXT(ETRACE_PREDICTOR_NT, ETRACE_PREDICTOR_TT,     \
                          ETRACE_PREDICTOR_TT, ETRACE_PREDICTOR_TT)
#define ETRACE_PREDICTOR_NONTAKEN                                       \
    ETRACE_PREDICTOR_NEXT(ETRACE_PREDICTOR_NN, ETRACE_PREDICTOR_NN,     \
                          ETRACE_PREDICTOR_NN, ETRACE_PREDICTOR_TN)

typedef struct ETracePredictor {
    uint8_t lsb;                /* of the address that is part of the index */
    bool used;                  /* since it was initialised */
    uint16_t mask;
    uint8_t state[1u << ETRACE_BPRED_SIZE_MAX];
} ETracePredictor;

void etrace_predictor_init(ETracePredictor *p, const ETraceParams *params);

/* As a synchronisation packet does: every entry is 01 (NT). */
void etrace_predictor_reset(ETracePredictor *p);

/* Is the branch at @pc expected to be taken? */
static inline bool etrace_predictor_taken(const ETracePredictor *p,
                                          uint64_t pc)
{
    return p->state[(pc >> p->lsb) & p->mask] & 1;
}

/* Does the outcome of the branch at @pc change what is known of it? */
static inline bool etrace_predictor_changes(const ETracePredictor *p,
                                            uint64_t pc, bool taken)
{
    return p->state[(pc >> p->lsb) & p->mask] !=
           (taken ? ETRACE_PREDICTOR_TT : ETRACE_PREDICTOR_NN);
}

/* Learn the outcome of the branch at @pc. Returns true if it was expected. */
static inline bool etrace_predictor_learn(ETracePredictor *p, uint64_t pc,
                                          bool taken)
{
    uint8_t *state = &p->state[(pc >> p->lsb) & p->mask];
    bool expected = (*state & 1) == taken;

    *state = (taken ? ETRACE_PREDICTOR_TAKEN : ETRACE_PREDICTOR_NONTAKEN) >>
             *state;
    p->used = true;
    return expected;
}

#endif /* HW_TRACE_ETRACE_PREDICTOR_H */
