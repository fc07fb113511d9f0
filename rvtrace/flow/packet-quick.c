/*
 * Packets that fit in a word
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "flow/packet-quick.h"

/* Bits of a branch map, by the number of branches in it (section 6.7) */
static const uint8_t map_width[32] = {
    31, 1, 3, 3, 7, 7, 7, 7, 15, 15, 15, 15, 15, 15, 15, 15,
    31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31,
};

/*
 * Is the packet that ends below bit @end nothing but that: its sign above, and
 * no byte too many?
 */
static bool ends_at(int64_t word, size_t len, unsigned end)
{
    int64_t sign = word >> (end - 1);

    return len <= (end + 7) / 8 && (sign == 0 || sign == -1);
}

/*
 * The address is all that is left from bit @pos on: bits that identify notify,
 * updiscon, irreport and what goes with that lie beyond the word, so they are
 * equal to the bit before them, which means that there is nothing to report.
 */
static void take_address(const ETraceParams *params, int64_t word,
                         unsigned pos, ETracePacket *pkt)
{
    pkt->address = (uint64_t)(word >> pos) << params->iaddress_lsb;
}

static bool quick_branches(const ETraceParams *params, int64_t word,
                           size_t len, ETracePacket *pkt)
{
    unsigned width;

    pkt->branches = (word >> 2) & 31;
    width = map_width[pkt->branches];
    if (!pkt->branches) {
        pkt->branch_map = (word >> 7) & 0x7fffffff;
        return ends_at(word, len, 7 + width);
    }
    pkt->branch_map = (word >> 7) & ((1u << pkt->branches) - 1);
    take_address(params, word, 7 + width, pkt);
    return true;
}

static bool quick_count(const ETraceParams *params, int64_t word, size_t len,
                        ETracePacket *pkt)
{
    unsigned pos = 2 + params->f0s_width;

    pkt->subformat = (word >> 2) & ((1u << params->f0s_width) - 1);
    if (!params->f0s_width || pkt->subformat != ETRACE_OPT_BRANCH_COUNT ||
        !params->bpred_size) {
        return false;
    }
    pkt->branch_count = word >> pos;
    pkt->branch_fmt = (word >> (pos + 32)) & 3;
    switch (pkt->branch_fmt) {
    case ETRACE_BRANCH_FMT_NO_ADDR:
        return ends_at(word, len, pos + 34);
    case ETRACE_BRANCH_FMT_ADDR:
    case ETRACE_BRANCH_FMT_ADDR_FAIL:
        take_address(params, word, pos + 34, pkt);
        return true;
    default:
        return false;
    }
}

bool packet_quick(const ETraceParams *params, int64_t word, size_t len,
                  ETracePacket *pkt)
{
    /* Only then does an address reach to the end of the word. */
    if (params->iaddress_width != 64 || params->iaddress_lsb > 2) {
        return false;
    }
    *pkt = (ETracePacket) { .format = word & 3 };
    switch (pkt->format) {
    case ETRACE_FORMAT_OPT_EXT:
        return quick_count(params, word, len, pkt);
    case ETRACE_FORMAT_DIFF_DELTA:
        return quick_branches(params, word, len, pkt);
    case ETRACE_FORMAT_ADDR_ONLY:
        take_address(params, word, 2, pkt);
        return true;
    default:
        return false;
    }
}

bool packet_quick_data(const ETraceParams *params, int64_t word,
                       ETraceDataPacket *pkt)
{
    unsigned size = (word >> 3) & 3, pos = 7 + size, width, shift;

    /*
     * Only then are widths these: 3, 2, 2, size, that of the data, and 64 of
     * the address, which reaches to the end of the word.
     */
    if (params->wire_format != ETRACE_WIRE_2_0 || params->data_width != 64 ||
        params->daddress_width != 64 || params->dtype_width == 1 ||
        params->lrid_width ||
        (params->doptions & (ETRACE_DOPT_NO_ADDRESS | ETRACE_DOPT_NO_DATA))) {
        return false;
    }
    *pkt = (ETraceDataPacket) {
        .format = word & 7,
        .size = size,
        .diff = (word >> 5) & 3,
        .data_len = (word >> 7) & ((1u << size) - 1),
    };
    width = 8 * (pkt->data_len + 1);
    if (pkt->format > ETRACE_DATA_STORE_UNALIGNED || pos + width > 63) {
        return false;
    }
    shift = 64 - pos - width;
    pkt->data = (int64_t)((uint64_t)word << shift) >> (64 - width);
    if (size < 3) {
        pkt->data &= (1ull << (8 << size)) - 1;
    }
    pkt->address = (uint64_t)(word >> (pos + width)) <<
                   (pkt->format == ETRACE_DATA_LOAD ||
                    pkt->format == ETRACE_DATA_STORE ? size : 0);
    return true;
}
