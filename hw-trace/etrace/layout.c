/*
 * E-Trace instruction packets (te_inst): tables of fields
 *
 * Sections are those of "Efficient Trace for RISC-V" 2.0.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "layout.h"
#include "packet-plain.h"

#define CODED(name, member, width, coding)                              \
    { name, offsetof(ETracePacket, member),                             \
      sizeof(((ETracePacket *)NULL)->member), width, coding, 0 }
#define FIELD(member, width)                                            \
    CODED(#member, member, width, ETRACE_CODING_PLAIN)
#define FLAG(name, member, flag)                                        \
    { name, offsetof(ETracePacket, member),                             \
      sizeof(((ETracePacket *)NULL)->member), 1, ETRACE_CODING_FLAG, flag }

#define FORMAT          FIELD(format, 2)
#define F0_SUBFORMAT    FIELD(subformat, ETRACE_WIDTH_F0S)
#define F3_SUBFORMAT    FIELD(subformat, 2)
#define BRANCH_MAP      FIELD(branch_map, ETRACE_WIDTH_BRANCH_MAP)
#define IADDRESS        CODED("address", address, ETRACE_WIDTH_ADDRESS, \
                              ETRACE_CODING_DIFF)
#define NOTIFY          CODED("notify", notify, 1, ETRACE_CODING_XOR)
#define UPDISCON        CODED("updiscon", updiscon, 1, ETRACE_CODING_XOR)
#define IRREPORT        CODED("irreport", irreport, 1, ETRACE_CODING_XOR)
#define IRDEPTH         CODED("irdepth", irdepth, ETRACE_WIDTH_IRDEPTH, \
                              ETRACE_CODING_IRDEPTH)
#define IRETS           CODED("irets", irets, 8, ETRACE_CODING_IRDEPTH)
#define PRIVILEGE       FIELD(privilege, ETRACE_WIDTH_PRIVILEGE)
#define TIME            FIELD(time, ETRACE_WIDTH_TIME)
#define CONTEXT         FIELD(context, ETRACE_WIDTH_CONTEXT)
#define TRAP_ADDRESS    CODED("address", address,                       \
                              ETRACE_WIDTH_TRAP_ADDRESS,                \
                              ETRACE_CODING_ADDRESS)

/* Section 6.8, first table: a branch failed the prediction */
static const ETraceField format00[] = {
    FORMAT,
    F0_SUBFORMAT,
    FIELD(branch_count, 32),
    FIELD(branch_fmt, 2),
    { }
};

/* Section 6.8, second table */
static const ETraceField format00_addr[] = {
    FORMAT,
    F0_SUBFORMAT,
    FIELD(branch_count, 32),
    FIELD(branch_fmt, 2),
    IADDRESS,
    NOTIFY,
    UPDISCON,
    IRREPORT,
    IRDEPTH,
    { }
};

/* Section 6.8, third and fourth table: without branches, there is no map */
static const ETraceField format01[] = {
    FORMAT,
    F0_SUBFORMAT,
    FIELD(index, ETRACE_WIDTH_INDEX),
    FIELD(branches, 5),
    BRANCH_MAP,
    IRREPORT,
    IRDEPTH,
    { }
};

/* Section 6.7, second table: branch map is full, no address is due */
static const ETraceField format1_map[] = {
    FORMAT,
    FIELD(branches, 5),
    BRANCH_MAP,
    { }
};

/* Section 6.7, first table */
static const ETraceField format1[] = {
    FORMAT,
    FIELD(branches, 5),
    BRANCH_MAP,
    IADDRESS,
    NOTIFY,
    UPDISCON,
    IRREPORT,
    IRDEPTH,
    { }
};

/* Section 6.6 */
static const ETraceField format2[] = {
    FORMAT,
    IADDRESS,
    NOTIFY,
    UPDISCON,
    IRREPORT,
    IRDEPTH,
    { }
};

/* Section 6.2 */
static const ETraceField format30[] = {
    FORMAT,
    F3_SUBFORMAT,
    FIELD(branch, 1),
    PRIVILEGE,
    TIME,
    CONTEXT,
    CODED("address", address, ETRACE_WIDTH_ADDRESS, ETRACE_CODING_ADDRESS),
    { }
};

/* Section 6.3 */
static const ETraceField format31[] = {
    FORMAT,
    F3_SUBFORMAT,
    FIELD(branch, 1),
    PRIVILEGE,
    TIME,
    CONTEXT,
    FIELD(ecause, ETRACE_WIDTH_ECAUSE),
    FIELD(interrupt, 1),
    FIELD(thaddr, 1),
    TRAP_ADDRESS,
    FIELD(tval, ETRACE_WIDTH_TVAL),
    { }
};

