/*
 * E-Trace data packets (te_data): tables of fields
 *
 * Tables are those of chapter 7 of "Efficient Trace for RISC-V" 2.0. What
 * they leave open, or where they contradict themselves:
 *  - diff is 2 bits wide with data, whether both ways of compression are
 *    offered or not ("1 or 2").
 *  - The subtype of a CSR access with address only is 2 bits wide, not 3: it
 *    has the same four codes as elsewhere, and the draft 2.1 corrects it.
 *  - The response of a split atomic has format 111, as in the drafts before
 *    and after; 110 is the request.
 *  - A split access whose address or data are left out needs one phase only
 *    and is sent as a unified one; a request of a split atomic without
 *    address has the layout of the draft 2.1.
 *  - size in 1.1.1 is as wide as its section 7.1.2 says, not its tables;
 *    data_len of its table 7.6 is as wide as op_len.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "data-layout.h"

#define CODED(name, member, width, coding)                              \
    { name, offsetof(ETraceDataPacket, member),                         \
      sizeof(((ETraceDataPacket *)NULL)->member), width, coding }
#define FIELD(member, width)                                            \
    CODED(#member, member, width, ETRACE_DCODING_PLAIN)

#define FORMAT          CODED("format", format, ETRACE_DWIDTH_FORMAT,   \
                              ETRACE_DCODING_FORMAT)
#define SUBFORMAT       CODED("subformat", subtype,                     \
                              ETRACE_DWIDTH_SUBFORMAT,                  \
                              ETRACE_DCODING_SUBFORMAT)
#define SUBTYPE         FIELD(subtype, ETRACE_DWIDTH_SUBTYPE)
#define SIZE            FIELD(size, ETRACE_DWIDTH_SIZE)
#define ATOMIC_SIZE     CODED("size", size, ETRACE_DWIDTH_ATOMIC_SIZE,  \
                              ETRACE_DCODING_SIZE)
#define LRID            FIELD(lrid, ETRACE_DWIDTH_LRID)
#define DATA_LEN        FIELD(data_len, ETRACE_DWIDTH_LEN)
#define DATA_BY_LEN     CODED("data", data, ETRACE_DWIDTH_DATA_BY_LEN,  \
                              ETRACE_DCODING_VALUE)
#define OP_LEN          FIELD(op_len, ETRACE_DWIDTH_OP_LEN)
#define OPERAND_BY_LEN  CODED("operand", operand,                       \
                              ETRACE_DWIDTH_OPERAND_BY_LEN,             \
                              ETRACE_DCODING_VALUE)
#define DATA            CODED("data", data, ETRACE_DWIDTH_DATA,         \
                              ETRACE_DCODING_VALUE)
#define OPERAND         CODED("operand", operand, ETRACE_DWIDTH_DATA,   \
                              ETRACE_DCODING_VALUE)
#define ADDRESS         CODED("address", address,                       \
                              ETRACE_DWIDTH_ADDRESS,                    \
                              ETRACE_DCODING_ADDRESS)
#define ADDR_MSBS       CODED("addr_msbs", address, 6,                  \
                              ETRACE_DCODING_CSR_MSBS)
#define ADDR_LSBS       CODED("addr_lsbs", address, 6,                  \
                              ETRACE_DCODING_CSR_LSBS)

/* "Unified load or store, with address and data" */
static const ETraceDataField unified[] = {
    FORMAT, SUBFORMAT, SIZE, FIELD(diff, 2), DATA_LEN, DATA_BY_LEN, ADDRESS,
    { }
};

/* "Unified load or store, with address only" */
static const ETraceDataField unified_address[] = {
    FORMAT, SUBFORMAT, SIZE, FIELD(diff, 1), ADDRESS, { }
};

/* "Unified load or store, with data only" */
static const ETraceDataField unified_data[] = {
    FORMAT, SUBFORMAT, SIZE, FIELD(diff, 2), DATA, { }
};

