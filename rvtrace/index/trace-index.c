/*
 * Index of a trace: places where decoding can begin
 *
 * A file says of which trace it is, and has a section for each hart. Nothing in
 * it is believed for the sake of its checksum: every number is looked at.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/output.h"
#include "base/sealed-file.h"
#include "index/trace-index.h"

static const SealedKind kind = {
    .magic = "rvtrace index\n\x1a",
    .version = TRACE_INDEX_VERSION,
    .what = "index of a trace",
    .remedy = "make it again with 'rvtrace index'",
};

/* Bytes that a loss, a point and an arrival take at least */
#define LOSS_SIZE       54
#define POINT_SIZE      128
#define ARRIVAL_SIZE    12

/* All of TraceStats but unknown_ends, which is shorter */
#define NR_STATS (TRACE_PKT_NR_KINDS + FLOW_LOST_NR_KINDS + 8)

static void stats_list(TraceStats *s, uint64_t *list[NR_STATS])
{
    unsigned n = 0;

    for (unsigned i = 0; i < TRACE_PKT_NR_KINDS; i++) {
        list[n++] = &s->packets[i];
    }
    for (unsigned i = 0; i < FLOW_LOST_NR_KINDS; i++) {
        list[n++] = &s->losses[i];
    }
    list[n++] = &s->payload_bytes;
    list[n++] = &s->wire_bytes;
    list[n++] = &s->data_packets;
    list[n++] = &s->data_payload_bytes;
    list[n++] = &s->data_wire_bytes;
    list[n++] = &s->skipped_packets;
    list[n++] = &s->skipped_bytes;
    list[n++] = &s->late_packets;
    assert(n == NR_STATS);
}

static void put_counts(GByteArray *out, const IndexCounts *counts)
{
    TraceStats stats = counts->stats;
    uint64_t *list[NR_STATS];

    bytes_put_u64(out, counts->insns);
    bytes_put_u64(out, counts->exceptions);
    bytes_put_u64(out, counts->interrupts);
    bytes_put_u64(out, counts->windows);
    bytes_put_u64(out, counts->losses);
    stats_list(&stats, list);
    for (unsigned i = 0; i < NR_STATS; i++) {
        bytes_put_u64(out, *list[i]);
    }
    bytes_put_u32(out, stats.unknown_ends);
}

static void get_counts(ByteReader *in, IndexCounts *counts)
{
    uint64_t *list[NR_STATS];

    counts->insns = bytes_get_u64(in);
    counts->exceptions = bytes_get_u64(in);
    counts->interrupts = bytes_get_u64(in);
    counts->windows = bytes_get_u64(in);
    counts->losses = bytes_get_u64(in);
    stats_list(&counts->stats, list);
    for (unsigned i = 0; i < NR_STATS; i++) {
        *list[i] = bytes_get_u64(in);
    }
    counts->stats.unknown_ends = bytes_get_u32(in);
}

static void put_point(GByteArray *out, const IndexPoint *p)
{
    const FlowPoint *f = &p->at.flow;

    bytes_put_u32(out, p->at.part);
    bytes_put_u64(out, p->at.pos);
    bytes_put_u64(out, p->at.support);
    bytes_put_u64(out, p->at.packets);
    bytes_put_u64(out, p->at.advanced);
    bytes_put_u64(out, p->at.sideband_pos);
    bytes_put_u8(out, f->priv);
    bytes_put_u64(out, f->pc);
    bytes_put_u8(out, f->prev_known);
    bytes_put_u64(out, f->prev);
    bytes_put_u64(out, f->address);
    bytes_put_u8(out, f->branch);
    bytes_put_u8(out, f->not_taken);
    bytes_put_u32(out, f->irets);
    put_counts(out, &p->before);
    bytes_put_u64(out, p->ticks);
    bytes_put_u32(out, p->task);
    bytes_put_u32(out, p->space_task);
    bytes_put_u32(out, p->space);
    bytes_put_u32(out, p->bytes->len);
    g_byte_array_append(out, p->bytes->data, p->bytes->len);
}

