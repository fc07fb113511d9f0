/*
 * Programs of a few instructions, and packets for them written by hand
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <stdarg.h>
#include "check.h"
#include "flow-fixture.h"
#include "sb-build.h"

static void on_run(void *opaque, const FlowRun *run)
{
    FlowFixture *f = opaque;
    const uint8_t *code = run->code;
    uint64_t pc = run->pc;
    guint priv = run->priv, itype = run->itype;

    for (unsigned i = 0; i < run->count; i++) {
        g_array_append_val(f->pcs, pc);
        g_array_append_val(f->privs, priv);
        pc += flow_insn_length(code);
        code += flow_insn_length(code);
    }
    f->insns += run->count;
    if (itype) {
        g_array_append_val(f->left, itype);
    }
}

static void on_trap(void *opaque, const FlowTrap *trap)
{
    FlowFixture *f = opaque;

    g_array_append_val(f->traps, *trap);
}

static void on_start(void *opaque, uint64_t pc)
{
    FlowFixture *f = opaque;

    f->starts++;
}

static void on_end(void *opaque, FlowWindowEnd why)
{
    FlowFixture *f = opaque;

    f->ends++;
}

static void on_loss(void *opaque, const FlowLoss *loss)
{
    FlowFixture *f = opaque;

    g_array_append_val(f->losses, *loss);
}

static void on_context(void *opaque, const ETracePacket *pkt)
{
    FlowFixture *f = opaque;

    f->context = pkt->context;
    f->contexts++;
}

static const FlowOps ops = {
    .context = on_context,
    .run = on_run,
    .trap = on_trap,
    .window_start = on_start,
    .window_end = on_end,
};

static void on_mark(void *opaque)
{
    FlowFixture *f = opaque;

    f->insns_at_mark = f->insns;
}

static bool on_repeat(void *opaque, uint64_t times)
{
    FlowFixture *f = opaque;

    f->insns += (f->insns - f->insns_at_mark) * times;
    f->repeats++;
    return true;
}

static const FlowOps repeat_ops = {
    .context = on_context,
    .run = on_run,
    .trap = on_trap,
    .window_start = on_start,
    .window_end = on_end,
    .mark = on_mark,
    .repeat = on_repeat,
};

void repeat_rounds(FlowFixture *f)
{
    f->flow.ops = &repeat_ops;
}

void set_up(FlowFixture *f, unsigned xlen, ...)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(GByteArray) code = g_byte_array_new();
    InsnIsa isa = { .xlen = xlen };
    uint32_t raw;
    va_list ap;

    *f = (FlowFixture) {
        .bytes = g_byte_array_new(),
        .pcs = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
        .privs = g_array_new(FALSE, FALSE, sizeof(guint)),
        .left = g_array_new(FALSE, FALSE, sizeof(guint)),
        .traps = g_array_new(FALSE, FALSE, sizeof(FlowTrap)),
        .losses = g_array_new(FALSE, FALSE, sizeof(FlowLoss)),
    };
    va_start(ap, xlen);
    while ((raw = va_arg(ap, uint32_t))) {
        uint8_t buf[4];

        etrace_sb_put(buf, raw, 4);
        g_byte_array_append(code, buf, insn_length(raw));
    }
    va_end(ap);
    etrace_params_init(&f->params, xlen);
    sb_session(f->bytes, 1, 1, 0);
    sb_params(f->bytes, 0, &f->params);
    sb_code(f->bytes, BASE, code->data, code->len);
    f->sb = sideband_parse(f->bytes->data, f->bytes->len, 0, &err);
    check_no_error(err);
    f->image = image_new(&isa, f->sb, 0, NULL);
    flow_init(&f->flow, &f->params, f->image, &ops, f, on_loss, f);
}

void set_modes(FlowFixture *f, uint8_t ioptions)
{
    ETracePacket pkt = {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_SUPPORT,
        .ienable = true,
    };

    f->params.sijump = 1;
    f->params.return_stack_size = 2;
    f->params.bpred_size = 6;
    f->params.cache_size = 6;
    f->params.f0s_width = 1;
    flow_init(&f->flow, &f->params, f->image, &ops, f, on_loss, f);
    f->params.ioptions = ioptions;
    etrace_packet_set_support(&pkt, &f->params);
    check_true(flow_packet(&f->flow, &pkt));
}

void set_up_loop(FlowFixture *f)
{
    set_up(f, 64, NOP, NOP, NOP, NOP, JALR, NOP, NOP, NOP, 0);
}

void tear_down(FlowFixture *f)
{
    image_free(f->image);
    sideband_free(f->sb);
    g_byte_array_unref(f->bytes);
    g_array_unref(f->pcs);
    g_array_unref(f->privs);
    g_array_unref(f->left);
    g_array_unref(f->traps);
    g_array_unref(f->losses);
}

bool start(FlowFixture *f, uint64_t at, bool branch, unsigned priv)
{
    return flow_packet(&f->flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_START,
        .branch = branch,
        .privilege = priv,
        .address = BASE + at,
    });
}

bool start_m(FlowFixture *f, uint64_t at)
{
    return start(f, at, true, ETRACE_PRIV_M);
}

bool trap(FlowFixture *f, unsigned cause, bool thaddr, uint64_t at)
{
    return flow_packet(&f->flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_TRAP,
        .branch = true,
        .privilege = ETRACE_PRIV_M,
        .ecause = cause,
        .thaddr = thaddr,
        .address = BASE + at,
        .tval = 0x1234,
    });
}

bool support(FlowFixture *f, ETraceQualStatus qual_status)
{
    return flow_packet(&f->flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_SUPPORT,
        .ienable = true,
        .qual_status = qual_status,
    });
}

bool addr(FlowFixture *f, int64_t delta, unsigned flags)
{
    return flow_packet(&f->flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_ADDR_ONLY,
        .address = delta,
        .notify = flags & NOTIFY,
        .updiscon = flags & UPDISCON,
    });
}

bool map_addr(FlowFixture *f, unsigned branches, uint32_t map, int64_t delta,
              unsigned flags)
{
    return flow_packet(&f->flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_DIFF_DELTA,
        .branches = branches,
        .branch_map = map,
        .address = delta,
        .notify = flags & NOTIFY,
        .updiscon = flags & UPDISCON,
    });
}

bool full_map(FlowFixture *f, uint32_t map)
{
    return flow_packet(&f->flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_DIFF_DELTA,
        .branch_map = map,
    });
}

void assert_pcs(FlowFixture *f, ...)
{
    va_list ap;
    uint64_t want;
    guint i = 0;

    va_start(ap, f);
    for (; (want = va_arg(ap, uint64_t)) != END; i++) {
        check_cmpuint(i, <, f->pcs->len);
        check_cmphex(g_array_index(f->pcs, uint64_t, i), ==, BASE + want);
    }
    va_end(ap);
    check_cmpuint(f->pcs->len, ==, i);
}

void assert_loss(FlowFixture *f, FlowLossKind kind)
{
    check_cmpuint(f->losses->len, ==, 1);
    check_cmpint(g_array_index(f->losses, FlowLoss, 0).kind, ==, kind);
}
