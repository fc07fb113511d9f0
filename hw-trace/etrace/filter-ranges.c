/*
 * E-Trace filters: which addresses are qualified
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "filter-ranges.h"

/* Each comparator has two match values, which may be ranges of their own. */
QEMU_BUILD_BUG_ON(ETRACE_RANGES_MAX < ETRACE_RANGES_FILTERS *
                                      ETRACE_COMPARATORS_MAX * 2 * 2);

/* Addresses in order, each once */
typedef struct Points {
    uint64_t at[ETRACE_RANGES_MAX];
    unsigned n;
} Points;

static void add_point(Points *p, uint64_t addr)
{
    unsigned i = p->n;

    while (i && p->at[i - 1] >= addr) {
        i--;
    }
    if (i < p->n && p->at[i] == addr) {
        return;
    }
    memmove(&p->at[i + 1], &p->at[i], (p->n - i) * sizeof(p->at[0]));
    p->at[i] = addr;
    p->n++;
}

/* Where a comparison with @match changes: at its address, behind it, or both */
static void add_match(Points *p, unsigned function, uint64_t match,
                      uint64_t mask)
{
    bool at = function != ETRACE_COMP_LE && function != ETRACE_COMP_GT;
    bool past = function != ETRACE_COMP_LT && function != ETRACE_COMP_GE;
    uint64_t first, behind;

    match &= mask;
    first = match + (match & 1);
    behind = match + 2 - (match & 1);
    /* All addresses are at 0 or behind it. */
    if (at && first && first >= match && first <= mask) {
        add_point(p, first);
    }
    if (past && behind > match && behind <= mask) {
        add_point(p, behind);
    }
}

static void add_points(Points *p, const ETraceFilter *f, uint64_t mask)
{
    for (unsigned rest = f->used; rest; rest &= rest - 1) {
        const ETraceComparatorConfig *c = &f->comp[__builtin_ctz(rest)];

        if (c->p_function < ETRACE_COMP_PRIME &&
            c->p_input == ETRACE_COMP_IADDR) {
            add_match(p, c->p_function, c->p_match, mask);
        }
        if (c->mode != ETRACE_COMP_MODE_P &&
            c->s_function < ETRACE_COMP_MASK &&
            c->s_input == ETRACE_COMP_IADDR) {
            add_match(p, c->s_function, c->s_match, mask);
        }
    }
}

/* Ask all of them about one instruction; they remember nothing of it. */
static bool qualified(ETraceFilter *const *filters, unsigned n, uint8_t priv,
                      uint64_t addr)
{
    const ETraceBlock insn = { .iaddr = addr, .iretire = 1, .priv = priv };

    for (unsigned i = 0; i < n; i++) {
        if (!etrace_filter_block(filters[i], &insn, 0, NULL, 0,
                                 NULL).qualified) {
            return false;
        }
    }
    return true;
}

void etrace_filter_ranges(ETraceFilter *const *filters, unsigned n,
                          uint8_t priv, ETraceRanges *ranges)
{
    unsigned width = n ? filters[0]->iaddress_width : 64;
    Points points = { .n = 0 };

    assert(n <= ETRACE_RANGES_FILTERS);
    ranges->mask = width < 64 ? (1ull << width) - 1 : UINT64_MAX;
    ranges->qualified = 0;
    for (unsigned i = 0; i < n; i++) {
        assert(filters[i]->scope != ETRACE_FILTER_BY_BLOCK);
        add_points(&points, filters[i], ranges->mask);
    }
    ranges->first = qualified(filters, n, priv, 0);
    ranges->n = points.n;
    memcpy(ranges->at, points.at, points.n * sizeof(points.at[0]));
    for (unsigned i = 0; i < points.n; i++) {
        ranges->qualified |= (uint64_t)qualified(filters, n, priv,
                                                 points.at[i]) << i;
    }
}
