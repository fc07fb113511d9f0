/*
 * A random hart that reports branch history instead of blocks
 *
 * By what hw/trace/etrace/etrace.h says about it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-roundtrip.h"

static void hand_in(World *w)
{
    History *s = &w->history;

    g_assert_cmpuint(etrace_encoder_history(&w->enc, s->slots, s->n,
                                            &s->next), ==, s->n);
    s->n = 0;
}

/* What @item says ends a history that covers the branches so far. */
static void put(World *w, const HistoryItem *item)
{
    History *s = &w->history;

    s->slots[s->n++].history = (ETraceHistory) {
        .last = etrace_block_last(&item->block),
        .irdepth = item->irdepth,
        .type = ETRACE_SLOT_HISTORY,
        .itype = item->block.itype,
        .priv = item->block.priv,
        .flags = item->flags | ETRACE_HISTORY_SETTLED |
                 (s->irets ? ETRACE_HISTORY_IRETS : 0),
        .next = item->next,
        .branches = s->branches,
    };
    s->branches = ETRACE_HISTORY_EMPTY;
    s->irets = false;
    s->some = false;
    s->after_updiscon = etrace_itype_is_updiscon(item->block.itype) &&
                        !(item->flags & ETRACE_HISTORY_INFERRED);
    w->total_histories++;
    if (w->mix->refuse) {
        /* A single instruction may be where a window begins anew. */
        uint64_t block_index = w->block_index;

        w->block_index = item->index;
        hand_in(w);
        w->block_index = block_index;
    } else if (s->n == ARRAY_SIZE(s->slots)) {
        hand_in(w);
    }
}

/* The jumps that no branch has followed */
static void put_jumps(World *w)
{
    History *s = &w->history;

    for (unsigned i = 0; i < s->jumps; i++) {
        put(w, &s->jump[i]);
    }
    s->jumps = 0;
    s->inferred_since = false;
    s->run_unknown = true;
}

void history_end(World *w)
{
    History *s = &w->history;

    if (s->on) {
        if (s->some) {
            if (s->jumps) {
                HistoryItem last = s->last;
                bool jump = s->jump[s->jumps - 1].index == last.index;

                put_jumps(w);
                if (!jump) {
                    put(w, &last);
                }
            } else {
                put(w, &s->last);
            }
        }
        hand_in(w);
        s->on = false;
    }
}

void history_begin(World *w, const ETraceBlock *last, uint64_t next,
                   const ETraceHistoryModes *modes)
{
    w->history = (History) {
        .on = true,
        .modes = *modes,
        .bits = modes->predictor ? 2 : 1,
        .next = next,
        .branches = ETRACE_HISTORY_EMPTY,
        .after_updiscon = etrace_itype_is_updiscon(last->itype),
        .run_unknown = true,
    };
}

/* What modes remember; *@item says what the decoder cannot know. */
static void settle(World *w, HistoryItem *item)
{
    History *s = &w->history;
    ETraceBlock *b = &item->block;
    uint64_t pc = etrace_block_last(b);
    bool taken = b->itype == ETRACE_ITYPE_TAKEN_BRANCH;

    if (etrace_itype_is_branch(b->itype) && s->modes.predictor) {
        item->predicted = etrace_predictor_taken(s->modes.predictor, pc);
        if (!etrace_predictor_learn(s->modes.predictor, pc, taken)) {
            item->flags = ETRACE_HISTORY_MISSED;
        }
    }
    if (s->modes.stack && (b->itype == ETRACE_ITYPE_INFERABLE_CALL ||
                           b->itype == ETRACE_ITYPE_UNINFERABLE_CALL)) {
        etrace_return_stack_push(s->modes.stack,
                                 wrap(w, pc + (2u << b->ilastsize)));
    }
    if (s->modes.sijump && (b->flags & ETRACE_BLOCK_SIJUMP)) {
        item->flags = ETRACE_HISTORY_INFERRED;
        b->itype = ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP;
    } else if (b->itype == ETRACE_ITYPE_RETURN && s->modes.stack &&
               s->modes.stack->depth) {
        if (etrace_return_stack_top(s->modes.stack) == item->next) {
            etrace_return_stack_pop(s->modes.stack);
            item->flags = ETRACE_HISTORY_INFERRED;
        } else {
            item->flags = ETRACE_HISTORY_IRREPORT;
            item->irdepth = s->modes.stack->depth;
        }
    } else if (etrace_itype_is_updiscon(b->itype) &&
               b->itype != ETRACE_ITYPE_TRAP_RETURN) {
        b->itype = ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP;
    }
}

