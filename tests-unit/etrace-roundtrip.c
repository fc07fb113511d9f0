/*
 * A random hart, its encoder and the specification's decoder: packets
 *
 * The encoder's bytes go through the encapsulation and the packet parser to
 * the decoder of chapter 11. What that says is compared with what retired.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "hw/trace/etrace/encap.h"
#include "etrace-roundtrip.h"

static const RefInstr *world_get_instr(void *opaque, uint64_t pc)
{
    World *w = opaque;
    int i = random_program_find(&w->program, pc);

    return i < 0 ? NULL : &w->program.instr[i].ref;
}

static void world_report_pc(void *opaque, uint64_t pc)
{
    World *w = opaque;

    /* Not from the future: that would be luck. */
    g_assert_cmpuint(w->decoded, <, w->retired_count);
    g_assert_cmphex(pc, ==, w->retired[w->decoded].pc);
    w->decoded++;
    w->total_decoded++;
}

static void world_report_trap(void *opaque, const ETracePacket *te_inst)
{
    World *w = opaque;
    const Trap *t;

    g_assert_cmpuint(w->decoded_traps, <, w->trap_count);
    if (w->trap_gap) {
        w->decoded_traps = w->trap_count - 1;
        if (w->params.wire_format == ETRACE_WIRE_1_1_1 &&
            w->trap_again) {
            /* The one before the last is known when the last one comes. */
            w->decoded_traps--;
        }
        w->trap_gap = false;
    }
    t = &w->traps[w->decoded_traps++];
    g_assert_cmpuint(te_inst->ecause, ==, t->cause);
    g_assert_cmpuint(te_inst->interrupt, ==, t->interrupt);
    if (w->params.wire_format == ETRACE_WIRE_1_1_1 && !t->interrupt &&
        t->cause == 2) {
        g_assert_cmphex(te_inst->tval, ==, t->epc);
    } else {
        g_assert_cmphex(te_inst->tval, ==, t->interrupt ? 0 : t->tval);
    }
    if (!te_inst->thaddr) {
        g_assert_cmphex(te_inst->address, ==, t->epc);
        g_assert_cmpuint(te_inst->privilege, ==, t->priv);
    }
    w->total_traps++;
}

static void world_report_epc(void *opaque, uint64_t epc)
{
    World *w = opaque;
    const Trap *t = &w->traps[w->decoded_traps - 1];

    if (t->epc_inferable && !w->gap) {
        g_assert_cmphex(epc, ==, t->epc);
    }
}

static uint64_t world_trap_handler(void *opaque, const ETracePacket *te_inst)
{
    World *w = opaque;

    return w->program.instr[w->tvec[te_inst->privilege]].pc;
}

const RefDecoderOps roundtrip_decoder_ops = {
    .get_instr = world_get_instr,
    .report_pc = world_report_pc,
    .report_trap = world_report_trap,
    .report_epc = world_report_epc,
    .trap_handler = world_trap_handler,
};

/* What format 3 packets say about the world beside the program */
static void check_context(World *w, const ETracePacket *pkt)
{
    if (pkt->format != 3 || pkt->subformat == 3) {
        return;
    }
    g_assert_cmphex(pkt->context, ==, w->context);
    g_assert_cmphex(pkt->time, ==, w->time);
    w->ctype = ETRACE_CTYPE_UNREPORTED;
    w->sync_address = pkt->subformat < 2 ? pkt->address : 1;
}

/* Every pc is decoded with the privilege that it retired with. */
static void check_privilege(World *w, const ETracePacket *pkt)
{
    for (unsigned i = w->packet_first; i < w->decoded; i++) {
        /* A sync packet's privilege is that of the instruction it reports. */
        bool last_of_sync = pkt->format == 3 && pkt->subformat < 2 &&
                            i + 1 == w->decoded && !w->dec.handler_pending;

        g_assert_cmpuint(w->retired[i].priv, ==,
                         last_of_sync ? w->dec.privilege : w->packet_priv);
    }
}

