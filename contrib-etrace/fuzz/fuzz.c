/*
 * Inputs of rvtrace, for libFuzzer
 *
 * Built once for each target, with FUZZ_TARGET its name. Inputs that consist
 * of several files begin with a byte of flags and 16 bits, little-endian, for
 * the length of each file but the last one.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <sys/mman.h>
#include <unistd.h>
#include "callstack.h"
#include "flamegraph.h"
#include "fuzz.h"
#include "names/kernel-btf.h"
#include "packet-text.h"
#include "params-text.h"
#include "trace.h"
#include "truth.h"

/* Enough to get everywhere, and not to wait for it */
#define MAX_INSNS   20000
#define MAX_HARTS   16
#define MAX_FILES   4

/* A file that is only in memory, and its path */
typedef struct File {
    int fd;
    char *path;
} File;

static void file_init(File *f, const uint8_t *data, size_t size)
{
    f->fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (f->fd < 0 || write(f->fd, data, size) != (ssize_t)size) {
        abort();
    }
    /* Of nothing, a copy would be kept for ever, as of a pipe. */
    if (!size && ftruncate(f->fd, 1) < 0) {
        abort();
    }
    f->path = g_strdup_printf("/proc/self/fd/%d", f->fd);
}

static void file_clear(File *f)
{
    close(f->fd);
    g_free(f->path);
}

static unsigned split(const uint8_t *data, size_t size, unsigned n,
                      File files[MAX_FILES])
{
    for (unsigned i = 0; i < n; i++) {
        size_t len = size;

        if (i + 1 < n) {
            len = size < 2 ? 0 : data[0] | data[1] << 8;
            data += MIN(size, 2);
            size -= MIN(size, 2);
            len = MIN(len, size);
        }
        file_init(&files[i], data, len);
        data += len;
        size -= len;
    }
    return n;
}

typedef struct State {
    TraceDecoder d;
    CallStack *stack;
    TruthCheck check;
    unsigned insns;
} State;

static CallStackSite site_of(const State *s, unsigned priv)
{
    return (CallStackSite) {
        .image = s->d.image,
        .space = trace_decoder_space(&s->d, priv),
    };
}

static void on_run(void *opaque, const FlowRun *run)
{
    State *s = opaque;
    CallStackSite site = site_of(s, run->priv);

    callstack_run(s->stack, run, &site);
    truth_check_run(&s->check, run);
    s->insns += run->count;
    s->d.stop |= s->insns > MAX_INSNS;
}

static void on_mark(void *opaque)
{
    callstack_mark(((State *)opaque)->stack);
}

static bool on_repeat(void *opaque, uint64_t times)
{
    return callstack_repeat(((State *)opaque)->stack, times);
}

static void on_trap(void *opaque, const FlowTrap *trap)
{
    State *s = opaque;
    CallStackSite site = site_of(s, trap->priv);

    callstack_trap(s->stack, trap, &site);
}

static void on_loss(void *opaque, const TraceLoss *loss)
{
    callstack_lost(((State *)opaque)->stack);
}

static void on_insn(void *opaque, uint64_t pc)
{
}

static void on_access(void *opaque, const DataFlowAccess *access)
{
}

static const DataFlowOps data_ops = { .insn = on_insn, .access = on_access };

static const TraceConsumer consumer = {
    .flow = { .run = on_run, .trap = on_trap },
    .loss = on_loss,
};

static const TraceConsumer repeating = {
    .flow = {
        .run = on_run, .trap = on_trap, .mark = on_mark, .repeat = on_repeat,
    },
    .loss = on_loss,
};

static const TraceConsumer data_consumer = {
    .flow = { .run = on_run, .trap = on_trap },
    .data = &data_ops,
    .loss = on_loss,
};