/* "Split load - Address only": the request */
static const ETraceDataField split_load[] = {
    FORMAT, SUBFORMAT, SIZE, LRID, FIELD(diff, 1), ADDRESS, { }
};

/* "Split load - Data only": the response */
static const ETraceDataField split_load_data[] = {
    FORMAT, SUBFORMAT, SIZE, LRID, FIELD(resp, 2), DATA, { }
};

/* "Unified atomic with address and data" */
static const ETraceDataField atomic[] = {
    FORMAT, SUBFORMAT, SUBTYPE, ATOMIC_SIZE, FIELD(diff, 2), OP_LEN,
    OPERAND_BY_LEN, DATA_LEN, DATA_BY_LEN, ADDRESS, { }
};

/* "Unified atomic with address only" */
static const ETraceDataField atomic_address[] = {
    FORMAT, SUBFORMAT, SUBTYPE, ATOMIC_SIZE, FIELD(diff, 1), ADDRESS, { }
};

/* "Unified atomic with data only" */
static const ETraceDataField atomic_data[] = {
    FORMAT, SUBFORMAT, SUBTYPE, ATOMIC_SIZE, FIELD(diff, 2), OP_LEN,
    OPERAND_BY_LEN, DATA, { }
};

/* "Split atomic with operand only": the request */
static const ETraceDataField split_atomic[] = {
    FORMAT, SUBFORMAT, SUBTYPE, ATOMIC_SIZE, LRID, FIELD(diff, 2), OP_LEN,
    OPERAND_BY_LEN, ADDRESS, { }
};

/* The draft 2.1: "Split atomic without address - request phase" */
static const ETraceDataField split_atomic_operand[] = {
    FORMAT, SUBFORMAT, SUBTYPE, ATOMIC_SIZE, LRID, FIELD(diff, 2), OPERAND, { }
};

/* "Split atomic load data only": the response */
static const ETraceDataField split_atomic_data[] = {
    FORMAT, SUBFORMAT, LRID, FIELD(resp, 2), DATA_LEN, DATA_BY_LEN, { }
};

/* The draft 2.1: "Unified CAS failure" */
static const ETraceDataField cas_failure[] = {
    FORMAT, SUBFORMAT, SUBTYPE, ATOMIC_SIZE, FIELD(diff, 2), OP_LEN,
    OPERAND_BY_LEN, ADDRESS, { }
};

/*
 * "Unified CSR, with address, data and operand", "... with address and
 * read-only data": the operand is absent if addr_msbs says so
 */
static const ETraceDataField csr[] = {
    FORMAT, SUBFORMAT, SUBTYPE, FIELD(diff, 2), DATA_LEN, DATA_BY_LEN,
    ADDR_MSBS, OP_LEN, OPERAND_BY_LEN, ADDR_LSBS, { }
};

/* "Unified CSR, with address only" */
static const ETraceDataField csr_address[] = {
    FORMAT, SUBFORMAT, SUBTYPE, FIELD(diff, 1), ADDR_MSBS, ADDR_LSBS, { }
};

static const ETraceDataField *atomic_layout(const ETraceParams *params,
                                            const ETraceDataPacket *pkt)
{
    bool no_address = params->doptions & ETRACE_DOPT_NO_ADDRESS;

    if (params->doptions & ETRACE_DOPT_NO_DATA) {
        return atomic_address;
    }
    switch (pkt->subtype) {
    case ETRACE_ATOMIC_SC_FAILURE:
        return NULL;
    case ETRACE_ATOMIC_CAS_FAILURE:
        return no_address ? NULL : cas_failure;
    default:
        if (params->lrid_width) {
            return no_address ? split_atomic_operand : split_atomic;
        }
        return no_address ? atomic_data : atomic;
    }
}

