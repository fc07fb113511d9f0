/*
 * E-Trace instruction trace encoder: many branch histories in a row
 *
 * What is most of a trace goes a short way: nothing is pending but the held
 * block, and packets have no special fields. The bytes are those of
 * encoder-history.c and encoder-send.c.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "history.h"
#include "../packet-plain.h"

bool etrace_encoder_is_plain(const ETraceEncoder *enc)
{
    return enc->ops->emit_many && etrace_encoder_only_holds(enc) &&
           !(enc->target_revisited | enc->target_irreport |
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
    bool sent;                  /* a packet, since it was set to false */
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
    s->sent = true;
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
    if (s->pbc && !missed) {
        s->pbc += n;
    } else if (s->pbc || s->branches + n >= ETRACE_BRANCHES_MAX) {
        short_packets(s, outcomes, missed, n);
    } else {
        s->map |= outcomes << s->branches;
        s->branches += n;
        s->failed |= missed != 0;
    }
}

/* The @n branches ahead of the last instruction of @h */
static inline void short_history(Short *s, const ETraceHistory *h,
                                 unsigned bits, unsigned n)
{
    if (bits == 2 && s->pbc && !history_missed(h, n)) {
        s->pbc += n;        /* what most of a trace is: count them */
    } else {
        Branches b = history_branches(h, bits);

        short_branches(s, b.outcomes, b.missed, n);
    }
}

/* Of a target's address and its index in the cache: the shorter packet */
static inline ETracePlain shorter_packet(ETracePlain address,
                                         ETracePlain index)
{
    return etrace_plain_len(index) < etrace_plain_len(address) ? index :
                                                                 address;
}

/*
 * The address of an updiscon's target: in full, or its index in the cache,
 * whichever is shorter; see etrace_encoder_cached(). @missed: add_target()
 */
static inline void short_target(ETraceEncoder *enc, Short *s, uint64_t target,
                                bool missed, bool cache)
{
    const ETraceParams *p = s->params;
    const unsigned narrow = 64 - p->iaddress_width;
    int64_t diff = (int64_t)((target - enc->address) << narrow) >>
                   (p->iaddress_lsb + narrow);
    bool cached = cache && etrace_encoder_cached(enc, target);

    if (s->pbc) {
        put_packet(s, etrace_plain_count_address(
                          p->f0s_width, s->pbc - ETRACE_BRANCHES_MAX, missed,
                          diff));
    } else {
        ETracePlain packet = etrace_plain_address(s->branches, s->map, diff);

        if (cached) {
            packet = shorter_packet(packet, etrace_plain_jump(
                p->f0s_width, p->cache_size,
                etrace_jump_cache_index(&enc->cache, target), s->branches,
                s->map));
        }
        put_packet(s, packet);
    }
    enc->address = target;
}

/* Flags of which the short way knows nothing */
#define HISTORY_RARE    (ETRACE_BLOCK_SIJUMP | ETRACE_HISTORY_IRREPORT)

/* Bytes that one history may take: four packets */
#define HISTORY_ROOM    (4 * ETRACE_PLAIN_WRAP_MAX)

/*
 * Does @h end in an updiscon as harts report them, so that a packet is all that
 * comes of it? The second word of a slot as a whole decides, which is less work
 * than its bytes.
 */
static inline bool is_chain(const ETraceHistory *h)
{
    const ETraceHistory any = { .irdepth = -1, .priv = -1, .reserved = -1,
        .flags = ETRACE_HISTORY_CONTAINED | ETRACE_HISTORY_IRETS,
    };
    const ETraceHistory chain = {
        .type = ETRACE_SLOT_HISTORY, .flags = ETRACE_HISTORY_SETTLED,
        .itype = ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP,
    };
    uint64_t kind, ignored, wanted;

    QEMU_BUILD_BUG_ON(offsetof(ETraceHistory, irdepth) != 8 ||
                      offsetof(ETraceHistory, next) != 16);
    memcpy(&kind, (const char *)h + 8, sizeof(kind));
    memcpy(&ignored, (const char *)&any + 8, sizeof(ignored));
    memcpy(&wanted, (const char *)&chain + 8, sizeof(wanted));
    return (kind & ~ignored) == wanted;
}

