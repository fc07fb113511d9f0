/*
 * E-Trace instruction trace encoder: blocks in, packets out
 *
 * Figure 8.1 looks at three instructions: previous, current and next. Here the
 * last block is held until its successor arrives; then the held block's last
 * instruction goes through the figure (its next is known now), then the first
 * one of the new block (its previous is known). Instructions in between are of
 * no interest. An instruction that is a block of its own is both: what it has
 * to say as a first instruction waits until its next is known, too.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-encoder.h"

/* The branch map holds this many. */
#define BRANCHES_MAX 31

/* The green diamond: what follows the current instruction */
typedef enum ETraceNext {
    NEXT_PLAIN,             /* another one that retires */
    NEXT_TRAP,              /* exc_only */
    NEXT_PRIVILEGE,         /* ppccd: one that retires, privilege changed */
    NEXT_UNQUALIFIED,       /* the end of the window */
} ETraceNext;

static bool is_inferable_jump(unsigned itype)
{
    return itype == ETRACE_ITYPE_INFERABLE_CALL ||
           itype == ETRACE_ITYPE_INFERABLE_JUMP ||
           itype == ETRACE_ITYPE_OTHER_INFERABLE_JUMP;
}

/* Is this instruction the only one of its block? */
static bool is_single(const ETraceBlock *b)
{
    return b->iretire == 1u << b->ilastsize;
}

/*
 * Packets
 */

/* Forget the window: what comes next starts from a synchronisation packet. */
static void forget_window(ETraceEncoder *enc)
{
    enc->started = false;
    enc->have_last = false;
    enc->last_reported = false;
    enc->last_is_target = false;
    enc->have_trap = false;
    enc->branches = 0;
    enc->branch_map = 0;
    enc->resync_count = 0;
    enc->resync_due = false;
    enc->run_count = 0;
    enc->target_revisited = false;
    enc->maybe_inferred = false;
}

/*
 * Nothing is sent after a loss until recover() has forgotten the window, whose
 * state means nothing any more, and reported the loss.
 */
static void send_packet(ETraceEncoder *enc, const ETracePacket *pkt)
{
    uint8_t payload[ETRACE_PACKET_MAX];
    size_t len;

    if (enc->lost) {
        return;
    }
    len = etrace_packet_pack(&enc->params, pkt, payload);
    if (!enc->ops->emit(enc->opaque, pkt, payload, len)) {
        enc->lost = true;
    }
}

static void count_resync(ETraceEncoder *enc, ETraceSyncMode unit, unsigned n)
{
    if (enc->sync_mode == unit) {
        enc->resync_count += n;
        if (enc->resync_count >= enc->sync_max) {
            enc->resync_due = true;
        }
    }
}

static void send_support(ETraceEncoder *enc, ETraceQualStatus qual_status)
{
    ETracePacket pkt = {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_SUPPORT,
        .ienable = enc->enabled,
        .qual_status = qual_status,
        .ioptions = enc->ioptions,
    };

    send_packet(enc, &pkt);
}

/* Signed, and wraps at iaddress_width_p. */
static uint64_t address_field(const ETraceEncoder *enc, uint64_t pc)
{
    if (!(enc->ioptions & ETRACE_IOPT_FULL_ADDRESS)) {
        pc -= enc->address;
    }
    return enc->params.iaddress_width == 32 ? (uint64_t)(int32_t)pc : pc;
}

/* "Send te_inst: format 0/1/2": @pc and whatever branches there are */
static void send_address(ETraceEncoder *enc, uint64_t pc, bool notify,
                         bool updiscon)
{
    ETracePacket pkt = {
        .format = enc->branches ? ETRACE_FORMAT_DIFF_DELTA
                                : ETRACE_FORMAT_ADDR_ONLY,
        .branches = enc->branches,
        .branch_map = enc->branch_map,
        .notify = notify,
        .updiscon = updiscon,
        .address = address_field(enc, pc),
    };

    send_packet(enc, &pkt);
    enc->address = pc;
    enc->branches = 0;
    enc->branch_map = 0;
    enc->maybe_inferred = false;
    count_resync(enc, ETRACE_SYNC_PACKETS, 1);
}