const ETraceDataField *etrace_data_layout(const ETraceParams *params,
                                          const ETraceDataPacket *pkt)
{
    bool no_address = params->doptions & ETRACE_DOPT_NO_ADDRESS;
    bool no_data = params->doptions & ETRACE_DOPT_NO_DATA;
    bool is_2_1 = params->wire_format == ETRACE_WIRE_2_1_DRAFT;

    if (no_address && no_data) {
        return NULL;
    }
    switch (pkt->format) {
    case ETRACE_DATA_LOAD:
    case ETRACE_DATA_LOAD_UNALIGNED:
        if (params->lrid_width && !no_address && !no_data) {
            return split_load;
        }
        /* fall through */
    case ETRACE_DATA_STORE:
    case ETRACE_DATA_STORE_UNALIGNED:
        return no_data ? unified_address : no_address ? unified_data : unified;
    case ETRACE_DATA_SPLIT_LOAD_DATA:
        return params->lrid_width && !no_data && (!no_address || is_2_1) ?
               split_load_data : NULL;
    case ETRACE_DATA_CSR:
        return no_data ? csr_address : csr;
    case ETRACE_DATA_ATOMIC:
        return atomic_layout(params, pkt);
    case ETRACE_DATA_SPLIT_ATOMIC_DATA:
        return params->lrid_width && !no_data && !is_2_1 ?
               split_atomic_data : NULL;
    default:
        return NULL;
    }
}

/* Only loads and stores: fewer bits say what a packet is. */
static bool loads_stores_only(const ETraceParams *params)
{
    return params->dtype_width == 1 && !params->lrid_width;
}

unsigned etrace_data_format_width(const ETraceParams *params)
{
    if (params->wire_format != ETRACE_WIRE_2_1_DRAFT) {
        return loads_stores_only(params) ? 2 : 3;
    }
    if (params->lrid_width) {
        return 2;
    }
    /* clog2(dtype_width_p) */
    return params->dtype_width == 1 ? 0 : params->dtype_width == 2 ? 1 : 2;
}

unsigned etrace_data_subformat_width(unsigned format)
{
    return format < 2 ? 2 : format == 2 ? 4 : 0;
}

unsigned etrace_data_size_width(const ETraceParams *params)
{
    if (params->data_width >= 128) {
        return 3;
    }
    return params->data_width >= 32 ||
           params->wire_format == ETRACE_WIRE_1_1_1 ? 2 : 1;
}

static bool csr_read_only(const ETraceDataPacket *pkt)
{
    return pkt->format == ETRACE_DATA_CSR && ((pkt->address >> 10) & 3) == 3;
}

static bool error_response(const ETraceDataPacket *pkt)
{
    return (pkt->format == ETRACE_DATA_SPLIT_LOAD_DATA ||
            pkt->format == ETRACE_DATA_SPLIT_ATOMIC_DATA) &&
           pkt->resp == ETRACE_RESP_ERROR;
}

/* As many bits as number 2^size bytes; of CSRs, size is their XLEN's. */
static unsigned len_width(const ETraceDataPacket *pkt)
{
    return pkt->size;
}

static unsigned subtype_width(const ETraceParams *params,
                              const ETraceDataPacket *pkt)
{
    if (params->wire_format == ETRACE_WIRE_2_1_DRAFT) {
        return 0;
    }
    return pkt->format == ETRACE_DATA_CSR ? 2 : 3;
}