/*
 * slots[0] is one instruction, the target of an updiscon, and ends in a jump or
 * branch. How its address is reported depends on what comes next (Figure 8.1):
 * here it is known if more retires in the same privilege, as slots[1] shows.
 */
static inline bool goes_on(const ETraceSlot *slots, size_t n)
{
    const ETraceHistory *h = &slots[0].history, *next = &slots[1].history;

    return n > 1 && h->type == ETRACE_SLOT_HISTORY &&
           next->type == ETRACE_SLOT_HISTORY && next->priv == h->priv &&
           !(h->flags & HISTORY_RARE) && h->itype != ETRACE_ITYPE_NONE &&
           h->itype != ETRACE_ITYPE_TRAP_RETURN;
}

/*
 * If such an instruction is a branch, it is one of those that the packet with
 * its address reports; @missed: ... in a count of others that were predicted.
 * Returns false if it is not known here what packet that is.
 */
static inline bool add_target(const ETraceHistory *h, unsigned bits,
                              uint64_t *map, unsigned *branches, uint64_t *pbc,
                              bool *missed)
{
    if (!etrace_itype_is_branch(h->itype)) {
        return true;
    }
    if (bits == 2 && !*pbc && *branches == ETRACE_BRANCHES_MAX - 1) {
        return false;
    }
    if (*pbc) {
        *missed = h->flags & ETRACE_HISTORY_MISSED;
        *pbc += !*missed;
    } else {
        *map |= (uint64_t)(h->itype == ETRACE_ITYPE_NONTAKEN_BRANCH)
                << *branches;
        *branches += 1;
    }
    return true;
}

/* What the compiler knows of the loops that most traces take */
typedef struct ChainKind {
    unsigned bits;              /* of each branch */
    bool cache;                 /* there is a jump target cache */
    unsigned iaddress_width;
    unsigned iaddress_lsb;
    unsigned f0s;
    unsigned cache_size;
    unsigned src_bytes;         /* whole bytes of srcID */
} ChainKind;

/* Of an updiscon's target: its @address in full, or its @index in the cache */
typedef struct Target {
    ETracePlain address;
    ETracePlain index;
    bool cached;                /* it has an index */
} Target;

/* The shorter one at @out; if there is no difference, the address */
static inline QEMU_ALWAYS_INLINE
size_t wrap_target(uint8_t *out, const ETracePlainHead *head, const Target *t,
                   const ChainKind k)
{
    int64_t number = etrace_plain_number(t->address);
    unsigned top = etrace_plain_top(number);

    if (!etrace_plain_is_number(head, t->address) || (k.cache && !k.f0s)) {
        ETracePlain packet = t->address;

        if (t->cached) {
            packet = shorter_packet(packet, t->index);
        }
        return etrace_plain_wrap(out, head, packet);
    }
    if (k.cache) {
        /* Two numbers and a choice: a jump would often be predicted wrongly. */
        int64_t index = t->index.low;
        unsigned index_top = etrace_plain_top(index);
        bool shorter = t->cached & (etrace_plain_bytes(index_top) <
                                    etrace_plain_bytes(top));

        number = shorter ? index : number;
        top = shorter ? index_top : top;
    }
    return etrace_plain_number_wrap(out, head, k.src_bytes, number, top);
}

/*
 * Where the history begins that @slot of a chain ends. *@run: where its run
 * begins if it has no branches. That is behind the target that was reported; or
 * where the branch went that this target is, which is alone in a slot.
 */
