/*
 * A coroutine of coroutines.c
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
/* Jumps to the others are of the kinds that SWITCHES lists. */
static noinline void resume(unsigned next)
{
    static Switch *const kinds[] = { SWITCHES };
    unsigned from = now;

    now = next;
    kinds[next % (sizeof(kinds) / sizeof(kinds[0]))](&contexts[from],
                                                     &contexts[next]);
}

static noinline void change(struct walk *w)
{
    unsigned next = (now + 1 + walk_pick(w, MEMBERS - 1)) % MEMBERS;

    if (!--left) {
        pass();
    }
    if (!walk_pick(w, 32)) {
        prepare(next);
    }
    resume(next);
}

void member(struct walk *w)
{
    w->pause = change;
    while (true) {
        walk_any(w);
        change(w);
    }
}