/* "rpt_br": a full branch map */
static void send_branch_map(ETraceEncoder *enc)
{
    ETracePacket pkt = {
        .format = ETRACE_FORMAT_DIFF_DELTA,
        .branch_map = enc->branch_map,
    };

    send_packet(enc, &pkt);
    enc->branches = 0;
    enc->branch_map = 0;
    count_resync(enc, ETRACE_SYNC_PACKETS, 1);
}

static void synchronised(ETraceEncoder *enc)
{
    enc->branches = 0;
    enc->branch_map = 0;
    enc->maybe_inferred = false;
    enc->resync_count = 0;
    enc->resync_due = false;
}

/* @branch as in section 6.2: 0 for a taken branch at the reported address */
static void send_start(ETraceEncoder *enc, const ETraceBlock *b, bool branch)
{
    ETracePacket pkt = {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_START,
        .branch = branch,
        .privilege = b->priv,
        .address = b->iaddr,
    };

    send_packet(enc, &pkt);
    enc->address = b->iaddr;
    synchronised(enc);
}

/* The pending trap, with the first instruction @b of its handler */
static void send_trap_handler(ETraceEncoder *enc, const ETraceBlock *b,
                              bool branch)
{
    bool interrupt = enc->trap.itype == ETRACE_ITYPE_INTERRUPT;
    ETracePacket pkt = {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_TRAP,
        .branch = branch,
        .privilege = b->priv,
        .ecause = enc->trap.cause,
        .interrupt = interrupt,
        .thaddr = true,
        .address = b->iaddr,
        .tval = interrupt ? 0 : enc->trap_tval,
    };

    send_packet(enc, &pkt);
    enc->address = b->iaddr;
    synchronised(enc);
}

/*
 * The pending trap, alone. The text leaves address undefined unless the trap
 * hit the target of an updiscon; decoders were seen to look at it always, so
 * it is the EPC always. It is not the base of later differences: the decoder
 * returns before it looks at the address (chapter 11, process_te_inst).
 */
static void send_trap_alone(ETraceEncoder *enc)
{
    bool interrupt = enc->trap.itype == ETRACE_ITYPE_INTERRUPT;
    ETracePacket pkt = {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_TRAP,
        .branch = true,
        .privilege = enc->trap.priv,
        .ecause = enc->trap.cause,
        .interrupt = interrupt,
        .thaddr = false,
        .address = enc->trap.iaddr,
        .tval = interrupt ? 0 : enc->trap_tval,
    };

    send_packet(enc, &pkt);
    synchronised(enc);
}

/* True if packets can be sent: after a loss, as soon as the sink is ready. */
static bool recover(ETraceEncoder *enc)
{
    if (!enc->lost) {
        return true;
    }
    forget_window(enc);
    if (enc->ops->ready(enc->opaque)) {
        enc->lost = false;
        send_support(enc, ETRACE_QUAL_TRACE_LOST);
    }
    return !enc->lost;
}

/*
 * The run: what has retired since the last report or branch, as stretches of
 * code between inferable jumps. run[] holds the finished ones, run_start is
 * where the current one begins. The instruction reported last is not part of
 * it: the decoder starts from there and looks at the ones behind it.
 *
 * A decoder that is told "go on to address X" goes to the first X it comes to
 * once the branches are used up. Hence no instruction may be twice in a run
 * when an address is reported; a loop of inferable jumps alone would do that,
 * and the number of its iterations would be lost. So the jump at the end of
 * the stretch before the one that repeats is reported, with notify, which
 * says "here, and not the target of an updiscon". That may be done late, as
 * long as nothing else has been sent in between.
 *
 * Code that was executed twice in a row without a branch or an updiscon is an
 * infinite loop, so this costs nothing but there.
 */

static void run_restart(ETraceEncoder *enc, uint64_t pc)
{
    enc->run_count = 0;
    enc->run_start = pc;
}

/* Is @pc in the run? @last is the last instruction of the current stretch. */
static bool run_contains(const ETraceEncoder *enc, uint64_t last, uint64_t pc)
{
    if (pc >= enc->run_start && pc <= last) {
        return true;
    }
    for (unsigned i = 0; i < enc->run_count; i++) {
        if (pc >= enc->run[i].first && pc <= enc->run[i].last) {
            return true;
        }
    }
    return false;
}