static inline uint64_t chain_begin(const ETraceSlot *slot, uint64_t *run)
{
    const ETraceHistory *before = &slot[-1].history;

    *run = before->next + (etrace_itype_is_branch(before->itype) ? 0 : 2);
    return before->next;
}

/* ... and may the target of its updiscon be in its run? */
static bool chain_contained(const ETraceSlot *slot, unsigned bits)
{
    const ETraceHistory *h = &slot->history;
    uint64_t run, begin = chain_begin(slot, &run);

    return history_contained(h, begin, run,
                             etrace_history_count(h->branches, bits));
}

/*
 * The short way for what follows slots[-1], which is_chain(): updiscons with
 * the branches between them, each of which is a packet; with what it has to
 * itself if its target is a branch, that is two slots. @first: where the
 * first one begins; then where the history begins that is not taken. Returns
 * the number of slots.
 */
static inline QEMU_ALWAYS_INLINE
size_t any_chain(ETraceEncoder *enc, Short *s, const ETraceSlot *slots,
                 size_t n, uint64_t *first, const ChainKind k)
{
    const unsigned narrow = 64 - k.iaddress_width;
    const unsigned lsb = k.iaddress_lsb + narrow;
    const unsigned cache_mask = (1u << k.cache_size) - 1;
    uint64_t *cache = enc->cache.target;
    /* Bytes may be anything to the compiler, @s as well: keep it out of it. */
    const ETracePlainHead head = s->head;
    const uint8_t *limit = s->bytes + sizeof(s->bytes) - HISTORY_ROOM;
    uint64_t target = *first, address = enc->address;
    uint64_t map = s->map, pbc = s->pbc;
    unsigned branches = s->branches;
    bool inferred = enc->maybe_inferred;
    bool contained = etrace_encoder_run_contains(enc, slots[-1].history.last,
                                                 target);
    unsigned packets = 0;                       /* not in @s yet */
    uint8_t *end = s->end;
    size_t i;

    if (contained && enc->irets) {
        return 0;
    }
    for (i = 0; i < n; i++) {
        const ETraceHistory *h = &slots[i].history;
        int64_t diff = (int64_t)((target - address) << narrow) >> lsb;
        Target t = { .cached = false };
        bool branch = etrace_itype_is_branch(h->itype);
        bool missed = false;

        if (history_is_single(h, target) &&
            (!goes_on(slots + i, n - i) ||
             (branch && (!is_chain(h + 1) ||
                         !add_target(h, k.bits, &map, &branches, &pbc,
                                     &missed))))) {
            break;
        } else if (history_is_single(h, target) && branch) {
            /* The history behind it is one with it. */
            h++;
            i++;
        } else if (!is_chain(h)) {
            break;
        }
        t.address = etrace_plain_address(branches, map, diff);
        if (k.cache) {
            unsigned index = (target >> k.iaddress_lsb) & cache_mask;

            t.index = etrace_plain_jump(k.f0s, k.cache_size, index, branches,
                                        map);
            t.cached = !inferred & (cache[index] == target);
            cache[index] = target;
        }
        if (k.bits == 2 && pbc) {
            t.address = etrace_plain_count_address(
                k.f0s, pbc - ETRACE_BRANCHES_MAX, missed, diff);
            t.cached = false;
            pbc = 0;
        }
        end += wrap_target(end, &head, &t, k);
        packets++;
        branches = etrace_history_count(h->branches, k.bits);
        if (k.bits == 1) {
            map = h->branches >> 1 >> (63 - branches);
        } else {
            map = even_bits(h->branches >> 2 >> (63 - 2 * branches), branches);
        }
        if (k.cache) {
            inferred = contained;
            contained = chain_contained(slots + i, k.bits);
        }
        address = target;
        target = h->next;
        if (branches >= ETRACE_BRANCHES_MAX || end > limit) {
            Branches b = history_branches(h, k.bits);

            s->end = end;
            s->n += packets;
            packets = 0;
            s->map = 0;
            s->branches = 0;
            s->pbc = 0;
            s->failed = false;
            short_packets(s, b.outcomes, b.missed, b.n);
            if (s->end > limit) {
                flush_packets(enc, s);
            }
            map = s->map;
            branches = s->branches;
            pbc = s->pbc;
            end = s->end;
        }
    }
    s->n += packets;
    s->end = end;
    if (i) {
        const ETraceSlot *last = &slots[i - 1];
        const ETraceHistory *h = &last->history;
        Branches b = history_branches(h, k.bits);
        uint64_t run, begin = chain_begin(last, &run);
        size_t taken = run == begin ? 2 : 1;        /* slots for the newest */

        if (!k.cache) {
            inferred = i > taken ? chain_contained(last - taken, k.bits)
                                 : contained;
        }
        s->map = map;
        s->branches = branches;
        s->pbc = pbc;
        if (packets) {
            s->failed = b.missed != 0;
        }
        etrace_encoder_no_iret(enc);
        etrace_encoder_run_restart(enc, run);
        if (!history_is_single(h, begin)) {
            history_run(enc, h, b.n);
        }
        enc->address = address;
        enc->maybe_inferred = inferred;
        enc->cache.used |= k.cache;
        enc->target_uncached = false;
        *first = target;
    }
    return i;
}

