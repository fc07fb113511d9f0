/*
 * Data flow: from te_data packets to the accesses of each instruction
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "flow/data-flow.h"
#include "flow/packet-quick.h"

/* A stretch of more instructions than this is not put together. */
#define STRETCH_MAX     (4u << 20)

/* Steps that putting a stretch together may take, for each of its parts */
#define STEPS_PER_PART  64

#define CSR_VSTART      0x008

/* An instruction that accesses memory or a CSR */
struct DataFlowItem {
    uint32_t insn;              /* its index; trapped: the next one's */
    bool trapped;               /* it did not retire */
    uint32_t count;             /* accesses that it was given */
    uint64_t pc;
    DataInsn data;
};

/* What an instruction is does not change: by a hash of it. */
#define NR_KINDS    1024

struct DataFlowKind {
    bool known;
    uint32_t raw;
    DataInsn data;
};

/* What comes next may be behind a trap. */
static const DataFlowLeft nothing_known = { .vstart = true };

void data_flow_init(DataFlow *df, const ETraceParams *params, Image *image,
                    const DataFlowOps *ops, void *opaque)
{
    *df = (DataFlow) {
        .params = *params,
        .image = image,
        .ops = ops,
        .opaque = opaque,
        .mask = params->iaddress_width == 32 ? UINT32_MAX : UINT64_MAX,
        .left = nothing_known,
        .kinds = g_new0(DataFlowKind, NR_KINDS),
    };
}

void data_flow_destroy(DataFlow *df)
{
    g_free(df->insns);
    g_free(df->items);
    g_free(df->accesses);
    g_free(df->kinds);
}

/* @all, or what it becomes, has room for one more than @n elements. */
static void *with_room(void *all, unsigned n, unsigned *max, size_t size)
{
    if (G_LIKELY(n < *max)) {
        return all;
    }
    *max = MAX(2 * *max, 256);
    return g_realloc_n(all, *max, size);
}

