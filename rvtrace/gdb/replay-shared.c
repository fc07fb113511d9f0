/*
 * Replay: memory that several harts share
 *
 * What a hart knows of a byte is the value that its last access has left there.
 * That is still its value if no other hart has stored there since, or only the
 * same value. So for each of the other harts: all stores that are not certainly
 * before that access, up to those that may be before the place of the hart that
 * asks, must be of this value. Of the harts whose access fulfils this, any one
 * will do. Of each hart, there is the time of its last store to each byte, and a
 * list of its last stores: the zone.
 *
 * With paging, only the hart itself is asked: others may have had another page
 * there. Accesses of one byte at addresses of two spaces are not recognized as
 * such.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/replay-state-private.h"

/*
 * Zones begin as many epochs before the place of the hart that asks: what harts
 * have then stored and loaded almost at the same time is known if they agree.
 */
#define ZONE_EPOCHS     8

/* A byte, for one of the harts */
typedef struct Asked {
    ReplayStates *const *all;
    unsigned n;
    unsigned hart;              /* that asks */
    uint64_t addr;
    unsigned space;             /* of memory */
    unsigned stores_space;
} Asked;

static const Memory *memory_of(const Asked *a, unsigned k)
{
    return k == a->hart ? a->all[k]->now.memory : a->all[k]->zone.certain.memory;
}

static const Marks *marks_of(const Asked *a, unsigned k)
{
    return k == a->hart ? &a->all[k]->now.marks : &a->all[k]->zone.certain.marks;
}

/* Until when has hart @k stored to the byte, by @marks? 0: never */
static uint64_t stored_until(const Asked *a, unsigned k, const Marks *marks)
{
    uint32_t stamp = stamps_get(marks->stores, a->stores_space, a->addr);

    return MAX(marks->wild, stamp ? replay_not_after(a->all[k]->r, stamp - 1)
                                  : 0);
}

static bool covers(const Asked *a, const ReplayStore *store)
{
    return store->wild || (store->space == a->stores_space &&
                           a->addr - store->addr < store->len);
}

/* Does the byte keep @value, in hart @k's zone from instruction @from on? */
static bool zone_keeps(const Asked *a, unsigned k, uint64_t from, uint8_t value)
{
    const GArray *stores = a->all[k]->zone.stores;

    for (guint i = stores->len; i-- > 0;) {
        const ReplayStore *store = &g_array_index(stores, ReplayStore, i);
        uint8_t stored = store->value >> 8 * (a->addr - store->addr) % 64;

        if (store->index >= from && covers(a, store) &&
            (!store->known || stored != value)) {
            return false;
        }
    }
    return true;
}

/*
 * Has hart @k stored nothing but @value to the byte since @ns, when hart @w has
 * accessed it?
 */
static bool has_kept(const Asked *a, unsigned k, unsigned w, uint64_t ns,
                     uint8_t value)
{
    const ReplayZone *zone = &a->all[k]->zone;
    /* What is not listed may be anything. */
    bool crowded = k != a->hart && zone->all.seen;
    uint64_t until = k == w ? 0 :
                     stored_until(a, k, crowded ? &zone->all : marks_of(a, k));
    uint64_t from = k == w ? zone->from : replay_before(a->all[k]->r, ns);

    if (k == a->hart) {
        return !until || until < ns;
    }
    if (crowded) {
        return k != w && (!until || until < ns) && zone_keeps(a, k, from, value);
    }
    return (!until || until < ns || from >= zone->begin) &&
           zone_keeps(a, k, from, value);
}

/* Is what hart @w knows of the byte still its value? */
static bool is_last(const Asked *a, unsigned w, uint8_t value)
{
    uint32_t stamp = stamps_get(marks_of(a, w)->seen, a->space, a->addr);
    uint64_t ns = stamp ? replay_not_before(a->all[w]->r, stamp - 1) : 0;

    for (unsigned k = 0; k < a->n; k++) {
        if (a->all[k] && !has_kept(a, k, w, ns, value)) {
            return false;
        }
    }
    return true;
}

static bool read_byte(const Asked *a, uint8_t *value)
{
    bool translated = a->space && a->space != MACHINE;

    for (unsigned i = 0; i < a->n; i++) {
        /* The hart that asks is the first one. */
        unsigned w = (a->hart + i) % a->n;

        if (a->all[w] && (!i || !translated) &&
            memory_read(memory_of(a, w), a->space, a->addr, value, 1) &&
            is_last(a, w, *value)) {
            return true;
        }
    }
    return false;
}

