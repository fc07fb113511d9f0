/*
 * E-Trace instruction trace encoder: the boxes of Figure 8.1, packets
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "encoder-private.h"
#include "../packet-plain.h"

/* branch_count is at its maximum when this many were predicted correctly. */
#define PBC_MAX (UINT32_MAX + (uint64_t)ETRACE_BRANCHES_MAX)

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

/* The one that is shorter, @b if there is no difference */
static void send_shorter(ETraceEncoder *enc, const ETracePacket *a,
                         const ETracePacket *b)
{
    uint8_t payload_a[ETRACE_PACKET_MAX], payload_b[ETRACE_PACKET_MAX];
    size_t len_a, len_b;
    bool sent;

    if (enc->lost) {
        return;
    }
    len_a = etrace_packet_pack(&enc->params, a, payload_a);
    len_b = etrace_packet_pack(&enc->params, b, payload_b);
    if (len_a < len_b) {
        sent = enc->ops->emit(enc->opaque, a, payload_a, len_a);
    } else {
        sent = enc->ops->emit(enc->opaque, b, payload_b, len_b);
    }
    enc->lost = !sent;
}

void etrace_encoder_send_support(ETraceEncoder *enc,
                                 ETraceQualStatus qual_status)
{
    ETracePacket pkt = {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_SUPPORT,
        .ienable = enc->enabled,
        .qual_status = qual_status,
        .denable = enc->denable,
        .dloss = enc->dloss,
        .resync_disabled = etrace_encoder_is_2_1(enc) &&
                           enc->sync_mode == ETRACE_SYNC_OFF,
    };

    etrace_packet_set_support(&pkt, &enc->params);
    send_packet(enc, &pkt);
    enc->dloss &= enc->lost;
}

/* A signed difference, or the address; both wrap at iaddress_width_p. */
static uint64_t address_field(const ETraceEncoder *enc, uint64_t pc)
{
    bool narrow = enc->params.iaddress_width == 32;

    if (enc->params.ioptions & ETRACE_IOPT_FULL_ADDRESS) {
        return narrow ? (uint32_t)pc : pc;
    }
    pc -= enc->address;
    return narrow ? (uint64_t)(int32_t)pc : pc;
}

/* Format 0 subformat 0, 1 or 2 was sent: all branches are reported. */
static void branches_reported(ETraceEncoder *enc)
{
    enc->branches = 0;
    enc->branch_map = 0;
    enc->map_failed = false;
    enc->branch_failed = false;
    enc->pbc = 0;
    etrace_encoder_no_iret(enc);
    etrace_encoder_count_resync(enc, ETRACE_SYNC_PACKETS, 1);
}

/* @pc in format 1 or 2, with none of what may be behind the address */
static void send_plain_address(ETraceEncoder *enc, uint64_t pc)
{
    const ETraceParams *p = &enc->params;
    const unsigned narrow = 64 - p->iaddress_width;
    const ETracePlainHead head = etrace_plain_head(p);
    uint8_t bytes[ETRACE_PLAIN_WRAP_MAX];
    int64_t diff = (int64_t)((pc - enc->address) << narrow) >>
                   (p->iaddress_lsb + narrow);
    size_t size = etrace_plain_wrap(bytes, &head,
                                    etrace_plain_address(enc->branches,
                                                         enc->branch_map,
                                                         diff));

    enc->lost = !enc->ops->emit_many(enc->opaque, bytes, size, 1);
}

/* Any packet that has an address, or an index in the cache */
static void send_any_address(ETraceEncoder *enc, const ETraceReport *r,
                             bool cached)
{
    ETracePacket pkt = {
        .format = enc->branches ? ETRACE_FORMAT_DIFF_DELTA
                                : ETRACE_FORMAT_ADDR_ONLY,
        .branches = enc->branches,
        .branch_map = enc->branch_map,
        .notify = r->notify,
        .updiscon = r->updiscon,
        .irreport = r->irreport,
        .irdepth = r->irdepth,
        .irets = r->irets,
        .address = address_field(enc, r->pc),
    };

    if (enc->pbc) {
        pkt.format = ETRACE_FORMAT_OPT_EXT;
        pkt.subformat = ETRACE_OPT_BRANCH_COUNT;
        pkt.branch_count = enc->pbc - ETRACE_BRANCHES_MAX;
        pkt.branch_fmt = enc->branch_failed ? ETRACE_BRANCH_FMT_ADDR_FAIL
                                            : ETRACE_BRANCH_FMT_ADDR;
        send_packet(enc, &pkt);
    } else if (cached && !r->notify && !r->updiscon) {
        ETracePacket jump = {
            .format = ETRACE_FORMAT_OPT_EXT,
            .subformat = ETRACE_OPT_JUMP_TARGET,
            .index = etrace_jump_cache_index(&enc->cache, r->pc),
            .branches = enc->branches,
            .branch_map = enc->branch_map,
            .irreport = r->irreport,
            .irdepth = r->irdepth,
            .irets = r->irets,
        };

        send_shorter(enc, &jump, &pkt);
    } else {
        send_packet(enc, &pkt);
    }
}

void etrace_encoder_send_address(ETraceEncoder *enc, const ETraceReport *r)
{
    bool cached = false;

    if (r->target && (enc->params.ioptions & ETRACE_IOPT_JUMP_TARGET_CACHE)) {
        cached = etrace_encoder_cached(enc, r->pc);
    }
    if (enc->ops->emit_many && !enc->lost && !enc->pbc && !cached &&
        !r->notify && !r->updiscon && !r->irreport &&
        !(enc->params.ioptions & ETRACE_IOPT_FULL_ADDRESS)) {
        send_plain_address(enc, r->pc);
    } else {
        send_any_address(enc, r, cached);
    }
    enc->address = r->pc;
    enc->maybe_inferred = false;
    branches_reported(enc);
}

