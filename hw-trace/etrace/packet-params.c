/*
 * E-Trace parameters: what packets can have, and what support packets report
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "encap.h"
#include "packet.h"
#include "jump-cache.h"
#include "predictor.h"
#include "return-stack.h"

/* Section 6.3's table, the longest, for an exception */
static unsigned trap_bits(const ETraceParams *p)
{
    return 2 + 2 + 1 + p->privilege_width + p->time_width + p->context_width +
           p->ecause_width + 1 + 1 + p->iaddress_width - p->iaddress_lsb +
           p->iaddress_width;
}

/* What the Standard Support Packet of the draft 2.1 has no room for */
static const char *support_problem(const ETraceParams *p)
{
    if (p->time_width % 16 || p->time_width > 7 * 16) {
        return "wire format 2.1: time_width is a multiple of 16";
    }
    if (p->return_stack_size > 7 || p->bpred_size > 7 || p->cache_size > 7) {
        return "wire format 2.1: return_stack_size, bpred_size and "
               "cache_size are at most 7";
    }
    return NULL;
}

static const char *data_problem(const ETraceParams *p)
{
    if (p->data_width != 8 && p->data_width != 16 && p->data_width != 32 &&
        p->data_width != 64 && p->data_width != 128) {
        return "data_width is 0 (no data trace), 8, 16, 32, 64 or 128";
    }
    if (p->daddress_width == 0 || p->daddress_width > 64) {
        return "daddress_width is 1 to 64 if there is data trace";
    }
    if (p->lrid_width > ETRACE_LRID_WIDTH_MAX) {
        return "lrid_width is at most 8";
    }
    if (p->dtype_width > 4) {
        return "dtype_width is at most 4";
    }
    return NULL;
}

const char *etrace_params_problem(const ETraceParams *p)
{
    if (p->wire_format >= ETRACE_WIRE_MAX) {
        return "this wire format is not known";
    }
    if (p->iaddress_width != 32 && p->iaddress_width != 64) {
        return "iaddress_width is 32 or 64";
    }
    if (p->iaddress_lsb > 2) {
        return "iaddress_lsb is at most 2";
    }
    if (p->privilege_width < 2 || p->privilege_width > 3) {
        return "privilege_width is 2 or 3";
    }
    if (p->ecause_width < 1 || p->ecause_width > 8) {
        return "ecause_width is 1 to 8";
    }
    if (p->time_width > 64 || p->context_width > 64) {
        return "time_width and context_width are at most 64";
    }
    if (p->wire_format == ETRACE_WIRE_1_1_1 && p->time_width) {
        return "wire format 1.1.1 knows no time: time_width is 0";
    }
    if (p->return_stack_size > ETRACE_RETURN_STACK_BITS_MAX ||
        p->call_counter_size > 15) {
        return "return_stack_size is at most 7, call_counter_size 15";
    }
    if (!p->return_stack_size &&
        p->call_counter_size > ETRACE_RETURN_STACK_BITS_MAX) {
        return "call_counter_size is at most 7 without a return stack";
    }
    if (p->bpred_size > ETRACE_BPRED_SIZE_MAX ||
        p->cache_size > ETRACE_CACHE_SIZE_MAX) {
        return "bpred_size is at most 12, cache_size 10";
    }
    if (p->f0s_width > 3) {
        return "f0s_width is at most 3";
    }
    if (p->bpred_size && p->cache_size && !p->f0s_width) {
        /* Section 6.8.1 */
        return "f0s_width is at least 1 if there is a branch predictor and a "
               "jump target cache";
    }
    if (p->sijump > 1) {
        return "sijump is 0 or 1";
    }
    if (p->src_bits > 16) {
        return "src_bits is at most 16";
    }
    if (p->ts_bytes > 8) {
        return "ts_bytes is at most 8";
    }
    if (trap_bits(p) > ETRACE_PACKET_MAX * 8 - etrace_encap_odd_bits(p)) {
        return "trap packets of these widths are longer than 31 bytes";
    }
    if (p->wire_format == ETRACE_WIRE_2_1_DRAFT && support_problem(p)) {
        return support_problem(p);
    }
    return p->data_width ? data_problem(p) : NULL;
}

bool etrace_params_valid(const ETraceParams *params)
{
    return etrace_params_problem(params) == NULL;
}

bool etrace_params_follow(ETraceParams *params, const ETracePacket *pkt)
{
    ETraceParams next = *params;

    next.ioptions = pkt->ioptions;
    next.doptions = pkt->doptions;
    if (params->wire_format == ETRACE_WIRE_2_1_DRAFT) {
        next.time_width = pkt->time_width;
        next.f0s_width = pkt->f0s_width;
        next.return_stack_size = pkt->return_stack_size;
        next.call_counter_size = pkt->call_counter_size;
        next.bpred_size = pkt->bpred_size;
        next.cache_size = pkt->cache_size;
        if (!pkt->iret_ext || (params->data_width && !pkt->mmacas_ext)) {
            return false;
        }
    }
    if (!etrace_params_valid(&next)) {
        return false;
    }
    *params = next;
    return true;
}

void etrace_packet_set_support(ETracePacket *pkt, const ETraceParams *params)
{
    pkt->ioptions = params->ioptions;
    pkt->doptions = params->doptions;
    if (params->wire_format == ETRACE_WIRE_1_1_1) {
        pkt->doptions = 0;
    } else if (params->wire_format == ETRACE_WIRE_2_1_DRAFT) {
        pkt->iret_ext = true;
        pkt->mmacas_ext = params->data_width != 0;
        pkt->time_width = params->time_width;
        pkt->f0s_width = params->f0s_width;
        pkt->return_stack_size = params->return_stack_size;
        pkt->call_counter_size = params->call_counter_size;
        pkt->bpred_size = params->bpred_size;
        pkt->cache_size = params->cache_size;
    }
}
