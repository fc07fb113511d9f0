/*
 * E-Trace filters and comparators: which blocks are traced
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "filter.h"

/*
 * What is looked at: an instruction, together with one of its accesses if it
 * has any, or a trap.
 */
typedef struct Point {
    uint64_t iaddr;
    const ETraceBlock *block;
    const ETraceAccess *access; /* NULL: none */
    uint64_t tval;
    bool trap;
} Point;

/*
 * Configuration
 */

static bool reads(const ETraceComparatorConfig *c, ETraceCompInput input)
{
    bool p = c->p_function < ETRACE_COMP_PRIME && c->p_input == input;
    bool s = c->s_function < ETRACE_COMP_MASK && c->s_input == input;

    return c->mode == ETRACE_COMP_MODE_P ? p : p || s;
}

static bool has_mask(const ETraceComparatorConfig *c)
{
    return c->s_function == ETRACE_COMP_MASK &&
           c->p_function < ETRACE_COMP_PRIME;
}

static bool notifies(const ETraceComparatorConfig *c)
{
    return (c->p_notify && c->p_input == ETRACE_COMP_IADDR) ||
           (c->s_notify && c->s_input == ETRACE_COMP_IADDR);
}

static uint8_t comparators_of(const ETraceFilterConfig *c)
{
    uint8_t mask = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(c->comp); i++) {
        if (c->match_comp[i]) {
            mask |= 1 << c->comp[i];
        }
    }
    return mask;
}

static bool is_primed(const ETraceComparatorConfig *c)
{
    return c->mode == ETRACE_COMP_MODE_LATCH &&
           c->p_function == ETRACE_COMP_PRIME;
}

static void prime(ETraceFilter *f, unsigned j)
{
    f->latch = (f->latch & ~(1 << j)) | is_primed(&f->comp[j]) << j;
}

static ETraceFilterScope scope(const ETraceFilter *f)
{
    ETraceFilterScope result = ETRACE_FILTER_BY_PRIVILEGE;

    if (f->notify || f->excint || f->scan) {
        return ETRACE_FILTER_BY_BLOCK;
    }
    for (unsigned j = 0; j < ETRACE_COMPARATORS_MAX; j++) {
        const ETraceComparatorConfig *c = &f->comp[j];

        if (!(f->used & (1 << j))) {
            continue;
        }
        if (c->mode == ETRACE_COMP_MODE_LATCH || reads(c, ETRACE_COMP_TVAL) ||
            reads(c, ETRACE_COMP_DADDR)) {
            return ETRACE_FILTER_BY_BLOCK;
        }
        if (reads(c, ETRACE_COMP_IADDR)) {
            result = ETRACE_FILTER_BY_ADDRESS;
        }
    }
    for (unsigned i = 0; i < ETRACE_FILTERS_MAX; i++) {
        const ETraceFilterConfig *c = &f->filter[i];

        if ((f->selected & (1 << i)) &&
            (c->match_impdef || c->match_dtype || c->match_dsize)) {
            return ETRACE_FILTER_BY_BLOCK;
        }
    }
    return result;
}

static void derive(ETraceFilter *f)
{
    f->selected = 0;
    f->excint = 0;
    f->used = 0;
    f->notify = 0;
    f->scan = 0;
    for (unsigned j = 0; j < ETRACE_COMPARATORS_MAX; j++) {
        f->notify |= notifies(&f->comp[j]) << j;
    }
    f->used = f->notify;
    for (unsigned i = 0; i < ETRACE_FILTERS_MAX; i++) {
        const ETraceFilterConfig *c = &f->filter[i];
        bool excint = c->match_ecause || c->match_interrupt;

        f->gate[i] = 0;
        if (!((f->inst_filters | f->data_filters) & (1 << i)) || !c->enable) {
            f->depth[i] = 0;
            continue;
        }
        f->selected |= 1 << i;
        f->excint |= excint << i;
        f->used |= comparators_of(c);
        for (unsigned j = 0; excint && j < ETRACE_COMPARATORS_MAX; j++) {
            if ((comparators_of(c) & (1 << j)) &&
                f->comp[j].mode != ETRACE_COMP_MODE_LATCH &&
                reads(&f->comp[j], ETRACE_COMP_TVAL)) {
                f->gate[i] |= 1 << j;
            }
        }
    }
    for (unsigned j = 0; j < ETRACE_COMPARATORS_MAX; j++) {
        if ((f->used & (1 << j)) && has_mask(&f->comp[j]) &&
            f->comp[j].p_input == ETRACE_COMP_IADDR) {
            f->scan |= 1 << j;
        }
    }
    f->scope = scope(f);
}

