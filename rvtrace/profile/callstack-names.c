/*
 * Call stacks: what their frames are called
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/callstack-private.h"
#include "base/trap-text.h"

static FrameKind frame_kind(unsigned priv)
{
    switch (priv) {
    case ETRACE_PRIV_U:
        return FRAME_USER;
    case ETRACE_PRIV_S:
        return FRAME_SUPERVISOR;
    case ETRACE_PRIV_VU:
    case ETRACE_PRIV_VS:
        return FRAME_GUEST;
    default:
        return FRAME_MACHINE;
    }
}

/* The name of what @layer distinguishes; NULL: it does not apply here */
static char *layer_name(const CallStack *cs, CallStackLayer layer,
                        unsigned priv)
{
    const Task *task = callstack_task(cs, priv);

    if (layer == CALLSTACK_LAYER_PRIV) {
        return g_strdup(priv_text(priv));
    }
    if (!task) {
        return NULL;
    }
    switch (task_is_known(task) ? layer : CALLSTACK_LAYER_COMM) {
    case CALLSTACK_LAYER_PROCESS:
        return g_strdup_printf("%s (%u)", task->name, task->tgid);
    case CALLSTACK_LAYER_THREAD:
        return g_strdup_printf("%s (%u/%u)", task->name, task->tgid,
                               task->tid);
    default:
        return g_strdup(task->name);
    }
}

unsigned callstack_group(CallStack *cs, unsigned priv)
{
    Profile *p = cs->profile;
    unsigned node = cs->top;

    for (unsigned i = 0; i < cs->options.nr_layers; i++) {
        g_autofree char *name = layer_name(cs, cs->options.layers[i], priv);

        if (name) {
            node = profile_child(p, node,
                                 profile_label(p, FRAME_GROUP, name));
        }
    }
    return node;
}

unsigned callstack_trap_frame(CallStack *cs, const FlowTrap *trap)
{
    g_autofree char *name = trap_text(trap->interrupt, trap->cause);
    g_autofree char *label = g_strdup_printf("[%s]", name);

    return profile_label(cs->profile, FRAME_TRAP, label);
}

const KnownFunction *callstack_function(CallStack *cs, uint64_t pc,
                                        bool called)
{
    unsigned priv = cs->now->priv, space = cs->site.space;
    unsigned generation = cs->site.image ? cs->site.image->generation : 1;
    uint64_t hash = pc * 0x9e3779b97f4a7c15ull;
    /* Of code without symbols, both are asked for in turn. */
    KnownFunction *k = &cs->known[hash >> 52 ^ called];
    NamePlace place;

    if (k->pc == pc && k->generation == generation && k->space == space &&
        k->priv == priv && (k->symbol || k->called == called)) {
        return k;
    }
    names_find(cs->options.names, cs->site.image, priv, pc, &place);
    *k = (KnownFunction) {
        .pc = pc,
        .lo = place.lo,
        .hi = place.hi,
        .generation = generation,
        .space = space,
        .frame = profile_function(cs->profile, frame_kind(priv), &place, pc,
                                  called),
        .priv = priv,
        .called = called,
        .symbol = place.symbol != NULL,
        .entry = place.symbol && place.symbol->start + place.bias == pc,
    };
    return k;
}
