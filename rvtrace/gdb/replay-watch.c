/*
 * Replay: who accesses memory that is watched
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/replay-state-private.h"

/* In whichever address space */
static bool may_hit(const ReplayWatch *w, const ETraceDataAccess *a)
{
    bool loads = a->dtype != ETRACE_DTYPE_STORE;
    bool stores = a->dtype != ETRACE_DTYPE_LOAD;

    if (a->dtype >= ETRACE_DTYPE_CSR_RW && a->dtype <= ETRACE_DTYPE_CSR_RC) {
        return false;
    }
    return ((w->loads && loads) || (w->stores && stores)) &&
           (a->address - w->addr < w->len ||
            w->addr - a->address < 1u << a->size);
}

static bool hits(const StatePass *p, const ReplayWatch *w,
                 const ETraceDataAccess *a)
{
    bool upper = a->address >> 63 || p->now.space == MACHINE;

    return may_hit(w, a) && (upper || p->now.space == p->space);
}

/* Does this instruction access what is looked for? */
static void look_at_now(StatePass *p)
{
    bool in_range = p->has_now && p->now.index >= p->from &&
                    p->now.index < p->to && (p->back || !p->found);

    p->has_now = false;
    for (unsigned i = 0; in_range && i < p->accesses->len; i++) {
        for (unsigned k = 0; k < p->nr_watches; k++) {
            if (hits(p, &p->watches[k], &g_array_index(
                    p->accesses, ETraceDataAccess, i))) {
                p->found = true;
                /* Going back, those before it are behind what is found. */
                p->strays &= !p->back;
                p->at = p->now.index;
                p->which = k;
            }
        }
    }
    if (p->found && !p->back) {
        p->d.stop = true;
    }
}

/* An instruction that nobody knows has made this access. */
static void look_at_stray(StatePass *p, const ETraceDataAccess *a)
{
    for (unsigned k = 0; k < p->nr_watches; k++) {
        p->strays |= (p->back || !p->found) && may_hit(&p->watches[k], a);
    }
}

/* In [from, to) of @p */
static ReplayFound search(StatePass *p, uint64_t *at, unsigned *which,
                          bool *strays)
{
    if (!replay_state_pass(p)) {
        return REPLAY_FAILED;
    }
    *strays |= p->strays;
    *at = p->at;
    *which = p->which;
    return p->stopped ? REPLAY_STOPPED : p->found ? REPLAY_FOUND :
                                                    REPLAY_NOT_FOUND;
}

bool replay_space(ReplayStates *s, uint64_t i, unsigned *space)
{
    const ReplayInsn *insn = replay_insn(s->r, i);
    Image *image = replay_image(s->r, i);

    if (insn) {
        *space = priv_is_machine(insn->priv) ? MACHINE :
                 image ? image_space(image, insn->priv) : 0;
    }
    return insn;
}

unsigned replay_watch_space(ReplayStates *s, uint64_t i)
{
    const ReplayInsn *insn = replay_insn(s->r, i);
    Image *image = replay_image(s->r, i);

    return insn && image ? image_space(image, insn->priv) : 0;
}

ReplayFound replay_find_access(ReplayStates *s, uint64_t from, uint64_t end,
                               bool back, const ReplayWatch *watches,
                               unsigned n, unsigned space, ReplayPollFn *poll,
                               void *opaque, uint64_t *at, unsigned *which,
                               bool *strays)
{
    StatePass like = {
        .s = s, .look = look_at_now, .stray = look_at_stray,
        .watches = watches, .nr_watches = n,
        .back = back, .poll = poll, .opaque = opaque, .space = space,
    };
    ReplayFound found = REPLAY_NOT_FOUND;

    *strays = false;
    while (found == REPLAY_NOT_FOUND) {
        g_autofree StatePass *p = g_memdup2(&like, sizeof(like));

        found = replay_lines_find(s, from, end, back, watches, n, poll, opaque,
                                  &p->from, &p->to);
        if (found != REPLAY_FOUND) {
            return found;
        }
        from = back ? p->from : p->to;
        found = search(p, at, which, strays);
    }
    return found;
}

ReplayFound replay_find_any(ReplayStates *s, uint64_t from, uint64_t end,
                            bool back, uint64_t addr, uint64_t len,
                            unsigned space, uint64_t *at, bool *strays)
{
    ReplayWatch watch = {
        .addr = addr, .len = len, .loads = true, .stores = true,
    };
    ReplayPollFn *poll = s->wait ? s->wait->poll : NULL;
    void *opaque = s->wait ? s->wait->opaque : NULL;
    ReplayFound found;
    unsigned which;

    found = replay_find_access(s, from, end, back, &watch, 1, space, poll,
                               opaque, at, &which, strays);
    s->stopped |= found == REPLAY_STOPPED;
    return found;
}