#define PUSH(df, what, element) do {                                    \
        (df)->what = with_room((df)->what, (df)->nr_##what,             \
                               &(df)->max_##what, sizeof(*(df)->what)); \
        (df)->what[(df)->nr_##what++] = (element);                      \
    } while (0)

/*
 * Putting a stretch together: each item in turn takes as many accesses as can
 * be its. When there is no way to go on, the last one that could do with less
 * does.
 */

/* Can access @j be one of @item, whose first is @first? */
static bool fits(DataFlow *df, const DataFlowItem *item, unsigned first,
                 unsigned j, const DataFlowLeft *m)
{
    const ETraceDataAccess *a = &df->accesses[j];
    bool has_address = !(df->params.doptions & ETRACE_DOPT_NO_ADDRESS);
    const ETraceDataAccess *last;
    uint64_t step;

    if (!data_insn_fits(&item->data, a)) {
        return false;
    }
    if (!has_address) {
        return true;
    }
    if (item->data.sc && m->has_reserved &&
        a->dtype == ETRACE_DTYPE_STORE) {
        return a->address == m->reserved;
    }
    if (j == first) {
        return true;
    }
    last = &df->accesses[j - 1];
    step = (a->address - last->address) & df->mask;
    switch (item->data.order) {
    case DATA_ORDER_NEXT:
        return a->size == last->size && step == 1u << a->size;
    case DATA_ORDER_UP:
        return a->size == last->size && step && step <= df->mask / 2;
    default:
        return true;
    }
}

/* How many accesses from @first on can be of @item */
static unsigned longest(DataFlow *df, const DataFlowItem *item,
                        unsigned first, const DataFlowLeft *m)
{
    uint64_t max = item->data.max;
    unsigned n = 0;

    if (item->data.by_vl && m->has_vl) {
        max = MIN(max, (uint64_t)m->vl * item->data.fields);
    }
    while (n < max && first + n < df->nr_accesses &&
           fits(df, item, first, first + n, m)) {
        n++;
    }
    return n;
}

/* What @item leaves behind; false if it cannot have made its accesses. */
static bool leave_behind(DataFlow *df, const DataFlowItem *item,
                         unsigned first, DataFlowLeft *m)
{
    const DataInsn *d = &item->data;

    if (d->lr && item->count) {
        m->has_reserved = true;
        m->reserved = df->accesses[first].address;
    }
    if (d->sets_vl) {
        m->has_vl = false;
    }
    if (d->csr && d->number == CSR_VSTART) {
        m->vstart = true;
    }
    if (!d->by_vl || item->trapped) {
        return true;
    }
    if (d->first_only) {
        /* It may have loaded more than vl says now. */
        m->has_vl = false;
    } else if (!d->masked && !m->vstart) {
        if (item->count % d->fields ||
            (m->has_vl && item->count != m->vl * d->fields)) {
            return false;
        }
        m->has_vl = true;
        m->vl = item->count / d->fields;
    }
    m->vstart = false;
    return true;
}

typedef struct Choice {
    unsigned item, first;       /* the item, and its first access */
    DataFlowLeft before;
} Choice;

static bool put_together(DataFlow *df)
{
    g_autoptr(GArray) choices = g_array_new(false, false, sizeof(Choice));
    uint64_t steps = 1000 + STEPS_PER_PART * ((uint64_t)df->nr_items +
                                              df->nr_accesses);
    DataFlowLeft m = df->left;
    unsigned i = 0, j = 0;

    for (;;) {
        DataFlowItem *item = NULL;
        bool stuck = j != df->nr_accesses;

        if (i < df->nr_items) {
            item = &df->items[i];
            item->count = longest(df, item, j, &m);
            if (steps < 1 + item->count) {
                return false;
            }
            steps -= 1 + item->count;
            stuck = item->count < item->data.min;
            if (item->count > item->data.min) {
                Choice c = { i, j, m };

                g_array_append_val(choices, c);
            }
        } else if (!stuck) {
            df->left = m;
            return true;
        }
        while (stuck || !leave_behind(df, item, j, &m)) {
            Choice *c;

            if (!choices->len || !steps--) {
                return false;
            }
            c = &g_array_index(choices, Choice, choices->len - 1);
            i = c->item;
            j = c->first;
            m = c->before;
            item = &df->items[i];
            if (--item->count == item->data.min) {
                g_array_set_size(choices, choices->len - 1);
            }
            stuck = false;
        }
        j += item->count;
        i++;
    }
}

/* Handing over */

static void report_insn(DataFlow *df, unsigned i)
{
    if (df->ops->insn) {
        df->ops->insn(df->opaque, &df->insns[i]);
    }
}

static void report_access(DataFlow *df, const DataFlowItem *item,
                          const ETraceDataAccess *a)
{
    DataFlowAccess access = {
        .pc_known = item,
        .pc = item ? item->pc : 0,
    };

    if (a) {
        access.access = *a;
        *(item ? &df->associated : &df->others) += 1;
    } else {
        access.inferred = true;
        access.access.dtype = ETRACE_DTYPE_SC_FAILURE;
        access.access.size = __builtin_ctz(item->data.sizes);
    }
    if (df->ops->access) {
        df->ops->access(df->opaque, &access);
    }
}

/* Hand over the stretch, but for its last @keep instructions, 0 or 1. */
static void finish(DataFlow *df, unsigned keep)
{
    unsigned n = df->nr_insns, next = 0;
    DataFlowInsn last = { 0 };
    DataFlowItem last_item;
    bool last_has_item = false;
    bool together;

    keep = MIN(keep, n);
    if (keep) {
        unsigned items = df->nr_items;

        last = df->insns[n - 1];
        if (items && df->items[items - 1].insn == n - 1 &&
            !df->items[items - 1].trapped) {
            last_item = df->items[items - 1];
            last_has_item = true;
            df->nr_items--;
        }
        df->nr_insns = --n;
    }

    together = !df->broken && put_together(df);
    if (!together) {
        df->left = nothing_known;
    }
    together &= df->nr_accesses != 0;
    for (unsigned i = 0, item = 0; i <= n; i++) {
        if (i < n) {
            report_insn(df, i);
        }
        for (; together && item < df->nr_items &&
               df->items[item].insn == i; item++) {
            const DataFlowItem *it = &df->items[item];

            for (unsigned k = 0; k < it->count; k++) {
                report_access(df, it, &df->accesses[next++]);
            }
            if (it->data.sc && !it->count) {
                report_access(df, it, NULL);
            }
        }
    }
    for (; next < df->nr_accesses; next++) {
        report_access(df, NULL, &df->accesses[next]);
    }

    df->nr_insns = df->nr_items = df->nr_accesses = 0;
    df->broken = false;
    if (keep) {
        PUSH(df, insns, last);
        if (last_has_item) {
            last_item.insn = 0;
            PUSH(df, items, last_item);
        }
    }
}

/* What comes in */

static const DataInsn *classify(DataFlow *df, uint32_t raw)
{
    DataFlowKind *kind;

    if (insn_length(raw) == 2) {
        raw &= 0xffff;
    }
    kind = &df->kinds[(raw ^ raw >> 15) % NR_KINDS];
    if (!kind->known || kind->raw != raw) {
        kind->known = true;
        kind->raw = raw;
        data_insn_classify(&df->image->isa, raw, &kind->data);
    }
    return &kind->data;
}

static void add_insn(DataFlow *df, const DataFlowInsn *insn)
{
    PUSH(df, insns, *insn);
    if (insn->readable) {
        const DataInsn *data = classify(df, insn->raw);

        if (data->max || data->sets_vl) {
            DataFlowItem item = {
                .insn = df->nr_insns - 1, .pc = insn->pc, .data = *data,
            };

            PUSH(df, items, item);
        }
    }
}

void data_flow_run(DataFlow *df, const FlowRun *run)
{
    const uint8_t *code = run->code;
    DataFlowInsn insn = { .pc = run->pc };

    for (unsigned i = 0; i < run->count; i++) {
        insn.readable = flow_run_raw(run, df->image, df->mask, insn.pc, code,
                                     &insn.raw);
        add_insn(df, &insn);
        insn.pc = (insn.pc + flow_insn_length(code)) & df->mask;
        code += flow_insn_length(code);
    }
    if (df->nr_insns >= STRETCH_MAX) {
        df->broken = true;
        finish(df, 0);
        df->broken = true;
    }
}

void data_flow_trap(DataFlow *df, const FlowTrap *trap)
{
    DataFlowItem item = {
        .insn = df->nr_insns, .trapped = true, .pc = trap->epc,
    };
    uint32_t raw;

    if (trap->interrupt || !trap->epc_known ||
        !image_raw(df->image, trap->priv, trap->epc, df->mask, &raw)) {
        return;
    }
    item.data = *classify(df, raw);
    /* Some of its accesses may have been made. */
    item.data.min = 0;
    if (item.data.max >= 2) {
        PUSH(df, items, item);
    }
}

DataFlowStatus data_flow_access(DataFlow *df, const uint8_t *payload,
                                size_t len, const int64_t *word,
                                ETraceDataAccess *access)
{
    ETraceDataPacket pkt;

    if (!(word && packet_quick_data(&df->params, *word, &pkt)) &&
        !etrace_data_packet_unpack(&df->params, &df->sizes, payload, len,
                                   &pkt)) {
        data_flow_gap(df);
        return DATA_FLOW_MALFORMED;
    }
    if (!etrace_data_decode(&df->state, &df->params, &pkt, access)) {
        df->broken = true;
        return df->waiting ? DATA_FLOW_WAITING : DATA_FLOW_NO_BASE;
    }
    return DATA_FLOW_OK;
}

DataFlowStatus data_flow_packet(DataFlow *df, const uint8_t *payload,
                                size_t len, const int64_t *word)
{
    ETraceDataAccess access;
    DataFlowStatus status = data_flow_access(df, payload, len, word, &access);

    if (status != DATA_FLOW_OK) {
        return status;
    }
    PUSH(df, accesses, access);
    if (df->nr_accesses >= STRETCH_MAX) {
        df->broken = true;
        finish(df, 0);
        df->broken = true;
    }
    return DATA_FLOW_OK;
}

void data_flow_inst_packet(DataFlow *df, const ETracePacket *pkt)
{
    if (pkt->format != ETRACE_FORMAT_SYNC) {
        return;
    }
    switch (pkt->subformat) {
    case ETRACE_SYNC_START:
    case ETRACE_SYNC_TRAP:
        /*
         * If it has an address, that instruction's accesses follow. In 1.1.1
         * only the next packet reports the handler's first instruction.
         */
        finish(df, pkt->subformat == ETRACE_SYNC_START ||
                   (pkt->thaddr &&
                    df->params.wire_format != ETRACE_WIRE_1_1_1));
        if (pkt->subformat == ETRACE_SYNC_TRAP) {
            df->left = nothing_known;
        }
        etrace_data_reset(&df->state);
        df->waiting = false;
        break;
    case ETRACE_SYNC_SUPPORT:
        if (pkt->qual_status != ETRACE_QUAL_NO_CHANGE) {
            df->broken |= pkt->qual_status == ETRACE_QUAL_TRACE_LOST;
            finish(df, 0);
            df->left = nothing_known;
        }
        if (pkt->dloss) {
            data_flow_gap(df);
        }
        if (pkt->doptions != df->params.doptions) {
            etrace_data_reset(&df->state);
        }
        etrace_params_follow(&df->params, pkt);
        break;
    default:
        break;
    }
}

void data_flow_gap(DataFlow *df)
{
    df->broken = true;
    etrace_data_reset(&df->state);
}

void data_flow_end(DataFlow *df)
{
    finish(df, 0);
}
