/*
 * E-Trace filters and comparators: random configurations and programs against
 * a model that looks at one instruction after the other
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-test.h"
#include "etrace-filter-fixture.h"
#include "hw/trace/etrace/filter-ranges.h"

typedef struct Model {
    bool latch[ETRACE_COMPARATORS_MAX];
    unsigned depth[ETRACE_FILTERS_MAX];
} Model;

typedef struct Insn {
    uint64_t addr;
    const ETraceBlock *block;
    uint64_t tval;
    bool trap;
} Insn;

static bool model_compare(const Setup *s, const Insn *in, unsigned input,
                          unsigned function, uint64_t match, uint64_t mask)
{
    uint64_t val;

    switch (input) {
    case 0:
        val = in->addr;
        break;
    case 1:
        val = s->f.context;
        mask &= 0xffffffff;
        break;
    case 2:
        if (!in->trap || in->block->itype != 1) {
            return false;
        }
        val = in->tval;
        break;
    default:
        return false;
    }
    val &= mask;
    match &= mask;
    return function == 0 ? val == match :
           function == 1 ? val != match :
           function == 2 ? val < match :
           function == 3 ? val <= match :
           function == 4 ? val > match : val >= match;
}

/* Outputs of the comparators for one instruction; latches step on. */
static unsigned model_comparators(const Setup *s, Model *m, const Insn *in,
                                  bool *notify)
{
    unsigned out = 0;

    for (unsigned j = 0; j < ETRACE_COMPARATORS_MAX; j++) {
        const ETraceComparatorConfig *c = &s->comp[j];
        bool p = c->p_function == 7 ||
                 (c->p_function < 6 &&
                  model_compare(s, in, c->p_input, c->p_function, c->p_match,
                                c->s_function == 6 ? c->s_match : UINT64_MAX));
        bool sec = c->s_function >= 6 ||
                   model_compare(s, in, c->s_input, c->s_function,
                                 c->s_match, -1);
        bool val;

        *notify |= (p && c->p_notify && c->p_input == 0) ||
                   (sec && c->s_notify && c->s_input == 0);
        if (c->mode < 3) {
            val = c->mode == 0 ? p : c->mode == 1 ? p && sec : !(p && sec);
        } else {
            if (in->trap && c->p_input == 0) {
                p = false;
            }
            if (in->trap && c->s_input == 0) {
                sec = false;
            }
            val = m->latch[j] || p;
            m->latch[j] = val && !sec;
        }
        out |= val << j;
    }
    return out;
}

static bool model_reads_tval(const ETraceComparatorConfig *c)
{
    return (c->p_input == 2 && c->p_function < 6) ||
           (c->mode > 0 && c->s_input == 2 && c->s_function < 6);
}

static bool model_insn(const Setup *s, Model *m, const Insn *in,
                       uint16_t filters, bool *notify)
{
    unsigned out = model_comparators(s, m, in, notify);
    bool qualified = false;

    for (unsigned i = 0; i < ETRACE_FILTERS_MAX; i++) {
        const ETraceFilterConfig *c = &s->filter[i];
        bool excint = c->match_ecause || c->match_interrupt;
        bool all = true, start = true;

        if (!c->enable || !(filters & (1 << i))) {
            continue;
        }
        for (unsigned k = 0; k < 3; k++) {
            bool ok = (out >> c->comp[k]) & 1;

            if (!c->match_comp[k]) {
                continue;
            }
            if (excint && model_reads_tval(&s->comp[c->comp[k]]) &&
                s->comp[c->comp[k]].mode != 3) {
                start &= ok;
            } else {
                all &= ok;
            }
        }
        if (excint && in->trap) {
            unsigned kind = c->match_interrupt && c->value_interrupt ? 2 : 1;

            if (m->depth[i]) {
                m->depth[i] += m->depth[i] < s->f.nested_max;
            } else if (start && in->block->itype == kind &&
                       (!c->match_ecause ||
                        (c->choice_ecause & (1ull << in->block->cause)))) {
                m->depth[i] = 1;
            }
        }
        if (excint && !m->depth[i]) {
            all = false;
        }
        if (c->match_privilege &&
            !(c->choice_privilege & (1 << in->block->priv))) {
            all = false;
        }
        if (c->match_impdef && (s->f.impdef & c->mask_impdef) !=
                               (c->value_impdef & c->mask_impdef)) {
            all = false;
        }
        if (c->match_dtype || c->match_dsize) {
            all = false;
        }
        qualified |= all;
    }
    return qualified || !filters;
}