static void decode(Trace *t, unsigned flags)
{
    static const TruthPoint point = { .count = 1000 };
    const TraceConsumer *how[] = { &consumer, &repeating, &data_consumer };
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(point));
    TruthHart truth = { .points = points };
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(Names) names = names_new(objects);
    CallStackOptions options = {
        .names = names,
        .layers = { CALLSTACK_LAYER_PRIV },
        .nr_layers = 1,
    };
    Profile *profile;
    FILE *null = fopen("/dev/null", "w");

    g_array_append_val(points, point);
    profile = profile_new();
    for (unsigned i = 0; i < MIN(t->nr_harts, MAX_HARTS); i++) {
        g_autofree State *s = g_new0(State, 1);

        if (!t->harts[i].present) {
            continue;
        }
        t->limit = flags & 4 ? 100 : UINT64_MAX;
        s->stack = callstack_new(profile, PROFILE_ROOT, &options);
        truth_check_init(&s->check, &truth);
        trace_decode(&s->d, t, i, how[(flags & 3) % 3], s);
        truth_check_finish(&s->check);
        callstack_free(s->stack);
    }
    flamegraph_write(profile, &(FlameOptions) {
        .title = "t", .width = 1000, .min_width = 1,
    }, null);
    profile_write_folded(profile, null);
    fclose(null);
    profile_free(profile);
}

static void trace_of(const uint8_t *data, size_t size, bool ram,
                     unsigned parts)
{
    File files[MAX_FILES];
    char *traces[3] = { 0 }, *sidebands[3] = { 0 };
    unsigned flags = size ? data[0] : 0, n;
    Trace *t;

    n = split(data + MIN(size, 1), size - MIN(size, 1),
              ram ? parts + 1 : 2 * parts, files);
    for (unsigned i = 0; i < parts; i++) {
        traces[i] = ram ? NULL : files[i].path;
        sidebands[i] = files[ram ? i + 1 : parts + i].path;
    }
    traces[0] = files[0].path;
    t = trace_open(&(TraceOptions) {
        .traces = traces,
        .sidebands = sidebands,
        .ram = ram,
        .wrapped_at = flags & 64 ? flags >> 2 : RING_NOT_WRAPPED,
    }, NULL);
    if (t) {
        decode(t, flags);
        trace_free(t);
    }
    for (unsigned i = 0; i < n; i++) {
        file_clear(&files[i]);
    }
}

static void G_GNUC_UNUSED fuzz_trace(const uint8_t *data, size_t size)
{
    trace_of(data, size, false, 1);
}

static void G_GNUC_UNUSED fuzz_parts(const uint8_t *data, size_t size)
{
    trace_of(data, size, false, 2);
}

static void G_GNUC_UNUSED fuzz_ring(const uint8_t *data, size_t size)
{
    trace_of(data, size, true, size && data[0] & 32 ? 2 : 1);
}

static void G_GNUC_UNUSED fuzz_sideband(const uint8_t *data, size_t size)
{
    Sideband *sb = sideband_parse(data, size, 0, NULL);

    for (unsigned i = 0; sb && i < MIN(sideband_nr_harts(sb), MAX_HARTS);
         i++) {
        SidebandView *view = sideband_view_new(sb, i);
        uint64_t at = 0, unused;
        SidebandTask task;
        SidebandNote note;

        for (int step = 0; step < 1000 && at != UINT64_MAX; step++) {
            sideband_view_advance(view, at);
            for (unsigned priv = 0; priv < SIDEBAND_NR_PRIVS; priv++) {
                CodePage *page = sideband_view_page(view, priv,
                                                    0x80000000 + 4096 * priv);

                if (page) {
                    code_page_line(page, &(InsnIsa) { .xlen = 64 }, 0);
                }
                sideband_view_space(view, priv);
                sideband_view_tvec(view, priv, &unused);
            }
            while (step % 3 && sideband_view_next_note(view, &note)) {
                assert(note.len <= size);
            }
            if (sideband_view_task(view, &task)) {
                assert(strlen(task.comm) <= ETRACE_SB_COMM_SIZE);
            }
            if (step % 10 == 9) {
                sideband_view_trim(view);
            }
            at = sideband_view_barrier(view);
        }
        sideband_align_lookup(sb, 1000, i, &unused);
        sideband_view_free(view);
    }
    g_clear_pointer(&sb, sideband_free);
}

static void G_GNUC_UNUSED fuzz_elf(const uint8_t *data, size_t size)
{
    SymbolTable *symbols = symbols_new();
    ElfCode *elf = elf_code_new();
    File f;

    file_init(&f, data, size);
    if (elf_code_load(elf, f.path, 0, NULL)) {
        for (unsigned i = 0; i < 64; i++) {
            CodePage *page = elf_code_page(elf, i << CODE_PAGE_BITS);

            if (page) {
                code_page_line(page, &(InsnIsa) { .xlen = 64 }, 0);
            }
        }
    }
    if (symbols_add_elf(symbols, f.path, 0x1000, NULL)) {
        symbols_sort(symbols);
        symbols_find(symbols, 0x1100, NULL, NULL);
    }
    file_clear(&f);
    elf_code_free(elf);
    symbols_free(symbols);
}

