/*
 * Why a hart hangs: what it did last
 *
 * Of what ran, the last taken transfers are kept, without what interrupts did:
 * a loop that a timer interrupts is one. Names are looked up as it runs, since
 * where code was is not known later.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "views/questions/hung-private.h"
#include "views/questions/syscalls.h"

#define KNOWN_BITS  10
#define WFI         0x10500073

static void on_begin(void *opaque, OpenCall *calls, unsigned n,
                     const Task *task)
{
    HungHart *h = opaque;

    if (calls[n - 1].kind == CALL_FUNCTION) {
        h->calls[h->nr_calls++ % HUNG_NR_CALLS] = (LastCall) {
            calls[n - 1].frame, calls[n - 1].from.insns,
        };
        locks_begin(h->locks, &calls[n - 1]);
    }
}

static void on_end(void *opaque, const EndedCall *ended)
{
    HungHart *h = opaque;

    locks_end(h->locks, ended);
}

static const FollowOps follow_ops = { .begin = on_begin, .end = on_end };

static void hart_free(gpointer opaque)
{
    HungHart *h = opaque;

    follow_free(h->follower);
    locks_free(h->locks);
    g_array_unref(h->open);
    g_free(h->known);
    g_free(h->steps);
    g_free(h);
}

Hung *hung_new(TableFormat format)
{
    Hung *u = g_new0(Hung, 1);

    u->format = format;
    u->harts = g_ptr_array_new_with_free_func(hart_free);
    return u;
}

void hung_free(Hung *u)
{
    g_ptr_array_unref(u->harts);
    g_free(u);
}

HungHart *hung_hart(Hung *u, unsigned hart, const Profile *profile,
                    const Names *names, const TaskTable *tasks)
{
    HungHart *h = g_new0(HungHart, 1);

    h->hart = hart;
    h->profile = profile;
    h->names = names;
    h->follower = follow_new(profile, tasks, &follow_ops, h);
    h->known = g_new0(KnownStep, 1u << KNOWN_BITS);
    h->steps = g_new0(Step, HUNG_STEPS);
    h->locks = locks_new(profile);
    h->open = g_array_new(false, false, sizeof(OpenCall));
    h->task = task_get(tasks, TASK_NONE);
    g_ptr_array_add(u->harts, h);
    return h;
}

/* What is at @pc, with a count of 0 */
static const Step *look_up(HungHart *h, uint64_t pc, unsigned priv,
                           const CallStackSite *site)
{
    unsigned generation = site->image ? site->image->generation : 1;
    KnownStep *k = &h->known[pc * UINT64_C(0x9e3779b97f4a7c15) >>
                             (64 - KNOWN_BITS)];
    NamePlace place;

    if (k->generation != generation || k->step.pc != pc ||
        k->space != site->space || k->priv != priv) {
        names_find(h->names, site->image, priv, pc, &place);
        *k = (KnownStep) {
            .step = { pc, place.object, place.symbol, 0 },
            .generation = generation, .space = site->space, .priv = priv,
        };
    }
    return &k->step;
}

/* Is @run part of a handler of an interrupt? */
static bool is_skipped(HungHart *h, const FlowRun *run)
{
    if (!h->interrupted) {
        return false;
    }
    if (run->count && run->pc == h->back && run->priv == h->back_priv) {
        h->interrupted = false;
        /* A jump in front of an interrupt may not be known as one. */
        h->goes_on &= h->back == h->next;
        return false;
    }
    h->skipped += run->count;
    if (h->skipped > HUNG_INTERRUPT) {
        /* It has gone elsewhere, and has not come back. */
        h->interrupted = h->goes_on = false;
        h->nr_steps = 0;
    }
    return h->interrupted;
}

/* The hart has come to the end of @run, which is not empty. */
static void come_behind(HungHart *h, const FlowRun *run)
{
    const uint8_t *code = run->code, *last = code;

    for (unsigned i = 0; i < run->count; i++) {
        last = code;
        code += flow_insn_length(code);
    }
    h->next = run->pc + (code - run->code);
    h->sleeps = code - last == 4 && ldl_le_p(last) == WFI;
}

static bool is_taken(unsigned itype)
{
    return itype != ETRACE_ITYPE_NONE && itype != ETRACE_ITYPE_NONTAKEN_BRANCH;
}

void hung_runs(void *hart, const FlowRun *runs, unsigned n,
               const CallStackSite *site)
{
    HungHart *h = hart;

    for (unsigned i = 0; i < n; i++) {
        const FlowRun *run = &runs[i];

        if (is_skipped(h, run)) {
            h->sleeps = false;
            continue;
        }
        if (run->count && !h->goes_on) {
            h->steps[h->nr_steps++ % HUNG_STEPS] =
                *look_up(h, run->pc, run->priv, site);
        }
        if (run->count) {
            h->steps[(h->nr_steps - 1) % HUNG_STEPS].count += run->count;
            h->priv = run->priv;
            h->task = site->task ?: h->task;
            /* Traps come behind the last run of several. */
            h->next = 0;
            if (i + 1 == n || !runs[i + 1].count) {
                come_behind(h, run);
            }
        }
        if (run->count || run->itype) {
            h->goes_on = h->nr_steps && !is_taken(run->itype);
        }
    }
}

void hung_moment(void *hart, const CallStackMoment *moment)
{
    follow_moment(((HungHart *)hart)->follower, moment);
}

void hung_mark(void *hart, const CallStackMoment *when, const MomentMark *mark)
{
    HungHart *h = hart;

    follow_mark(h->follower, when, mark);
    if (mark->kind == MOMENT_LOST || mark->kind == MOMENT_RESET) {
        locks_forget(h->locks);
    }
}

static void put_exception(HungHart *h, uint64_t place, const FlowTrap *trap,
                          const CallStackSite *site)
{
    const FlowTrap *was = &h->exception;

    if (!h->in_row || was->cause != trap->cause || was->epc != trap->epc ||
        was->epc_known != trap->epc_known) {
        h->in_row = 0;
        h->row_since = place;
        h->place = (Step) { 0 };
        if (trap->epc_known) {
            h->place = *look_up(h, trap->epc, trap->priv, site);
        }
    }
    if (trap->cause == SYSCALL_CAUSE) {
        h->number = syscall_number(site->image, trap);
    }
    h->in_row++;
    h->row_last = place;
    h->exception = *trap;
    h->goes_on = false;
}

void hung_trap(void *hart, uint64_t place, const FlowTrap *trap,
               const CallStackSite *site)
{
    HungHart *h = hart;

    if (!trap->interrupt) {
        put_exception(h, place, trap, site);
        return;
    }
    h->interrupts++;
    h->last_interrupt = place;
    h->interrupt = *trap;
    if (!h->interrupted && trap->epc_known) {
        h->interrupted = true;
        h->back = trap->epc;
        h->back_priv = trap->priv;
        h->skipped = 0;
    }
}

void hung_end(void *hart, const CallStackMoment *when)
{
    HungHart *h = hart;
    unsigned n;
    const OpenCall *calls = follow_open(h->follower, &n);

    if (n) {
        g_array_append_vals(h->open, calls, n);
    }
    follow_end(h->follower, when);
    h->end = when->place;
}
