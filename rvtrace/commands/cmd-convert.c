/*
 * rvtrace convert: wrap packets for other people's decoders
 *
 * Besides the encapsulation 1.0:
 *
 *  - raw, of the specification's reference flow: a byte (length in bits 4:0,
 *    type in 6:5: 2 te_inst, 3 te_data), then the payload
 *  - smi, Siemens Messaging Infrastructure, as the riscv-etrace crate reads
 *    it: the same byte with bit 7 for a time tag of 16 bits behind it; then
 *    the index of the hart in as many bits as both sides agree upon, filled
 *    up to whole bytes; then the payload
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/cli/cli.h"
#include "etrace/layout.h"
#include "etrace/packet-bits.h"
#include "base/input.h"
#include "base/output.h"
#include "base/stream-file.h"
#include "text/packet-text.h"

#define MAX_HARTS       65536
#define MAX_HART_BITS   16

#define SMI_LENGTH      0x1f
#define SMI_TYPE        0x60
#define SMI_TYPE_INST   0x40
#define SMI_TYPE_DATA   0x60
#define SMI_TIME_TAG    0x80

typedef enum Wrapping {
    WRAP_ENCAP,
    WRAP_RAW,
    WRAP_SMI,
    WRAP_NR,
} Wrapping;

static const char *const wrapping_names[WRAP_NR] = { "encap", "raw", "smi" };

typedef struct Conversion {
    Wrapping from, to;
    unsigned from_bits, to_bits;    /* of SMI's hart index */
    int hart;                       /* the only one, or -1 */
    bool full_length;
    const Trace *trace;             /* WRAP_ENCAP */
    ETraceParams params;            /* of the encapsulation */
    PacketSources *sources;         /* modes, for full_length */
    const char *output;
    bool split;
    Output *out;                    /* if not split */
    Output *outs[MAX_HARTS];        /* by hart, if split */
    uint64_t left;                  /* --limit */
    uint64_t dropped;               /* packets that cannot be wrapped */
    bool failed;
} Conversion;

/* A packet on its way; src_id is the hart's index. */
typedef ETraceEncapPacket Passing;

static FILE *output_for(Conversion *c, unsigned hart)
{
    g_autofree char *name = NULL;
    g_autoptr(GError) err = NULL;

    if (!c->split) {
        return output_stream(c->out);
    }
    if (!c->outs[hart]) {
        name = g_strdup_printf("%s.%u", c->output, hart);
        c->outs[hart] = output_open(name, &err);
        if (!c->outs[hart]) {
            say_error("%s", err->message);
            c->failed = true;
            return NULL;
        }
    }
    return output_stream(c->outs[hart]);
}

/* All the bits of the packet's table, without sign based compression */
static size_t lengthen(Conversion *c, const Passing *p,
                       uint8_t buf[ETRACE_PACKET_MAX])
{
    PacketSource *src = packet_sources_get(c->sources, p->src_id);
    const ETraceParams before = src->params;
    uint8_t sign = p->payload[p->len - 1] & 0x80 ? 0xff : 0;
    unsigned bits = 0;
    ETracePacket pkt;

    memcpy(buf, p->payload, p->len);
    if (p->data || !etrace_packet_unpack(&before, buf, p->len, &pkt)) {
        return p->len;
    }
    for (const ETraceField *f =
             etrace_layout(before.wire_format,
                           etrace_packet_kind(&before, &pkt));
         f->name; f++) {
        bits += etrace_field_width(f, &before, &pkt);
    }
    if (pkt.format == ETRACE_FORMAT_SYNC &&
        pkt.subformat == ETRACE_SYNC_SUPPORT) {
        etrace_params_follow(&src->params, &pkt);
    }
    memset(buf + p->len, sign, ETRACE_PACKET_MAX - p->len);
    return MAX(p->len, (bits + 7) / 8);
}

/* Returns 0 if the packet or its srcID do not fit. */
static size_t wrap_encap(const Conversion *c, const Passing *p, uint8_t *out)
{
    ETraceEncapPacket pkt = *p;

    /* Without a trace of ours, a hart's srcID is its index. */
    if (c->trace && p->src_id < c->trace->nr_harts) {
        pkt.src_id = c->trace->harts[p->src_id].params.src_id;
    }
    if ((c->params.src_bits && pkt.src_id >> c->params.src_bits) ||
        (pkt.data && !c->params.data_width) ||
        !etrace_encap_fits(&c->params, pkt.payload, pkt.len)) {
        return 0;
    }
    return etrace_encap_pack(&c->params, &pkt, out);
}

static size_t wrap_smi(const Passing *p, bool time_tag, unsigned hart_bits,
                       uint8_t *out)
{
    size_t n = 0;

    out[n++] = p->len | (p->data ? SMI_TYPE_DATA : SMI_TYPE_INST) |
               (time_tag ? SMI_TIME_TAG : 0);
    if (time_tag) {
        out[n++] = p->timestamp;
        out[n++] = p->timestamp >> 8;
    }
    for (unsigned i = 0; i < hart_bits; i += 8) {
        out[n++] = p->src_id >> i;
    }
    memcpy(out + n, p->payload, p->len);
    return n + p->len;
}

