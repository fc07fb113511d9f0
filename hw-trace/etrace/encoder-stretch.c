/*
 * E-Trace instruction trace encoder: stretches instead of blocks
 *
 * What is reported besides branches is the target of an updiscon, or the last
 * instruction ahead of a format 3 packet. Between these, nothing but the
 * outcome of branches counts. The run (see encoder-run.c) begins behind
 * the newest branch, at a place that is not told. If it leads to an updiscon,
 * its target may be in it. Else addresses only increase from there, and from
 * one jump back to the next, of which each ends a stretch.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "encoder-private.h"
#include "packet-plain.h"

/*
 * Not with modes that look at the addresses of branches or at calls. Neither
 * if the next instruction is to be synchronised, as it is after a trap return
 * to another privilege or with another context: that takes to know whether it
 * is a branch. Half-words and cycles are not counted.
 */
bool etrace_encoder_takes_stretches(const ETraceEncoder *enc)
{
    return enc->enabled && enc->have_last && enc->itype_width == 4 &&
           enc->last.itype != ETRACE_ITYPE_TRAP_RETURN &&
           !enc->params.context_width &&
           !(enc->lost | enc->have_trap | enc->resync_due | enc->notify_due) &&
           !(enc->params.ioptions & (ETRACE_IOPT_BRANCH_PREDICTION |
                                     ETRACE_IOPT_IMPLICIT_RETURN |
                                     ETRACE_IOPT_JUMP_TARGET_CACHE |
                                     ETRACE_IOPT_SIJUMP)) &&
           (enc->sync_mode == ETRACE_SYNC_OFF ||
            enc->sync_mode == ETRACE_SYNC_PACKETS);
}

/* @n branches, the oldest one in bit 0 of @map */
static void note_branches(ETraceEncoder *enc, uint64_t map, unsigned n)
{
    map = map << enc->branches | enc->branch_map;
    n += enc->branches;
    if (n >= ETRACE_BRANCHES_MAX) {
        enc->branches = ETRACE_BRANCHES_MAX;
        enc->branch_map = map & ((1u << ETRACE_BRANCHES_MAX) - 1);
        etrace_encoder_flush_branches(enc, 0);
        map >>= ETRACE_BRANCHES_MAX;
        n -= ETRACE_BRANCHES_MAX;
    }
    enc->branches = n;
    enc->branch_map = map;
    enc->map_failed = n;
    etrace_encoder_run_restart(enc, 0);
    enc->run_unknown = true;
}

/* It begins at @first. */
static void one_stretch(ETraceEncoder *enc, uint64_t first,
                        const ETraceBlock *last)
{
    uint32_t map = etrace_stretch_branches(last);
    unsigned n = etrace_stretch_count(map);

    if (!enc->enabled || enc->lost) {
        return;
    }
    if (!enc->have_last) {
        enc->lost = true;
        return;
    }
    if (!n && last->iaddr == first) {
        etrace_encoder_block(enc, last, 0);
        return;
    }
    etrace_encoder_go_on(enc, first);
    if (n) {
        note_branches(enc, (uint64_t)map >> (32 - n), n);
    }
    enc->last = *last;
    enc->last_reported = false;
    enc->last_is_target = false;
}

/* Nothing is pending but the held block, and addresses are differences. */
static bool is_clean(const ETraceEncoder *enc)
{
    return enc->ops->emit_many && enc->enabled && enc->have_last &&
           !(enc->lost | enc->have_trap | enc->context_due |
             enc->notify_due | enc->last_reported | enc->last_is_target |
             enc->after_jump | enc->last_after_jump | enc->target_revisited |
             enc->target_irreport) &&
           !(enc->params.ioptions & ~ETRACE_IOPT_IMPLICIT_EXCEPT);
}

/* Packets on their way to emit_many() */
typedef struct Packets {
    uint8_t *end;
    unsigned n;
    uint8_t bytes[1024];
} Packets;