void etrace_filter_reset(ETraceFilter *f)
{
    memset(f->depth, 0, sizeof(f->depth));
    for (unsigned j = 0; j < ETRACE_COMPARATORS_MAX; j++) {
        prime(f, j);
    }
}

void etrace_filter_init(ETraceFilter *f)
{
    *f = (ETraceFilter) {
        .iaddress_width = 64,
        .nested_max = 1,
    };
}

void etrace_filter_select(ETraceFilter *f, uint16_t inst_filters,
                          uint16_t data_filters,
                          const ETraceFilterConfig *filters,
                          const ETraceComparatorConfig *comparators)
{
    f->inst_filters = inst_filters;
    f->data_filters = data_filters;
    for (unsigned i = 0; i < ETRACE_FILTERS_MAX; i++) {
        if (memcmp(&f->filter[i], &filters[i], sizeof(filters[i]))) {
            f->filter[i] = filters[i];
            f->depth[i] = 0;
        }
    }
    for (unsigned j = 0; j < ETRACE_COMPARATORS_MAX; j++) {
        if (memcmp(&f->comp[j], &comparators[j], sizeof(comparators[j]))) {
            f->comp[j] = comparators[j];
            prime(f, j);
        }
    }
    derive(f);
}

bool etrace_filter_needs_data(const ETraceFilter *f)
{
    for (unsigned i = 0; i < ETRACE_FILTERS_MAX; i++) {
        const ETraceFilterConfig *c = &f->filter[i];

        if (f->selected & f->inst_filters & (1 << i)) {
            if (c->match_dtype || c->match_dsize) {
                return true;
            }
            for (unsigned j = 0; j < ETRACE_COMPARATORS_MAX; j++) {
                if ((comparators_of(c) & (1 << j)) &&
                    reads(&f->comp[j], ETRACE_COMP_DADDR)) {
                    return true;
                }
            }
        }
    }
    return false;
}

/*
 * Comparators
 */

static uint64_t width_mask(unsigned width)
{
    return width < 64 ? (1ull << width) - 1 : UINT64_MAX;
}

/* The value of an input and its bits that exist; false: it is not there */
static bool input_value(const ETraceFilter *f, const Point *pt, unsigned input,
                        uint64_t *val, uint64_t *mask)
{
    switch (input) {
    case ETRACE_COMP_IADDR:
        *val = pt->iaddr;
        *mask = width_mask(f->iaddress_width);
        return true;
    case ETRACE_COMP_CONTEXT:
        *val = f->context;
        *mask = width_mask(f->context_width);
        return f->context_width;
    case ETRACE_COMP_TVAL:
        *val = pt->tval;
        *mask = width_mask(f->iaddress_width);
        return pt->trap && pt->block->itype == ETRACE_ITYPE_EXCEPTION;
    default:
        *val = pt->access ? pt->access->daddr : 0;
        *mask = width_mask(f->daddress_width);
        return pt->access;
    }
}

static bool compare(const ETraceFilter *f, const Point *pt, unsigned input,
                    unsigned function, uint64_t match, uint64_t under)
{
    uint64_t val, mask;

    if (!input_value(f, pt, input, &val, &mask)) {
        return false;
    }
    val &= mask & under;
    match &= mask & under;
    switch (function) {
    case ETRACE_COMP_EQ:
        return val == match;
    case ETRACE_COMP_NE:
        return val != match;
    case ETRACE_COMP_LT:
        return val < match;
    case ETRACE_COMP_LE:
        return val <= match;
    case ETRACE_COMP_GT:
        return val > match;
    default:
        return val >= match;
    }
}

static bool primary(const ETraceFilter *f, const ETraceComparatorConfig *c,
                    const Point *pt)
{
    if (c->p_function >= ETRACE_COMP_PRIME) {
        return c->p_function == ETRACE_COMP_TRUE;
    }
    return compare(f, pt, c->p_input, c->p_function, c->p_match,
                   has_mask(c) ? c->s_match : UINT64_MAX);
}

static bool secondary(const ETraceFilter *f, const ETraceComparatorConfig *c,
                      const Point *pt)
{
    if (c->s_function >= ETRACE_COMP_MASK) {
        return true;
    }
    return compare(f, pt, c->s_input, c->s_function, c->s_match, UINT64_MAX);
}

