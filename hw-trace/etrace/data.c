/*
 * E-Trace data trace: accesses to packets, and back
 *
 * What the text leaves open, and how it is kept from mattering:
 *  - Whether a CSR access is "the previous access of the same size" of a load
 *    or store is not said. So CSRs are always sent in full, and so is the
 *    next access that has the size of a CSR.
 *  - An aligned format shifts the address, and a difference to an unaligned
 *    address would lose bits: it is sent in full.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "data.h"
#include "packet-bits.h"

static bool is_csr(const ETraceDataAccess *access)
{
    return access->dtype >= ETRACE_DTYPE_CSR_RW &&
           access->dtype <= ETRACE_DTYPE_CSR_RC;
}

static uint64_t value_mask(unsigned size)
{
    return etrace_ones(8u << size);
}

static bool no_address(const ETraceParams *params)
{
    return params->doptions & ETRACE_DOPT_NO_ADDRESS;
}

static bool no_data(const ETraceParams *params)
{
    return params->doptions & ETRACE_DOPT_NO_DATA;
}

void etrace_data_reset(ETraceDataState *state)
{
    memset(state->known, false, sizeof(state->known));
}

static void remember(ETraceDataState *state, const ETraceDataAccess *access)
{
    unsigned size = access->size;

    state->known[size] = !is_csr(access);
    state->address[size] = access->address;
    state->data[size] = access->data;
}

static bool is_shifted(const ETraceDataPacket *pkt)
{
    return pkt->format != ETRACE_DATA_LOAD_UNALIGNED &&
           pkt->format != ETRACE_DATA_STORE_UNALIGNED;
}

/* Bits from which @value can be sign-extended */
static unsigned significant_bits(uint64_t value)
{
    return etrace_magnitude_bits(etrace_magnitude(value)) + 1;
}

/*
 * Bits of the parts of @pkt that depend on diff. The field that comes last is
 * compressed by bits, a value in front of it by bytes.
 */
static unsigned cost(const ETraceParams *params, const ETraceDataPacket *pkt)
{
    unsigned shift = is_shifted(pkt) ? pkt->size : 0;
    unsigned data = significant_bits(
        etrace_sign_extend(pkt->data, 8u << pkt->size));
    unsigned address = significant_bits(
        pkt->diff ? (uint64_t)((int64_t)pkt->address >> shift)
                  : etrace_sign_extend(pkt->address >> shift,
                                       params->daddress_width));

    if (no_address(params)) {
        return data;
    }
    return no_data(params) ? address : address + (data + 7) / 8 * 8;
}

/* @pkt with @diff; false if that cannot be */
static bool set_diff(const ETraceDataState *state, const ETraceParams *params,
                     const ETraceDataAccess *access, ETraceDiff diff,
                     ETraceDataPacket *pkt)
{
    unsigned size = access->size;

    pkt->diff = diff;
    if (!no_address(params)) {
        pkt->address = access->address;
        if (diff != ETRACE_DIFF_FULL) {
            pkt->address = etrace_sign_extend(access->address -
                                              state->address[size],
                                              params->daddress_width);
            if (is_shifted(pkt) && (pkt->address & etrace_ones(size))) {
                return false;
            }
        }
    }
    if (!no_data(params)) {
        pkt->data = access->data;
        if (diff == ETRACE_DIFF_XOR_DATA) {
            pkt->data ^= state->data[size];
        } else if (diff == ETRACE_DIFF_DIFF_DATA) {
            pkt->data -= state->data[size];
        }
        pkt->data &= value_mask(size);
    }
    return true;
}

/* etrace_magnitude() of the data, which are signed numbers of their size */
static uint64_t magnitude(const ETraceDataPacket *pkt)
{
    return etrace_magnitude(etrace_sign_extend(pkt->data, 8u << pkt->size));
}

/*
 * The address as it is or as a difference, whichever is shorter with its data:
 * with a difference those that have the least magnitude.
 */
static void choose_diff(const ETraceDataState *state,
                        const ETraceParams *params,
                        ETraceDataCompress compress,
                        const ETraceDataAccess *access,
                        ETraceDataPacket *pkt)
{
    static const uint8_t ways[] = {
        ETRACE_DIFF_FULL_DATA, ETRACE_DIFF_XOR_DATA, ETRACE_DIFF_DIFF_DATA,
    };
    ETraceDataPacket other = *pkt, near;
    bool found = false;
    unsigned best;

    set_diff(state, params, access, ETRACE_DIFF_FULL, pkt);
    if (!state->known[access->size] || is_csr(access)) {
        return;
    }
    best = cost(params, pkt);
    if (no_data(params)) {
        /* 1: differential address */
        if (compress != ETRACE_DATA_COMPRESS_NONE &&
            set_diff(state, params, access, 1, &other) &&
            cost(params, &other) < best) {
            *pkt = other;
        }
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
        if (!etrace_data_allows(compress, ways[i]) ||
            (no_address(params) && ways[i] == ETRACE_DIFF_FULL_DATA)) {
            continue;
        }
        if (set_diff(state, params, access, ways[i], &other) &&
            (!found || magnitude(&other) < magnitude(&near))) {
            near = other;
            found = true;
        }
    }
    if (found && cost(params, &near) < best) {
        *pkt = near;
    }
}

