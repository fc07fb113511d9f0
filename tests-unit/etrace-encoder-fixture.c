/*
 * An encoder under test: blocks in, packets out as text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-encoder-fixture.h"

static void append_address(Fixture *f, const ETracePacket *pkt)
{
    f->address += pkt->address;
    if (f->enc.params.iaddress_width == 32) {
        f->address = (uint32_t)f->address;
    }
    g_string_append_printf(f->sent, " %" PRIx64, f->address);
    if (pkt->notify) {
        g_string_append(f->sent, " notify");
    }
    if (pkt->updiscon) {
        g_string_append(f->sent, " updiscon");
    }
}

static void append_irreport(Fixture *f, const ETracePacket *pkt)
{
    if (pkt->irreport) {
        bool irets = f->enc.params.wire_format == ETRACE_WIRE_2_1_DRAFT;

        g_string_append_printf(f->sent, " %s %u", irets ? "irets" : "irdepth",
                               irets ? pkt->irets : pkt->irdepth);
    }
}

/* Branches oldest first, N: not taken, T: taken */
static void append_branches(Fixture *f, const ETracePacket *pkt)
{
    g_string_append_c(f->sent, ' ');
    for (unsigned i = 0; i < etrace_packet_branches(pkt); i++) {
        g_string_append_c(f->sent, (pkt->branch_map >> i) & 1 ? 'N' : 'T');
    }
}

static void append_format0(Fixture *f, const ETracePacket *pkt)
{
    if (pkt->subformat == ETRACE_OPT_JUMP_TARGET) {
        g_string_append_printf(f->sent, "index %u", pkt->index);
        if (pkt->branches) {
            append_branches(f, pkt);
        }
        /* The target is the next base: the cache knows it. */
        f->address = etrace_jump_cache_get(&f->enc.cache, pkt->index);
    } else {
        g_string_append_printf(f->sent, "count %" PRIu64,
                               pkt->branch_count + UINT64_C(31));
        if (pkt->branch_fmt) {
            append_address(f, pkt);
        }
        if (pkt->branch_fmt != ETRACE_BRANCH_FMT_ADDR) {
            g_string_append(f->sent, " failed");
        }
    }
}

static void append_sync(Fixture *f, const ETracePacket *pkt)
{
    static const char *const qual_status[] = {
        "no_change", "ended_rep", "trace_lost", "ended_ntr",
    };

    switch (pkt->subformat) {
    case ETRACE_SYNC_SUPPORT:
        g_string_append_printf(f->sent, "support %s%s",
                               pkt->ienable ? "" : "disabled ",
                               qual_status[pkt->qual_status]);
        return;
    case ETRACE_SYNC_START:
        g_string_append(f->sent, "start");
        break;
    case ETRACE_SYNC_TRAP:
        g_string_append_printf(f->sent, "%s %u",
                               pkt->interrupt ? "interrupt" : "exception",
                               pkt->ecause);
        if (!pkt->interrupt) {
            g_string_append_printf(f->sent, " tval %" PRIx64, pkt->tval);
        }
        g_string_append(f->sent, pkt->thaddr ? " handler" : " epc");
        break;
    case ETRACE_SYNC_CONTEXT:
        g_string_append_printf(f->sent, "context %" PRIx64 " priv %u",
                               pkt->context, pkt->privilege);
        return;
    default:
        g_assert_not_reached();
    }
    g_string_append_printf(f->sent, " %" PRIx64 " priv %u%s", pkt->address,
                           pkt->privilege, pkt->branch ? "" : " taken");
    if (pkt->context || pkt->time) {
        g_string_append_printf(f->sent, " context %" PRIx64 " time %" PRIu64,
                               pkt->context, pkt->time);
    }
    if (pkt->subformat == ETRACE_SYNC_START || pkt->thaddr) {
        f->address = pkt->address;
    }
}

static bool fixture_emit(void *opaque, const ETracePacket *pkt,
                         const uint8_t *payload, size_t len)
{
    Fixture *f = opaque;
    ETracePacket out;

    g_assert_true(etrace_packet_unpack(&f->enc.params, payload, len, &out));
    if (pkt->format == ETRACE_FORMAT_SYNC &&
        pkt->subformat == ETRACE_SYNC_TRAP &&
        !etrace_packet_trap_has_address(&f->enc.params, pkt)) {
        g_assert_cmphex(out.address, ==, 0);
        out.address = pkt->address;
    }
    etrace_test_same(&out, pkt);
    if (f->refuse) {
        f->refuse--;
        return false;
    }
    switch (pkt->format) {
    case ETRACE_FORMAT_SYNC:
        append_sync(f, pkt);
        break;
    case ETRACE_FORMAT_DIFF_DELTA:
        g_string_append(f->sent, "branches");
        append_branches(f, pkt);
        if (pkt->branches) {
            append_address(f, pkt);
        }
        break;
    case ETRACE_FORMAT_ADDR_ONLY:
        g_string_append(f->sent, "address");
        append_address(f, pkt);
        break;
    default:
        append_format0(f, pkt);
        break;
    }
    append_irreport(f, pkt);
    g_string_append_c(f->sent, '\n');
    return true;
}

static bool fixture_ready(void *opaque)
{
    Fixture *f = opaque;

    return !f->not_ready;
}

void expect(Fixture *f, const char *packets)
{
    g_assert_cmpstr(f->sent->str, ==, packets);
    g_string_truncate(f->sent, 0);
}

void run(Fixture *f, uint64_t first, uint64_t last, ETraceItype itype)
{
    ETraceBlock b = {
        .iaddr = first,
        .iretire = (last + 4 - first) / 2,
        .itype = itype,
        .ilastsize = 1,
        .priv = f->priv,
        .flags = f->flags,
    };

    /* A tval that is not this block's to report */
    etrace_encoder_block(&f->enc, &b, 0xbad);
}

void trap(Fixture *f, uint64_t epc, ETraceItype itype, unsigned cause,
          uint64_t tval)
{
    ETraceBlock b = {
        .iaddr = epc,
        .itype = itype,
        .priv = f->priv,
        .cause = cause,
        .flags = f->flags,
    };

    etrace_encoder_block(&f->enc, &b, tval);
}

void init_params(Fixture *f, const ETraceParams *params)
{
    static const ETraceEncoderOps ops = {
        .emit = fixture_emit,
        .ready = fixture_ready,
    };

    etrace_encoder_init(&f->enc, params, &ops, f);
}

void init_xlen(Fixture *f, unsigned xlen)
{
    ETraceParams params;

    etrace_params_init(&params, xlen);
    init_params(f, &params);
}

void open_window(Fixture *f, uint64_t pc)
{
    g_autofree char *packets =
        g_strdup_printf("support no_change\nstart %" PRIx64 " priv %u\n",
                        pc, f->priv);

    etrace_encoder_start(&f->enc);
    run(f, pc, pc + 4, NONE);
    expect(f, packets);
}

void branches(Fixture *f, uint64_t pc, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        run(f, pc, pc + 4, i % 2 ? TAKEN : NOT_TAKEN);
    }
}

static void run_test(gconstpointer data)
{
    const Test *test = data;
    Fixture f = { .sent = g_string_new(NULL), .priv = M };

    init_xlen(&f, 64);
    test->func(&f);
    g_assert_cmpstr(f.sent->str, ==, "");
    g_string_free(f.sent, TRUE);
}

void add_tests(const Test *tests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        g_autofree char *path = g_strdup_printf("/etrace/encoder/%s",
                                                tests[i].name);

        g_test_add_data_func(path, &tests[i], run_test);
    }
}