typedef size_t Chain(ETraceEncoder *enc, Short *s, const ETraceSlot *slots,
                     size_t n, uint64_t *first);

/*
 * There are three of it, each with registers of its own; the first two for what
 * QEMU's encoder is built with on a hart of 64 bits.
 */
static const ChainKind plain_kind = {
    .bits = 1, .iaddress_width = 64, .iaddress_lsb = 1,
};

static const ChainKind modes_kind = {
    .bits = 2, .cache = true, .iaddress_width = 64, .iaddress_lsb = 1,
    .f0s = 1, .cache_size = ETRACE_CACHE_SIZE_DEFAULT,
};

static ChainKind chain_kind(const ETraceEncoder *enc)
{
    const ETraceParams *p = &enc->params;
    bool cache = p->ioptions & ETRACE_IOPT_JUMP_TARGET_CACHE;

    return (ChainKind) {
        .bits = history_bits(enc),
        .cache = cache,
        .iaddress_width = p->iaddress_width,
        .iaddress_lsb = p->iaddress_lsb,
        .f0s = p->f0s_width,
        .cache_size = cache ? p->cache_size : 0,
        .src_bytes = p->src_bits / 8,
    };
}

#define DEFINE_CHAIN(name, kind)                                            \
    static __attribute__((noinline))                                        \
    size_t name(ETraceEncoder *enc, Short *s, const ETraceSlot *slots,      \
                size_t n, uint64_t *first)                                  \
    {                                                                       \
        return any_chain(enc, s, slots, n, first, kind);                    \
    }

DEFINE_CHAIN(plain_chain, plain_kind)
DEFINE_CHAIN(modes_chain, modes_kind)
DEFINE_CHAIN(other_chain, chain_kind(enc))

static Chain *find_chain(const ETraceEncoder *enc)
{
    ChainKind k = chain_kind(enc);

    if (k.iaddress_width == 64 && k.iaddress_lsb == 1 && !k.src_bytes) {
        if (k.bits == 1 && !k.cache) {
            return plain_chain;
        }
        if (k.bits == 2 && k.cache && k.f0s == 1 &&
            k.cache_size == modes_kind.cache_size) {
            return modes_chain;
        }
    }
    return other_chain;
}

/*
 * one_history() many times. Takes as many as are no special case; returns the
 * number of slots. There are two of it: the compiler knows @bits of each branch
 * and whether there is a jump target @cache.
 */