static void G_GNUC_UNUSED fuzz_btf(const uint8_t *data, size_t size)
{
    ETraceGuestInfo info;

    kernel_btf_parse(data, size, &info, NULL);
}

static void G_GNUC_UNUSED fuzz_kallsyms(const uint8_t *data, size_t size)
{
    SymbolTable *symbols = symbols_new();

    if (symbols_parse_kallsyms(symbols, (const char *)data, size, NULL)) {
        symbols_sort(symbols);
        symbols_find(symbols, 0xffffffff80000000ull, NULL, NULL);
    }
    symbols_free(symbols);
}

static void G_GNUC_UNUSED fuzz_truth(const uint8_t *data, size_t size)
{
    Truth *truth = truth_parse((const char *)data, size, NULL);

    if (truth) {
        Truth *more = truth_parse((const char *)data, size, NULL);

        truth_append(truth, more);
        for (guint i = 0; i < truth->harts->len; i++) {
            TruthCheck check;

            truth_check_init(&check, &g_array_index(truth->harts, TruthHart,
                                                    i));
            truth_check_finish(&check);
        }
        truth_free(more);
        truth_free(truth);
    }
}

/*
 * What is assembled is written so that it is assembled again, if all sources
 * are framed in the same way, as they are in a stream.
 */
static void round_trip(PacketSources *to, PacketSources *from,
                       const GByteArray *bytes)
{
    const ETraceParams *framing = &packet_sources_get(from, 0)->params, *p;
    g_autoptr(GByteArray) again = g_byte_array_new();
    g_autoptr(GString) line = g_string_new(NULL);
    ETraceEncapPacket pkt;

    if (etrace_encap_parse(framing, bytes->data, bytes->len, &pkt) !=
        ETRACE_ENCAP_PACKET || pkt.size != bytes->len) {
        return;
    }
    p = &packet_sources_get(from, pkt.src_id)->params;
    if (p->src_bits != framing->src_bits || p->ts_bytes != framing->ts_bytes ||
        !p->data_width != !framing->data_width) {
        return;
    }
    packet_text_write(line, from, &pkt, bytes->data);
    if (!packet_text_assemble(to, line->str, again, NULL) ||
        again->len != bytes->len ||
        memcmp(again->data, bytes->data, bytes->len)) {
        fprintf(stderr, "%s\n", line->str);
        abort();
    }
}

static void G_GNUC_UNUSED fuzz_packets(const uint8_t *data, size_t size)
{
    g_autofree char *text = g_strndup((const char *)data, size);
    g_auto(GStrv) lines = g_strsplit(text, "\n", 20);
    g_autoptr(PacketSources) to = NULL, from = NULL, other = NULL;
    ETraceParams params;

    etrace_params_init(&params, 64);
    to = packet_sources_new(&params);
    from = packet_sources_new(&params);
    other = packet_sources_new(&params);
    for (char **line = lines; *line; line++) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();

        if (strstr(*line, "idle")) {
            continue;           /* Millions of them take their time. */
        }
        if (packet_text_assemble(to, *line, bytes, NULL)) {
            if (bytes->len) {
                round_trip(other, from, bytes);
            } else {
                packet_text_assemble(from, *line, bytes, NULL);
                packet_text_assemble(other, *line, bytes, NULL);
            }
        }
    }
}

static void G_GNUC_UNUSED fuzz_params(const uint8_t *data, size_t size)
{
    g_autofree char *text = g_strndup((const char *)data, size);
    g_auto(GStrv) args = g_strsplit(text, "\n", 50);
    ETraceParams params;

    etrace_params_init(&params, 64);
    if (trace_set_params(&params, args, NULL)) {
        for (int i = 0; i < PARAMS_NR_FORMATS; i++) {
            g_autoptr(GString) out = g_string_new(NULL);

            params_text_file(out, &params, i);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    G_PASTE(fuzz_, FUZZ_TARGET)(data, size);
    return 0;
}