static void pass_on(Conversion *c, Passing *p)
{
    uint8_t payload[ETRACE_PACKET_MAX], out[ETRACE_ENCAP_MAX];
    FILE *f;
    size_t size;

    if ((c->hart >= 0 && c->hart != p->src_id) || !c->left) {
        return;
    }
    c->left--;
    f = output_for(c, p->src_id);
    if (!f) {
        return;
    }
    if (c->full_length) {
        p->len = lengthen(c, p, payload);
        p->payload = payload;
    }
    switch (c->to) {
    case WRAP_ENCAP:
        size = wrap_encap(c, p, out);
        break;
    case WRAP_SMI:
        size = wrap_smi(p, p->extend, c->to_bits, out);
        break;
    default:
        size = wrap_smi(p, false, 0, out);
        break;
    }
    if (!size) {
        c->dropped++;
    } else if (fwrite(out, 1, size, f) != size) {
        c->failed = true;
    }
}

static void read_encap(Conversion *c)
{
    const Trace *t = c->trace;
    g_autofree uint16_t *hart_of = g_new(uint16_t, MAX_HARTS);

    memset(hart_of, 0xff, MAX_HARTS * sizeof(*hart_of));
    for (unsigned i = 0; i < t->nr_harts; i++) {
        if (t->harts[i].present) {
            hart_of[c->params.src_bits ? t->harts[i].params.src_id : 0] = i;
        }
    }
    for (size_t pos = t->begin; pos < t->end && !c->failed && c->left;) {
        ETraceEncapPacket pkt;

        switch (etrace_encap_parse(&c->params, t->data + pos, t->end - pos,
                                   &pkt)) {
        case ETRACE_ENCAP_MORE:
            say_warn("the last packet, at byte %zu, is cut off", pos);
            return;
        case ETRACE_ENCAP_NULL:
            break;
        case ETRACE_ENCAP_PACKET:
            if (hart_of[pkt.src_id] >= t->nr_harts || !pkt.len) {
                c->dropped++;
            } else {
                pkt.src_id = hart_of[pkt.src_id];
                pass_on(c, &pkt);
            }
            break;
        }
        pos += pkt.size;
    }
}

static void read_smi(Conversion *c, const uint8_t *data, size_t size)
{
    bool raw = c->from == WRAP_RAW;
    unsigned hart_bytes = raw ? 0 : (c->from_bits + 7) / 8;
    size_t pos = 0;

    while (pos < size && !c->failed && c->left) {
        const uint8_t *p = data + pos;
        unsigned tag = !raw && (p[0] & SMI_TIME_TAG) ? 2 : 0;
        size_t header = 1 + tag + hart_bytes;
        Passing pkt = {
            .len = p[0] & SMI_LENGTH,
            .data = (p[0] & SMI_TYPE) == SMI_TYPE_DATA,
            .extend = tag && c->params.ts_bytes,
            .src_id = raw && c->hart > 0 ? c->hart : 0,
        };

        if (size - pos < header + pkt.len) {
            say_warn("the last packet, at byte %zu, is cut off", pos);
            return;
        }
        if (tag) {
            pkt.timestamp = p[1] | p[2] << 8;
        }
        for (unsigned i = 0; i < hart_bytes; i++) {
            pkt.src_id |= p[1 + tag + i] << (8 * i);
        }
        pkt.payload = p + header;
        pos += header + pkt.len;
        if (pkt.len && ((p[0] & SMI_TYPE) == SMI_TYPE_INST || pkt.data)) {
            pass_on(c, &pkt);
        } else {
            c->dropped++;
        }
    }
}

static bool parse_wrapping(const char *option, const char *name,
                           Wrapping *wrapping)
{
    for (int i = 0; name && i < WRAP_NR; i++) {
        if (!strcmp(name, wrapping_names[i])) {
            *wrapping = i;
            return true;
        }
    }
    say_error("%s: encap, raw or smi", option);
    return false;
}

/* Will it be known of each packet of a stream which hart it is of? */
static bool harts_are_known(const Conversion *c)
{
    unsigned present = 0;

    if (c->split || c->hart >= 0 || c->from == WRAP_RAW ||
        (c->to == WRAP_ENCAP && c->params.src_bits) ||
        (c->to == WRAP_SMI && c->to_bits)) {
        return true;
    }
    for (unsigned i = 0; c->trace && i < c->trace->nr_harts; i++) {
        present += c->trace->harts[i].present;
    }
    if (present == 1) {
        return true;
    }
    say_error("the packets would not say which hart they are of: give "
              "--hart N, --split, or --hart-bits N for smi");
    return false;
}

