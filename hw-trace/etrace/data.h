/*
 * E-Trace data trace: accesses to packets, and back
 *
 * Chapter 7 of "Efficient Trace for RISC-V" 2.0: what te_data says against
 * the access before it. Unified form. No allocation, no I/O, no locking.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_DATA_H
#define HW_TRACE_ETRACE_DATA_H

#include "data-packet.h"

/* A data access, as the port reports it (section 4.3) */
typedef struct ETraceDataAccess {
    uint64_t address;           /* bytes; CSR: its number */
    uint64_t data;              /* loaded, stored, or the old value */
    uint64_t operand;           /* atomic: rs2; CSR: rs1 or the immediate */
    uint8_t dtype;              /* ETraceDtype */
    uint8_t size;               /* 2^size bytes */
    bool multi;                 /* one of those of a vector or push or pop */
} ETraceDataAccess;

/*
 * trTeDataAddrCompress. E-Trace addresses are differential or in full; which
 * of the ways to compress the data goes with them is chosen here, too.
 */
typedef enum ETraceDataCompress {
    ETRACE_DATA_COMPRESS_NONE = 0,
    ETRACE_DATA_COMPRESS_XOR = 1,
    ETRACE_DATA_COMPRESS_DIFF = 2,
    ETRACE_DATA_COMPRESS_BEST = 3,      /* whichever is shorter */
} ETraceDataCompress;

/* May a packet say an access in the way that @diff is? */
static inline bool etrace_data_allows(ETraceDataCompress compress,
                                      ETraceDiff diff)
{
    static const uint8_t diffs[] = {        /* bit per ETraceDiff */
        [ETRACE_DATA_COMPRESS_NONE] = 1 << ETRACE_DIFF_FULL,
        [ETRACE_DATA_COMPRESS_XOR] = 1 << ETRACE_DIFF_FULL |
                                     1 << ETRACE_DIFF_FULL_DATA |
                                     1 << ETRACE_DIFF_XOR_DATA,
        [ETRACE_DATA_COMPRESS_DIFF] = 1 << ETRACE_DIFF_FULL |
                                      1 << ETRACE_DIFF_FULL_DATA |
                                      1 << ETRACE_DIFF_DIFF_DATA,
        [ETRACE_DATA_COMPRESS_BEST] = 1 << ETRACE_DIFF_FULL |
                                      1 << ETRACE_DIFF_FULL_DATA |
                                      1 << ETRACE_DIFF_XOR_DATA |
                                      1 << ETRACE_DIFF_DIFF_DATA,
    };

    return diffs[compress] >> diff & 1;
}

/* The previous access of each size (section 7.1.3); zeroed: there is none */
typedef struct ETraceDataState {
    uint64_t address[4];
    uint64_t data[4];
    bool known[4];
} ETraceDataState;

/*
 * As behind a synchronization packet of the instruction trace (formats 3.0
 * and 3.1): the next access of each size is sent in full. Both sides do it
 * there, when doptions change, and when packets were lost.
 */
void etrace_data_reset(ETraceDataState *state);

/*
 * Fill @pkt with what says @access in the fewest bytes that @compress and the
 * modes in @params->doptions allow. Returns false, with nothing changed, if
 * no packet can say it:
 *  - a failed SC where data is traced, too: chapter 7 reserves its code
 *  - an atomic at an address that is not aligned, which has no format
 *  - what data_width_p or dtype_width_p have no room for
 *  - both address and data are left out
 */
bool etrace_data_encode(ETraceDataState *state, const ETraceParams *params,
                        ETraceDataCompress compress,
                        const ETraceDataAccess *access,
                        ETraceDataPacket *pkt);

/*
 * The reverse, for unified packets. What the modes leave out is 0 in @access.
 * Returns false, with nothing changed, if @pkt builds upon an access that is
 * not known, or is part of a split access.
 */
bool etrace_data_decode(ETraceDataState *state, const ETraceParams *params,
                        const ETraceDataPacket *pkt,
                        ETraceDataAccess *access);

#endif /* HW_TRACE_ETRACE_DATA_H */