unsigned etrace_data_field_width(const ETraceDataField *f,
                                 const ETraceParams *params,
                                 const ETraceDataPacket *pkt)
{
    switch (f->width) {
    case ETRACE_DWIDTH_FORMAT:
        return etrace_data_format_width(params);
    case ETRACE_DWIDTH_SUBFORMAT:
        return params->wire_format == ETRACE_WIRE_2_1_DRAFT ?
               etrace_data_subformat_width(etrace_data_wire_format(pkt)) : 0;
    case ETRACE_DWIDTH_SUBTYPE:
        return subtype_width(params, pkt);
    case ETRACE_DWIDTH_SIZE:
        return etrace_data_size_width(params);
    case ETRACE_DWIDTH_ATOMIC_SIZE:
        return params->wire_format == ETRACE_WIRE_1_1_1 ? 1 :
               etrace_data_size_width(params);
    case ETRACE_DWIDTH_LRID:
        return params->lrid_width;
    case ETRACE_DWIDTH_LEN:
        return error_response(pkt) ? 0 : len_width(pkt);
    case ETRACE_DWIDTH_OP_LEN:
        return csr_read_only(pkt) ? 0 : len_width(pkt);
    case ETRACE_DWIDTH_DATA_BY_LEN:
        return error_response(pkt) ? 0 : 8 * (pkt->data_len + 1);
    case ETRACE_DWIDTH_OPERAND_BY_LEN:
        return csr_read_only(pkt) ? 0 : 8 * (pkt->op_len + 1);
    case ETRACE_DWIDTH_DATA:
        return error_response(pkt) ? 0 : params->data_width;
    case ETRACE_DWIDTH_ADDRESS:
        return params->wire_format == ETRACE_WIRE_1_1_1 ?
               params->iaddress_width : params->daddress_width;
    default:
        return f->width;
    }
}

/* Transaction classes of the draft 2.1 */
enum {
    CLASS_LOAD_STORE = 0,
    CLASS_MULTI = 1,
    CLASS_ATOMIC_CSR = 2,
    CLASS_RESPONSE = 3,
};

/* Its subformats of CLASS_ATOMIC_CSR */
enum {
    SUBFORMAT_CSR = 4,          /* + ETraceCsrAccess */
    SUBFORMAT_CAS_FAILURE = 7,
    SUBFORMAT_ATOMIC = 8,       /* + ETraceAtomic */
};

unsigned etrace_data_wire_format(const ETraceDataPacket *pkt)
{
    switch (pkt->format) {
    case ETRACE_DATA_ATOMIC:
    case ETRACE_DATA_CSR:
        return CLASS_ATOMIC_CSR;
    case ETRACE_DATA_SPLIT_LOAD_DATA:
        return CLASS_RESPONSE;
    default:
        return pkt->multi ? CLASS_MULTI : CLASS_LOAD_STORE;
    }
}

unsigned etrace_data_wire_subformat(const ETraceDataPacket *pkt)
{
    switch (pkt->format) {
    case ETRACE_DATA_ATOMIC:
        return pkt->subtype == ETRACE_ATOMIC_CAS_FAILURE ?
               SUBFORMAT_CAS_FAILURE : SUBFORMAT_ATOMIC + pkt->subtype;
    case ETRACE_DATA_CSR:
        return SUBFORMAT_CSR + pkt->subtype;
    case ETRACE_DATA_SPLIT_LOAD_DATA:
        return 0;
    default:
        return pkt->format;
    }
}

bool etrace_data_from_wire(const ETraceParams *params, unsigned format,
                           unsigned subformat, ETraceDataPacket *pkt)
{
    switch (format) {
    case CLASS_LOAD_STORE:
    case CLASS_MULTI:
        pkt->format = subformat;
        pkt->multi = format == CLASS_MULTI;
        return subformat <= ETRACE_DATA_STORE_UNALIGNED;
    case CLASS_ATOMIC_CSR:
        if (subformat >= SUBFORMAT_CAS_FAILURE) {
            pkt->format = ETRACE_DATA_ATOMIC;
            pkt->subtype = subformat == SUBFORMAT_CAS_FAILURE ?
                           ETRACE_ATOMIC_CAS_FAILURE :
                           subformat - SUBFORMAT_ATOMIC;
            return subformat <= SUBFORMAT_ATOMIC + ETRACE_ATOMIC_SC_FAILURE;
        }
        pkt->format = ETRACE_DATA_CSR;
        pkt->subtype = subformat - SUBFORMAT_CSR;
        return subformat >= SUBFORMAT_CSR;
    default:
        pkt->format = ETRACE_DATA_SPLIT_LOAD_DATA;
        return format == CLASS_RESPONSE && params->lrid_width;
    }
}
