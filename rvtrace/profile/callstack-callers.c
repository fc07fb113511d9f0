/*
 * Call stacks: where their functions go on
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/callstack-private.h"

/* A stack can hang below one of each other privilege level, and no more. */
#define MAX_LEVELS 8

/* The stack that @st hangs below, if it is in use as it was then; or NULL */
static const Stack *interrupted(const CallStack *cs, const Stack *st)
{
    Context key = {
        .priv = st->below.priv,
        .space = st->below.space,
        .tid = st->below.tid,
    };
    const Context *c = g_hash_table_lookup(cs->contexts, &key);
    unsigned parent = profile_node(cs->profile, st->base)->parent;

    if (!c || !c->stack->depth ||
        c->stack->frames[c->stack->depth - 1].node != parent) {
        return NULL;
    }
    return c->stack;
}

static unsigned add_callers(const Stack *st, CallStackCaller *callers,
                            unsigned n, unsigned most)
{
    for (unsigned i = st->depth; i > 0 && n < most; i--) {
        if (st->frames[i - 1].ret) {
            callers[n++] = (CallStackCaller) {
                .pc = st->frames[i - 1].ret,
                .priv = st->priv,
            };
        }
    }
    return n;
}

unsigned callstack_callers(const CallStack *cs, CallStackCaller *callers,
                           unsigned most, const Task **task)
{
    const Stack *st = cs->now ? cs->now->stack : NULL;
    unsigned n = 0;

    for (unsigned i = 0; st && i < MAX_LEVELS; i++) {
        n = add_callers(st, callers, n, most);
        if (st->below.pc && !*task) {
            *task = st->below.task;
        }
        if (!st->below.pc || n == most) {
            break;
        }
        callers[n++] = (CallStackCaller) {
            .pc = st->below.pc,
            .priv = st->below.priv,
        };
        st = interrupted(cs, st);
    }
    return n;
}