/*
 * If @last is the target of an updiscon, the run begins at @first behind it,
 * but it has been passed: then any @pc is taken for within.
 */
static bool within(uint64_t pc, uint64_t first, const ETraceBlock *last)
{
    return pc - first <= etrace_block_last(last) - first;
}

/*
 * May @pc be among what ran behind the newest branch, up to the newest jump?
 * *@first: where the range behind that begins
 */
static bool passed(const History *s, uint64_t pc, uint64_t *first)
{
    bool in = false;

    *first = s->run_start;
    for (unsigned i = 0; i < s->jumps; i++) {
        in |= within(pc, *first, &s->jump[i].block);
        *first = s->jump[i].next;
    }
    return in;
}

static void take_updiscon(World *w, HistoryItem *item)
{
    History *s = &w->history;
    uint64_t next = item->next, first;
    bool last = passed(s, etrace_block_last(&item->block), &first);
    bool contained = passed(s, next, &first) ||
                     within(next, first, &item->block);

    if (s->modes.exact_run &&
        (s->run_unknown || (s->inferred_since && (last || contained)))) {
        HistoryItem copy = *item;

        put_jumps(w);
        put(w, &copy);
    } else {
        if (contained || !s->modes.exact_run) {
            item->flags |= ETRACE_HISTORY_CONTAINED;
        }
        put(w, item);
    }
    s->jumps = 0;
    s->run_unknown = false;
    s->run_start = next + 2;
}

static void take_branch(World *w, HistoryItem *item, bool alone)
{
    History *s = &w->history;
    unsigned full = s->modes.predictor ? 31 : 63;

    s->jumps = 0;
    s->inferred_since = false;
    s->run_unknown = false;
    s->run_start = item->next;
    if (alone || etrace_history_count(s->branches, s->bits) == full - 1) {
        put(w, item);
    }
}

static void take_jump(World *w, HistoryItem *item)
{
    History *s = &w->history;

    s->jump[s->jumps++] = *item;
    s->inferred_since |= item->flags & ETRACE_HISTORY_INFERRED;
    s->irets |= item->flags & ETRACE_HISTORY_INFERRED;
    if (s->jumps == ARRAY_SIZE(s->jump)) {
        put_jumps(w);
    }
}

bool history_take(World *w, const ETraceBlock *b, uint64_t next)
{
    History *s = &w->history;
    bool branch = etrace_itype_is_branch(b->itype);
    bool alone = branch && !s->some && s->after_updiscon &&
                 b->iretire == 1u << b->ilastsize;
    HistoryItem *item = &s->last;
    ETraceHistoryModes modes;

    if (s->on && (b->itype == ETRACE_ITYPE_TRAP_RETURN ||
                  (!s->n && etrace_encoder_detail(&w->enc, &modes) !=
                            ETRACE_DETAIL_HISTORY))) {
        history_end(w);
    }
    if (!s->on) {
        return false;
    }
    if (s->some && etrace_itype_is_branch(s->last.block.itype)) {
        bool not_taken = s->last.block.itype == ETRACE_ITYPE_NONTAKEN_BRANCH;

        s->branches >>= s->bits;
        s->branches |= (uint64_t)not_taken << 63;
        if (s->bits == 2) {
            s->branches |= (uint64_t)s->last.predicted << 62;
        }
    }
    s->some = true;
    *item = (HistoryItem) {
        .block = *b,
        .next = next,
        .index = w->retired_count - 1,
    };
    settle(w, item);
    if (branch) {
        take_branch(w, item, alone);
    } else if (item->flags & ETRACE_HISTORY_INFERRED) {
        take_jump(w, item);
    } else if (etrace_itype_is_updiscon(item->block.itype)) {
        take_updiscon(w, item);
    } else if (b->itype != ETRACE_ITYPE_NONE &&
               next <= etrace_block_last(b)) {
        take_jump(w, item);
    } else {
        item->block.itype = ETRACE_ITYPE_NONE;
    }
    return true;
}
