/*
 * E-Trace instruction packets (te_inst): fields and their place on the wire
 *
 * Chapter 6, "Instruction Trace Encoder Output Packets". A packet's layout is
 * a table of fields in transmission order, the same table for both directions.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_PACKET_H
#define HW_TRACE_ETRACE_PACKET_H

#include "etrace.h"

/* Longest payload that encapsulation 1.0 can carry, bytes. */
#define ETRACE_PACKET_MAX 31

typedef enum ETraceFormat {
    ETRACE_FORMAT_OPT_EXT = 0,          /* section 6.8 */
    ETRACE_FORMAT_DIFF_DELTA = 1,       /* section 6.7, branch map */
    ETRACE_FORMAT_ADDR_ONLY = 2,        /* section 6.6 */
    ETRACE_FORMAT_SYNC = 3,             /* sections 6.1-6.5 */
} ETraceFormat;

typedef enum ETraceSyncSubformat {
    ETRACE_SYNC_START = 0,
    ETRACE_SYNC_TRAP = 1,
    ETRACE_SYNC_CONTEXT = 2,
    ETRACE_SYNC_SUPPORT = 3,
} ETraceSyncSubformat;

typedef enum ETraceQualStatus {
    ETRACE_QUAL_NO_CHANGE = 0,
    ETRACE_QUAL_ENDED_REP = 1,
    ETRACE_QUAL_TRACE_LOST = 2,
    ETRACE_QUAL_ENDED_NTR = 3,
} ETraceQualStatus;

/* ioptions, LSB first as the specification's reference model lays them out */
#define ETRACE_IOPT_IMPLICIT_RETURN     0x01
#define ETRACE_IOPT_IMPLICIT_EXCEPT     0x02
#define ETRACE_IOPT_FULL_ADDRESS        0x04
#define ETRACE_IOPT_JUMP_TARGET_CACHE   0x08
#define ETRACE_IOPT_BRANCH_PREDICTION   0x10
#define ETRACE_IOPT_SIJUMP              0x20    /* if sijump_p */

/* doptions, likewise */
#define ETRACE_DOPT_NO_ADDRESS          0x01
#define ETRACE_DOPT_NO_DATA             0x02
#define ETRACE_DOPT_FULL_ADDRESS        0x04
#define ETRACE_DOPT_FULL_DATA           0x08

/* subformats of format 0 (section 6.8) */
typedef enum ETraceOptSubformat {
    ETRACE_OPT_BRANCH_COUNT = 0,
    ETRACE_OPT_JUMP_TARGET = 1,
} ETraceOptSubformat;

typedef enum ETraceBranchFmt {
    ETRACE_BRANCH_FMT_NO_ADDR = 0,
    ETRACE_BRANCH_FMT_ADDR = 2,
    ETRACE_BRANCH_FMT_ADDR_FAIL = 3,
} ETraceBranchFmt;

/*
 * One te_inst, decoded. Which members mean something follows from format and
 * subformat; the others are 0.
 *
 * address is in bytes (shifted by iaddress_lsb_p): absolute, zero-extended
 * from iaddress_width_p, in format 3 and in full-address mode; else a signed
 * difference. The notify, updiscon and irreport members are the meaning (1:
 * asserted), not the wire bit, which is the XOR with the bit before it.
 *
 * In the draft 1.1.1 tval is tvalepc, thaddr always 1, ienable is enable and
 * ioptions options.
 */
