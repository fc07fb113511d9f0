/*
 * E-Trace instruction trace encoder: what one branch history means
 *
 * For encoder-history.c and encoder-short.c, which does the same faster.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_HISTORY_H
#define HW_TRACE_ETRACE_HISTORY_H

#include "encoder-private.h"
#include "../packet-bits.h"

/* Bits of each branch */
static inline unsigned history_bits(const ETraceEncoder *enc)
{
    return enc->params.ioptions & ETRACE_IOPT_BRANCH_PREDICTION ? 2 : 1;
}

/* The lower bits of the lowest @n pairs of @val, or of some more */
static inline uint32_t even_bits(uint64_t val, unsigned n)
{
    val &= 0x5555555555555555;
    val = (val | val >> 1) & 0x3333333333333333;
    val = (val | val >> 2) & 0x0f0f0f0f0f0f0f0f;
    if (n <= 4) {
        return val;     /* most often there are not more */
    }
    val = (val | val >> 4) & 0x00ff00ff00ff00ff;
    val = (val | val >> 8) & 0x0000ffff0000ffff;
    return val | val >> 16;
}

/*
 * branch_count has an end, and who reaches it has to report an address, which
 * is not known here: long before that, blocks and a synchronisation instead.
 */
#define PBC_MANY    (1ull << 31)

/* The branches ahead of the last instruction of a history */
typedef struct Branches {
    uint64_t outcomes;          /* the oldest one in bit 0; 1: not taken */
    uint64_t missed;            /* 1: not as predicted */
    unsigned n;
} Branches;

/*
 * Which of the @n branches of @h, of two bits each, were not as predicted: the
 * lower bit of each pair, from bit 0 on
 */
static inline uint64_t history_missed(const ETraceHistory *h, unsigned n)
{
    uint64_t pairs = n ? h->branches >> (64 - 2 * n) : 0;

    return ~(pairs ^ pairs >> 1) & 0x5555555555555555 & etrace_ones(2 * n);
}

static inline Branches history_branches(const ETraceHistory *h, unsigned bits)
{
    Branches b = { .n = etrace_history_count(h->branches, bits) };

    if (b.n && bits == 2) {
        uint64_t pairs = h->branches >> (64 - 2 * b.n);
        uint64_t missed = history_missed(h, b.n);

        b.outcomes = even_bits(pairs >> 1, b.n);
        b.missed = missed ? even_bits(missed, b.n) : 0;
    } else if (b.n) {
        b.outcomes = h->branches >> (64 - b.n);
        b.missed = etrace_ones(b.n);
    }
    return b;
}

/*
 * The run behind the branches of @h. If there are some, it is at most what is
 * up to the last instruction, with which an updiscon's target is not confused.
 */
static inline void history_run(ETraceEncoder *enc, const ETraceHistory *h,
                               bool branches)
{
    bool updiscon = etrace_itype_is_updiscon(h->itype) &&
                    !(h->flags & ETRACE_HISTORY_INFERRED);

    if (branches) {
        etrace_encoder_run_restart(enc, 0);
    }
    if (updiscon && (h->flags & ETRACE_HISTORY_CONTAINED)) {
        enc->run_unknown = true;
    } else if (updiscon && branches) {
        /* The target is neither in it nor the last instruction. */
        enc->run_start = h->last;
    }
    if (h->flags & ETRACE_HISTORY_IRETS) {
        etrace_encoder_any_iret(enc);
    }
}

/* Does @h, which begins at @first, have one instruction only? */
static inline bool history_is_single(const ETraceHistory *h, uint64_t first)
{
    return h->branches == ETRACE_HISTORY_EMPTY && h->last == first;
}

/*
 * May the target of the updiscon that ends @h be in the run before it? @h
 * begins at @first with that many @branches, the run without them at @run.
 */
static inline bool history_contained(const ETraceHistory *h, uint64_t first,
                                     uint64_t run, unsigned branches)
{
    uint64_t start = branches ? h->last : run;

    return ((h->next >= start) & (h->next <= h->last)) |
           ((h->flags & ETRACE_HISTORY_CONTAINED) &&
            !history_is_single(h, first));
}

/* The last instruction of @h as a block of its own */
static inline ETraceBlock last_block(const ETraceHistory *h)
{
    return (ETraceBlock) {
        .iaddr = h->last,
        .iretire = 1,
        .itype = h->itype,
        .priv = h->priv,
        .flags = h->flags,
        .cause = h->irdepth,
    };
}

/*
 * @last, which ends a history, is held. A branch or updiscon may be right
 * behind a jump that was inferred: that has not been reported.
 */
static inline void hold_last(ETraceEncoder *enc, const ETraceBlock *last)
{
    enc->last = *last;
    enc->last_reported = false;
    enc->last_is_target = false;
    if (etrace_itype_is_branch(last->itype)) {
        enc->last_after_jump = enc->params.ioptions &
                               (ETRACE_IOPT_IMPLICIT_RETURN |
                                ETRACE_IOPT_SIJUMP);
    } else {
        enc->last_after_jump = etrace_itype_is_updiscon(last->itype) &&
                               !(last->flags & ETRACE_HISTORY_INFERRED) &&
                               (last->flags & ETRACE_HISTORY_IRETS);
    }
}

/* encoder-short.c */

/* Is the encoder in a state that the short way is for? */
bool etrace_encoder_is_plain(const ETraceEncoder *enc);

/*
 * Such histories as are no special case, of which there may be none: those
 * that the @n slots begin with. @next: as for etrace_encoder_history(). Only
 * if etrace_encoder_is_plain(). Returns the number of slots taken.
 */
size_t etrace_encoder_short(ETraceEncoder *enc, const ETraceSlot *slots,
                            size_t n, uint64_t *next);

#endif /* HW_TRACE_ETRACE_HISTORY_H */