/* Few values, so that they are met often */
static uint64_t random_address(GRand *r, unsigned size)
{
    return 0x1000 + size * g_rand_int_range(r, 0, 64);
}

static void random_setup(Setup *s, GRand *r)
{
    setup_init(s);
    s->f.nested_max = g_rand_int_range(r, 1, 4);
    for (unsigned j = 0; j < ETRACE_COMPARATORS_MAX; j++) {
        ETraceComparatorConfig *c = &s->comp[j];

        c->p_input = g_rand_int_range(r, 0, 8) % 4 % 3;
        c->s_input = g_rand_int_range(r, 0, 8) % 4 % 3;
        c->p_function = g_rand_int_range(r, 0, 8);
        c->s_function = g_rand_int_range(r, 0, 8);
        c->mode = g_rand_int_range(r, 0, 4);
        c->p_match = c->p_input ? (uint64_t)g_rand_int_range(r, 0, 4) :
                     random_address(r, 1 + g_rand_int_range(r, 0, 2));
        c->s_match = c->s_input ? (uint64_t)g_rand_int_range(r, 0, 4) :
                     random_address(r, 1 + g_rand_int_range(r, 0, 2));
        if (c->s_function == 6) {
            c->s_match = g_rand_int(r);
            c->s_match <<= g_rand_int_range(r, 0, 9);
        }
        c->p_notify = g_rand_int_range(r, 0, 16) == 0;
        c->s_notify = g_rand_int_range(r, 0, 16) == 0;
    }
    for (unsigned i = 0; i < ETRACE_FILTERS_MAX; i++) {
        ETraceFilterConfig *c = &s->filter[i];

        c->enable = g_rand_int_range(r, 0, 4) != 0;
        c->match_privilege = g_rand_boolean(r);
        c->choice_privilege = g_rand_int(r);
        c->match_ecause = g_rand_int_range(r, 0, 4) == 0;
        c->choice_ecause = g_rand_int(r);
        c->match_interrupt = g_rand_int_range(r, 0, 4) == 0;
        c->value_interrupt = g_rand_boolean(r);
        c->match_impdef = g_rand_int_range(r, 0, 4) == 0;
        c->value_impdef = g_rand_int(r);
        c->mask_impdef = 3;
        c->match_dtype = g_rand_int_range(r, 0, 16) == 0;
        for (unsigned k = 0; k < 3; k++) {
            c->match_comp[k] = g_rand_boolean(r);
            c->comp[k] = g_rand_int_range(r, 0, 8);
        }
    }
}