static inline QEMU_ALWAYS_INLINE
size_t histories(ETraceEncoder *enc, const ETraceSlot *slots, size_t n,
                 uint64_t *next, const unsigned bits, const bool cache,
                 Chain *chain)
{
    ETraceBlock held = enc->last;
    bool single = false;                /* the held block is one instruction */
    bool reported = false;              /* ... which was reported */
    bool inferred = enc->after_jump;    /* the decoder infers the jump to it */
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
        unsigned branches;
        bool target, missed = false;

        s.sent = false;
        if (h->type != ETRACE_SLOT_HISTORY ||
            ((held.flags | h->flags) & HISTORY_RARE)) {
            break;
        }
        branches = etrace_history_count(h->branches, bits);
        target = etrace_itype_is_updiscon(held.itype) &&
                 !(held.flags & ETRACE_HISTORY_INFERRED);
        if (target) {
            bool contained = etrace_encoder_run_contains(
                enc, etrace_block_last(&held), first);

            if ((contained && enc->irets) ||
                (history_is_single(h, first) &&
                 (!goes_on(slots + i, n - i) ||
                  !add_target(h, bits, &s.map, &s.branches, &s.pbc,
                              &missed)))) {
                break;
            }
            enc->target_uncached = false;
            short_target(enc, &s, first, missed, cache);
            enc->maybe_inferred = contained;
            etrace_encoder_run_restart(enc, first + 2);
        } else if (etrace_itype_is_branch(held.itype)) {
            if (!reported) {
                short_branches(&s, held.itype == ETRACE_ITYPE_NONTAKEN_BRANCH,
                               bits == 1 ||
                               (held.flags & ETRACE_HISTORY_MISSED), 1);
            }
            etrace_encoder_run_restart(enc, first);
        } else if (held.itype != ETRACE_ITYPE_NONE) {
            if (!reported && enc->run_count == ETRACE_RUN_MAX) {
                break;
            }
            if (!reported) {
                enc->run[enc->run_count++] = (ETraceRun) {
                    enc->run_start, etrace_block_last(&held), enc->irets,
                };
            }
            enc->run_start = first;
        }
        inferred = held.flags & ETRACE_HISTORY_INFERRED;
        if (inferred && held.itype == ETRACE_ITYPE_RETURN) {
            enc->irets++;
            etrace_encoder_any_iret(enc);
        }
        short_history(&s, h, bits, branches);
        enc->resync_due |= s.pbc >= PBC_MANY;
        if (s.sent) {
            etrace_encoder_no_iret(enc);
        }
        single = history_is_single(h, first);
        reported = target && single;
        if (!single) {
            history_run(enc, h, branches);
        }
        first = h->next;
        if (is_chain(h)) {
            size_t more = chain(enc, &s, slots + i + 1, n - i - 1, &first);

            if (more) {
                i += more;
                h += more;
                single = history_is_single(h, h[-1].next);
                reported = single && !etrace_itype_is_branch(h[-1].itype);
                inferred = false;
            }
        }
        held = last_block(h);
        if (s.end > s.bytes + sizeof(s.bytes) - HISTORY_ROOM) {
            flush_packets(enc, &s);
        }
    }
    flush_packets(enc, &s);
    if (i) {
        hold_last(enc, &held);
        enc->after_jump = inferred;
        if (single) {
            enc->last_after_jump = inferred;
        }
        enc->last_reported = reported;
    }
    enc->branch_map = s.map;
    enc->branches = s.branches;
    enc->map_failed = s.failed;
    enc->pbc = s.pbc;
    *next = first;
    return i;
}

size_t etrace_encoder_short(ETraceEncoder *enc, const ETraceSlot *slots,
                            size_t n, uint64_t *next)
{
    bool cache = enc->params.ioptions & ETRACE_IOPT_JUMP_TARGET_CACHE;
    unsigned bits = history_bits(enc);
    Chain *chain = find_chain(enc);

    if (bits == 1 && !cache) {
        return histories(enc, slots, n, next, 1, false, chain);
    }
    return histories(enc, slots, n, next, bits, cache, chain);
}
