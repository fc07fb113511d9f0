/*
 * What the tests share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <unistd.h>
#include <glib/gstdio.h>
#include "check.h"
#include "test-util.h"

char *test_file(const void *data, size_t len)
{
    g_autoptr(GError) err = NULL;
    char *name = NULL;
    int fd = g_file_open_tmp("etrace-test-XXXXXX", &name, &err);

    check_no_error(err);
    check_cmpint(write(fd, data, len), ==, (ssize_t)len);
    close(fd);
    return name;
}

Trace *test_trace_try(const GByteArray *trace, const GByteArray *sideband,
                      GError **errp)
{
    g_autofree char *trace_name = test_file(trace->data, trace->len);
    g_autofree char *sideband_name = test_file(sideband->data,
                                               sideband->len);
    char *traces[] = { trace_name, NULL };
    char *sidebands[] = { sideband_name, NULL };
    Trace *t = trace_open(&(TraceOptions) {
        .traces = traces,
        .sidebands = sidebands,
    }, errp);

    g_unlink(trace_name);
    g_unlink(sideband_name);
    return t;
}

Trace *test_trace_open(const GByteArray *trace, const GByteArray *sideband)
{
    g_autoptr(GError) err = NULL;
    Trace *t = test_trace_try(trace, sideband, &err);

    check_no_error(err);
    return t;
}

static void record_run(void *opaque, const FlowRun *run)
{
    Recording *rec = opaque;
    const uint8_t *code = run->code;
    uint64_t pc = run->pc;

    for (unsigned i = 0; i < run->count; i++) {
        g_array_append_val(rec->pcs, pc);
        pc += flow_insn_length(code);
        code += flow_insn_length(code);
    }
    if (rec->max_pcs && rec->pcs->len > rec->max_pcs) {
        rec->d.stop = true;
    }
}

static void record_trap(void *opaque, const FlowTrap *trap)
{
    Recording *rec = opaque;

    g_array_append_val(rec->traps, *trap);
    g_array_append_val(rec->trap_at, rec->pcs->len);
}

static void record_start(void *opaque, uint64_t pc)
{
    Recording *rec = opaque;

    g_array_append_val(rec->starts, rec->pcs->len);
}

static void record_loss(void *opaque, const TraceLoss *loss)
{
    Recording *rec = opaque;

    g_array_append_val(rec->losses, *loss);
}

static const TraceConsumer consumer = {
    .flow = {
        .run = record_run,
        .trap = record_trap,
        .window_start = record_start,
    },
    .loss = record_loss,
};

Recording *test_record(Trace *t, unsigned hart)
{
    Recording *rec = g_new0(Recording, 1);

    rec->pcs = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    rec->starts = g_array_new(FALSE, FALSE, sizeof(guint));
    rec->traps = g_array_new(FALSE, FALSE, sizeof(FlowTrap));
    rec->trap_at = g_array_new(FALSE, FALSE, sizeof(guint));
    rec->losses = g_array_new(FALSE, FALSE, sizeof(TraceLoss));
    trace_decode(&rec->d, t, hart, &consumer, rec);
    return rec;
}

void recording_free(Recording *rec)
{
    g_array_unref(rec->pcs);
    g_array_unref(rec->starts);
    g_array_unref(rec->traps);
    g_array_unref(rec->trap_at);
    g_array_unref(rec->losses);
    g_free(rec);
}

static void assert_traps(const SynthHart *hart, const Recording *rec)
{
    check_cmpuint(rec->traps->len, ==, hart->traps->len);
    for (guint i = 0; i < hart->traps->len; i++) {
        const SynthTrap *want = &g_array_index(hart->traps, SynthTrap, i);
        const FlowTrap *got = &g_array_index(rec->traps, FlowTrap, i);

        check_cmpuint(g_array_index(rec->trap_at, guint, i), ==,
                      want->index);
        check_cmpint(got->interrupt, ==, want->interrupt);
        check_cmpuint(got->cause, ==, want->cause);
        check_cmphex(got->tval, ==, want->tval);
        if (got->epc_known) {
            check_cmphex(got->epc, ==, want->epc);
        }
    }
}

void test_assert_recording(const Synth *s, unsigned hart,
                           const Recording *rec)
{
    const SynthHart *h = &s->harts[hart];
    guint n = MIN(h->pcs->len, rec->pcs->len);

    for (guint i = 0; i < n; i++) {
        uint64_t want = g_array_index(h->pcs, uint64_t, i);
        uint64_t got = g_array_index(rec->pcs, uint64_t, i);

        if (want != got) {
            g_error("seed %u hart %u: instruction %u of %u is 0x%" PRIx64
                    ", but 0x%" PRIx64 " was executed", s->opts.seed, hart,
                    i, h->pcs->len, got, want);
        }
    }
    if (rec->losses->len) {
        const TraceLoss *loss = &g_array_index(rec->losses, TraceLoss, 0);

        g_error("seed %u hart %u: packet %" PRIu64 ": %s", s->opts.seed,
                hart, loss->packet, flow_loss_text(loss->flow.kind));
    }
    check_cmpuint(rec->pcs->len, ==, h->pcs->len);
    assert_traps(h, rec);
}
