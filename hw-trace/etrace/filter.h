/*
 * E-Trace filters and comparators: which blocks are traced
 *
 * The architecture that "Efficient Trace for RISC-V" 2.0 suggests in its
 * chapter on filtering, with the fields of the Trace Control Interface 1.0,
 * section "Trace Encoder Filter Registers". No allocation, no I/O, no locking.
 *
 * Filters look at single instructions; the port hands over blocks of them.
 * "All instructions in a block are traced if any of the instructions in that
 * block match the filtering criteria" (section 4.3.1), and a decoder cannot
 * see the difference, because the first and the last address of what is
 * traced are reported. So a block is qualified if there is an instruction in
 * it for which a filter matches: every condition of the filter for the same
 * instruction. As the port does not report where in a block its instructions
 * begin, each half-word up to the last instruction's address is taken for
 * one. This matters only if a match value lies inside an instruction, and for
 * "none of these accesses" (mode 2 with daddr).
 *
 * Inputs. An input that is not there is equal to nothing, nor is it less or
 * greater: functions 0 to 5 are false then.
 *  - iaddr: the instruction's address. At a trap, the address of what trapped
 *    or was interrupted.
 *  - context, impdef: as last reported.
 *  - tval: there at an exception only ("ignored unless itype=1").
 *  - daddr, dtype, dsize: there for a data access only. An instruction that
 *    makes several matches if one of them does; all data conditions of a
 *    filter have to be true of the same one. Data trace is qualified access
 *    by access, with the address of the very instruction.
 *
 * Latch mode: "Set when primary result is true and continue to assert until
 * instruction after secondary result is true": asserted from the instruction
 * with the primary match (included) to the one with the secondary match
 * (included). What traps has not retired and comes again: at a trap, iaddr
 * neither sets nor clears the latch.
 *
 * Ecause and interrupt: both look at the same trap. MatchInterrupt chooses
 * its kind; without it MatchEcause means exceptions. Comparators of such a
 * filter that look at tval say which traps start the match, the others apply
 * to each instruction as in any filter. It matches from the trap itself to
 * the return from it, inner traps included.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_FILTER_H
#define HW_TRACE_ETRACE_FILTER_H

#include "etrace.h"

#define ETRACE_FILTERS_MAX      16
#define ETRACE_COMPARATORS_MAX  8

/* trTeCompPInput, trTeCompSInput */
typedef enum ETraceCompInput {
    ETRACE_COMP_IADDR = 0,
    ETRACE_COMP_CONTEXT = 1,
    ETRACE_COMP_TVAL = 2,
    ETRACE_COMP_DADDR = 3,
} ETraceCompInput;

/* trTeCompPFunction, trTeCompSFunction */
typedef enum ETraceCompFunction {
    ETRACE_COMP_EQ = 0,
    ETRACE_COMP_NE = 1,
    ETRACE_COMP_LT = 2,
    ETRACE_COMP_LE = 3,
    ETRACE_COMP_GT = 4,
    ETRACE_COMP_GE = 5,
    ETRACE_COMP_PRIME = 6,      /* P: false; the latch starts out as 1 */
    ETRACE_COMP_MASK = 6,       /* S: true; s_match is a mask for p_match */
    ETRACE_COMP_TRUE = 7,
} ETraceCompFunction;

/* trTeCompMatchMode */
typedef enum ETraceCompMode {
    ETRACE_COMP_MODE_P = 0,
    ETRACE_COMP_MODE_AND = 1,
    ETRACE_COMP_MODE_NAND = 2,
    ETRACE_COMP_MODE_LATCH = 3,
} ETraceCompMode;

/* Registers trTeComp_j_*. No padding: compared as bytes. */
typedef struct ETraceComparatorConfig {
    uint64_t p_match;
    uint64_t s_match;
    uint8_t p_input;            /* ETraceCompInput */
    uint8_t s_input;
    uint8_t p_function;         /* ETraceCompFunction */
    uint8_t s_function;
    uint8_t mode;               /* ETraceCompMode */
    bool p_notify;
    bool s_notify;
    bool reserved;
} ETraceComparatorConfig;