/* What the comparators say about a point */
typedef struct Verdict {
    uint8_t out;                /* bit per comparator */
    uint8_t clear;              /* latches that end behind the instruction */
    bool notify;
} Verdict;

static Verdict look(ETraceFilter *f, const Point *pt)
{
    Verdict v = { 0 };

    for (unsigned rest = f->used; rest; rest &= rest - 1) {
        unsigned j = __builtin_ctz(rest);
        const ETraceComparatorConfig *c = &f->comp[j];
        bool p = primary(f, c, pt), s = secondary(f, c, pt), out;

        v.notify |= p && c->p_notify && c->p_input == ETRACE_COMP_IADDR;
        v.notify |= s && c->s_notify && c->s_input == ETRACE_COMP_IADDR;
        switch (c->mode) {
        case ETRACE_COMP_MODE_P:
            out = p;
            break;
        case ETRACE_COMP_MODE_AND:
            out = p && s;
            break;
        case ETRACE_COMP_MODE_NAND:
            out = !(p && s);
            break;
        default:
            if (pt->trap) {
                p &= c->p_input != ETRACE_COMP_IADDR;
                s &= c->s_input != ETRACE_COMP_IADDR;
            }
            f->latch |= p << j;
            v.clear |= s << j;
            out = f->latch & (1 << j);
            break;
        }
        v.out |= out << j;
    }
    return v;
}

/*
 * Filters
 */

static bool chosen(uint64_t choice, unsigned n)
{
    return n < 64 && ((choice >> n) & 1);
}

/* Those that match at a point where the comparators say @out */
static uint16_t match(const ETraceFilter *f, const Point *pt, uint8_t out)
{
    uint16_t matching = 0;

    for (unsigned rest = f->selected; rest; rest &= rest - 1) {
        unsigned i = __builtin_ctz(rest);
        const ETraceFilterConfig *c = &f->filter[i];
        uint8_t needed = comparators_of(c) & ~f->gate[i];

        if ((!c->match_privilege ||
             chosen(c->choice_privilege, pt->block->priv)) &&
            (!(f->excint & (1 << i)) || f->depth[i]) &&
            !(needed & ~out) &&
            (!c->match_impdef ||
             !((f->impdef ^ c->value_impdef) & c->mask_impdef)) &&
            (!c->match_dtype ||
             (pt->access && chosen(c->choice_dtype, pt->access->dtype))) &&
            (!c->match_dsize ||
             (pt->access && chosen(c->choice_dsize, pt->access->dsize)))) {
            matching |= 1 << i;
        }
    }
    return matching;
}

/* A trap: nesting of those that match already, or the start of a match */
static void enter_trap(ETraceFilter *f, const ETraceBlock *trap, uint8_t out)
{
    for (unsigned i = 0; i < ETRACE_FILTERS_MAX; i++) {
        const ETraceFilterConfig *c = &f->filter[i];
        bool interrupt = c->match_interrupt && c->value_interrupt;

        if (!(f->excint & (1 << i))) {
            continue;
        }
        if (f->depth[i]) {
            f->depth[i] = MIN(f->depth[i] + 1, f->nested_max);
        } else if (interrupt == (trap->itype == ETRACE_ITYPE_INTERRUPT) &&
                   (!c->match_ecause ||
                    chosen(c->choice_ecause, trap->cause)) &&
                   !(f->gate[i] & ~out)) {
            f->depth[i] = 1;
        }
    }
}

static void leave_trap(ETraceFilter *f)
{
    for (unsigned i = 0; i < ETRACE_FILTERS_MAX; i++) {
        if (f->depth[i]) {
            f->depth[i]--;
        }
    }
}

void etrace_filter_event(ETraceFilter *f, const ETraceEvent *event)
{
    switch (event->type) {
    case ETRACE_EVENT_CONTEXT:
        f->context = event->value;
        break;
    case ETRACE_EVENT_IMPDEF:
        f->impdef = event->value;
        break;
    case ETRACE_EVENT_RESET:
        memset(f->depth, 0, sizeof(f->depth));
        break;
    default:
        break;
    }
}

/*
 * Blocks
 */

static void nearer(uint64_t *next, uint64_t addr, uint64_t pc)
{
    if (addr > pc && addr < *next) {
        *next = addr;
    }
}