/* Make sure that nothing up to @last is twice in the run. */
static void run_check(ETraceEncoder *enc, uint64_t last)
{
    for (unsigned i = 0; i < enc->run_count; i++) {
        if (enc->run_start <= enc->run[i].last &&
            enc->run[i].first <= last) {
            send_address(enc, enc->run[enc->run_count - 1].last, true, false);
            enc->run_count = 0;
            return;
        }
    }
}

/* An inferable jump at @pc ends the current stretch. */
static void run_jump(ETraceEncoder *enc, uint64_t pc, uint64_t target)
{
    run_check(enc, pc);
    if (enc->run_count == ETRACE_RUN_MAX) {
        send_address(enc, pc, true, false);
        enc->run_count = 0;
    } else {
        enc->run[enc->run_count++] = (ETraceRun) { enc->run_start, pc };
    }
    enc->run_start = target;
}

/*
 * Does @pc, which is not the target of an updiscon, have to be reported? The
 * decoder then takes it for the last one before a format 3 or support packet,
 * which must follow.
 */
static bool must_report(const ETraceEncoder *enc, ETraceNext next,
                        bool resync)
{
    unsigned itype = enc->last.itype;

    switch (next) {
    case NEXT_TRAP:
    case NEXT_UNQUALIFIED:
        return true;
    case NEXT_PRIVILEGE:
        /* ppccd_br */
        return enc->branches || enc->maybe_inferred;
    default:
        /*
         * resync_br. Without branches the decoder goes to the next
         * instruction directly, unless it could come by there earlier.
         */
        return resync &&
               (enc->branches || enc->maybe_inferred || enc->run_count ||
                is_inferable_jump(itype) || etrace_itype_is_updiscon(itype));
    }
}

/*
 * The current instruction is the last one of the held block; @next_pc is the
 * address of the next one, if there is one. @resync: the FSM of section 8.2 is
 * in state 2 for this instruction and will be in state 3 for the next one.
 *
 * maybe_inferred: the target of an updiscon was reported that is in the run
 * that leads to the updiscon. The decoder stops there early, and needs another
 * address (or ended_ntr) to see that it has to go on (section 6.6.2, case 1);
 * a format 3 would not tell it. No branch can come first: the way from there
 * leads to the updiscon again, and there was none on it the first time.
 */
static void finish_last(ETraceEncoder *enc, ETraceNext next, uint64_t next_pc,
                        bool resync)
{
    const ETraceBlock *b = &enc->last;
    uint64_t pc = etrace_block_last(b);
    bool is_branch = etrace_itype_is_branch(b->itype);

    if (is_branch && !enc->last_reported) {
        enc->branch_map |= (uint32_t)(b->itype ==
                                      ETRACE_ITYPE_NONTAKEN_BRANCH)
                           << enc->branches;
        enc->branches++;
    }

    if (enc->last_is_target) {
        bool updiscon = next != NEXT_PLAIN || resync;
        bool revisited = enc->target_revisited;

        send_address(enc, pc, false, updiscon);
        enc->maybe_inferred = revisited && !updiscon;
        run_restart(enc, next_pc);
        enc->target_revisited = false;
        return;
    }
    enc->target_revisited = false;
    if (enc->last_reported) {
        run_restart(enc, next_pc);
        return;
    }

    if (must_report(enc, next, resync)) {
        if (!is_branch) {
            run_check(enc, pc);
        }
        send_address(enc, pc, false, false);
        run_restart(enc, next_pc);
    } else if (is_branch) {
        if (enc->branches == BRANCHES_MAX) {
            send_branch_map(enc);
        }
        run_restart(enc, next_pc);
    } else if (is_inferable_jump(b->itype)) {
        run_jump(enc, pc, next_pc);
    } else if (etrace_itype_is_updiscon(b->itype)) {
        enc->target_revisited = run_contains(enc, pc, next_pc);
    }
}

/* The current instruction is the first one of @b; the previous one is known. */
static void process_first(ETraceEncoder *enc, const ETraceBlock *b,
                          bool resync)
{
    bool single = is_single(b);
    bool branch = !(single && b->itype == ETRACE_ITYPE_TAKEN_BRANCH);
    bool updiscon = enc->have_last && etrace_itype_is_updiscon(enc->last.itype);
    bool ppccd = enc->have_last && enc->last.priv != b->priv;

    enc->last_reported = false;
    enc->last_is_target = false;
    if (enc->have_trap && !enc->trap_reported) {
        send_trap_handler(enc, b, branch);
        enc->last_reported = single;
    } else if (!enc->started || enc->have_trap || ppccd || resync) {
        send_start(enc, b, branch);
        enc->last_reported = single;
    } else if (updiscon && single) {
        enc->last_is_target = true;
        return;
    } else if (updiscon) {
        bool revisited = enc->target_revisited;

        send_address(enc, b->iaddr, false, false);
        enc->maybe_inferred = revisited;
    } else {
        return;
    }
    /* The size of the first instruction is unknown, but 2 at least. */
    run_restart(enc, b->iaddr + 2);
    enc->have_trap = false;
    enc->started = true;
}

