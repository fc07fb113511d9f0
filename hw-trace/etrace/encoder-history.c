/*
 * E-Trace instruction trace encoder: branch history instead of blocks
 *
 * What is reported besides branches is the target of an updiscon, or the last
 * instruction ahead of a format 3 packet. Between these, only the outcome of
 * branches counts, and what was not as the decoder expects: a branch that was
 * not predicted, a return that went elsewhere. The run (encoder-run.c) begins
 * behind the newest branch, at a place that is not reported. If it leads to an
 * updiscon, the hart says whether its target may be in it. Else addresses only
 * increase from there, and from one jump back to the next, of which each ends
 * a history.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "encoder-private.h"
#include "packet-plain.h"

/* Bits of each branch */
static inline unsigned history_bits(const ETraceEncoder *enc)
{
    return enc->params.ioptions & ETRACE_IOPT_BRANCH_PREDICTION ? 2 : 1;
}

bool etrace_encoder_takes_history(ETraceEncoder *enc, ETraceHistoryModes *m)
{
    const ETraceParams *p = &enc->params;
    bool returns = p->ioptions & ETRACE_IOPT_IMPLICIT_RETURN;
    bool predict = p->ioptions & ETRACE_IOPT_BRANCH_PREDICTION;

    /*
     * Blocks, if the next instruction is to be synchronised, as it is after a
     * trap return to another privilege or with another context: that takes to
     * know whether it is a branch. If the held block is a return, whether it
     * is an implicit one is not known yet.
     */
    if (!enc->enabled || !enc->have_last || enc->lost || enc->have_trap ||
        enc->resync_due || enc->notify_due || enc->context_due ||
        enc->last.itype == ETRACE_ITYPE_TRAP_RETURN ||
        etrace_encoder_is_return(enc)) {
        return false;
    }
    /*
     * Half-words and cycles are not counted. Draft 2.1 wants to know how many
     * implicit returns there were; a call counter's depth cannot always be
     * reported. The predictor's index must be inside a page.
     */
    if (enc->itype_width != 4 ||
        (enc->sync_mode != ETRACE_SYNC_OFF &&
         enc->sync_mode != ETRACE_SYNC_PACKETS) ||
        (returns && (etrace_encoder_is_2_1(enc) || !p->return_stack_size)) ||
        (predict && p->iaddress_lsb + p->bpred_size > 12)) {
        return false;
    }
    *m = (ETraceHistoryModes) {
        .stack = returns ? &enc->stack : NULL,
        .predictor = predict ? &enc->predictor : NULL,
        .sijump = p->ioptions & ETRACE_IOPT_SIJUMP,
        .exact_run = p->ioptions & (ETRACE_IOPT_IMPLICIT_RETURN |
                                    ETRACE_IOPT_SIJUMP |
                                    ETRACE_IOPT_JUMP_TARGET_CACHE),
    };
    return true;
}

/* The lower bits of the lowest @n pairs of @val, or of some more */
static inline uint32_t even_bits(uint64_t val, unsigned n)
{
    val &= 0x5555555555555555;
    val = (val | val >> 1) & 0x3333333333333333;
    val = (val | val >> 2) & 0x0f0f0f0f0f0f0f0f;
    if (n <= 4) {
        return val;     /* most often there are not more */
    }
    val = (val | val >> 4) & 0x00ff00ff00ff00ff;
    val = (val | val >> 8) & 0x0000ffff0000ffff;
    return val | val >> 16;
}

/*
 * @n branches, 63 at most, the oldest one in bit 0 of @outcomes (1: not taken)
 * and of @missed (1: not as predicted)
 */
