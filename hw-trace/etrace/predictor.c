/*
 * E-Trace branch predictor, as encoder and decoder keep it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "predictor.h"

void etrace_predictor_init(ETracePredictor *p, const ETraceParams *params)
{
    assert(params->bpred_size <= ETRACE_BPRED_SIZE_MAX);
    p->lsb = params->iaddress_lsb;
    p->mask = (1u << params->bpred_size) - 1;
    p->used = true;
    etrace_predictor_reset(p);
}

void etrace_predictor_reset(ETracePredictor *p)
{
    if (p->used) {
        memset(p->state, ETRACE_PREDICTOR_NT, p->mask + 1);
        p->used = false;
    }
}