static void process_trap(ETraceEncoder *enc, const ETraceBlock *b,
                         uint64_t tval)
{
    /* Previous instruction is an updiscon, unknown, or ppccd */
    bool alone = !enc->started ||
                 (enc->have_last &&
                  (etrace_itype_is_updiscon(enc->last.itype) ||
                   enc->last.priv != b->priv));

    if (enc->have_last) {
        finish_last(enc, NEXT_TRAP, 0, false);
        enc->have_last = false;
    } else if (enc->have_trap && !enc->trap_reported) {
        send_trap_alone(enc);
    }
    if (enc->lost) {
        if (!recover(enc)) {
            return;
        }
        /* The first thing in a new window */
        alone = true;
    }

    enc->trap = *b;
    enc->trap_tval = tval;
    enc->have_trap = true;
    enc->trap_reported = alone;
    enc->started = true;
    if (alone) {
        send_trap_alone(enc);
    }
}

static void close_window(ETraceEncoder *enc)
{
    ETraceQualStatus qual_status = ETRACE_QUAL_ENDED_REP;

    if (enc->have_last) {
        /* Its packet is due in any case. */
        if (enc->last_is_target) {
            qual_status = ETRACE_QUAL_ENDED_NTR;
        }
        finish_last(enc, NEXT_UNQUALIFIED, 0, false);
    } else if (enc->have_trap && !enc->trap_reported) {
        send_trap_alone(enc);
    }
    send_support(enc, qual_status);
    forget_window(enc);
}

void etrace_encoder_init(ETraceEncoder *enc, const ETraceParams *params,
                         const ETraceEncoderOps *ops, void *opaque)
{
    *enc = (ETraceEncoder) {
        .params = *params,
        .ops = ops,
        .opaque = opaque,
    };
}

void etrace_encoder_start(ETraceEncoder *enc)
{
    if (enc->started) {
        close_window(enc);
    }
    enc->enabled = true;
    if (enc->lost) {
        recover(enc);
    } else {
        send_support(enc, ETRACE_QUAL_NO_CHANGE);
    }
}

void etrace_encoder_block(ETraceEncoder *enc, const ETraceBlock *block,
                          uint64_t tval)
{
    /*
     * Packets count as they are sent below, but an instruction has to keep
     * the state that it started in.
     */
    bool resync = enc->resync_due;

    if (!enc->enabled) {
        return;
    }
    if (etrace_itype_is_trap(block->itype)) {
        assert(block->iretire == 0);
        process_trap(enc, block, tval);
        return;
    }
    if (block->iretire == 0) {
        return;
    }

    if (enc->have_last) {
        ETraceNext next = NEXT_PLAIN;

        if (enc->last.priv != block->priv) {
            next = NEXT_PRIVILEGE;
            /* The decoder expects it behind an xRET only. */
            if (enc->last.itype != ETRACE_ITYPE_TRAP_RETURN) {
                close_window(enc);
            }
        }
        if (enc->have_last) {
            finish_last(enc, next, block->iaddr, resync);
        }
    }
    if (!recover(enc)) {
        return;
    }
    process_first(enc, block, resync);
    enc->last = *block;
    enc->have_last = true;
    count_resync(enc, ETRACE_SYNC_HALFWORDS, block->iretire);
}

void etrace_encoder_end_window(ETraceEncoder *enc)
{
    if (enc->started) {
        close_window(enc);
    }
}

void etrace_encoder_stop(ETraceEncoder *enc)
{
    if (!enc->enabled) {
        return;
    }
    enc->enabled = false;
    if (enc->lost) {
        recover(enc);
    } else if (enc->started) {
        close_window(enc);
    } else {
        send_support(enc, ETRACE_QUAL_NO_CHANGE);
    }
}