/* Format and subtype; false if the port has no such dtype */
static bool set_format(const ETraceDataAccess *access, bool aligned,
                       ETraceDataPacket *pkt)
{
    switch (access->dtype) {
    case ETRACE_DTYPE_LOAD:
        pkt->format = aligned ? ETRACE_DATA_LOAD : ETRACE_DATA_LOAD_UNALIGNED;
        return true;
    case ETRACE_DTYPE_STORE:
        pkt->format = aligned ? ETRACE_DATA_STORE
                              : ETRACE_DATA_STORE_UNALIGNED;
        return true;
    case ETRACE_DTYPE_CSR_RW:
    case ETRACE_DTYPE_CSR_RS:
    case ETRACE_DTYPE_CSR_RC:
        pkt->format = ETRACE_DATA_CSR;
        pkt->subtype = access->dtype - ETRACE_DTYPE_CSR_RW;
        return true;
    default:
        pkt->format = ETRACE_DATA_ATOMIC;
        pkt->subtype = access->dtype - ETRACE_DTYPE_SWAP;
        return access->dtype >= ETRACE_DTYPE_SWAP && aligned;
    }
}

static bool has_operand(const ETraceDataPacket *pkt)
{
    return pkt->format == ETRACE_DATA_ATOMIC ||
           (pkt->format == ETRACE_DATA_CSR && (pkt->address >> 10 & 3) != 3);
}

bool etrace_data_encode(ETraceDataState *state, const ETraceParams *params,
                        ETraceDataCompress compress,
                        const ETraceDataAccess *access, ETraceDataPacket *pkt)
{
    ETraceDataAccess a = *access;
    ETraceParams unified = *params;

    unified.lrid_width = 0;
    *pkt = (ETraceDataPacket) { .size = a.size };
    if (a.size > 3 ||
        !set_format(&a, !(a.address & etrace_ones(a.size)), pkt)) {
        return false;
    }
    pkt->multi = a.multi && params->wire_format == ETRACE_WIRE_2_1_DRAFT;
    if (!etrace_data_packet_exists(&unified, pkt)) {
        return false;
    }
    a.data &= value_mask(a.size);
    if (is_csr(&a)) {
        /* CSR packets have the address in every mode. */
        pkt->address = a.address;
        if (!no_data(params)) {
            pkt->data = a.data;
        }
    } else {
        a.address &= etrace_ones(params->daddress_width);
        choose_diff(state, params, compress, &a, pkt);
    }
    if (!no_data(params) && has_operand(pkt)) {
        pkt->operand = a.operand & value_mask(a.size);
    }
    remember(state, &a);
    etrace_data_packet_shorten(params, pkt);
    return true;
}

static unsigned packet_dtype(const ETraceDataPacket *pkt)
{
    switch (pkt->format) {
    case ETRACE_DATA_LOAD:
    case ETRACE_DATA_LOAD_UNALIGNED:
        return ETRACE_DTYPE_LOAD;
    case ETRACE_DATA_STORE:
    case ETRACE_DATA_STORE_UNALIGNED:
        return ETRACE_DTYPE_STORE;
    case ETRACE_DATA_CSR:
        return ETRACE_DTYPE_CSR_RW + pkt->subtype;
    default:
        return ETRACE_DTYPE_SWAP + pkt->subtype;
    }
}

bool etrace_data_decode(ETraceDataState *state, const ETraceParams *params,
                        const ETraceDataPacket *pkt, ETraceDataAccess *access)
{
    unsigned size = pkt->size;
    ETraceDataAccess a = {
        .address = pkt->address,
        .data = pkt->data,
        .operand = pkt->operand,
        .size = size,
        .multi = pkt->multi,
        .dtype = packet_dtype(pkt),
    };

    if (pkt->format == ETRACE_DATA_SPLIT_LOAD_DATA ||
        pkt->format == ETRACE_DATA_SPLIT_ATOMIC_DATA) {
        return false;
    }
    if (pkt->diff != ETRACE_DIFF_FULL) {
        if (!state->known[size]) {
            return false;
        }
        if (!no_address(params) && !is_csr(&a)) {
            a.address = (a.address + state->address[size]) &
                        etrace_ones(params->daddress_width);
        }
        if (!no_data(params)) {
            if (pkt->diff == ETRACE_DIFF_XOR_DATA) {
                a.data ^= state->data[size];
            } else if (pkt->diff == ETRACE_DIFF_DIFF_DATA) {
                a.data += state->data[size];
            }
            a.data &= value_mask(size);
        }
    }
    *access = a;
    remember(state, &a);
    return true;
}