/* Section 6.4 */
static const ETraceField format32[] = {
    FORMAT,
    F3_SUBFORMAT,
    PRIVILEGE,
    TIME,
    CONTEXT,
    { }
};

/*
 * Section 6.5. The text leaves the widths of encoder_mode, ioptions and
 * doptions open; these are the published reference model's, with one more
 * bit of ioptions where there are sequentially inferable jumps.
 */
static const ETraceField format33[] = {
    FORMAT,
    F3_SUBFORMAT,
    FIELD(ienable, 1),
    FIELD(encoder_mode, 1),
    FIELD(qual_status, 2),
    FIELD(ioptions, ETRACE_WIDTH_IOPTIONS),
    FIELD(denable, 1),
    FIELD(dloss, 1),
    FIELD(doptions, 4),
    { }
};

/*
 * The draft 1.1.1. Its format 0, 1 and 2 packets are those of 2.0; the sync
 * packets know no time.
 *
 * Table 6.2 of the draft: address is the handler's, and there is always a
 * tvalepc.
 */
static const ETraceField format31_1_1_1[] = {
    FORMAT,
    F3_SUBFORMAT,
    FIELD(branch, 1),
    PRIVILEGE,
    TIME,
    CONTEXT,
    FIELD(ecause, ETRACE_WIDTH_ECAUSE),
    FIELD(interrupt, 1),
    TRAP_ADDRESS,
    CODED("tvalepc", tval, ETRACE_WIDTH_TVALEPC, ETRACE_CODING_PLAIN),
    { }
};

/* Table 6.4 of the draft; widths as above */
static const ETraceField format33_1_1_1[] = {
    FORMAT,
    F3_SUBFORMAT,
    CODED("enable", ienable, 1, ETRACE_CODING_PLAIN),
    FIELD(encoder_mode, 1),
    FIELD(qual_status, 2),
    CODED("options", ioptions, ETRACE_WIDTH_IOPTIONS, ETRACE_CODING_PLAIN),
    { }
};

/*
 * The draft 2.1 (2.0.5 with the extensions Standard Support Packet v0.8 and
 * Implicit Return v0.8): irets instead of irdepth.
 */
static const ETraceField format00_addr_2_1[] = {
    FORMAT,
    F0_SUBFORMAT,
    FIELD(branch_count, 32),
    FIELD(branch_fmt, 2),
    IADDRESS,
    NOTIFY,
    UPDISCON,
    IRREPORT,
    IRETS,
    { }
};

static const ETraceField format01_2_1[] = {
    FORMAT,
    F0_SUBFORMAT,
    FIELD(index, ETRACE_WIDTH_INDEX),
    FIELD(branches, 5),
    BRANCH_MAP,
    IRREPORT,
    IRETS,
    { }
};

static const ETraceField format1_2_1[] = {
    FORMAT,
    FIELD(branches, 5),
    BRANCH_MAP,
    IADDRESS,
    NOTIFY,
    UPDISCON,
    IRREPORT,
    IRETS,
    { }
};

static const ETraceField format2_2_1[] = {
    FORMAT,
    IADDRESS,
    NOTIFY,
    UPDISCON,
    IRREPORT,
    IRETS,
    { }
};

/* The Standard Support Packet carries what a decoder has to discover. */
static const ETraceField format33_2_1[] = {
    FORMAT,
    F3_SUBFORMAT,
    FIELD(ienable, 1),
    FIELD(encoder_mode, 2),
    FIELD(qual_status, 2),
    FLAG("sijump", ioptions, ETRACE_IOPT_SIJUMP),
    FLAG("implicit_return", ioptions, ETRACE_IOPT_IMPLICIT_RETURN),
    FLAG("branch_predictor", ioptions, ETRACE_IOPT_BRANCH_PREDICTION),
    FLAG("jump_target_cache", ioptions, ETRACE_IOPT_JUMP_TARGET_CACHE),
    FLAG("implicit_except", ioptions, ETRACE_IOPT_IMPLICIT_EXCEPT),
    FLAG("full_iaddress", ioptions, ETRACE_IOPT_FULL_ADDRESS),
    FIELD(resync_disabled, 1),
    FIELD(iret_ext, 1),
    CODED("time_width", time_width, 3, ETRACE_CODING_BY_16),
    FIELD(f0s_width, 2),
    FIELD(return_stack_size, 3),
    FIELD(call_counter_size, 4),
    FIELD(bpred_size, 3),
    FIELD(cache_size, 3),
    FIELD(denable, 1),
    FIELD(dloss, 1),
    FIELD(mmacas_ext, 1),
    FLAG("noaddr", doptions, ETRACE_DOPT_NO_ADDRESS),
    FLAG("nodata", doptions, ETRACE_DOPT_NO_DATA),
    FLAG("full_daddress", doptions, ETRACE_DOPT_FULL_ADDRESS),
    FLAG("full_data", doptions, ETRACE_DOPT_FULL_DATA),
    { }
};