static void test_random(void)
{
    GRand *r = g_rand_new_with_seed(20240601);
    unsigned qualified = 0, total = 0, notified = 0;

    for (unsigned round = 0; round < 3000; round++) {
        /* All instructions of a program are of the same size. */
        unsigned size = g_rand_boolean(r) ? 4 : 2;
        /* One filter, or any number of them */
        uint16_t filters = round % 3 == 0 ? g_rand_int(r) :
                           1u << g_rand_int_range(r, 0, 16);
        Model m = { 0 };
        Setup s;

        random_setup(&s, r);
        program(&s, filters, 0);
        for (unsigned j = 0; j < ETRACE_COMPARATORS_MAX; j++) {
            m.latch[j] = s.comp[j].mode == 3 && s.comp[j].p_function == 6;
        }
        for (unsigned n = 0; n < 200; n++) {
            unsigned what = g_rand_int_range(r, 0, 16);
            ETraceBlock b = { .iaddr = random_address(r, size) };
            bool expect = false, expect_notify = false;
            uint64_t tval = 0;
            ETraceFilterResult res;

            b.priv = g_rand_int_range(r, 0, 4);
            if (what == 0) {
                event(&s, ETRACE_EVENT_CONTEXT, g_rand_int_range(r, 0, 4));
                continue;
            } else if (what == 1) {
                event(&s, ETRACE_EVENT_IMPDEF, g_rand_int_range(r, 0, 4));
                continue;
            } else if (what < 5) {
                b.itype = 1 + g_rand_int_range(r, 0, 2);
                b.cause = g_rand_int_range(r, 0, 16);
                tval = g_rand_int_range(r, 0, 4);
                expect = model_insn(&s, &m, &(Insn) {
                    .addr = b.iaddr, .block = &b, .tval = tval, .trap = true,
                }, filters, &expect_notify);
                expect_notify = false;
            } else {
                unsigned insns = g_rand_int_range(r, 1, 12);

                b.itype = what < 9 ? ETRACE_ITYPE_TRAP_RETURN :
                          ETRACE_ITYPE_TAKEN_BRANCH;
                b.iretire = insns * size / 2;
                b.ilastsize = size == 4;
                /* each half-word up to the last instruction's address */
                for (unsigned k = 0; k <= (insns - 1) * size; k += 2) {
                    expect |= model_insn(&s, &m, &(Insn) {
                        .addr = b.iaddr + k, .block = &b,
                    }, filters, &expect_notify);
                }
                for (unsigned i = 0; what < 9 && i < ETRACE_FILTERS_MAX;
                     i++) {
                    m.depth[i] -= m.depth[i] > 0;
                }
            }
            res = etrace_filter_block(&s.f, &b, tval, NULL, 0, NULL);
            g_assert_cmpuint(res.qualified, ==, expect);
            g_assert_cmpuint(res.notify, ==, expect_notify);
            total++;
            qualified += expect;
            notified += expect_notify;
        }
    }
    /* It was about something. */
    g_assert_cmpuint(qualified, >, total / 10);
    g_assert_cmpuint(qualified, <, total - total / 10);
    g_assert_cmpuint(notified, >, total / 100);
    g_test_message("%u blocks, %u qualified, %u to be reported", total,
                   qualified, notified);
    g_rand_free(r);
}

/* Filters of which only addresses, privilege and context can decide */
static void by_address_setup(Setup *s, GRand *r)
{
    static const uint8_t functions[] = { 0, 1, 2, 3, 4, 5, 7 };

    random_setup(s, r);
    s->f.iaddress_width = g_rand_boolean(r) ? 64 : 32;
    for (unsigned j = 0; j < ETRACE_COMPARATORS_MAX; j++) {
        ETraceComparatorConfig *c = &s->comp[j];
        static const uint64_t ends[] = {
            0, 1, 2, 3, UINT32_MAX - 2, UINT32_MAX - 1, UINT32_MAX,
            1ull << 32, UINT64_MAX - 2, UINT64_MAX - 1, UINT64_MAX,
        };

        c->p_input %= 2;
        c->s_input %= 2;
        c->p_function = functions[g_rand_int_range(r, 0, 7)];
        c->s_function = functions[g_rand_int_range(r, 0, 7)];
        c->mode %= 3;
        c->p_notify = false;
        c->s_notify = false;
        if (g_rand_int_range(r, 0, 4) == 0) {
            c->p_match = ends[g_rand_int_range(r, 0, 11)];
        }
        if (g_rand_int_range(r, 0, 4) == 0) {
            c->s_match = ends[g_rand_int_range(r, 0, 11)];
        }
    }
    for (unsigned i = 0; i < ETRACE_FILTERS_MAX; i++) {
        s->filter[i].match_ecause = false;
        s->filter[i].match_interrupt = false;
        s->filter[i].match_impdef = false;
        s->filter[i].match_dtype = false;
    }
}

/*
 * In one privilege and context, what is said of ranges is what is said of each
 * instruction of one half-word by itself; by two sets of filters together.
 */