static bool get_point(ByteReader *in, const IndexHart *h, IndexPoint *p)
{
    FlowPoint *f = &p->at.flow;
    uint32_t size;

    p->at.part = bytes_get_u32(in);
    p->at.pos = bytes_get_u64(in);
    p->at.support = bytes_get_u64(in);
    p->at.packets = bytes_get_u64(in);
    p->at.advanced = bytes_get_u64(in);
    p->at.sideband_pos = bytes_get_u64(in);
    f->priv = bytes_get_u8(in);
    f->pc = bytes_get_u64(in);
    f->prev_known = bytes_get_u8(in);
    f->prev = bytes_get_u64(in);
    f->address = bytes_get_u64(in);
    f->branch = bytes_get_u8(in);
    f->not_taken = bytes_get_u8(in);
    f->irets = bytes_get_u32(in);
    get_counts(in, &p->before);
    p->ticks = bytes_get_u64(in);
    p->task = bytes_get_u32(in);
    p->space_task = bytes_get_u32(in);
    p->space = bytes_get_u32(in);
    size = bytes_get_count(in, 1);
    p->stacks = (ByteReader) { .data = in->data + in->pos, .size = size };
    in->pos += size;
    return !in->failed && p->at.part <= h->advanced->len &&
           f->priv < SIDEBAND_NR_PRIVS && !(f->pc & 1);
}

static void put_loss(GByteArray *out, const TraceLoss *loss, const Trace *t)
{
    unsigned part = 0;

    while (t && t != loss->part) {
        t = t->next;
        part++;
    }
    bytes_put_u32(out, part);
    bytes_put_u64(out, loss->packet);
    bytes_put_u64(out, loss->offset);
    bytes_put_u64(out, loss->bytes);
    bytes_put_u8(out, loss->flow.kind);
    bytes_put_u8(out, loss->flow.pc_known);
    bytes_put_u64(out, loss->flow.pc);
    bytes_put_u64(out, loss->flow.address);
    bytes_put_u64(out, loss->flow.packets);
}

static bool get_loss(ByteReader *in, unsigned hart, const Trace *t,
                     TraceLoss *loss)
{
    uint32_t part = bytes_get_u32(in);

    for (; part && t; part--) {
        t = t->next;
    }
    loss->hart = hart;
    loss->part = t;
    loss->packet = bytes_get_u64(in);
    loss->offset = bytes_get_u64(in);
    loss->bytes = bytes_get_u64(in);
    loss->flow.kind = bytes_get_u8(in);
    loss->flow.pc_known = bytes_get_u8(in);
    loss->flow.pc = bytes_get_u64(in);
    loss->flow.address = bytes_get_u64(in);
    loss->flow.packets = bytes_get_u64(in);
    return !in->failed && t && loss->flow.kind < FLOW_LOST_NR_KINDS;
}

static void point_clear(gpointer opaque)
{
    IndexPoint *p = opaque;

    g_clear_pointer(&p->bytes, g_byte_array_unref);
}

static void arrival_clear(gpointer opaque)
{
    IndexArrival *a = opaque;

    g_clear_pointer(&a->bytes, g_byte_array_unref);
}

static void hart_init(IndexHart *h)
{
    h->advanced = g_array_new(false, false, sizeof(uint64_t));
    h->points = g_array_new(false, true, sizeof(IndexPoint));
    g_array_set_clear_func(h->points, point_clear);
    h->arrivals = g_array_new(false, true, sizeof(IndexArrival));
    g_array_set_clear_func(h->arrivals, arrival_clear);
    h->losses = g_array_new(false, false, sizeof(TraceLoss));
}

static void alloc_harts(TraceIndex *index, unsigned n)
{
    index->nr_harts = n;
    index->harts = g_new0(IndexHart, n);
    for (unsigned i = 0; i < n; i++) {
        hart_init(&index->harts[i]);
    }
}

TraceIndex *trace_index_new(const Trace *t, const char *setup,
                            const char *names)
{
    TraceIndex *index = g_new0(TraceIndex, 1);

    index->ids = trace_ids_new(t);
    index->setup = g_strdup(setup);
    index->names = g_strdup(names);
    alloc_harts(index, t->nr_harts);
    return index;
}

