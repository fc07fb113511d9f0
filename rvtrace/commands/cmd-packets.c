/*
 * rvtrace decode --emit packets, rvtrace encode
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/file-role.h"
#include "base/output.h"
#include "commands/cli/cli.h"
#include "text/packet-text.h"
#include "base/params-text.h"

/* Bytes that are no packets, in a line */
#define RAW_LINE 32
/* Of text: nobody writes longer lines. */
#define LINE_MAX_BYTES 65536

typedef struct PacketDump {
    const CliTrace *ct;
    const Trace *t;
    PacketSources *sources;
    GString *line;
    uint64_t left;              /* lines to write */
    uint64_t idle;              /* null.idle that are not written yet */
    uint8_t idle_flow;
} PacketDump;

static void put_line(PacketDump *d)
{
    if (d->left) {
        d->left--;
        fwrite(d->line->str, 1, d->line->len, stdout);
        putchar('\n');
    }
    g_string_truncate(d->line, 0);
}

static void put_flow(PacketDump *d, uint8_t flow)
{
    if (flow) {
        g_string_append_printf(d->line, " flow=%u", flow);
    }
}

static void flush_idle(PacketDump *d)
{
    if (d->idle) {
        g_string_append_printf(d->line, "idle count=%" PRIu64, d->idle);
        put_flow(d, d->idle_flow);
        put_line(d);
        d->idle = 0;
    }
}

static void dump_null(PacketDump *d, const ETraceEncapPacket *pkt)
{
    if (d->ct->job.hart >= 0) {
        return;
    }
    if (pkt->align || pkt->flow != d->idle_flow ||
        d->idle == PACKET_TEXT_MAX_IDLE) {
        flush_idle(d);
    }
    if (pkt->align) {
        g_string_append(d->line, "align");
        put_flow(d, pkt->flow);
        put_line(d);
    } else {
        d->idle++;
        d->idle_flow = pkt->flow;
    }
}

static void dump_raw(PacketDump *d, const uint8_t *bytes, size_t len)
{
    flush_idle(d);
    for (size_t i = 0; i < len && d->ct->job.hart < 0; i++) {
        if (i % RAW_LINE == 0) {
            g_string_append(d->line, "raw bytes=");
        }
        g_string_append_printf(d->line, "%02x", bytes[i]);
        if (i % RAW_LINE == RAW_LINE - 1 || i == len - 1) {
            put_line(d);
        }
    }
}

static bool is_wanted(const PacketDump *d, uint16_t src_id)
{
    return d->ct->job.hart < 0 ||
           !d->t->harts[d->ct->job.hart].params.src_bits ||
           d->t->harts[d->ct->job.hart].params.src_id == src_id;
}

/* A source that has not been introduced: what its packets are read with */
static void introduce(PacketDump *d, uint16_t src_id)
{
    if (!packet_sources_knows(d->sources, src_id)) {
        uint64_t left = d->left;

        packet_text_params(d->line,
                           &packet_sources_get(d->sources, src_id)->params);
        put_line(d);
        d->left = left;
    }
}

static void dump_stream(PacketDump *d, const ETraceParams *framing)
{
    const Trace *t = d->t;

    for (size_t pos = t->begin; pos < t->end && d->left;) {
        const uint8_t *buf = t->data + pos;
        ETraceEncapPacket pkt;

        switch (etrace_encap_parse(framing, buf, t->end - pos, &pkt)) {
        case ETRACE_ENCAP_MORE:
            dump_raw(d, buf, t->end - pos);
            return;
        case ETRACE_ENCAP_NULL:
            dump_null(d, &pkt);
            break;
        case ETRACE_ENCAP_PACKET:
            flush_idle(d);
            if (is_wanted(d, pkt.src_id) && d->left) {
                introduce(d, pkt.src_id);
                packet_text_write(d->line, d->sources, &pkt, buf);
                put_line(d);
            }
            break;
        }
        pos += pkt.size;
    }
    flush_idle(d);
}

/* A part: the parameters, which may differ, and the packets */
static void dump_part(PacketDump *d, const Trace *t)
{
    const ETraceParams *framing = NULL;
    g_autoptr(PacketSources) sources = NULL;
    uint64_t left = d->left;

    d->t = t;
    d->left = UINT64_MAX;
    for (unsigned i = 0; i < t->nr_harts; i++) {
        if (!t->harts[i].present) {
            continue;
        }
        if (!framing) {
            framing = &t->harts[i].params;
            sources = packet_sources_new(framing);
        }
        packet_sources_set(sources, framing->src_bits ?
                           t->harts[i].params.src_id : 0,
                           &t->harts[i].params);
        if (job_has_hart(&d->ct->job, t, i)) {
            packet_text_params(d->line, &t->harts[i].params);
            put_line(d);
        }
    }
    d->sources = sources;
    d->left = left;
    dump_stream(d, framing);
}

