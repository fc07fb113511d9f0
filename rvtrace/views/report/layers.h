/*
 * Layers of a profile: which of the nodes above the functions stands for what
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_LAYERS_H
#define ETRACE_LAYERS_H

#include "profile/callstack.h"

/* The hart, and then what CallStackLayer has */
typedef enum Layer {
    LAYER_HART,
    LAYER_COMM,
    LAYER_PROCESS,
    LAYER_THREAD,
    LAYER_PRIV,
    LAYER_NONE,                 /* it is no such node */
} Layer;

/* What a profile was made with */
typedef struct Layers {
    bool hart;                  /* there is a node for the hart above them */
    const CallStackLayer *layers;
    unsigned nr_layers;
} Layers;

/*
 * What each node of @p stands for: an array of a byte each, a Layer. Free it
 * with g_free().
 */
uint8_t *layers_find(const Profile *p, const Layers *layers);

/*
 * Those of @p's layers for which @keep has a bit (1 << Layer), in a profile of
 * its own. @is is what layers_find() returned.
 */
Profile *layers_keep(const Profile *p, const uint8_t *is, unsigned keep);

#endif /* ETRACE_LAYERS_H */
