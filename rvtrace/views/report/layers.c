/*
 * Layers of a profile: which of the nodes above the functions stands for what
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/report/layers.h"

static Layer layer_of(CallStackLayer layer)
{
    static const Layer layers[CALLSTACK_NR_LAYERS] = {
        [CALLSTACK_LAYER_COMM] = LAYER_COMM,
        [CALLSTACK_LAYER_PROCESS] = LAYER_PROCESS,
        [CALLSTACK_LAYER_THREAD] = LAYER_THREAD,
        [CALLSTACK_LAYER_PRIV] = LAYER_PRIV,
    };

    return layers[layer];
}

static bool is_group(const Profile *p, unsigned node)
{
    return node != PROFILE_ROOT &&
           profile_frame(p, profile_node(p, node)->frame)->kind ==
           FRAME_GROUP;
}

/*
 * The layers from the outermost one on, as they are where @tasks are known, or
 * not: then those that distinguish tasks are not there. Returns how many.
 */
static unsigned list_layers(const Layers *layers, bool tasks,
                            Layer list[CALLSTACK_NR_LAYERS + 1])
{
    unsigned n = 0;

    if (layers->hart) {
        list[n++] = LAYER_HART;
    }
    for (unsigned i = 0; i < layers->nr_layers; i++) {
        if (tasks || layers->layers[i] == CALLSTACK_LAYER_PRIV) {
            list[n++] = layer_of(layers->layers[i]);
        }
    }
    return n;
}

/*
 * Groups are the outermost nodes, so the length of a chain of them says which
 * layers it has.
 */
uint8_t *layers_find(const Profile *p, const Layers *layers)
{
    uint8_t *is = g_malloc(p->nodes->len);
    g_autofree uint8_t *chain = g_malloc0(p->nodes->len);
    Layer with[CALLSTACK_NR_LAYERS + 1], without[CALLSTACK_NR_LAYERS + 1];
    unsigned nr_with = list_layers(layers, true, with);
    unsigned nr_without = list_layers(layers, false, without);

    memset(is, LAYER_NONE, p->nodes->len);
    /* The longest chain through each group: children come after parents. */
    for (unsigned i = p->nodes->len - 1; i > 0; i--) {
        if (is_group(p, i)) {
            const ProfileNode *n = profile_node(p, i);

            chain[i] = MAX(chain[i], MIN(n->depth, UINT8_MAX));
            chain[n->parent] = MAX(chain[n->parent], chain[i]);
        }
    }
    for (unsigned i = 1; i < p->nodes->len; i++) {
        unsigned depth = profile_node(p, i)->depth;

        if (!is_group(p, i)) {
            continue;
        }
        if (chain[i] == nr_without && nr_without < nr_with &&
            depth <= nr_without) {
            is[i] = without[depth - 1];
        } else if (depth <= nr_with) {
            is[i] = with[depth - 1];
        }
    }
    return is;
}

static unsigned same_frame(Profile *to, const ProfileFrame *frame)
{
    NamePlace place = { .object = frame->object, .symbol = frame->symbol };

    /* Those without room, too, are but a name here. */
    return frame->label || frame->other ?
           profile_label(to, frame->kind, frame->name) :
           profile_function(to, frame->kind, &place, frame->entry,
                            frame->entry != 0);
}

Profile *layers_keep(const Profile *p, const uint8_t *is, unsigned keep)
{
    Profile *to = profile_new();
    g_autofree unsigned *nodes = g_new0(unsigned, p->nodes->len);
    g_autofree unsigned *frames = g_new0(unsigned, p->frames->len);

    for (unsigned i = 0; i < p->frames->len; i++) {
        frames[i] = same_frame(to, profile_frame(p, i));
    }
    nodes[PROFILE_ROOT] = PROFILE_ROOT;
    to->limit = p->limit;
    for (unsigned i = 0; i < p->nodes->len; i++) {
        const ProfileNode *n = profile_node(p, i);

        if (i) {
            nodes[i] = nodes[n->parent];
        }
        if (i && (is[i] == LAYER_NONE || keep & 1u << is[i])) {
            nodes[i] = profile_child(to, nodes[i], frames[n->frame]);
        }
        profile_node(to, nodes[i])->self += n->self;
    }
    to->full = p->full;
    to->merged = p->merged;
    return to;
}