void trace_index_free(TraceIndex *index)
{
    for (unsigned i = 0; i < index->nr_harts; i++) {
        IndexHart *h = &index->harts[i];

        g_array_unref(h->advanced);
        g_array_unref(h->points);
        g_array_unref(h->arrivals);
        g_array_unref(h->losses);
        g_clear_pointer(&h->tree_writer, tree_writer_free);
        g_clear_pointer(&h->pool, stack_pool_free);
        g_clear_pointer(&h->pieces, g_array_unref);
    }
    g_free(index->harts);
    g_clear_pointer(&index->ids, g_array_unref);
    g_clear_pointer(&index->file, g_bytes_unref);
    g_free(index->setup);
    g_free(index->names);
    g_free(index->digest);
    g_free(index);
}

static void put_hart(GByteArray *out, const IndexHart *h, const Trace *t)
{
    guint size_at = out->len;
    uint32_t size;

    bytes_put_u32(out, 0);
    tree_writer_put(h->tree_writer, out);
    size = GUINT32_TO_LE(out->len - size_at - 4);
    memcpy(out->data + size_at, &size, sizeof(size));
    stack_pool_put(h->pool, out);
    bytes_put_u32(out, h->advanced->len);
    for (guint i = 0; i < h->advanced->len; i++) {
        bytes_put_u64(out, g_array_index(h->advanced, uint64_t, i));
    }
    put_counts(out, &h->all);
    bytes_put_u64(out, h->last_ticks);
    bytes_put_u64(out, h->sideband_end);
    bytes_put_u32(out, h->losses->len);
    for (guint i = 0; i < h->losses->len; i++) {
        put_loss(out, &g_array_index(h->losses, TraceLoss, i), t);
    }
    bytes_put_u32(out, h->points->len);
    for (guint i = 0; i < h->points->len; i++) {
        put_point(out, &g_array_index(h->points, IndexPoint, i));
    }
    bytes_put_u32(out, h->arrivals->len);
    for (guint i = 0; i < h->arrivals->len; i++) {
        const IndexArrival *a = &g_array_index(h->arrivals, IndexArrival, i);

        bytes_put_u64(out, a->came);
        bytes_put_u32(out, a->bytes->len);
        g_byte_array_append(out, a->bytes->data, a->bytes->len);
    }
}

bool trace_index_write(const TraceIndex *index, const Trace *t,
                       const char *path, GError **errp)
{
    g_autoptr(GByteArray) out = g_byte_array_new();

    sealed_file_begin(&kind, out);
    trace_ids_put(index->ids, out);
    bytes_put_text(out, index->setup);
    bytes_put_text(out, index->names);
    bytes_put_u32(out, index->nr_harts);
    for (unsigned i = 0; i < index->nr_harts; i++) {
        bytes_put_u8(out, index->harts[i].present);
        if (index->harts[i].present) {
            put_hart(out, &index->harts[i], t);
        }
    }
    sealed_file_end(out);
    return output_write(path, out->data, out->len, errp);
}

static bool get_arrivals(ByteReader *in, IndexHart *h)
{
    uint64_t before = 0;

    for (uint32_t n = bytes_get_count(in, ARRIVAL_SIZE); n > 0; n--) {
        IndexArrival a = { .came = bytes_get_u64(in) };
        uint32_t size = bytes_get_count(in, 1);

        a.stacks = (ByteReader) { .data = in->data + in->pos, .size = size };
        in->pos += size;
        if (a.came <= before) {
            return false;
        }
        before = a.came;
        g_array_append_val(h->arrivals, a);
    }
    return !in->failed;
}

