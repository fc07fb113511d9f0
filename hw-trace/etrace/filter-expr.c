/*
 * E-Trace filters as text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "filter-expr.h"

/* By their numbers */
static const struct {
    const char *name;
    ETracePriv priv;
} levels[] = {
    { "U", ETRACE_PRIV_U },
    { "S", ETRACE_PRIV_S },
    { "M", ETRACE_PRIV_M },
    { "VU", ETRACE_PRIV_VU },
    { "VS", ETRACE_PRIV_VS },
};

/*
 * Terms
 */

static char *too_many(void)
{
    return g_strdup_printf("at most %u pc ranges and contexts together are "
                           "possible: join ranges, or leave some out",
                           ETRACE_COMPARATORS_MAX);
}

/* "31" or "0x1f"; false if it is no such number. */
static bool read_number(const char *text, uint64_t *val)
{
    bool hex = g_str_has_prefix(text, "0x") || g_str_has_prefix(text, "0X");
    guint64 num;

    if (!g_ascii_string_to_unsigned(text + 2 * hex, hex ? 16 : 10, 0,
                                    UINT64_MAX, &num, NULL)) {
        return false;
    }
    *val = num;
    return true;
}

static bool add_privs(ETraceFilterExpr *e, const char *value, char **problem)
{
    g_auto(GStrv) names = g_strsplit(value, "+", -1);

    for (unsigned i = 0; names[i]; i++) {
        unsigned n = 0;

        while (n < ARRAY_SIZE(levels) && strcmp(names[i], levels[n].name)) {
            n++;
        }
        if (n == ARRAY_SIZE(levels)) {
            *problem = g_strdup_printf("priv=%s: '%s' is no privilege level, "
                                       "which are U, S, M, VU and VS, as in "
                                       "priv=U or priv=S+U", value, names[i]);
            return false;
        }
        e->privs |= 1 << levels[n].priv;
    }
    if (!names[0]) {
        *problem = g_strdup("priv= needs a privilege level, which are U, S, "
                            "M, VU and VS, as in priv=U or priv=S+U");
        return false;
    }
    return true;
}

/* Do they overlap, or is there nothing between them? */
static bool touch(const ETraceFilterRange *a, const ETraceFilterRange *b)
{
    return (a->last == UINT64_MAX || a->last + 1 >= b->first) &&
           (b->last == UINT64_MAX || b->last + 1 >= a->first);
}

static bool add_range(ETraceFilterExpr *e, const char *value, char **problem)
{
    g_auto(GStrv) ends = g_strsplit(value, "-", 2);
    ETraceFilterRange r, all[ETRACE_COMPARATORS_MAX + 1];
    unsigned n = 0, i = 0;

    if (g_strv_length(ends) != 2 || !read_number(ends[0], &r.first) ||
        !read_number(ends[1], &r.last)) {
        *problem = g_strdup_printf("pc=%s: needs the first and the last "
                                   "address of a range, of at most 64 bits, "
                                   "as in pc=0x80000000-0x80000fff", value);
        return false;
    }
    if (r.first > r.last) {
        *problem = g_strdup_printf("pc=%s: the first address is above the "
                                   "last one: exchange them", value);
        return false;
    }
    for (; i < e->num_ranges && e->range[i].first < r.first &&
         !touch(&e->range[i], &r); i++) {
        all[n++] = e->range[i];
    }
    for (; i < e->num_ranges && touch(&e->range[i], &r); i++) {
        r.first = MIN(r.first, e->range[i].first);
        r.last = MAX(r.last, e->range[i].last);
    }
    all[n++] = r;
    for (; i < e->num_ranges; i++) {
        all[n++] = e->range[i];
    }
    if (n > ETRACE_COMPARATORS_MAX) {
        *problem = too_many();
        return false;
    }
    memset(e->range, 0, sizeof(e->range));
    memcpy(e->range, all, n * sizeof(all[0]));
    e->num_ranges = n;
    return true;
}

static bool add_context(ETraceFilterExpr *e, const char *value, char **problem)
{
    uint64_t context;
    unsigned i = 0;

    if (!read_number(value, &context)) {
        *problem = g_strdup_printf("context=%s: needs a number of at most 64 "
                                   "bits, as in context=5", value);
        return false;
    }
    while (i < e->num_contexts && e->context[i] < context) {
        i++;
    }
    if (i < e->num_contexts && e->context[i] == context) {
        return true;
    }
    if (e->num_contexts == ETRACE_COMPARATORS_MAX) {
        *problem = too_many();
        return false;
    }
    memmove(&e->context[i + 1], &e->context[i],
            (e->num_contexts - i) * sizeof(e->context[0]));
    e->context[i] = context;
    e->num_contexts++;
    return true;
}

