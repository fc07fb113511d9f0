/*
 * What the tests of E-Trace's filters share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_UNIT_ETRACE_FILTER_FIXTURE_H
#define TESTS_UNIT_ETRACE_FILTER_FIXTURE_H

#include "hw/trace/etrace/filter.h"

/* One filter set under test, and what to program it with */
typedef struct Setup {
    ETraceFilter f;
    ETraceFilterConfig filter[ETRACE_FILTERS_MAX];
    ETraceComparatorConfig comp[ETRACE_COMPARATORS_MAX];
} Setup;

static inline void setup_init(Setup *s)
{
    memset(s, 0, sizeof(*s));
    etrace_filter_init(&s->f);
    s->f.context_width = 32;
    s->f.daddress_width = 64;
    s->f.nested_max = 16;
}

static inline void program(Setup *s, uint16_t inst_filters,
                           uint16_t data_filters)
{
    etrace_filter_select(&s->f, inst_filters, data_filters, s->filter,
                         s->comp);
}

static inline void event(Setup *s, ETraceSlotType what, uint64_t value)
{
    etrace_filter_event(&s->f, &(ETraceEvent) {
        .type = what, .value = value,
    });
}

/* Filter 0 qualifies instruction trace and is all there is. */
static inline void program_one(Setup *s)
{
    s->filter[0].enable = true;
    program(s, 1, 0);
}

static inline bool block_as(Setup *s, uint64_t first, uint64_t last,
                            unsigned itype, unsigned priv)
{
    ETraceBlock b = {
        .iaddr = first,
        .iretire = (last - first) / 2 + 1,
        .itype = itype,
        .priv = priv,
    };

    return etrace_filter_block(&s->f, &b, 0, NULL, 0, NULL).qualified;
}

/* Instructions of two bytes from @first to @last */
static inline bool block(Setup *s, uint64_t first, uint64_t last)
{
    return block_as(s, first, last, ETRACE_ITYPE_NONE, ETRACE_PRIV_U);
}

static inline bool trap(Setup *s, unsigned itype, unsigned cause, uint64_t tval)
{
    ETraceBlock b = { .iaddr = 0x500, .itype = itype, .cause = cause };

    return etrace_filter_block(&s->f, &b, tval, NULL, 0, NULL).qualified;
}

static inline bool exception(Setup *s, unsigned cause)
{
    return trap(s, ETRACE_ITYPE_EXCEPTION, cause, 0);
}

static inline bool interrupt(Setup *s, unsigned cause)
{
    return trap(s, ETRACE_ITYPE_INTERRUPT, cause, 0);
}

static inline bool xret(Setup *s)
{
    return block_as(s, 0x700, 0x700, ETRACE_ITYPE_TRAP_RETURN, ETRACE_PRIV_M);
}

/* Filter 0 needs comparator 0. */
static inline void use_comparator(Setup *s, ETraceComparatorConfig c)
{
    s->comp[0] = c;
    s->filter[0].match_comp[0] = true;
    program_one(s);
}

static inline ETraceComparatorConfig range(uint64_t first, uint64_t last,
                                           ETraceCompMode mode)
{
    return (ETraceComparatorConfig) {
        .p_function = ETRACE_COMP_GE, .p_match = first,
        .s_function = ETRACE_COMP_LE, .s_match = last, .mode = mode,
    };
}

#endif /* TESTS_UNIT_ETRACE_FILTER_FIXTURE_H */
