/*
 * Profiles: instructions by call stack
 *
 * A tree of frames. Each node counts the instructions that were executed
 * while it was the innermost frame.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PROFILE_H
#define ETRACE_PROFILE_H

#include "base/element-index.h"
#include "names/names.h"

/* What a frame is; decides about its colour */
typedef enum FrameKind {
    FRAME_GROUP,            /* a hart, a privilege level */
    FRAME_MACHINE,          /* functions, by privilege */
    FRAME_SUPERVISOR,
    FRAME_USER,
    FRAME_GUEST,            /* VS and VU */
    FRAME_TRAP,
    FRAME_NR_KINDS,
} FrameKind;

/* A function, or something else that is shown like one */
typedef struct ProfileFrame {
    char *name;
    bool label;             /* profile_label() made it */
    bool other;             /* ... or it is for those without room */
    FrameKind kind;
    /* ... or else profile_function(), with these: */
    const Object *object;
    const Symbol *symbol;   /* the object's; NULL: it has none there */
    /*
     * The object's address of the function; without a symbol, if it was
     * called, or else 0: any function of the object that has none
     */
    uint64_t entry;
} ProfileFrame;

/* The object's address where the function begins; 0 if it is not known */
static inline uint64_t profile_frame_start(const ProfileFrame *frame)
{
    return frame->symbol ? frame->symbol->start : frame->entry;
}

typedef struct ProfileNode {
    unsigned parent;        /* index; the root is its own parent */
    unsigned frame;         /* index */
    unsigned depth;         /* nodes above it */
    uint64_t self;          /* instructions */
    uint64_t total;         /* set by profile_sum() */
} ProfileNode;

/* Children that were found before, by a few bits of both */
#define PROFILE_RECENT_BITS 14

typedef struct ProfileRecent {
    unsigned parent, frame;
    unsigned node;          /* 0: the entry is empty */
} ProfileRecent;

typedef struct Profile {
    GArray *nodes;                  /* ProfileNode; 0 is the root */
    GArray *frames;                 /* ProfileFrame */
    ElementIndex node_index;
    GHashTable *frame_index;
    GHashTable *name_index;
    unsigned others[FRAME_NR_KINDS];    /* frame of those without room */
    unsigned limit;                 /* of nodes; PROFILE_MAX_NODES */
    /* Numbers of nodes are kept elsewhere: none can be removed. */
    bool fixed;
    bool full;                      /* there was no room for all */
    uint64_t merged;                /* stacks; see profile_merge_rare() */
    unsigned rare_step;             /* ... how rare the last ones were */
    bool folded;                    /* there was a recursion too deep to show */
    ProfileRecent recent[1u << PROFILE_RECENT_BITS];
} Profile;

#define PROFILE_ROOT        0
#define PROFILE_MAX_NODES   (4u << 20)
/* Room for those that are made before profile_is_crowded() is asked again */
#define PROFILE_SPARE_NODES (2 * PROFILE_MAX_DEPTH)
#define PROFILE_MAX_FRAMES  (1u << 20)
/* A call stack for each privilege level, one below the other, has room. */
#define PROFILE_MAX_DEPTH   4096
/* Functions of a deeper recursion are shown where they are already. */
#define PROFILE_FOLD_DEPTH  1024

Profile *profile_new(void);
void profile_free(Profile *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Profile, profile_free)

/*
 * The child of @node that shows @frame; made if there is none. Beyond the limit
 * of nodes, and below PROFILE_MAX_DEPTH, it is @node itself, so that its
 * instructions are counted with the caller's.
 */
unsigned profile_child(Profile *p, unsigned node, unsigned frame);

/*
 * The frame of the function at @pc, of which @place is what names_find() says.
 * One that has no symbol is named after its first address, if @pc is that
 * (@called). Beyond PROFILE_MAX_FRAMES all of them are one. The objects must
 * live as long as @p.
 */
unsigned profile_function(Profile *p, FrameKind kind, const NamePlace *place,
                          uint64_t pc, bool called);

/*
 * What code of @object without a symbol is called, for the caller to free:
 * after the address @entry at which it was called, or if that is 0, which says
 * that it was not, after the object.
 */
char *profile_unnamed(const Object *object, uint64_t entry);

/* A frame with this name that is no function */
unsigned profile_label(Profile *p, FrameKind kind, const char *name);

/* The frame like @frame, of another profile that has the same objects */
unsigned profile_take_frame(Profile *p, const ProfileFrame *frame);

static inline ProfileFrame *profile_frame(const Profile *p, unsigned frame)
{
    return &g_array_index(p->frames, ProfileFrame, frame);
}

static inline ProfileNode *profile_node(const Profile *p, unsigned node)
{
    return &g_array_index(p->nodes, ProfileNode, node);
}

/*
 * Add what @from has below its root to @p, below @top. Both must have the same
 * objects. @weights: NULL, or what counts instead of each node's instructions.
 */
void profile_merge(Profile *p, unsigned top, const Profile *from,
                   const uint64_t *weights);

/* Is there more than there is to be, and can that be changed? */
static inline bool profile_is_crowded(const Profile *p)
{
    return p->nodes->len >= p->limit && !p->fixed;
}

/*
 * Make room: of the stacks that ran least, the functions between a caller and
 * the innermost one are left out. What ran in that one is counted at a node of
 * its own that is below PROFILE_RARE, which is below the caller. So the
 * instructions of each function, and the totals of stacks that stay, are what
 * they would have been; the totals of functions in between lack these stacks.
 *
 * @used has a byte for each node, not 0 for those to be kept, with callers.
 * Returns the new numbers of all that are kept, by their old ones, for the
 * caller to free; NULL if there is no room to be made: then @p is fixed, and
 * nothing has changed.
 */
#define PROFILE_RARE    "[rare stacks]"
unsigned *profile_merge_rare(Profile *p, const uint8_t *used);

/* How many instructions were executed in what is below PROFILE_RARE */
uint64_t profile_rare_insns(Profile *p);

/* Fill in the totals. Returns that of the root. */
uint64_t profile_sum(Profile *p);

/*
 * The same in an order that does not depend upon what was found first, and
 * without nodes below which nothing was executed. The caller frees it.
 */
Profile *profile_tidy(Profile *p);

/*
 * The children of every node that executed anything, sorted by name: an array
 * of GArray of unsigned, one for each node, NULL if it has none. Needs
 * profile_sum(). Free it with g_ptr_array_unref().
 */
GPtrArray *profile_children(const Profile *p);

/* "frame;frame;frame count" for each stack, sorted */
void profile_write_folded(const Profile *p, FILE *f);

#endif /* ETRACE_PROFILE_H */