static void flush_packets(ETraceEncoder *enc, Packets *p)
{
    if (p->n && !enc->lost) {
        enc->lost = !enc->ops->emit_many(enc->opaque, p->bytes,
                                         p->end - p->bytes, p->n);
        etrace_encoder_count_resync(enc, ETRACE_SYNC_PACKETS, p->n);
    }
    p->end = p->bytes;
    p->n = 0;
}

static inline void put_packet(Packets *p, size_t len)
{
    p->end[0] = len;
    p->end += 1 + len;
    p->n++;
}

/*
 * one_stretch() many times, for what is most of a trace. Takes as many as are
 * no special case; returns the number of slots.
 */
static size_t many_stretches(ETraceEncoder *enc, const ETraceBlock *slots,
                             size_t n, uint64_t *next)
{
    const uint64_t mask = etrace_ones(ETRACE_BRANCHES_MAX);
    const unsigned narrow = 64 - enc->params.iaddress_width;
    const unsigned lsb = enc->params.iaddress_lsb + narrow;
    const ETraceBlock *held = &enc->last;
    uint64_t map = enc->branch_map;
    unsigned branches = enc->branches;
    uint64_t first = *next;
    Packets p;
    size_t i;

    p.end = p.bytes;
    p.n = 0;
    for (i = 0; i < n && (slots[i].flags & ETRACE_BLOCK_STRETCH); i += 2) {
        const ETraceBlock *last = &slots[i];
        uint64_t outcomes = etrace_stretch_branches(last);
        unsigned count = etrace_stretch_count(outcomes);

        if (etrace_itype_is_updiscon(held->itype)) {
            uint64_t pc = etrace_block_last(held);

            if (!count && last->iaddr == first) {
                break;
            }
            enc->maybe_inferred = enc->run_unknown || enc->run_count ||
                                  (first >= enc->run_start && first <= pc);
            put_packet(&p, etrace_plain_address(
                               p.end + 1, branches, map,
                               (int64_t)((first - enc->address) << narrow) >>
                               lsb));
            enc->address = first;
            map = 0;
            branches = 0;
            etrace_encoder_run_restart(enc, first + 2);
        } else if (etrace_itype_is_branch(held->itype)) {
            map |= (uint64_t)(held->itype == ETRACE_ITYPE_NONTAKEN_BRANCH)
                   << branches;
            branches++;
            etrace_encoder_run_restart(enc, first);
        } else if (held->itype != ETRACE_ITYPE_NONE && !count) {
            if (enc->run_count == ETRACE_RUN_MAX) {
                break;
            }
            enc->run[enc->run_count++] = (ETraceRun) {
                enc->run_start, etrace_block_last(held), 0,
            };
            enc->run_start = first;
        }
        if (count) {
            map |= outcomes >> (32 - count) << branches;
            branches += count;
            etrace_encoder_run_restart(enc, 0);
            enc->run_unknown = true;
        }
        if (branches >= ETRACE_BRANCHES_MAX) {
            put_packet(&p, etrace_plain_full_map(p.end + 1, map & mask));
            map >>= ETRACE_BRANCHES_MAX;
            branches -= ETRACE_BRANCHES_MAX;
        }
        held = last;
        first = last[1].iaddr;
        if (p.end > p.bytes + sizeof(p.bytes) -
                    2 * (1 + ETRACE_PACKET_PLAIN_MAX)) {
            flush_packets(enc, &p);
        }
    }
    flush_packets(enc, &p);
    enc->last = *held;
    enc->branch_map = map;
    enc->branches = branches;
    enc->map_failed = branches;
    *next = first;
    return i;
}

size_t etrace_encoder_stretches(ETraceEncoder *enc, const ETraceBlock *slots,
                                size_t n, uint64_t *next)
{
    size_t i = 0;

    while (i < n && (slots[i].flags & ETRACE_BLOCK_STRETCH)) {
        if (is_clean(enc)) {
            i += many_stretches(enc, slots + i, n - i, next);
            if (i == n || !(slots[i].flags & ETRACE_BLOCK_STRETCH)) {
                break;
            }
        }
        one_stretch(enc, *next, &slots[i]);
        *next = slots[i + 1].iaddr;
        i += 2;
    }
    return i;
}
