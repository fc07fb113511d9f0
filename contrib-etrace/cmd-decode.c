/*
 * qemu-etrace decode: write the instructions that were executed
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "cli.h"

#define BUFFER_SIZE     (1u << 20)
#define MAX_LINE        17          /* 16 digits and a newline */

typedef struct DecodeState {
    CliTrace *ct;
    TraceDecoder d;
    uint64_t left;                  /* instructions to write; --limit */
    bool failed;
    size_t fill;
    char buffer[BUFFER_SIZE];
} DecodeState;

static void write_out(DecodeState *s)
{
    if (!s->failed && fwrite(s->buffer, 1, s->fill, stdout) != s->fill) {
        s->failed = true;
        s->d.stop = true;
    }
    s->fill = 0;
}

static void put_pc(DecodeState *s, uint64_t pc)
{
    static const char digits[] = "0123456789abcdef";
    char *p = s->buffer + s->fill;
    int shift = pc ? (63 - __builtin_clzll(pc)) & ~3 : 0;

    for (; shift >= 0; shift -= 4) {
        *p++ = digits[(pc >> shift) & 15];
    }
    *p++ = '\n';
    s->fill = p - s->buffer;
}

static void decode_run(void *opaque, const FlowRun *run)
{
    DecodeState *s = opaque;
    const uint8_t *code = run->code;
    uint64_t pc = run->pc;

    for (unsigned i = 0; i < run->count && s->left; i++, s->left--) {
        if (s->fill > BUFFER_SIZE - MAX_LINE) {
            write_out(s);
        }
        put_pc(s, pc);
        pc += flow_insn_length(code);
        code += flow_insn_length(code);
    }
    if (!s->left) {
        s->d.stop = true;
    }
}

static void decode_loss(void *opaque, const TraceLoss *loss)
{
    DecodeState *s = opaque;

    cli_report_loss(s->ct, loss);
}

static const TraceConsumer decode_consumer = {
    .flow.run = decode_run,
    .loss = decode_loss,
};

/* The one hart to decode, or -1 after an error message */
static int choose_hart(const CliTrace *ct, const Trace *t)
{
    int hart = -1;

    for (unsigned i = 0; i < t->nr_harts; i++) {
        if (cli_hart_selected(ct, t, i)) {
            if (hart >= 0) {
                cli_error("the trace has %u harts; choose one with "
                          "--hart N", t->nr_harts);
                return -1;
            }
            hart = i;
        }
    }
    return hart;
}

int cmd_decode(int argc, char **argv)
{
    g_auto(CliTrace) ct = { 0 };
    g_autofree char *emit = NULL;
    gint64 limit = -1;
    g_autoptr(Trace) t = NULL;
    g_autofree DecodeState *s = NULL;
    GOptionEntry entries[] = {
        { "emit", 'e', 0, G_OPTION_ARG_STRING, &emit,
          "What to write: pc, a hexadecimal pc a line in the order of "
          "retirement; or packets, a packet a line", "pc|packets" },
        { "limit", 'l', 0, G_OPTION_ARG_INT64, &limit,
          "Stop after this many instructions or packets", "N" },
        G_OPTION_ENTRY_NULL
    };
    int hart;

    if (!cli_parse(&ct, entries, "Write the instructions that a hart "
                   "executed to standard output.", argc, argv)) {
        return CLI_ERROR;
    }
    if (!emit || (strcmp(emit, "pc") && strcmp(emit, "packets"))) {
        cli_error("what to write? --emit pc or --emit packets");
        return CLI_ERROR;
    }
    ct.packets_only = !strcmp(emit, "packets");
    t = cli_open(&ct);
    if (t && ct.packets_only) {
        return cmd_decode_packets(&ct, t, limit < 0 ? UINT64_MAX :
                                                      (uint64_t)limit);
    }
    hart = t ? choose_hart(&ct, t) : -1;
    if (hart < 0) {
        return CLI_ERROR;
    }
    s = g_new0(DecodeState, 1);
    s->ct = &ct;
    s->left = limit < 0 ? UINT64_MAX : (uint64_t)limit;
    if (s->left) {
        trace_decode(&s->d, t, hart, &decode_consumer, s);
    }
    write_out(s);
    if (!cli_flush(stdout, "standard output")) {
        return CLI_ERROR;
    }
    return cli_finish_losses(&ct);
}