static bool add_term(ETraceFilterExpr *e, const char *term, char **problem)
{
    if (g_str_has_prefix(term, "priv=")) {
        return add_privs(e, term + strlen("priv="), problem);
    }
    if (g_str_has_prefix(term, "pc=")) {
        return add_range(e, term + strlen("pc="), problem);
    }
    if (g_str_has_prefix(term, "context=")) {
        return add_context(e, term + strlen("context="), problem);
    }
    *problem = g_strdup_printf("'%s' is none of priv=LEVEL, pc=FIRST-LAST and "
                               "context=NUMBER, of which an expression "
                               "consists, with a ';' between them", term);
    return false;
}

/*
 * Expressions
 */

bool etrace_filter_expr_parse(ETraceFilterExpr *e, const char *text,
                              char **problem)
{
    g_auto(GStrv) terms = g_strsplit(text, ";", -1);
    ETraceFilterExpr new = { };

    for (unsigned i = 0; terms[i]; i++) {
        if (!add_term(&new, terms[i], problem)) {
            return false;
        }
    }
    if (new.num_ranges + new.num_contexts > ETRACE_COMPARATORS_MAX) {
        *problem = too_many();
        return false;
    }
    *e = new;
    return true;
}

char *etrace_filter_expr_text(const ETraceFilterExpr *e)
{
    GString *s = g_string_new(NULL);
    const char *joint = "priv=";

    for (unsigned i = 0; i < ARRAY_SIZE(levels); i++) {
        if (e->privs & (1 << levels[i].priv)) {
            g_string_append_printf(s, "%s%s", joint, levels[i].name);
            joint = "+";
        }
    }
    for (unsigned i = 0; i < e->num_ranges; i++) {
        g_string_append_printf(s, "%spc=0x%" PRIx64 "-0x%" PRIx64,
                               s->len ? ";" : "", e->range[i].first,
                               e->range[i].last);
    }
    for (unsigned i = 0; i < e->num_contexts; i++) {
        g_string_append_printf(s, "%scontext=%" PRIu64, s->len ? ";" : "",
                               e->context[i]);
    }
    return g_string_free(s, FALSE);
}

bool etrace_filter_expr_fits(const ETraceFilterExpr *e,
                             unsigned iaddress_width)
{
    /* They are sorted. */
    return iaddress_width >= 64 || !e->num_ranges ||
           !(e->range[e->num_ranges - 1].last >> iaddress_width);
}

void etrace_filter_expr_apply(const ETraceFilterExpr *e, ETraceFilter *f)
{
    ETraceFilterConfig filters[ETRACE_FILTERS_MAX] = { };
    ETraceComparatorConfig comps[ETRACE_COMPARATORS_MAX] = { };
    unsigned n = 0, contexts = e->num_ranges;

    for (unsigned i = 0; i < e->num_ranges; i++) {
        comps[i] = (ETraceComparatorConfig) {
            .mode = ETRACE_COMP_MODE_AND,
            .p_input = ETRACE_COMP_IADDR,
            .p_function = ETRACE_COMP_GE,
            .p_match = e->range[i].first,
            .s_input = ETRACE_COMP_IADDR,
            .s_function = ETRACE_COMP_LE,
            .s_match = e->range[i].last,
        };
    }
    for (unsigned i = 0; i < e->num_contexts; i++) {
        comps[contexts + i] = (ETraceComparatorConfig) {
            .mode = ETRACE_COMP_MODE_P,
            .p_input = ETRACE_COMP_CONTEXT,
            .p_function = ETRACE_COMP_EQ,
            .p_match = e->context[i],
        };
    }
    /* A filter for each range in each context: a + b <= 8, so a * b <= 16. */
    QEMU_BUILD_BUG_ON(ETRACE_FILTERS_MAX < ETRACE_COMPARATORS_MAX *
                                           ETRACE_COMPARATORS_MAX / 4);
    for (unsigned i = 0; i < MAX(e->num_ranges, 1); i++) {
        for (unsigned j = 0; j < MAX(e->num_contexts, 1); j++) {
            filters[n++] = (ETraceFilterConfig) {
                .enable = true,
                .match_privilege = e->privs != 0,
                .choice_privilege = e->privs,
                .match_comp = { e->num_ranges, e->num_contexts },
                .comp = { i, (contexts + j) % ETRACE_COMPARATORS_MAX },
            };
        }
    }
    if (!e->privs && !e->num_ranges && !e->num_contexts) {
        n = 0;
    }
    f->context_width = 64;
    etrace_filter_select(f, (1u << n) - 1, (1u << n) - 1, filters, comps);
}