static bool get_hart(ByteReader *in, IndexHart *h, unsigned hart,
                     const Trace *t)
{
    uint32_t n = bytes_get_count(in, 1);

    h->tree = (ByteReader) { .data = in->data + in->pos, .size = n };
    in->pos += n;
    h->pieces = stack_pool_get(in);
    if (!h->pieces) {
        return false;
    }
    for (n = bytes_get_count(in, 8); n > 0; n--) {
        uint64_t advanced = bytes_get_u64(in);

        g_array_append_val(h->advanced, advanced);
    }
    get_counts(in, &h->all);
    h->last_ticks = bytes_get_u64(in);
    h->sideband_end = bytes_get_u64(in);
    for (n = bytes_get_count(in, LOSS_SIZE); n > 0; n--) {
        TraceLoss loss;

        if (!get_loss(in, hart, t, &loss)) {
            return false;
        }
        g_array_append_val(h->losses, loss);
    }
    for (n = bytes_get_count(in, POINT_SIZE); n > 0; n--) {
        IndexPoint p = { 0 };
        guint len = h->points->len;

        if (!get_point(in, h, &p) || p.before.losses < (len ?
            g_array_index(h->points, IndexPoint, len - 1).before.losses : 0) ||
            p.before.insns > h->all.insns ||
            p.before.losses > h->all.losses ||
            (len && p.before.insns < g_array_index(h->points, IndexPoint,
                                                   len - 1).before.insns)) {
            return false;
        }
        g_array_append_val(h->points, p);
    }
    return get_arrivals(in, h);
}

static bool get_harts(ByteReader *in, TraceIndex *index, const Trace *t)
{
    uint32_t n = bytes_get_count(in, 1);

    if (n != t->nr_harts) {
        return false;
    }
    alloc_harts(index, n);
    for (unsigned i = 0; i < n; i++) {
        index->harts[i].present = bytes_get_u8(in);
        if (index->harts[i].present &&
            (!t->harts[i].present ||
             !get_hart(in, &index->harts[i], i, t))) {
            return false;
        }
    }
    return !in->failed && in->pos == in->size;
}

TraceIndex *trace_index_read(const char *path, const Trace *t,
                             TraceMatch *match, GError **errp)
{
    g_autoptr(TraceIndex) index = g_new0(TraceIndex, 1);
    ByteReader in;

    index->file = sealed_file_open(&kind, path, &in, &index->digest, errp);
    if (!index->file) {
        return NULL;
    }
    index->ids = trace_ids_get(&in);
    if (!index->ids) {
        sealed_file_fail(&kind, path, "the index makes no sense", errp);
        return NULL;
    }
    *match = trace_ids_match(index->ids, t);
    if (*match == TRACE_OTHER) {
        sealed_file_fail(&kind, path, "this index is of another trace, or the "
                         "trace was written anew", errp);
        return NULL;
    }
    index->setup = bytes_get_text(&in);
    index->names = bytes_get_text(&in);
    if (!get_harts(&in, index, t)) {
        sealed_file_fail(&kind, path, "the index makes no sense", errp);
        return NULL;
    }
    return g_steal_pointer(&index);
}

const IndexPoint *index_hart_find(const IndexHart *h, uint64_t insns)
{
    guint low = 0, high = h->points->len;

    while (low < high) {
        guint mid = low + (high - low) / 2;

        if (g_array_index(h->points, IndexPoint, mid).before.insns <= insns) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low ? &g_array_index(h->points, IndexPoint, low - 1) : NULL;
}

const IndexPoint *index_hart_find_time(const IndexHart *h, uint64_t ticks)
{
    guint i = h->points->len;

    while (i) {
        const IndexPoint *p = &g_array_index(h->points, IndexPoint, --i);

        if (p->ticks && p->ticks <= ticks) {
            return p;
        }
    }
    return NULL;
}

static int compare_arrivals(gconstpointer a, gconstpointer b)
{
    uint64_t x = ((const IndexArrival *)a)->came;
    uint64_t y = ((const IndexArrival *)b)->came;

    return x < y ? -1 : x > y;
}

const IndexArrival *index_hart_arrival(const IndexHart *h, uint64_t came)
{
    IndexArrival key = { .came = came };
    guint i;

    return g_array_binary_search(h->arrivals, &key, compare_arrivals, &i) ?
           &g_array_index(h->arrivals, IndexArrival, i) : NULL;
}
