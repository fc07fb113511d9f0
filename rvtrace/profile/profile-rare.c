/*
 * Profiles: room for call stacks, at the expense of those that ran least
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/profile.h"

/* Steps between powers of two by which totals are told apart, log2 */
#define STEP_BITS   2
#define NR_STEPS    ((64 + 1) << STEP_BITS)

/* A step below which stacks are rare is so much higher than the one before. */
#define NEXT_STEPS  (2 << STEP_BITS)

/* What there may be left of so many nodes, for it to be worth it */
#define GOAL(limit)         ((limit) / 8 * 5)
/* ... if all is rare */
#define LAST_GOAL(limit)    ((limit) / 8 * 7)

/* The step of a total: the same or a higher one for a higher total */
static unsigned step_of(uint64_t total)
{
    unsigned bits = total ? 64 - __builtin_clzll(total) : 0;

    if (bits <= STEP_BITS) {
        return total;
    }
    return (bits - STEP_BITS) << STEP_BITS |
           (total >> (bits - 1 - STEP_BITS) & ((1 << STEP_BITS) - 1));
}

/* What a node is, apart from its total */
typedef enum NodeUse {
    NODE_USED = 1,          /* it, or something below it, is needed */
    NODE_INNER = 2,         /* it has children that have executed something */
    NODE_KEPT = 4,
} NodeUse;

static uint8_t *find_uses(Profile *p, const uint8_t *used)
{
    uint8_t *uses = g_malloc0(p->nodes->len);

    profile_sum(p);
    uses[PROFILE_ROOT] = NODE_USED;
    for (guint i = p->nodes->len - 1; i > 0; i--) {
        const ProfileNode *n = profile_node(p, i);

        /* What all is below is no call stack. */
        if (used[i] || profile_frame(p, n->frame)->kind == FRAME_GROUP) {
            uses[i] |= NODE_USED;
        }
        uses[n->parent] |= (uses[i] & NODE_USED) |
                           (n->total ? NODE_INNER : 0);
    }
    return uses;
}

/*
 * The step below which half of the nodes are rare, or about what was enough the
 * last time
 */
static unsigned first_step(const Profile *p, const uint8_t *uses)
{
    g_autofree unsigned *steps = g_new0(unsigned, NR_STEPS);
    unsigned step = 0, sum = 0;

    for (guint i = 0; i < p->nodes->len; i++) {
        if (!(uses[i] & NODE_USED)) {
            steps[step_of(profile_node(p, i)->total)]++;
        }
    }
    while (step < NR_STEPS && sum < p->nodes->len / 2) {
        sum += steps[step++];
    }
    return MAX(step, MAX(p->rare_step, NEXT_STEPS) - NEXT_STEPS);
}

static bool is_rare_label(const Profile *p, unsigned node, unsigned rare)
{
    return profile_node(p, node)->frame == rare;
}

static void free_nodes(Profile *p)
{
    g_array_unref(p->nodes);
    element_index_clear(&p->node_index);
    g_free(p);
}

/*
 * The nodes of @p that are not rare, as those of another profile. The children
 * of one that is kept are, too, if they have none themselves: nothing can be
 * left out between the two. Nor is there room for a label below the deepest.
 * NULL: they are too many.
 */
static Profile *keep(const Profile *p, uint8_t *uses, unsigned step,
                     unsigned rare, unsigned *numbers)
{
    Profile *to = g_new0(Profile, 1);
    unsigned goal = step < NR_STEPS ? GOAL(p->limit) : LAST_GOAL(p->limit);

    to->limit = p->limit;
    to->nodes = g_array_sized_new(FALSE, FALSE, sizeof(ProfileNode), goal + 2);
    g_array_append_vals(to->nodes, profile_node(p, PROFILE_ROOT), 1);
    numbers[PROFILE_ROOT] = PROFILE_ROOT;
    uses[PROFILE_ROOT] |= NODE_KEPT;
    for (guint i = 1; i < p->nodes->len && to->nodes->len <= goal; i++) {
        const ProfileNode *n = profile_node(p, i);
        bool whole = (uses[n->parent] & NODE_KEPT) &&
                     (!(uses[i] & NODE_INNER) ||
                      n->depth > PROFILE_MAX_DEPTH - 2);
        unsigned node;

        uses[i] &= ~NODE_KEPT;
        numbers[i] = numbers[n->parent];
        if ((uses[i] & NODE_USED) ||
            (n->total && (step_of(n->total) >= step || whole))) {
            uses[i] |= NODE_KEPT;
            node = numbers[i] = profile_child(to, numbers[i], n->frame);
        } else if (n->self) {
            node = profile_child(to, profile_child(to, numbers[i], rare),
                                 n->frame);
            to->merged += !is_rare_label(p, n->parent, rare);
        } else {
            continue;
        }
        profile_node(to, node)->self += n->self;
    }
    if (to->nodes->len > goal) {
        free_nodes(to);
        return NULL;
    }
    return to;
}

unsigned *profile_merge_rare(Profile *p, const uint8_t *used)
{
    g_autofree uint8_t *uses = find_uses(p, used);
    g_autofree unsigned *numbers = g_new(unsigned, p->nodes->len);
    unsigned rare = profile_label(p, FRAME_TRAP, PROFILE_RARE);

    for (unsigned step = first_step(p, uses); ; step += NEXT_STEPS) {
        Profile *to = keep(p, uses, step, rare, numbers);

        if (to) {
            g_array_unref(p->nodes);
            element_index_clear(&p->node_index);
            p->nodes = to->nodes;
            p->node_index = to->node_index;
            p->merged += to->merged;
            p->rare_step = step;
            memset(p->recent, 0, sizeof(p->recent));
            g_free(to);
            return g_steal_pointer(&numbers);
        }
        if (step >= NR_STEPS) {
            p->fixed = true;
            return NULL;
        }
    }
}

uint64_t profile_rare_insns(Profile *p)
{
    unsigned rare = profile_label(p, FRAME_TRAP, PROFILE_RARE);
    uint64_t insns = 0;

    for (guint i = 1; i < p->nodes->len; i++) {
        const ProfileNode *n = profile_node(p, i);

        insns += is_rare_label(p, n->parent, rare) ? n->self : 0;
    }
    return insns;
}
