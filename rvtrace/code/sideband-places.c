/*
 * Sideband files: where in a hart's packets changes and gaps are
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "code/sideband-private.h"

void sideband_add_place(Sideband *sb, const SidebandRecord *rec)
{
    GArray **places = &sb->places[rec->hart];
    ETraceSbPlace from;
    SidebandPlace place;

    etrace_sb_unpack_place(rec->payload, rec->len, &from);
    place = (SidebandPlace) {
        .id = from.id, .packets = from.packets, .pos = rec->pos,
    };
    if (!*places) {
        *places = g_array_new(FALSE, FALSE, sizeof(SidebandPlace));
    }
    sb->unsorted |= (*places)->len &&
        g_array_index(*places, SidebandPlace, (*places)->len - 1).id > place.id;
    g_array_append_val(*places, place);
}

static gint compare_places(gconstpointer pa, gconstpointer pb)
{
    const SidebandPlace *a = pa, *b = pb;

    if (a->id != b->id) {
        return a->id < b->id ? -1 : 1;
    }
    return a->pos < b->pos ? -1 : a->pos > b->pos;
}

/*
 * The index of the first place of which the member at @offset, a uint64_t, is
 * not less than @least; their number, 0 of NULL, if there is none. The array is
 * sorted by ids, with which packets grow.
 */
static guint first_place(const GArray *places, size_t offset, uint64_t least)
{
    guint low = 0, high = places ? places->len : 0;

    while (low < high) {
        guint mid = low + (high - low) / 2;

        if (G_STRUCT_MEMBER(uint64_t, &g_array_index(places, SidebandPlace,
                                                     mid), offset) < least) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

uint64_t sideband_place(const Sideband *sb, unsigned hart, uint64_t id)
{
    const GArray *places = sb->places[hart];
    guint low = first_place(places, offsetof(SidebandPlace, id), id);

    if (!places || low == places->len) {
        return UINT64_MAX;
    }
    id = g_array_index(places, SidebandPlace, low).id;
    while (low + 1 < places->len &&
           g_array_index(places, SidebandPlace, low + 1).id == id) {
        low++;
    }
    return g_array_index(places, SidebandPlace, low).packets;
}

bool sideband_has_place(const Sideband *sb, unsigned hart, uint64_t packets)
{
    const GArray *places = sb->places[hart];
    guint low = first_place(places, offsetof(SidebandPlace, packets), packets);

    return places && low < places->len &&
           g_array_index(places, SidebandPlace, low).packets == packets;
}

void sideband_add_gap(Sideband *sb, const SidebandRecord *rec)
{
    GArray **gaps = &sb->gaps[rec->hart];
    uint64_t packets;

    etrace_sb_unpack_u64(rec->payload, rec->len, &packets);
    if (!*gaps) {
        *gaps = g_array_new(FALSE, FALSE, sizeof(packets));
    }
    sb->unsorted |= (*gaps)->len &&
        g_array_index(*gaps, uint64_t, (*gaps)->len - 1) > packets;
    g_array_append_val(*gaps, packets);
}

static gint compare_packets(gconstpointer pa, gconstpointer pb)
{
    const uint64_t *a = pa, *b = pb;

    return *a < *b ? -1 : *a > *b;
}

/* The minor version since which streams have GAP */
#define MINOR_GAPS  10

bool sideband_has_gaps(const Sideband *sb)
{
    return sb->minor >= MINOR_GAPS;
}

bool sideband_has_gap(const Sideband *sb, unsigned hart, uint64_t packets)
{
    return sb->gaps[hart] && g_array_binary_search(sb->gaps[hart], &packets,
                                                   compare_packets, NULL);
}

void sideband_sort_places(Sideband *sb)
{
    for (unsigned i = 0; sb->unsorted && i < sb->nr_harts; i++) {
        if (sb->places[i]) {
            g_array_sort(sb->places[i], compare_places);
        }
        if (sb->gaps[i]) {
            g_array_sort(sb->gaps[i], compare_packets);
        }
    }
    sb->unsorted = false;
}