static bool world_emit(void *opaque, const ETracePacket *pkt,
                       const uint8_t *payload, size_t len)
{
    World *w = opaque;
    uint8_t bytes[ETRACE_ENCAP_MAX];
    ETraceEncapPacket encap;
    ETracePacket out;
    size_t size;
    bool sync;

    if (random_chance(&w->program, w->mix->refuse)) {
        w->refusing = true;
        w->gap = true;
        w->trap_gap = true;
        w->total_lost++;
        return false;
    }
    g_assert_false(w->refusing);

    size = etrace_encap_wrap(&w->params, payload, len, bytes);
    g_assert(etrace_encap_parse(&w->params, bytes, size, &encap) ==
             ETRACE_ENCAP_PACKET);
    g_assert_cmpuint(encap.size, ==, size);
    g_assert(etrace_packet_unpack(&w->dec.discovery_response, encap.payload,
                                  encap.len, &out));
    if (pkt->format == 3 && pkt->subformat == 1 &&
        !etrace_packet_trap_has_address(&w->enc.params, pkt)) {
        out.address = pkt->address;
        w->total_kind[2]++;
    }
    etrace_test_same(&out, pkt);
    check_context(w, pkt);
    w->total_packets++;
    w->total_kind[out.format * 4 + (out.format % 3 ? 0 : out.subformat)]++;
    w->total_bytes += size;
    g_checksum_update(w->bytes[w->one_by_one], bytes, size);

    /* "it will be followed immediately by a format 3 te_inst" */
    g_assert(out.format == 3 || !w->updiscon);
    w->updiscon = out.updiscon;

    /* A window starts at the block at hand; before it only losses. */
    sync = out.format == 3 && out.subformat < 2 &&
           (out.subformat == 0 || out.thaddr);
    if (w->gap) {
        g_assert(out.format == 3);
        if (sync) {
            g_assert_cmpuint(w->decoded, <=, w->block_index);
            w->decoded = w->block_index;
            if (w->trap_gap && out.subformat == 0) {
                w->decoded_traps = w->trap_count;
                w->trap_gap = false;
            }
        }
    } else if (sync && w->dec.start_of_trace) {
        g_assert_cmpuint(w->decoded, ==, w->block_index);
    }
    w->packet_first = w->decoded;
    w->packet_priv = w->dec.privilege;
    if (!ref_decoder_process(&w->dec, &out)) {
        g_error("decoder: %s", w->dec.error);
    }
    check_privilege(w, &out);
    if (sync) {
        w->gap = false;
    }
    return true;
}

static bool world_emit_many(void *opaque, const uint8_t *packets, size_t size,
                            unsigned n)
{
    const uint8_t *end = packets + size;
    World *w = opaque;

    for (; n; n--) {
        uint8_t bytes[ETRACE_ENCAP_MAX];
        ETraceEncapPacket encap;
        ETracePacket pkt;

        g_assert(etrace_encap_parse(&w->enc.params, packets, end - packets,
                                    &encap) == ETRACE_ENCAP_PACKET);
        g_assert_cmpmem(bytes, etrace_encap_wrap(&w->enc.params, encap.payload,
                                                 encap.len, bytes),
                        packets, encap.size);
        g_assert(etrace_packet_unpack(&w->enc.params, encap.payload,
                                      encap.len, &pkt));
        g_assert(pkt.format != 3);
        if (!world_emit(w, &pkt, encap.payload, encap.len)) {
            return false;
        }
        packets += encap.size;
    }
    g_assert(packets == end);
    return true;
}

static bool world_ready(void *opaque)
{
    World *w = opaque;

    if (random_chance(&w->program, 300)) {
        w->refusing = false;
        return true;
    }
    return false;
}

const ETraceEncoderOps roundtrip_encoder_ops = {
    .emit = world_emit,
    .ready = world_ready,
    .emit_many = world_emit_many,
};

const ETraceEncoderOps roundtrip_one_by_one_ops = {
    .emit = world_emit,
    .ready = world_ready,
};