/* Of 2.0, and what the others have instead */
static const ETraceField *const layouts[ETRACE_WIRE_MAX][ETRACE_KIND_MAX] = {
    [ETRACE_WIRE_2_0] = {
        [ETRACE_KIND_FORMAT00] = format00,
        [ETRACE_KIND_FORMAT00_ADDR] = format00_addr,
        [ETRACE_KIND_FORMAT01] = format01,
        [ETRACE_KIND_FORMAT1_MAP] = format1_map,
        [ETRACE_KIND_FORMAT1] = format1,
        [ETRACE_KIND_FORMAT2] = format2,
        [ETRACE_KIND_FORMAT30] = format30,
        [ETRACE_KIND_FORMAT31] = format31,
        [ETRACE_KIND_FORMAT32] = format32,
        [ETRACE_KIND_FORMAT33] = format33,
    },
    [ETRACE_WIRE_1_1_1] = {
        [ETRACE_KIND_FORMAT31] = format31_1_1_1,
        [ETRACE_KIND_FORMAT33] = format33_1_1_1,
    },
    [ETRACE_WIRE_2_1_DRAFT] = {
        [ETRACE_KIND_FORMAT00_ADDR] = format00_addr_2_1,
        [ETRACE_KIND_FORMAT01] = format01_2_1,
        [ETRACE_KIND_FORMAT1] = format1_2_1,
        [ETRACE_KIND_FORMAT2] = format2_2_1,
        [ETRACE_KIND_FORMAT33] = format33_2_1,
    },
};

const ETraceField *etrace_layout(ETraceWireFormat wire, ETraceKind kind)
{
    return layouts[wire][kind] ?: layouts[ETRACE_WIRE_2_0][kind];
}

ETraceKind etrace_packet_kind(const ETraceParams *params,
                              const ETracePacket *pkt)
{
    switch (pkt->format) {
    case ETRACE_FORMAT_OPT_EXT:
        if (pkt->subformat == ETRACE_OPT_BRANCH_COUNT && params->bpred_size) {
            return pkt->branch_fmt ? ETRACE_KIND_FORMAT00_ADDR :
                                     ETRACE_KIND_FORMAT00;
        }
        if (pkt->subformat == ETRACE_OPT_JUMP_TARGET && params->cache_size) {
            return ETRACE_KIND_FORMAT01;
        }
        return ETRACE_KIND_MAX;
    case ETRACE_FORMAT_DIFF_DELTA:
        return pkt->branches ? ETRACE_KIND_FORMAT1 : ETRACE_KIND_FORMAT1_MAP;
    case ETRACE_FORMAT_ADDR_ONLY:
        return ETRACE_KIND_FORMAT2;
    case ETRACE_FORMAT_SYNC:
        return pkt->subformat <= ETRACE_SYNC_SUPPORT ?
               ETRACE_KIND_FORMAT30 + pkt->subformat : ETRACE_KIND_MAX;
    default:
        return ETRACE_KIND_MAX;
    }
}

unsigned etrace_branch_map_width(const ETracePacket *pkt)
{
    if (pkt->format == ETRACE_FORMAT_DIFF_DELTA && pkt->branches == 0) {
        return 31;      /* a full map, and no address behind it */
    }
    return etrace_map_width(pkt->branches);
}

unsigned etrace_field_width(const ETraceField *f, const ETraceParams *params,
                            const ETracePacket *pkt)
{
    switch (f->width) {
    case ETRACE_WIDTH_PRIVILEGE:
        return params->privilege_width;
    case ETRACE_WIDTH_TIME:
        return params->time_width;
    case ETRACE_WIDTH_CONTEXT:
        return params->context_width;
    case ETRACE_WIDTH_ECAUSE:
        return params->ecause_width;
    case ETRACE_WIDTH_ADDRESS:
        return params->iaddress_width - params->iaddress_lsb;
    case ETRACE_WIDTH_TRAP_ADDRESS:
        return etrace_packet_trap_has_address(params, pkt) ?
               params->iaddress_width - params->iaddress_lsb : 0;
    case ETRACE_WIDTH_TVAL:
        return pkt->interrupt ? 0 : params->iaddress_width;
    case ETRACE_WIDTH_TVALEPC:
        return params->iaddress_width;
    case ETRACE_WIDTH_BRANCH_MAP:
        return etrace_branch_map_width(pkt);
    case ETRACE_WIDTH_IRDEPTH:
        return etrace_irdepth_width(params);
    case ETRACE_WIDTH_F0S:
        return params->f0s_width;
    case ETRACE_WIDTH_INDEX:
        return params->cache_size;
    case ETRACE_WIDTH_IOPTIONS:
        return 5 + params->sijump;
    default:
        return f->width;
    }
}