static void note_branches(ETraceEncoder *enc, uint64_t outcomes,
                          uint64_t missed, unsigned n)
{
    while (n) {
        unsigned room = ETRACE_BRANCHES_MAX - enc->branches;
        unsigned take = MIN(room, n);

        if (enc->pbc) {
            take = missed ? __builtin_ctzll(missed) : 64;
            if (take >= n) {
                enc->pbc += n;
                return;
            }
            enc->pbc += take;
            enc->branch_failed = true;
            take++;
            etrace_encoder_flush_branches(enc, 0);
        } else {
            enc->branch_map |= (outcomes & etrace_ones(take)) << enc->branches;
            enc->branches += take;
            enc->map_failed |= (missed & etrace_ones(take)) != 0;
            if (enc->branches == ETRACE_BRANCHES_MAX) {
                if (enc->map_failed) {
                    etrace_encoder_flush_branches(enc, 0);
                } else {
                    enc->pbc = ETRACE_BRANCHES_MAX;
                    enc->branches = 0;
                    enc->branch_map = 0;
                }
            }
        }
        outcomes >>= take;
        missed >>= take;
        n -= take;
    }
}

/*
 * branch_count has an end, and who reaches it has to report an address, which
 * is not known here: long before that, blocks and a synchronisation instead.
 */
#define PBC_MANY    (1ull << 31)

/* The branches ahead of the last instruction of a history */
typedef struct Branches {
    uint64_t outcomes;          /* the oldest one in bit 0; 1: not taken */
    uint64_t missed;            /* 1: not as predicted */
    unsigned n;
} Branches;

static inline Branches history_branches(const ETraceHistory *h, unsigned bits)
{
    Branches b = { .n = etrace_history_count(h->branches, bits) };

    if (b.n && bits == 2) {
        uint64_t pairs = h->branches >> (64 - 2 * b.n);
        uint64_t missed = ~(pairs ^ pairs >> 1) & 0x5555555555555555 &
                          etrace_ones(2 * b.n);

        b.outcomes = even_bits(pairs >> 1, b.n);
        b.missed = missed ? even_bits(missed, b.n) : 0;
    } else if (b.n) {
        b.outcomes = h->branches >> (64 - b.n);
        b.missed = etrace_ones(b.n);
    }
    return b;
}

/*
 * The run behind the branches of @h. If there are some, it is at most what is
 * up to the last instruction; the target of an updiscon is told apart from it.
 */
static inline void history_run(ETraceEncoder *enc, const ETraceHistory *h,
                               bool branches)
{
    bool updiscon = etrace_itype_is_updiscon(h->itype) &&
                    !(h->flags & ETRACE_HISTORY_INFERRED);

    if (branches) {
        etrace_encoder_run_restart(enc, 0);
    }
    if (updiscon && (h->flags & ETRACE_HISTORY_CONTAINED)) {
        enc->run_unknown = true;
    } else if (updiscon && branches) {
        /* The target is neither in it nor the last instruction. */
        enc->run_start = h->last;
    }
    if (h->flags & ETRACE_HISTORY_IRETS) {
        etrace_encoder_any_iret(enc);
    }
}

/* The last instruction of @h as a block of its own */
static ETraceBlock last_block(const ETraceHistory *h)
{
    return (ETraceBlock) {
        .iaddr = h->last,
        .iretire = 1,
        .itype = h->itype,
        .priv = h->priv,
        .flags = h->flags,
        .cause = h->irdepth,
    };
}

/*
 * @last, which ends a history, is held. A branch may be right behind a jump
 * that was inferred: that has not been told.
 */
static void hold_last(ETraceEncoder *enc, const ETraceBlock *last)
{
    enc->last = *last;
    enc->last_reported = false;
    enc->last_is_target = false;
    enc->last_after_jump = etrace_itype_is_branch(last->itype) &&
                           (enc->params.ioptions &
                            (ETRACE_IOPT_IMPLICIT_RETURN |
                             ETRACE_IOPT_SIJUMP));
}

/* It begins at @first. */
static void one_history(ETraceEncoder *enc, uint64_t first,
                        const ETraceHistory *h)
{
    const ETraceBlock last = last_block(h);
    Branches b;

    if (!enc->enabled || enc->lost) {
        return;
    }
    if (!enc->have_last) {
        enc->lost = true;
        return;
    }
    if (h->last == first && h->branches == ETRACE_HISTORY_EMPTY) {
        etrace_encoder_block(enc, &last, 0);
        return;
    }
    etrace_encoder_go_on(enc, first);
    b = history_branches(h, history_bits(enc));
    note_branches(enc, b.outcomes, b.missed, b.n);
    enc->resync_due |= enc->pbc >= PBC_MANY;
    history_run(enc, h, b.n);
    hold_last(enc, &last);
}

