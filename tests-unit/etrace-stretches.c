/*
 * A random hart that tells stretches instead of blocks
 *
 * By what hw/trace/etrace/etrace.h says about them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-roundtrip.h"

static void hand_in(World *w)
{
    Stretches *s = &w->stretches;

    g_assert_cmpuint(etrace_encoder_stretches(&w->enc, s->slots, s->n,
                                              &s->next), ==, s->n);
    s->n = 0;
}

/* @last ends a stretch; it went on to @next. */
static void put_stretch(World *w, const ETraceBlock *last, uint64_t next)
{
    Stretches *s = &w->stretches;
    ETraceBlock *slot = &s->slots[s->n];
    uint64_t branches = s->branches;

    slot[0] = *last;
    slot[0].iaddr = etrace_block_last(last);
    slot[0].iretire = 1u << last->ilastsize;
    slot[0].flags = ETRACE_BLOCK_STRETCH;
    slot[1].iaddr = next;
    memcpy((char *)&slot[1] + 8, &branches, sizeof(branches));
    s->n += 2;
    s->branches = ETRACE_STRETCH_EMPTY;
    s->some = false;
    s->after_updiscon = etrace_itype_is_updiscon(last->itype);
    w->total_stretches++;
    if (w->mix->refuse) {
        /* A single instruction may be where a window begins anew. */
        uint64_t block_index = w->block_index;

        w->block_index = s->last_index;
        hand_in(w);
        w->block_index = block_index;
    } else if (s->n == ARRAY_SIZE(s->slots)) {
        hand_in(w);
    }
}

/* The jump back that no branch has followed ends a stretch. */
static void put_jump(World *w)
{
    Stretches *s = &w->stretches;

    if (s->jumped) {
        unsigned last_index = s->last_index;

        s->last_index = s->jump_index;
        put_stretch(w, &s->jump, s->jump_next);
        s->last_index = last_index;
        s->jumped = false;
    }
}

void stretches_end(World *w)
{
    Stretches *s = &w->stretches;

    if (s->on) {
        if (s->some) {
            bool is_jump = s->jumped && s->jump_index == s->last_index;

            put_jump(w);
            if (!is_jump) {
                put_stretch(w, &s->last, s->last_next);
            }
        }
        hand_in(w);
        s->on = false;
    }
}

void stretches_begin(World *w, const ETraceBlock *last, uint64_t next)
{
    w->stretches = (Stretches) {
        .on = true,
        .next = next,
        .branches = ETRACE_STRETCH_EMPTY,
        .after_updiscon = etrace_itype_is_updiscon(last->itype),
    };
}

bool stretches_take(World *w, const ETraceBlock *b, uint64_t next)
{
    Stretches *s = &w->stretches;
    bool branch = etrace_itype_is_branch(b->itype);
    bool alone = branch && !s->some && s->after_updiscon &&
                 b->iretire == 1u << b->ilastsize;

    if (s->on && (b->itype == ETRACE_ITYPE_TRAP_RETURN ||
                  (!s->n && !etrace_encoder_takes_stretches(&w->enc)))) {
        stretches_end(w);
    }
    if (!s->on) {
        return false;
    }
    if (s->some && etrace_itype_is_branch(s->last.itype)) {
        s->branches >>= 1;
        if (s->last.itype == ETRACE_ITYPE_NONTAKEN_BRANCH) {
            s->branches |= 1u << 31;
        }
    }
    s->some = true;
    s->last = *b;
    s->last_next = next;
    s->last_index = w->retired_count - 1;
    if (alone || (branch && etrace_stretch_count(s->branches) == 30) ||
        etrace_itype_is_updiscon(b->itype)) {
        s->jumped = false;
        put_stretch(w, b, next);
    } else if (branch) {
        s->jumped = false;
    } else {
        if (b->itype != ETRACE_ITYPE_NONE && next <= etrace_block_last(b)) {
            put_jump(w);
            s->some = true;
            s->jumped = true;
            s->jump = *b;
            s->jump_next = next;
            s->jump_index = s->last_index;
        }
        s->last.itype = ETRACE_ITYPE_NONE;
    }
    return true;
}