typedef struct ETracePacket {
    uint8_t format;
    uint8_t subformat;
    /* formats 0, 1, 2 */
    uint8_t branches;           /* 1..31; format 1: 0 is 31 and no address */
    bool notify;
    bool updiscon;
    bool irreport;
    uint32_t branch_map;        /* bit 0 oldest; 1: not taken */
    uint32_t irdepth;
    uint64_t address;
    /* format 0 */
    uint32_t branch_count;      /* correctly predicted branches minus 31 */
    uint8_t branch_fmt;         /* ETraceBranchFmt */
    uint16_t index;             /* of the jump target cache */
    uint8_t irets;              /* 2.1 draft instead of irreport, irdepth */
    /* format 3.0 - 3.2 */
    bool branch;                /* 0: address is a branch, and was taken */
    uint8_t privilege;
    uint64_t time;
    uint64_t context;
    /* format 3.1 */
    uint8_t ecause;
    bool interrupt;
    bool thaddr;
    uint64_t tval;
    /* format 3.3 */
    bool ienable;
    uint8_t encoder_mode;
    uint8_t qual_status;        /* ETraceQualStatus */
    uint8_t ioptions;           /* ETRACE_IOPT_* */
    bool denable;
    bool dloss;
    uint8_t doptions;           /* ETRACE_DOPT_* */
    /* The rest of the Standard Support Packet of the draft 2.1 */
    bool resync_disabled;
    bool iret_ext;
    bool mmacas_ext;
    uint8_t time_width;         /* bits: a multiple of 16 */
    uint8_t f0s_width;
    uint8_t return_stack_size;
    uint8_t call_counter_size;
    uint8_t bpred_size;
    uint8_t cache_size;
} ETracePacket;

/*
 * True if packets of these parameters can be packed and unpacked: widths that
 * the members of ETracePacket and the fields of the Standard Support Packet
 * hold, no packet longer than the encapsulation carries, a subformat field if
 * there is something to choose. Whoever takes parameters from outside asks
 * first; etrace_params_problem() describes what is wrong, NULL if nothing.
 */
bool etrace_params_valid(const ETraceParams *params);
const char *etrace_params_problem(const ETraceParams *params);

/*
 * Take over what the support packet @pkt says about the packets behind it:
 * run-time modes, and in the draft 2.1 the parameters that it carries. Both
 * sides call it for every support packet. Returns false, and changes nothing,
 * if no packets of such parameters could be read.
 */
bool etrace_params_follow(ETraceParams *params, const ETracePacket *pkt);

/*
 * Fill in the modes and parameters that the support packet @pkt (format and
 * subformat set) has to carry.
 */
void etrace_packet_set_support(ETracePacket *pkt, const ETraceParams *params);

/* Width of irdepth in bits (section 6.6) */
static inline unsigned etrace_irdepth_width(const ETraceParams *params)
{
    return params->return_stack_size + (params->return_stack_size > 0) +
           params->call_counter_size;
}

/*
 * True if the trap packet @pkt has the address field: in implicit exception
 * mode, a handler's address is left out (section 6.3).
 */
static inline bool etrace_packet_trap_has_address(const ETraceParams *params,
                                                  const ETracePacket *pkt)
{
    return !(params->ioptions & ETRACE_IOPT_IMPLICIT_EXCEPT) ||
           (params->wire_format != ETRACE_WIRE_1_1_1 && !pkt->thaddr);
}

/*
 * Pack @pkt into @buf, sign-compressed as a whole (chapter 6: identical bits
 * at the most significant end go, down to whole bytes).
 * Returns the length in bytes, 1..ETRACE_PACKET_MAX.
 */
size_t etrace_packet_pack(const ETraceParams *params, const ETracePacket *pkt,
                          uint8_t buf[ETRACE_PACKET_MAX]);

/*
 * Unpack a payload of @len bytes. Returns true and fills @pkt, or false if no
 * packet of these parameters looks like this (@len 0 or too long, or a code
 * that the specification reserves); @pkt is then undefined.
 */
bool etrace_packet_unpack(const ETraceParams *params, const uint8_t *buf,
                          size_t len, ETracePacket *pkt);

/* Number of valid bits in the branch map of @pkt, 0..31. */
static inline unsigned etrace_packet_branches(const ETracePacket *pkt)
{
    if (pkt->format == ETRACE_FORMAT_DIFF_DELTA && pkt->branches == 0) {
        return 31;
    }
    return pkt->branches;
}

/*
 * True if @pkt is format 0, 1 or 2 and has an address field. (An index of the
 * jump target cache stands for an address, too, but is none.)
 */
static inline bool etrace_packet_has_address(const ETracePacket *pkt)
{
    return pkt->format == ETRACE_FORMAT_ADDR_ONLY ||
           (pkt->format == ETRACE_FORMAT_DIFF_DELTA && pkt->branches) ||
           (pkt->format == ETRACE_FORMAT_OPT_EXT && pkt->branch_fmt);
}

#endif /* HW_TRACE_ETRACE_PACKET_H */