int cmd_decode_packets(const CliTrace *ct, const Trace *t)
{
    g_autoptr(GString) line = g_string_new(NULL);
    PacketDump d = {
        .ct = ct,
        .line = line,
        .left = job_limit(&ct->job),
    };

    dump_part(&d, t);
    while (d.left && t->next) {
        t = t->next;
        dump_part(&d, t);
    }
    return flush_output(stdout, "standard output") ? CLI_OK : CLI_ERROR;
}

/* A line of @in, without its end. Returns false at the end, or if it is bad. */
static bool read_line(FILE *in, GString *line, const char **problem)
{
    int c;

    g_string_truncate(line, 0);
    while ((c = getc(in)) != EOF && c != '\n') {
        if (!c) {
            *problem = "holds a NUL byte: is it text?";
            return false;
        }
        if (line->len == LINE_MAX_BYTES) {
            *problem = "longer than 65536 characters: is it text?";
            return false;
        }
        g_string_append_c(line, c);
    }
    return c != EOF || line->len;
}

/* Read lines from @in until the end; returns an exit status. */
static int encode(PacketSources *sources, FILE *in, const char *in_name,
                  FILE *out)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GString) line = g_string_new(NULL);
    const char *problem = NULL;
    uint64_t number = 0;

    while (read_line(in, line, &problem)) {
        g_autoptr(GError) err = NULL;

        number++;
        g_byte_array_set_size(bytes, 0);
        if (!packet_text_assemble(sources, line->str, bytes, &err)) {
            say_error("%s:%" PRIu64 ": %s", in_name, number, err->message);
            return CLI_ERROR;
        }
        /* Without any, there is no address either. */
        if (bytes->len &&
            fwrite(bytes->data, 1, bytes->len, out) != bytes->len) {
            break;          /* flush_output() reports it */
        }
    }
    if (problem) {
        say_error("%s:%" PRIu64 ": %s", in_name, number + 1, problem);
        return CLI_ERROR;
    }
    if (ferror(in)) {
        say_error("%s: %s", in_name, g_strerror(errno));
        return CLI_ERROR;
    }
    return CLI_OK;
}

int cmd_encode(int argc, char **argv)
{
    g_autofree char *input = NULL, *output = NULL;
    g_auto(GStrv) params_args = NULL;
    g_autoptr(PacketSources) sources = NULL;
    ETraceParams params;
    g_autoptr(GError) err = NULL;
    g_autoptr(Output) out = NULL;
    FILE *in = stdin;
    GOptionEntry entries[] = {
        { "packets", 'p', 0, G_OPTION_ARG_FILENAME, &input,
          "Packets as text (default: standard input)", "FILE" },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
          "Trace to write (default: standard output)", "FILE" },
        { "param", 0, 0, G_OPTION_ARG_STRING_ARRAY, &params_args,
          "Encoder parameter, where no params line sets it; can be repeated",
          "NAME=VALUE" },
        { NULL }
    };
    int status = CLI_ERROR;

    if (!cli_parse_only(entries, "Assemble packets: what 'decode --emit "
                        "packets' writes becomes the same trace again.",
                        NULL, argc, argv)) {
        return CLI_ERROR;
    }
    etrace_params_init(&params, 64);
    if (!cli_set_params(&params, params_args)) {
        return CLI_ERROR;
    }
    sources = packet_sources_new(&params);
    if (input) {
        in = fopen(input, "r");
        if (!in) {
            say_error("%s: %s", input, g_strerror(errno));
            return CLI_ERROR;
        }
    }
    if (file_role_read(fileno(in), input ?: "standard input", &err)) {
        out = output_open_binary(output, &err);
    }
    if (out) {
        status = encode(sources, in, input ?: "standard input",
                        output_stream(out));
    }
    if (status == CLI_OK && !output_commit(g_steal_pointer(&out), &err)) {
        status = CLI_ERROR;
    }
    if (err) {
        say_error("%s", err->message);
    }
    if (input) {
        fclose(in);
    }
    return status;
}
