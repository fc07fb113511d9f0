/*
 * Assertions that say what differs
 *
 * Unlike GLib's g_assert_cmpint() and its kin, which a program can make
 * non-fatal, these always end the test: code behind them relies on them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TESTS_CHECK_H
#define ETRACE_TESTS_CHECK_H

#include <glib.h>

#define CHECK_NUMBERS(type, letter, a, cmp, b) do { \
    type a_ = (a), b_ = (b); \
    if (!(a_ cmp b_)) { \
        g_assertion_message_cmpnum(G_LOG_DOMAIN, __FILE__, __LINE__, \
                                   G_STRFUNC, #a " " #cmp " " #b, a_, #cmp, \
                                   b_, letter); \
    } \
} while (0)

#define check_cmpint(a, cmp, b) CHECK_NUMBERS(gint64, 'i', a, cmp, b)
#define check_cmpuint(a, cmp, b) CHECK_NUMBERS(guint64, 'i', a, cmp, b)
#define check_cmphex(a, cmp, b) CHECK_NUMBERS(guint64, 'x', a, cmp, b)

#define check_cmpstr(a, cmp, b) do { \
    const char *a_ = (a), *b_ = (b); \
    if (!(g_strcmp0(a_, b_) cmp 0)) { \
        g_assertion_message_cmpstr(G_LOG_DOMAIN, __FILE__, __LINE__, \
                                   G_STRFUNC, #a " " #cmp " " #b, a_, #cmp, \
                                   b_); \
    } \
} while (0)

#define check_no_error(err) do { \
    if (err) { \
        g_assertion_message_error(G_LOG_DOMAIN, __FILE__, __LINE__, \
                                  G_STRFUNC, #err, err, 0, 0); \
    } \
} while (0)

#define check_true(expr) g_assert(expr)
#define check_false(expr) g_assert(!(expr))
#define check_null(expr) g_assert((expr) == NULL)
#define check_nonnull(expr) g_assert((expr) != NULL)

#endif /* ETRACE_TESTS_CHECK_H */
