/*
 * E-Trace instruction trace encoder: what its parts share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_ENCODER_PRIVATE_H
#define HW_TRACE_ETRACE_ENCODER_PRIVATE_H

#include "../encoder.h"

/* The branch map holds this many. */
#define ETRACE_BRANCHES_MAX 31

/* An instruction to report in format 0, 1 or 2 */
typedef struct ETraceReport {
    uint64_t pc;
    bool notify;
    bool updiscon;
    bool target;                /* of an updiscon: the cache takes part */
    bool irreport;
    uint8_t irets;
    uint32_t irdepth;
} ETraceReport;

static inline bool etrace_itype_is_inferable_jump(unsigned itype)
{
    return itype == ETRACE_ITYPE_INFERABLE_CALL ||
           itype == ETRACE_ITYPE_INFERABLE_JUMP ||
           itype == ETRACE_ITYPE_OTHER_INFERABLE_JUMP;
}

static inline bool etrace_encoder_is_2_1(const ETraceEncoder *enc)
{
    return enc->params.wire_format == ETRACE_WIRE_2_1_DRAFT;
}

/*
 * Is the jump at the end of @b sequentially inferable? Section 4.2 ignores
 * sijump for returns; but a decoder (chapter 11, next_pc) looks at the two
 * instructions before it looks whether the second one is a return.
 */
static inline bool etrace_encoder_is_sijump(const ETraceEncoder *enc,
                                            const ETraceBlock *b)
{
    return (enc->params.ioptions & ETRACE_IOPT_SIJUMP) &&
           (b->flags & ETRACE_BLOCK_SIJUMP) &&
           etrace_itype_is_updiscon(b->itype) &&
           b->itype != ETRACE_ITYPE_TRAP_RETURN;
}

static inline bool etrace_encoder_is_1_1_1(const ETraceEncoder *enc)
{
    return enc->params.wire_format == ETRACE_WIRE_1_1_1;
}

/*
 * ETraceBlock.flags of the held block: it ends in a return, and there was a
 * call to return to. What comes next may go on with the stack before the held
 * block is done with.
 */
#define ETRACE_HELD_RETURN  0x80

/* Will the jump at the end of the held block be an implicit return? */
static inline bool etrace_encoder_is_return(const ETraceEncoder *enc)
{
    return enc->last.flags & ETRACE_HELD_RETURN;
}

/* Implicit returns at any depth of the stack since the last packet */
static inline void etrace_encoder_any_iret(ETraceEncoder *enc)
{
    enc->iret_min = 0;
    enc->iret_max = UINT8_MAX;
}

/* A packet was sent: there are none since. */
static inline void etrace_encoder_no_iret(ETraceEncoder *enc)
{
    enc->iret_min = UINT8_MAX;
    enc->iret_max = 0;
}

/* Branches that no packet has reported */
static inline bool etrace_encoder_has_branches(const ETraceEncoder *enc)
{
    return enc->branches || enc->pbc;
}

/* Is a block held, and nothing else pending? */
static inline bool etrace_encoder_only_holds(const ETraceEncoder *enc)
{
    return enc->enabled && enc->have_last &&
           !(enc->lost | enc->have_trap | enc->context_due | enc->notify_due |
             enc->last_reported | enc->last_is_target);
}

/* @n of what the sync interval counts, if that is @unit */
static inline void etrace_encoder_count_resync(ETraceEncoder *enc,
                                               ETraceSyncMode unit, uint64_t n)
{
    if (enc->sync_mode == unit) {
        enc->resync_count += n;
        enc->resync_due |= enc->resync_count >= enc->sync_max;
    }
}

/* encoder-send.c */

void etrace_encoder_send_support(ETraceEncoder *enc,
                                 ETraceQualStatus qual_status);