/*
 * Many histories in a row
 *
 * What is most of a trace goes a short way: nothing is pending but the held
 * block, and packets have no special fields.
 */

static bool is_clean(const ETraceEncoder *enc)
{
    return enc->ops->emit_many && enc->enabled && enc->have_last &&
           !(enc->lost | enc->have_trap | enc->context_due |
             enc->notify_due | enc->last_reported | enc->last_is_target |
             enc->after_jump | enc->target_revisited | enc->target_irreport |
             enc->branch_failed) &&
           !(enc->params.ioptions & ETRACE_IOPT_FULL_ADDRESS) &&
           (enc->params.wire_format == ETRACE_WIRE_2_0 ||
            !(enc->params.ioptions & (ETRACE_IOPT_BRANCH_PREDICTION |
                                      ETRACE_IOPT_JUMP_TARGET_CACHE)));
}

/* What the short way has in registers: branches, and packets for emit_many() */
typedef struct Short {
    const ETraceParams *params;
    ETracePlainHead head;
    uint64_t map;
    uint64_t pbc;
    unsigned branches;
    bool failed;                /* a branch in the map was not predicted */
    unsigned n;
    uint8_t *end;
    uint8_t bytes[1024];
} Short;

static void flush_packets(ETraceEncoder *enc, Short *s)
{
    if (s->n && !enc->lost) {
        enc->lost = !enc->ops->emit_many(enc->opaque, s->bytes,
                                         s->end - s->bytes, s->n);
        etrace_encoder_count_resync(enc, ETRACE_SYNC_PACKETS, s->n);
    }
    s->end = s->bytes;
    s->n = 0;
}

static inline void put_packet(Short *s, ETracePlain packet)
{
    s->end += etrace_plain_wrap(s->end, &s->head, packet);
    s->n++;
    s->map = 0;
    s->branches = 0;
    s->pbc = 0;
    s->failed = false;
}

static void short_packets(Short *s, uint64_t outcomes, uint64_t missed,
                          unsigned n)
{
    while (n) {
        unsigned take = MIN(ETRACE_BRANCHES_MAX - s->branches, n);

        if (s->pbc) {
            take = missed ? __builtin_ctzll(missed) : 64;
            if (take >= n) {
                s->pbc += n;
                return;
            }
            put_packet(s, etrace_plain_count(
                              s->params->f0s_width,
                              s->pbc + take - ETRACE_BRANCHES_MAX));
            take++;
        } else {
            s->map |= (outcomes & etrace_ones(take)) << s->branches;
            s->branches += take;
            s->failed |= (missed & etrace_ones(take)) != 0;
            if (s->branches == ETRACE_BRANCHES_MAX) {
                if (s->failed) {
                    put_packet(s, etrace_plain_full_map(s->map));
                } else {
                    s->pbc = ETRACE_BRANCHES_MAX;
                    s->branches = 0;
                    s->map = 0;
                }
            }
        }
        outcomes >>= take;
        missed >>= take;
        n -= take;
    }
}

/* As note_branches(). At most three packets come of it, mostly none. */
static inline void short_branches(Short *s, uint64_t outcomes,
                                  uint64_t missed, unsigned n)
{
    if (s->pbc || s->branches + n >= ETRACE_BRANCHES_MAX) {
        short_packets(s, outcomes, missed, n);
    } else {
        s->map |= outcomes << s->branches;
        s->branches += n;
        s->failed |= missed != 0;
    }
}

/*
 * The address of an updiscon's target: in full, or its index in the cache,
 * whichever is shorter; see etrace_encoder_cached().
 */