/* Those of the part of the trace that is next */
static void set_trace_params(Conversion *c)
{
    for (unsigned i = 0; i < c->trace->nr_harts; i++) {
        if (c->trace->harts[i].present) {
            c->params = c->trace->harts[i].params;
            c->sources = c->sources ?: packet_sources_new(&c->params);
            packet_sources_set(c->sources, i, &c->trace->harts[i].params);
        }
    }
}

/* What the packets hold together with the framing they are to get */
static bool set_params(Conversion *c, char **args)
{
    if (c->trace) {
        set_trace_params(c);
        return true;
    }
    etrace_params_init(&c->params, 64);
    if (!cli_set_params(&c->params, args)) {
        return false;
    }
    c->sources = packet_sources_new(&c->params);
    return true;
}

static void close_output(Conversion *c, Output *out)
{
    g_autoptr(GError) err = NULL;

    if (c->failed) {
        output_discard(out);
    } else if (!output_commit(out, &err)) {
        say_error("%s", err->message);
        c->failed = true;
    }
}

static bool close_outputs(Conversion *c)
{
    if (c->out) {
        close_output(c, c->out);
    }
    for (unsigned i = 0; i < MAX_HARTS; i++) {
        if (c->outs[i]) {
            close_output(c, c->outs[i]);
        }
    }
    return !c->failed;
}

static int convert(Conversion *c, const char *path)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(GBytes) file = NULL;
    bool ok;

    if (!c->split) {
        c->out = output_open_binary(c->output, &err);
        if (!c->out) {
            say_error("%s", err->message);
            return CLI_ERROR;
        }
    }
    if (c->from == WRAP_ENCAP) {
        for (; c->trace; c->trace = c->trace->next) {
            set_trace_params(c);
            read_encap(c);
        }
    } else {
        file = stream_file_open(path, &err);
        if (file) {
            const uint8_t *data;
            size_t size;

            data = input_data(file, &size);
            read_smi(c, data, size);
        } else {
            say_error("%s", err->message);
            c->failed = true;
        }
    }
    ok = close_outputs(c);
    if (c->dropped) {
        say_warn("packets left out: %" PRIu64 "; their source or type is not "
                 "known, or has no room", c->dropped);
    }
    return ok ? CLI_OK : CLI_ERROR;
}

int cmd_convert(int argc, char **argv)
{
    g_auto(CliTrace) ct = { .job.packets_only = true };
    g_autoptr(Trace) t = NULL;
    g_autofree char *from = NULL, *to = NULL, *output = NULL;
    g_autofree Conversion *c = g_new0(Conversion, 1);
    gboolean split = false, full_length = false;
    int hart_bits = 0, status = CLI_ERROR;
    GOptionEntry entries[] = {
        { "from", 0, 0, G_OPTION_ARG_STRING, &from,
          "What the trace is wrapped in (default: encap)",
          "encap|raw|smi" },
        { "to", 0, 0, G_OPTION_ARG_STRING, &to,
          "encap: encapsulation 1.0; raw: as the reference flow reads it; "
          "smi: Siemens Messaging Infrastructure", "encap|raw|smi" },
        { "hart-bits", 0, 0, G_OPTION_ARG_INT, &hart_bits,
          "Bits of smi's hart index (default: 0)", "N" },
        { "full-length", 0, 0, G_OPTION_ARG_NONE, &full_length,
          "Undo sign based compression, for readers that do not know it",
          NULL },
        { "split", 0, 0, G_OPTION_ARG_NONE, &split,
          "A file for each hart: OUTPUT.0, OUTPUT.1, ...", NULL },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
          "File to write (default: standard output)", "OUTPUT" },
        { NULL }
    };

    if (!cli_parse(&ct, entries, "Wrap the packets of a trace for a decoder "
                   "that reads something else than the encapsulation 1.0, "
                   "or the reverse. Null packets are left out.", argc,
                   argv)) {
        return CLI_ERROR;
    }
    c->hart = ct.job.hart;
    c->left = job_limit(&ct.job);
    c->split = split;
    c->full_length = full_length;
    c->output = output;
    c->from_bits = c->to_bits = hart_bits;
    if (!parse_wrapping("--from", from ?: "encap", &c->from) ||
        !parse_wrapping("--to", to, &c->to)) {
        return CLI_ERROR;
    }
    if (hart_bits < 0 || hart_bits > MAX_HART_BITS) {
        say_error("--hart-bits: 0 to %d", MAX_HART_BITS);
        return CLI_ERROR;
    }
    if (split && !output) {
        say_error("--split needs --output");
        return CLI_ERROR;
    }
    if (c->from == WRAP_ENCAP) {
        t = cli_open(&ct);
        if (!t) {
            return CLI_ERROR;
        }
        c->trace = t;
    } else if (ct.job.sidebands || ct.job.traces[1]) {
        say_error("--sideband, and several --trace, go with --from encap; "
                  "give --param here");
        return CLI_ERROR;
    }
    if (set_params(c, ct.job.params) && harts_are_known(c)) {
        status = convert(c, *ct.job.traces);
    }
    g_clear_pointer(&c->sources, packet_sources_free);
    return status;
}