/*
 * The target of an updiscon against the cache. Returns true if it is there.
 *
 * A return that went elsewhere may be stored or not, says section 3.2.7, and
 * returns from traps are left open. So the entry is dropped instead: whatever
 * a decoder has there, it is not asked for it.
 *
 * Where the decoder may not have reached the updiscon before (maybe_inferred),
 * it does not know yet what the packet before has put into the cache.
 */
static inline bool etrace_encoder_cached(ETraceEncoder *enc, uint64_t pc)
{
    ETraceJumpCache *c = &enc->cache;

    if (etrace_jump_cache_get(c, etrace_jump_cache_index(c, pc)) == pc) {
        return !enc->maybe_inferred;
    }
    if (enc->target_uncached) {
        etrace_jump_cache_drop(c, pc);
    } else {
        etrace_jump_cache_put(c, pc);
    }
    return false;
}

/* "Send te_inst: format 0/1/2": @r and whatever branches there are */
void etrace_encoder_send_address(ETraceEncoder *enc, const ETraceReport *r);

/* "rpt_br": branches up to the one at @pc, if they must not wait longer */
void etrace_encoder_flush_branches(ETraceEncoder *enc, uint64_t pc);

/*
 * Format 3 subformat 0. @branch as in section 6.2: 0 for a taken branch at
 * the reported address
 */
void etrace_encoder_send_start(ETraceEncoder *enc, const ETraceBlock *b,
                               bool branch);

/* The pending trap, with the first instruction @b of its handler */
void etrace_encoder_send_trap_handler(ETraceEncoder *enc,
                                      const ETraceBlock *b, bool branch);

/*
 * The pending trap, without an instruction of its handler: with thaddr 0.
 *
 * The draft 1.1.1 has no such packet. If another trap at @handler, with
 * privilege @priv, comes before the handler's first instruction retires, the
 * packet names that instruction nevertheless, and a support packet that
 * changes nothing shows our decoder that it did not retire. If the window
 * ends (@handler is not known, 0) the trap is left out.
 */
void etrace_encoder_send_trap_alone(ETraceEncoder *enc, uint64_t handler,
                                    uint8_t priv);

/* Format 3 subformat 2 */
void etrace_encoder_send_context(ETraceEncoder *enc, uint8_t priv);

/* encoder-run.c */

/* A report or branch: the run is empty, and goes on at @pc. */
static inline void etrace_encoder_run_restart(ETraceEncoder *enc, uint64_t pc)
{
    enc->run_count = 0;
    enc->run_start = pc;
    enc->run_unknown = false;
    enc->irets = 0;
}

/* May @pc be in the run? @last: last instruction of the current range */
bool etrace_encoder_run_contains(const ETraceEncoder *enc, uint64_t last,
                                 uint64_t pc);

/*
 * Report @last, the last instruction of the run, which is no branch, in a way
 * that it cannot be taken for an earlier visit.
 */
void etrace_encoder_report(ETraceEncoder *enc, uint64_t last, bool notify);

/* An inferable jump at @pc ends the current range. */
void etrace_encoder_run_jump(ETraceEncoder *enc, uint64_t pc, uint64_t target);

/* encoder-block.c */

/* @block is the held one from here on; the one before is done with. */
void etrace_encoder_hold(ETraceEncoder *enc, const ETraceBlock *block,
                         bool sync);

/*
 * What retires next begins at @first with more than one instruction: done with
 * the held block, and with that first instruction.
 */
void etrace_encoder_go_on(ETraceEncoder *enc, uint64_t first);

/* Forget the window: what comes next starts from a synchronisation packet. */
void etrace_encoder_forget_window(ETraceEncoder *enc);

/* True if packets can be sent: after a loss, as soon as the sink is ready. */
bool etrace_encoder_recover(ETraceEncoder *enc);

/* The window ends with the held block; sends a support packet. */
void etrace_encoder_close_window(ETraceEncoder *enc);

#endif /* HW_TRACE_ETRACE_ENCODER_PRIVATE_H */