static inline void short_target(ETraceEncoder *enc, Short *s, uint64_t target,
                                bool cache)
{
    const ETraceParams *p = s->params;
    const unsigned narrow = 64 - p->iaddress_width;
    int64_t diff = (int64_t)((target - enc->address) << narrow) >>
                   (p->iaddress_lsb + narrow);
    bool cached = cache && etrace_encoder_cached(enc, target);

    if (s->pbc) {
        put_packet(s, etrace_plain_count_address(
                          p->f0s_width, s->pbc - ETRACE_BRANCHES_MAX, diff));
    } else {
        ETracePlain packet = etrace_plain_address(s->branches, s->map, diff);

        if (cached) {
            ETracePlain jump = etrace_plain_jump(
                p->f0s_width, p->cache_size,
                etrace_jump_cache_index(&enc->cache, target), s->branches,
                s->map);

            if (etrace_plain_len(jump) < etrace_plain_len(packet)) {
                packet = jump;
            }
        }
        put_packet(s, packet);
    }
    enc->address = target;
}

/* Flags of which the short way knows nothing */
#define HISTORY_RARE \
    (ETRACE_BLOCK_SIJUMP | ETRACE_HISTORY_INFERRED | ETRACE_HISTORY_IRREPORT)

/* Bytes that one history may take: four packets */
#define HISTORY_ROOM    (4 * ETRACE_PLAIN_WRAP_MAX)

/* All of a history but addresses and branches: what ends it, and how */
static inline uint64_t history_kind(const ETraceHistory *h)
{
    uint64_t kind;

    QEMU_BUILD_BUG_ON(offsetof(ETraceHistory, irdepth) != 8 ||
                      offsetof(ETraceHistory, next) != 16);
    memcpy(&kind, (const char *)h + 8, sizeof(kind));
    return kind;
}

/*
 * Without branch prediction and jump target cache: is a packet all that comes
 * of such histories as @h, one after the other?
 */
static inline bool is_chain(const ETraceHistory *h)
{
    return etrace_itype_is_updiscon(h->itype) &&
           h->flags == (ETRACE_HISTORY_SETTLED | ETRACE_HISTORY_CONTAINED);
}

/*
 * The short way for what follows slots[-1], which is_chain(): updiscons with
 * the branches between them. @first: where the first one begins; then where
 * the history begins that is not taken. Returns the number of slots.
 */
static size_t chain(ETraceEncoder *enc, Short *s, const ETraceSlot *slots,
                    size_t n, uint64_t *first)
{
    const unsigned narrow = 64 - s->params->iaddress_width;
    const unsigned lsb = s->params->iaddress_lsb + narrow;
    const uint64_t kind = history_kind(&slots[-1].history);
    /* Bytes may be anything to the compiler, @s as well: keep it out of it. */
    const ETracePlainHead head = s->head;
    uint64_t target = *first, address = enc->address, map = s->map;
    const uint8_t *limit = s->bytes + sizeof(s->bytes) - HISTORY_ROOM;
    unsigned branches = s->branches;
    uint8_t *end = s->end;
    size_t i, flushed = 0;

    for (i = 0; i < n; i++) {
        const ETraceHistory *h = &slots[i].history;

        if (history_kind(h) != kind ||
            (h->branches == ETRACE_HISTORY_EMPTY && h->last == target)) {
            break;
        }
        end += etrace_plain_wrap(end, &head, etrace_plain_address(
            branches, map, (int64_t)((target - address) << narrow) >> lsb));
        address = target;
        target = h->next;
        branches = etrace_history_count(h->branches, 1);
        map = h->branches >> 1 >> (63 - branches);
        if (branches >= ETRACE_BRANCHES_MAX || end > limit) {
            s->end = end;
            s->n += i + 1 - flushed;
            flushed = i + 1;
            s->map = 0;
            s->branches = 0;
            s->failed = false;
            short_packets(s, map, etrace_ones(branches), branches);
            map = s->map;
            branches = s->branches;
            if (s->end > limit) {
                flush_packets(enc, s);
            }
            end = s->end;
        }
    }
    s->n += i - flushed;
    s->end = end;
    s->map = map;
    s->branches = branches;
    if (i) {
        bool branches = slots[i - 1].history.branches != ETRACE_HISTORY_EMPTY;

        s->failed = s->branches;
        etrace_encoder_run_restart(enc, branches ? 0 : address + 2);
        enc->run_unknown = true;
        enc->address = address;
        enc->maybe_inferred = true;
        enc->target_uncached = false;
        *first = target;
    }
    return i;
}