/* A comparison with @match changes at its address and behind it. */
static void nearer_match(const ETraceFilter *f, uint64_t *next,
                         uint64_t match, uint64_t pc)
{
    match &= width_mask(f->iaddress_width);
    nearer(next, match + (match & 1), pc);
    nearer(next, match + 2 - (match & 1), pc);
}

/*
 * The next address behind @pc, up to @last, where a comparison may turn out
 * otherwise than at the address before; UINT64_MAX if there is none.
 */
static uint64_t next_point(const ETraceFilter *f, uint64_t pc, uint64_t last)
{
    uint64_t next = UINT64_MAX;

    if (pc >= last) {
        return next;
    }
    if (f->scan) {
        return pc + 2;
    }
    for (unsigned rest = f->used; rest; rest &= rest - 1) {
        const ETraceComparatorConfig *c = &f->comp[__builtin_ctz(rest)];

        if (c->p_function < ETRACE_COMP_PRIME &&
            c->p_input == ETRACE_COMP_IADDR) {
            nearer_match(f, &next, c->p_match, pc);
        }
        if (c->s_function < ETRACE_COMP_MASK &&
            c->s_input == ETRACE_COMP_IADDR) {
            nearer_match(f, &next, c->s_match, pc);
        }
    }
    return next <= last ? next : UINT64_MAX;
}

typedef struct Walk {
    ETraceFilter *f;
    Point pt;
    uint16_t matching;          /* filters that matched somewhere */
    bool notify;
} Walk;

static uint16_t visit(Walk *w, const ETraceAccess *access, uint8_t *clear)
{
    Verdict v = { };
    uint16_t matching;

    w->pt.access = access;
    if (w->f->used) {
        v = look(w->f, &w->pt);
    }
    matching = match(w->f, &w->pt, v.out);
    w->matching |= matching;
    w->notify |= v.notify;
    *clear |= v.clear;
    return matching;
}

static ETraceFilterResult filter_trap(ETraceFilter *f,
                                      const ETraceBlock *trap, uint64_t tval,
                                      const ETraceAccess *accesses, size_t n,
                                      bool *data)
{
    Walk w = {
        .f = f,
        .pt = { trap->iaddr, trap, NULL, tval, true },
    };
    uint16_t matching;
    uint8_t clear = 0;
    Verdict v;

    for (size_t i = 0; data && i < n; i++) {
        matching = visit(&w, &accesses[i], &clear);
        data[i] = !f->data_filters || (matching & f->data_filters);
    }
    f->latch &= ~clear;
    w.pt.access = NULL;
    v = look(f, &w.pt);
    enter_trap(f, trap, v.out);
    matching = match(f, &w.pt, v.out);
    f->latch &= ~v.clear;
    return (ETraceFilterResult) {
        .qualified = !f->inst_filters || (matching & f->inst_filters),
    };
}

ETraceFilterResult etrace_filter_block(ETraceFilter *f,
                                       const ETraceBlock *block,
                                       uint64_t tval,
                                       const ETraceAccess *accesses, size_t n,
                                       bool *data)
{
    Walk w = { .f = f, .pt = { .iaddr = block->iaddr, .block = block } };
    uint64_t last = etrace_block_last(block);
    size_t i = 0;

    if (etrace_itype_is_trap(block->itype)) {
        return filter_trap(f, block, tval, accesses, n, data);
    }
    while (w.pt.iaddr <= last) {
        uint64_t pc = w.pt.iaddr, next;
        uint8_t clear = 0;
        size_t first = i;

        for (; i < n && block->iaddr + 2 * accesses[i].offset == pc; i++) {
            uint16_t matching = visit(&w, &accesses[i], &clear);

            if (data) {
                data[i] = !f->data_filters || (matching & f->data_filters);
            }
        }
        if (i == first) {
            visit(&w, NULL, &clear);
        }
        f->latch &= ~clear;

        next = next_point(f, pc, last);
        if (i < n) {
            nearer(&next, block->iaddr + 2 * accesses[i].offset, pc);
        }
        if (i > first && pc < last) {
            /* The instructions behind this one make no access. */
            nearer(&next, pc + 2, pc);
        }
        if (next == UINT64_MAX) {
            break;
        }
        w.pt.iaddr = next;
    }
    while (data && i < n) {
        data[i++] = false;
    }
    if (block->itype == ETRACE_ITYPE_TRAP_RETURN) {
        leave_trap(f);
    }
    return (ETraceFilterResult) {
        .qualified = !f->inst_filters || (w.matching & f->inst_filters),
        .notify = w.notify,
    };
}