/*
 * May a hart have stored to the byte? With paging that was another page,
 * perhaps: code is known to be what ran.
 */
static bool is_stored(const Asked *a)
{
    if (a->space && a->space != MACHINE) {
        return false;
    }
    for (unsigned k = 0; k < a->n; k++) {
        const ReplayZone *zone = a->all[k] ? &a->all[k]->zone : NULL;
        const Marks *marks = zone ? marks_of(a, k) : NULL;

        if (!zone) {
            continue;
        }
        if (k != a->hart && zone->all.seen) {
            marks = &zone->all;
        }
        if (stamps_get(marks->stores, a->stores_space, a->addr)) {
            return true;
        }
        for (guint i = 0; k != a->hart && i < zone->stores->len; i++) {
            const ReplayStore *store = &g_array_index(zone->stores,
                                                      ReplayStore, i);

            if (!store->wild && covers(a, store)) {
                return true;
            }
        }
    }
    return false;
}

/*
 * Find the state of hart @a->hart at instruction @i, with what it has done since
 * instruction @since, and the others' zones, with as much.
 */
static bool find_all(Asked *a, uint64_t i, uint64_t since)
{
    ReplayStates *s = a->all[a->hart];
    uint64_t earlier, not_before, not_after, since_ns;
    unsigned epoch;

    if (!replay_find_state(s, i, since)) {
        return false;
    }
    epoch = replay_epoch(s->r, i);
    earlier = replay_not_before(s->r, epoch - MIN(epoch, ZONE_EPOCHS));
    not_before = replay_not_before(s->r, epoch);
    not_after = replay_not_after(s->r, epoch);
    since_ns = replay_not_before(s->r, replay_epoch(s->r, since));
    for (unsigned k = 0; k < a->n; k++) {
        const Replay *r = a->all[k] ? a->all[k]->r : NULL;
        uint64_t begin;

        if (!r || k == a->hart) {
            continue;
        }
        begin = replay_before(r, earlier);
        if (!replay_find_zone(a->all[k], since ?
                              MIN(replay_before(r, since_ns), begin) : 0,
                              begin, replay_before(r, not_before),
                              replay_until(r, not_after))) {
            return false;
        }
    }
    return true;
}

/* Bytes at @a->addr that are known, @len at most; @a goes to the next one. */
static size_t read_bytes(Asked *a, uint8_t *buf, size_t len)
{
    for (size_t known = 0; known < len; known++, a->addr++) {
        a->stores_space = replay_stores_space(
            a->space, a->addr, a->all[a->hart]->now.cpu.isa.xlen);
        if (!read_byte(a, &buf[known])) {
            return known;
        }
    }
    return len;
}

/*
 * The byte at @a->addr is not known before instruction @i, with what happened since
 * *@since. Might it be, since another place, to which that is set? With paging, the
 * hart itself must have accessed it.
 */
static bool look_back(const Asked *a, uint64_t i, uint64_t *since)
{
    ReplayStates *s = a->all[a->hart];
    bool translated = a->space && a->space != MACHINE;
    uint8_t value;

    if (translated &&
        !memory_read(s->now.memory, a->space, a->addr, &value, 1)) {
        return replay_look_back(s, i, a->addr, a->space, since);
    }
    if (!*since) {
        return false;
    }
    *since = i - MIN(i, BACK_MORE * (i - *since));
    return true;
}

size_t replay_shared_memory(ReplayStates *const *all, unsigned n, unsigned hart,
                            uint64_t i, uint64_t addr, uint8_t *buf, size_t len,
                            bool *stored)
{
    Asked a = { .all = all, .n = n, .hart = hart };
    uint64_t since = i - MIN(i, BACK_MIN);
    size_t known;

    *stored = true;
    for (unsigned k = 0; k < n; k++) {
        if (all[k] && !replay_states_find_epochs(all[k])) {
            return 0;
        }
    }
    if (!replay_space(all[hart], i, &a.space)) {
        return 0;
    }
    for (;;) {
        if (!find_all(&a, i, since)) {
            return 0;
        }
        a.addr = addr;
        known = read_bytes(&a, buf, len);
        if (known == len || !look_back(&a, i, &since)) {
            *stored = known < len && is_stored(&a);
            return known;
        }
    }
}
