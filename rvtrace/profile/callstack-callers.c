/*
 * Call stacks: where their functions go on
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/callstack-private.h"

/* A stack can hang below one of each other privilege level, and no more. */
#define MAX_LEVELS 8

/* Is @below as it was when @st began, which hangs below it? */
static bool is_unchanged(const CallStack *cs, const Stack *below,
                         const Stack *st)
{
    return (below->depth || below->trapped) && below->epc == st->below.pc &&
           innermost_node(below) ==
           profile_node(cs->profile, st->base)->parent;
}

/*
 * The stack that @st hangs below, or NULL if it is not known any more. It is
 * not in use if another one of its level has run since.
 */
static const Stack *interrupted(const CallStack *cs, const Stack *st)
{
    Context key = {
        .priv = st->below.priv,
        .space = st->below.space,
        .tid = st->below.tid,
    };
    const Context *c = g_hash_table_lookup(cs->contexts, &key);

    if (c && is_unchanged(cs, c->stack, st)) {
        return c->stack;
    }
    for (const GList *l = cs->suspended.head; l; l = l->next) {
        const Stack *other = l->data;

        if (other->priv == key.priv && other->space == key.space &&
            other->tid == key.tid && is_unchanged(cs, other, st)) {
            return other;
        }
    }
    return NULL;
}

/* The next one, after @n others */
static unsigned add_caller(CallStackCaller *callers, unsigned n, unsigned most,
                           const CallStackCaller *caller)
{
    if (n < most) {
        callers[n] = *caller;
    }
    return n + 1;
}

static unsigned add_callers(const Stack *st, CallStackCaller *callers,
                            unsigned n, unsigned most)
{
    for (unsigned i = st->depth; i > 0; i--) {
        const Frame *f = &st->frames[i - 1];

        if (f->ret) {
            n = add_caller(callers, n, most, &(CallStackCaller) {
                .pc = f->ret,
                .priv = st->priv,
                .interrupted = f->entry != ENTRY_CALL,
                .trap = is_trap(f) ? f->node : 0,
            });
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
        if (!st->trapped) {
            break;
        }
        if (st->below.pc) {
            n = add_caller(callers, n, most, &(CallStackCaller) {
                .pc = st->below.pc,
                .priv = st->below.priv,
                .interrupted = true,
                .trap = st->base,
            });
        }
        st = interrupted(cs, st);
    }
    return n;
}