void etrace_encoder_flush_branches(ETraceEncoder *enc, uint64_t pc)
{
    if (enc->branch_failed) {
        ETracePacket pkt = {
            .format = ETRACE_FORMAT_OPT_EXT,
            .subformat = ETRACE_OPT_BRANCH_COUNT,
            .branch_count = enc->pbc - ETRACE_BRANCHES_MAX,
            .branch_fmt = ETRACE_BRANCH_FMT_NO_ADDR,
        };

        send_packet(enc, &pkt);
        branches_reported(enc);
    } else if (enc->branches == ETRACE_BRANCHES_MAX) {
        ETracePacket pkt = {
            .format = ETRACE_FORMAT_DIFF_DELTA,
            .branch_map = enc->branch_map,
        };

        send_packet(enc, &pkt);
        branches_reported(enc);
    } else if (enc->pbc == PBC_MAX) {
        ETraceReport r = { .pc = pc };

        etrace_encoder_send_address(enc, &r);
    }
}

/*
 * A synchronisation packet has been sent. The draft 2.0.5 resets stack and
 * predictor only at the start of a trace if there is no resynchronisation
 * (chapter 11, resync_disabled).
 */
static void synchronised(ETraceEncoder *enc)
{
    branches_reported(enc);
    enc->maybe_inferred = false;
    enc->resync_count = 0;
    enc->resync_due = false;
    if (!enc->keep_history) {
        etrace_return_stack_reset(&enc->stack);
        etrace_predictor_reset(&enc->predictor);
    }
    etrace_jump_cache_reset(&enc->cache);
    enc->context_due = ETRACE_CTYPE_UNREPORTED;
}

void etrace_encoder_send_start(ETraceEncoder *enc, const ETraceBlock *b,
                               bool branch)
{
    ETracePacket pkt = {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_START,
        .branch = branch,
        .privilege = b->priv,
        .time = enc->time,
        .context = enc->context,
        .address = b->iaddr,
    };

    send_packet(enc, &pkt);
    enc->address = b->iaddr;
    synchronised(enc);
}

/* What every packet for the pending trap has */
static void init_trap(const ETraceEncoder *enc, ETracePacket *pkt)
{
    bool interrupt = enc->trap.itype == ETRACE_ITYPE_INTERRUPT;

    *pkt = (ETracePacket) {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_TRAP,
        .time = enc->time,
        .context = enc->context,
        .ecause = enc->trap.cause,
        .interrupt = interrupt,
        .tval = interrupt ? 0 : enc->trap_tval,
    };
}

/* @handler is its first instruction, and @branch about that. */
static void send_handler(ETraceEncoder *enc, uint64_t handler, uint8_t priv,
                         bool branch)
{
    uint8_t ioptions = enc->params.ioptions;
    ETracePacket pkt;
    bool toggle;

    init_trap(enc, &pkt);
    pkt.branch = branch;
    pkt.privilege = priv;
    pkt.thaddr = true;
    pkt.address = handler;
    if (etrace_encoder_is_1_1_1(enc) && !pkt.interrupt && pkt.ecause == 2) {
        /* tvalepc: the address of an illegal instruction */
        pkt.tval = enc->trap.iaddr;
    }
    /* The draft 1.1.1 has no other way to leave an address in. */
    toggle = (ioptions & ETRACE_IOPT_IMPLICIT_EXCEPT) &&
             !(enc->trap.flags & ETRACE_BLOCK_TVEC);
    if (toggle) {
        enc->params.ioptions &= ~ETRACE_IOPT_IMPLICIT_EXCEPT;
        etrace_encoder_send_support(enc, ETRACE_QUAL_NO_CHANGE);
    }
    send_packet(enc, &pkt);
    if (toggle) {
        enc->params.ioptions = ioptions;
        etrace_encoder_send_support(enc, ETRACE_QUAL_NO_CHANGE);
    }
    enc->address = handler;
    synchronised(enc);
}

void etrace_encoder_send_trap_handler(ETraceEncoder *enc,
                                      const ETraceBlock *b, bool branch)
{
    send_handler(enc, b->iaddr, b->priv, branch);
}

/*
 * The text leaves address undefined unless the trap hit the target of an
 * updiscon; decoders were seen to look at it always, so it is the EPC always.
 * It is not the base of later differences: the decoder returns before it looks
 * at the address (chapter 11, process_te_inst).
 */
void etrace_encoder_send_trap_alone(ETraceEncoder *enc, uint64_t handler,
                                    uint8_t priv)
{
    ETracePacket pkt;

    if (etrace_encoder_is_1_1_1(enc)) {
        if (handler) {
            send_handler(enc, handler, priv, true);
            etrace_encoder_send_support(enc, ETRACE_QUAL_NO_CHANGE);
        }
        return;
    }
    init_trap(enc, &pkt);
    pkt.branch = true;
    pkt.privilege = enc->trap.priv;
    pkt.address = enc->trap.iaddr;
    send_packet(enc, &pkt);
    synchronised(enc);
}

void etrace_encoder_send_context(ETraceEncoder *enc, uint8_t priv)
{
    ETracePacket pkt = {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_CONTEXT,
        .privilege = priv,
        .time = enc->time,
        .context = enc->context,
    };

    send_packet(enc, &pkt);
    enc->context_due = ETRACE_CTYPE_UNREPORTED;
}