static void test_ranges(void)
{
    GRand *r = g_rand_new_with_seed(20261124);
    unsigned found = 0, of_more_than_one = 0;

    for (unsigned round = 0; round < 3000; round++) {
        Setup s[2];
        ETraceFilter *filters[2] = { &s[0].f, &s[1].f };
        unsigned n = g_rand_int_range(r, 1, 3);
        uint8_t priv = g_rand_int_range(r, 0, 4);
        ETraceRanges ranges;

        for (unsigned i = 0; i < 2; i++) {
            by_address_setup(&s[i], r);
            program(&s[i], 1u << g_rand_int_range(r, 0, 16) |
                           1u << g_rand_int_range(r, 0, 16), 0);
            event(&s[i], ETRACE_EVENT_CONTEXT, g_rand_int_range(r, 0, 4));
            g_assert_cmpint(s[i].f.scope, !=, ETRACE_FILTER_BY_BLOCK);
        }
        s[1].f.iaddress_width = s[0].f.iaddress_width;
        etrace_filter_ranges(filters, n, priv, &ranges);
        found += ranges.n != 0;
        of_more_than_one += ranges.n > 2;
        for (unsigned k = 1; k < ranges.n; k++) {
            g_assert_cmpuint(ranges.at[k - 1], <, ranges.at[k]);
        }
        for (unsigned k = 0; k < 400; k++) {
            /* all of the small ones, and both ends of what there is */
            uint64_t pc = k < 200 ? 0xff0 + 2 * k :
                          k < 210 ? 2 * (k - 200) :
                          k < 220 ? UINT32_MAX - 1 - 2ull * (k - 210) :
                          k < 230 ? (1ull << 32) + 2 * (k - 220) :
                          k < 240 ? UINT64_MAX - 1 - 2ull * (k - 230) :
                                    ((uint64_t)g_rand_int(r) << 32 |
                                     (g_rand_int(r) & ~1u));
            bool expect = true;

            if (s[0].f.iaddress_width == 32) {
                pc = (uint32_t)pc;
            }
            for (unsigned i = 0; i < n; i++) {
                expect &= block_as(&s[i], pc, pc, ETRACE_ITYPE_NONE, priv);
            }
            g_assert_cmpuint(etrace_ranges_qualify(&ranges, pc), ==, expect);
        }
    }
    g_assert_cmpuint(found, >, 500);
    g_assert_cmpuint(of_more_than_one, >, 30);
    g_rand_free(r);
}

/* What else a filter may depend on has to be looked at block by block. */
static void test_scope(void)
{
    ETraceComparatorConfig c = range(0x1000, 0x1ffe, ETRACE_COMP_MODE_AND);
    Setup s;

    setup_init(&s);
    g_assert_cmpint(s.f.scope, ==, ETRACE_FILTER_BY_PRIVILEGE);
    s.filter[0].match_privilege = true;
    program_one(&s);
    g_assert_cmpint(s.f.scope, ==, ETRACE_FILTER_BY_PRIVILEGE);
    use_comparator(&s, c);
    g_assert_cmpint(s.f.scope, ==, ETRACE_FILTER_BY_ADDRESS);

#define ASSERT_BY_BLOCK(change)                                         \
    do {                                                                \
        setup_init(&s);                                                 \
        s.comp[0] = c;                                                  \
        s.filter[0].match_comp[0] = true;                               \
        change;                                                         \
        program_one(&s);                                                \
        g_assert_cmpint(s.f.scope, ==, ETRACE_FILTER_BY_BLOCK);         \
    } while (0)
    ASSERT_BY_BLOCK(s.comp[0].mode = ETRACE_COMP_MODE_LATCH);
    ASSERT_BY_BLOCK(s.comp[0].s_function = ETRACE_COMP_MASK);
    ASSERT_BY_BLOCK(s.comp[0].s_input = ETRACE_COMP_TVAL);
    ASSERT_BY_BLOCK(s.comp[0].p_input = ETRACE_COMP_DADDR);
    ASSERT_BY_BLOCK(s.comp[1].p_notify = true);
    ASSERT_BY_BLOCK(s.filter[0].match_ecause = true);
    ASSERT_BY_BLOCK(s.filter[0].match_interrupt = true);
    ASSERT_BY_BLOCK(s.filter[0].match_impdef = true);
    ASSERT_BY_BLOCK(s.filter[0].match_dtype = true);
    ASSERT_BY_BLOCK(s.filter[0].match_dsize = true);
#undef ASSERT_BY_BLOCK
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/etrace/filter/random", test_random);
    g_test_add_func("/etrace/filter/ranges", test_ranges);
    g_test_add_func("/etrace/filter/scope", test_scope);
    return g_test_run();
}