/* Registers trTeFilter_i_*. No padding, as above. */
typedef struct ETraceFilterConfig {
    uint64_t choice_ecause;     /* bit N: cause N */
    uint32_t value_impdef;
    uint32_t mask_impdef;
    uint16_t choice_dtype;      /* bit N: dtype N */
    uint8_t choice_dsize;       /* bit N: dsize N */
    uint8_t choice_privilege;   /* bit N: priv N */
    bool value_interrupt;
    bool enable;
    bool match_privilege;
    bool match_ecause;
    bool match_interrupt;
    bool match_impdef;
    bool match_dtype;
    bool match_dsize;
    bool match_comp[3];
    uint8_t comp[3];            /* 0 to 7 */
    bool reserved[6];
} ETraceFilterConfig;

/* What the verdict about a block depends on */
typedef enum ETraceFilterScope {
    ETRACE_FILTER_BY_PRIVILEGE, /* that and the context alone */
    ETRACE_FILTER_BY_ADDRESS,   /* ... and addresses; see filter-ranges.h */
    ETRACE_FILTER_BY_BLOCK,     /* more, or something else is wanted of it */
} ETraceFilterScope;

/* A set of filters and comparators, and what they remember */
typedef struct ETraceFilter {
    /* The caller's, see etrace_filter_init() and etrace_filter_select(). */
    uint8_t iaddress_width;     /* bits that are compared; 1 to 64 */
    uint8_t context_width;      /* 0: there is no context */
    uint8_t daddress_width;     /* 0: there is no data trace */
    uint16_t nested_max;        /* traps that are counted, at least 1 */
    uint16_t inst_filters;      /* trTeInstFilters */
    uint16_t data_filters;      /* trTeDataFilters */
    ETraceFilterConfig filter[ETRACE_FILTERS_MAX];
    ETraceComparatorConfig comp[ETRACE_COMPARATORS_MAX];

    /* The rest is the filters' own; it is declared here to be migrated. */
    uint64_t context;
    uint32_t impdef;
    uint8_t latch;              /* bit per comparator */
    uint16_t depth[ETRACE_FILTERS_MAX]; /* traps inside; 0: no match yet */

    /* Derived from the configuration */
    uint16_t selected;          /* filters that decide about anything */
    uint16_t excint;            /* ... and depend on a trap */
    uint8_t used;               /* comparators that are needed */
    uint8_t notify;             /* ... by themselves */
    uint8_t scan;               /* ... that compare iaddr under a mask */
    uint8_t gate[ETRACE_FILTERS_MAX]; /* ... that only say what starts */
    ETraceFilterScope scope;
} ETraceFilter;

typedef struct ETraceFilterResult {
    bool qualified;             /* instruction trace */
    bool notify;                /* report the block's last instruction */
} ETraceFilterResult;

/* Everything off: every block is traced. Then set the widths. */
void etrace_filter_init(ETraceFilter *f);

/*
 * Which filters qualify instruction and data trace (0: everything is traced),
 * and the new contents of filters and comparators. What has not changed keeps
 * its state; a changed comparator's latch is 0, or 1 if primed.
 */
void etrace_filter_select(ETraceFilter *f, uint16_t inst_filters,
                          uint16_t data_filters,
                          const ETraceFilterConfig *filters,
                          const ETraceComparatorConfig *comparators);

/* As if every filter and comparator had just been written. */
void etrace_filter_reset(ETraceFilter *f);

/* False: every block and access is qualified and none asks for notify. */
static inline bool etrace_filter_active(const ETraceFilter *f)
{
    return f->inst_filters || f->data_filters || f->notify;
}

/* True if instruction trace depends on data accesses. */
bool etrace_filter_needs_data(const ETraceFilter *f);

/*
 * Events of the port that are not about the next block alone: context, impdef
 * and reset of the hart (which leaves every trap handler). Others are ignored.
 */
void etrace_filter_event(ETraceFilter *f, const ETraceEvent *event);

/*
 * One block in program order, or a trap with its @tval. @accesses are the @n
 * data accesses in it, in order; @data, if not NULL, gets for each of them
 * whether it is to be traced.
 */
ETraceFilterResult etrace_filter_block(ETraceFilter *f,
                                       const ETraceBlock *block,
                                       uint64_t tval,
                                       const ETraceAccess *accesses, size_t n,
                                       bool *data);

#endif /* HW_TRACE_ETRACE_FILTER_H */
