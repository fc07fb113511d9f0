/*
 * Instruction flow: what is reported to the consumer
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "flow/flow-report.h"

static const uint8_t no_code[2];

const char *flow_loss_text(FlowLossKind kind)
{
    static const char *const texts[] = {
        [FLOW_LOST_MALFORMED] = "malformed packet",
        [FLOW_LOST_IN_BAND] = "the encoder lost packets (trace_lost)",
        [FLOW_LOST_FRAMING] = "bytes that are no packets",
        [FLOW_LOST_CODE] = "no code known at",
        [FLOW_LOST_BRANCHES] = "reported branches do not fit the code",
        [FLOW_LOST_UPDISCON] = "uninferable jump where none can be",
        [FLOW_LOST_LOOP] = "the code never leads to the reported address",
        [FLOW_LOST_ORDER] = "packet cannot stand here",
        [FLOW_LOST_UNSUPPORTED] = "unsupported encoder mode",
        [FLOW_LOST_TVEC] = "trap handler's address not known",
        [FLOW_LOST_CACHE] = "jump target cache is empty at the index",
        [FLOW_LOST_DATA] = "the encoder lost data packets (dloss)",
        [FLOW_LOST_DATA_MALFORMED] = "malformed data packet",
        [FLOW_LOST_DATA_BASE] = "data packet builds upon one that is missing",
        [FLOW_LOST_CUT] = "the trace is cut",
        [FLOW_LOST_END] = "the encoder lost packets at the end",
        [FLOW_LOST_WORK] = "gave up",
    };

    return texts[kind];
}

void flow_lose(Flow *f, FlowLossKind kind, uint64_t address)
{
    FlowLoss loss = {
        .kind = kind,
        .pc_known = f->started,
        .pc = f->pc,
        .address = address,
    };
    bool stopped;

    flow_flush(f);
    stopped = f->stop && *f->stop;
    if (!stopped && f->started && f->ops->window_end) {
        f->ops->window_end(f->opaque, FLOW_WINDOW_LOSS);
    }
    f->started = false;
    f->inferred = false;
    f->trap_pending = false;
    f->handler_pending = false;
    f->handler_faulted = false;
    f->waiting = true;
    /* Who wanted to hear of no more than this does not hear of it. */
    if (!stopped) {
        f->loss(f->loss_opaque, &loss);
    }
}

void flow_gap(Flow *f, FlowLossKind kind)
{
    flow_lose(f, kind, 0);
}

void flow_flush(Flow *f)
{
    unsigned n = f->nr_runs;

    if (!n) {
        return;
    }
    if (f->ops->runs) {
        f->ops->runs(f->opaque, f->runs, n, f->run_insns);
    } else {
        for (unsigned i = 0; i < n; i++) {
            f->ops->run(f->opaque, &f->runs[i]);
        }
    }
    f->nr_runs = 0;
    f->run_insns = 0;
    f->flushes++;
}

void flow_emit_one(Flow *f, uint64_t pc)
{
    CodePage *page = image_page(f->image, f->priv, pc);
    unsigned off = pc & CODE_PAGE_MASK & ~1u;

    flow_emit(f, pc, page ? &page->bytes[off] : no_code,
              page ? code_page_wide(page, off) : 0, 1, ETRACE_ITYPE_NONE, 0);
}

void flow_emit_end(Flow *f, uint8_t itype, uint64_t end)
{
    flow_emit(f, f->pc, no_code, 0, 0, itype, end);
}