/*
 * one_history() many times. Takes as many as are no special case; returns the
 * number of slots. There are two of it: the compiler knows @bits of each branch
 * and whether there is a jump target @cache.
 */
static inline QEMU_ALWAYS_INLINE
size_t histories(ETraceEncoder *enc, const ETraceSlot *slots, size_t n,
                 uint64_t *next, const unsigned bits, const bool cache)
{
    ETraceBlock held = enc->last;
    uint64_t first = *next;
    Short s;
    size_t i;

    s.params = &enc->params;
    s.head = etrace_plain_head(&enc->params);
    s.map = enc->branch_map;
    s.pbc = enc->pbc;
    s.branches = enc->branches;
    s.failed = enc->map_failed;
    s.n = 0;
    s.end = s.bytes;
    for (i = 0; i < n; i++) {
        const ETraceHistory *h = &slots[i].history;
        Branches b;

        if (h->type != ETRACE_SLOT_HISTORY ||
            ((held.flags | h->flags) & HISTORY_RARE)) {
            break;
        }
        b = history_branches(h, bits);
        if (etrace_itype_is_updiscon(held.itype)) {
            bool contained = enc->run_unknown || enc->run_count ||
                             (first >= enc->run_start &&
                              first <= etrace_block_last(&held));

            if (!b.n && h->last == first) {
                break;
            }
            enc->target_uncached = false;
            short_target(enc, &s, first, cache);
            enc->maybe_inferred = contained;
            etrace_encoder_run_restart(enc, first + 2);
        } else if (etrace_itype_is_branch(held.itype)) {
            short_branches(&s, held.itype == ETRACE_ITYPE_NONTAKEN_BRANCH,
                           bits == 1 || (held.flags & ETRACE_HISTORY_MISSED),
                           1);
            etrace_encoder_run_restart(enc, first);
        } else if (held.itype != ETRACE_ITYPE_NONE && !b.n) {
            if (enc->run_count == ETRACE_RUN_MAX) {
                break;
            }
            enc->run[enc->run_count++] = (ETraceRun) {
                enc->run_start, etrace_block_last(&held), 0,
            };
            enc->run_start = first;
        }
        short_branches(&s, b.outcomes, b.missed, b.n);
        enc->resync_due |= s.pbc >= PBC_MANY;
        history_run(enc, h, b.n);
        first = h->next;
        if (bits == 1 && !cache && is_chain(h)) {
            size_t more = chain(enc, &s, slots + i + 1, n - i - 1, &first);

            i += more;
            h += more;
        }
        held = last_block(h);
        if (s.end > s.bytes + sizeof(s.bytes) - HISTORY_ROOM) {
            flush_packets(enc, &s);
        }
    }
    flush_packets(enc, &s);
    if (i) {
        hold_last(enc, &held);
    }
    enc->branch_map = s.map;
    enc->branches = s.branches;
    enc->map_failed = s.failed;
    enc->pbc = s.pbc;
    *next = first;
    return i;
}

static size_t many_histories(ETraceEncoder *enc, const ETraceSlot *slots,
                             size_t n, uint64_t *next)
{
    bool cache = enc->params.ioptions & ETRACE_IOPT_JUMP_TARGET_CACHE;

    if (history_bits(enc) == 1 && !cache) {
        return histories(enc, slots, n, next, 1, false);
    }
    return histories(enc, slots, n, next, history_bits(enc), cache);
}

size_t etrace_encoder_history(ETraceEncoder *enc, const ETraceSlot *slots,
                              size_t n, uint64_t *next)
{
    size_t i = 0;

    while (i < n && etrace_slot_type(&slots[i]) == ETRACE_SLOT_HISTORY) {
        if (is_clean(enc)) {
            i += many_histories(enc, slots + i, n - i, next);
            if (i == n ||
                etrace_slot_type(&slots[i]) != ETRACE_SLOT_HISTORY) {
                break;
            }
        }
        one_history(enc, *next, &slots[i].history);
        *next = slots[i].history.next;
        i++;
    }
    return i;
}
