/*
 * Profiles for llvm-profgen and perf2bolt
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/pgo/pgo.h"

/* Blocks from @i on that have the same instructions: sets *@count */
static guint same_insns(const ObjectCounts *oc, guint i, uint64_t *count)
{
    const ObjectBlock *b = object_block(oc, i);

    *count = 0;
    for (; i < oc->blocks->len && object_block(oc, i)->start == b->start &&
           object_block(oc, i)->last == b->last; i++) {
        *count += object_block(oc, i)->count;
    }
    return i;
}

/* The end of the entries like entry @i that only differ in itype */
static guint same_ends(const ObjectCounts *oc, guint i, uint64_t *count)
{
    const ObjectJump *j = object_jump(oc, i);

    *count = 0;
    for (; i < oc->jumps->len; i++) {
        const ObjectJump *k = object_jump(oc, i);

        if (k->from != j->from || k->to != j->to ||
            k->from_here != j->from_here || k->to_here != j->to_here) {
            break;
        }
        *count += k->count;
    }
    return i;
}

/*
 * llvm-profgen asks what function a jump leads to. It has no use for jumps to
 * other objects; those that come from there say how often a function was
 * entered.
 */
static unsigned llvm_jumps(const ObjectCounts *oc, FILE *f)
{
    unsigned nr = 0;
    uint64_t count;

    for (guint i = 0; i < oc->jumps->len; ) {
        const ObjectJump *j = object_jump(oc, i);

        i = same_ends(oc, i, &count);
        if (j->to_here) {
            nr++;
            if (f) {
                fprintf(f, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n", j->from,
                        j->to, count);
            }
        }
    }
    return nr;
}

static unsigned llvm_ranges(const ObjectCounts *oc, FILE *f)
{
    unsigned nr = 0;
    uint64_t count;

    for (guint i = 0; i < oc->blocks->len; nr++) {
        const ObjectBlock *b = object_block(oc, i);

        i = same_insns(oc, i, &count);
        if (f) {
            fprintf(f, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n", b->start,
                    b->last, count);
        }
    }
    return nr;
}

void pgo_write_llvm(const ObjectCounts *oc, FILE *f)
{
    fprintf(f, "%u\n", llvm_ranges(oc, NULL));
    llvm_ranges(oc, f);
    fprintf(f, "%u\n", llvm_jumps(oc, NULL));
    llvm_jumps(oc, f);
}

/* Does a block begin at @addr? Those are sorted by that. */
static bool begins_at(const ObjectCounts *oc, uint64_t addr)
{
    guint first = 0, last = oc->blocks->len;

    while (first < last) {
        guint mid = first + (last - first) / 2;

        if (object_block(oc, mid)->start < addr) {
            first = mid + 1;
        } else {
            last = mid;
        }
    }
    return first < oc->blocks->len && object_block(oc, first)->start == addr;
}

/*
 * What is behind the block came next: always after a branch that was not
 * taken; after a trap, or where the trace begins or ends, if that code ran
 */
static bool goes_on(const ObjectCounts *oc, const ObjectBlock *b)
{
    switch (b->itype) {
    case ETRACE_ITYPE_NONTAKEN_BRANCH:
        return true;
    case ETRACE_ITYPE_NONE:
    case ETRACE_ITYPE_EXCEPTION:
    case ETRACE_ITYPE_INTERRUPT:
        return begins_at(oc, b->end);
    default:
        return false;
    }
}

/* By address: how often a return led there, from another place or not */
static GHashTable *returns_to(const ObjectCounts *oc)
{
    GHashTable *returns = g_hash_table_new_full(g_int64_hash, g_int64_equal,
                                                NULL, g_free);

    for (guint i = 0; i < oc->jumps->len; i++) {
        const ObjectJump *j = object_jump(oc, i);
        uint64_t *count;

        if (!j->to_here || (j->itype != ETRACE_ITYPE_RETURN &&
                            j->itype != ETRACE_ITYPE_COROUTINE_SWAP)) {
            continue;
        }
        count = g_hash_table_lookup(returns, &j->to);
        if (!count) {
            count = g_new0(uint64_t, 1);
            g_hash_table_insert(returns, (gpointer)&j->to, count);
        }
        *count += j->count;
    }
    return returns;
}

/*
 * BOLT counts each time that control fell from one of its blocks into the next
 * one from where an F begins to where it ends. So an F reaches to the
 * instruction behind a branch that was not taken: then each such step is in
 * one F, and the sequences between jumps need not be known.
 *
 * With an f, which begins where a call has returned to, it counts the step
 * from the call's block, too, if a block begins there.
 */
static void bolt_falls(const ObjectCounts *oc, FILE *f)
{
    g_autoptr(GHashTable) returns = returns_to(oc);

    for (guint i = 0; i < oc->blocks->len; i++) {
        const ObjectBlock *b = object_block(oc, i);
        uint64_t *left = g_hash_table_lookup(returns, &b->start);
        uint64_t returned = left ? MIN(*left, b->count) : 0;
        uint64_t to = goes_on(oc, b) ? b->end : b->last;

        if (returned) {
            *left -= returned;
            fprintf(f, "f %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", b->start,
                    to, returned);
        }
        if (b->count > returned) {
            fprintf(f, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", b->start,
                    to, b->count - returned);
        }
    }
}

void pgo_write_bolt(const ObjectCounts *oc, FILE *f)
{
    for (guint i = 0; i < oc->jumps->len; ) {
        const ObjectJump *j = object_jump(oc, i);
        uint64_t count;

        i = same_ends(oc, i, &count);
        fprintf(f, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " 0\n", j->from,
                j->to, count);
    }
    bolt_falls(oc, f);
}
