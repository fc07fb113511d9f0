/*
 * Inputs of rvtrace, for libFuzzer
 *
 * The environment's FUZZ_TARGET names the kind of input. Inputs that consist
 * of several files begin with a byte of flags and 16 bits, little-endian, for
 * the length of each file but the last one.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <sys/mman.h>
#include <unistd.h>
#include "profile/callstack-save.h"
#include "views/report/flamegraph.h"
#include "fuzz/fuzz.h"
#include "gdb/rsp.h"
#include "gdb/target.h"
#include "base/sealed-file.h"
#include "index/trace-index.h"
#include "base/input.h"
#include "names/guest-text.h"
#include "names/kernel-btf.h"
#include "names/object-elf.h"
#include "base/packed.h"
#include "text/packet-text.h"
#include "base/params-text.h"
#include "trace/perf-aux.h"
#include "base/perf-file.h"
#include "samples/ctr-samples.h"
#include "samples/sample-flow.h"
#include "trace/trace.h"
#include "trace/trace-text.h"
#include "trace/truth.h"

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
    State *s = opaque;

    if (!callstack_can_repeat(s->stack)) {
        return false;
    }
    callstack_repeat(s->stack, times);
    return true;
}

static void on_trap(void *opaque, const FlowTrap *trap)
{
    State *s = opaque;
    CallStackSite site = site_of(s, trap->priv);

    callstack_trap(s->stack, trap, &site);
}

static void on_window_end(void *opaque, FlowWindowEnd why)
{
    State *s = opaque;

    callstack_gap(s->stack, trace_decoder_fenced(&s->d));
}

static void on_loss(void *opaque, const TraceLoss *loss)
{
    callstack_lost(((State *)opaque)->stack);
}

static void on_insn(void *opaque, const DataFlowInsn *insn)
{
}

static void on_access(void *opaque, const DataFlowAccess *access)
{
}

static const DataFlowOps data_ops = { .insn = on_insn, .access = on_access };

static const TraceConsumer consumer = {
    .flow = {
        .run = on_run, .trap = on_trap, .window_end = on_window_end,
    },
    .loss = on_loss,
};

static const TraceConsumer repeating = {
    .flow = {
        .run = on_run, .trap = on_trap, .window_end = on_window_end,
        .mark = on_mark, .repeat = on_repeat,
    },
    .loss = on_loss,
};

static const TraceConsumer data_consumer = {
    .flow = { .run = on_run, .trap = on_trap },
    .data = &data_ops,
    .loss = on_loss,
};

static CallStackOptions stack_options(const Names *names)
{
    return (CallStackOptions) {
        .names = names,
        .layers = { CALLSTACK_LAYER_PRIV },
        .nr_layers = 1,
    };
}

static void decode(Trace *t, unsigned flags)
{
    static const TruthPoint point = { .count = 1000 };
    const TraceConsumer *how[] = { &consumer, &repeating, &data_consumer };
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(point));
    TruthHart truth = { .points = points };
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(Names) names = names_new(objects);
    CallStackOptions options = stack_options(names);
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
        .wrapped_at = flags & 64 ? (int64_t)(flags >> 2) : RING_NOT_WRAPPED,
    }, NULL);
    if (t) {
        decode(t, flags);
        trace_free(t);
    }
    for (unsigned i = 0; i < n; i++) {
        file_clear(&files[i]);
    }
}

static void fuzz_trace(const uint8_t *data, size_t size)
{
    trace_of(data, size, false, 1);
}

static void fuzz_parts(const uint8_t *data, size_t size)
{
    trace_of(data, size, false, 2);
}

static void fuzz_ring(const uint8_t *data, size_t size)
{
    trace_of(data, size, true, size && data[0] & 32 ? 2 : 1);
}

/* What the guest says of itself */
static void read_texts(const Sideband *sb)
{
    ObjectTable *objects = object_table_new();
    GuestText *texts = guest_text_new(sb);
    SidebandView *view = sideband_view_new(sb, 0);

    guest_text_objects(texts, objects, NULL);
    for (unsigned i = 0; guest_text_kernel(texts, i); i++) {
        symbols_find(guest_text_kernel(texts, i)->symbols,
                     0xffffffff80000000ull, NULL, NULL);
    }
    for (unsigned i = 0; i < 100; i++) {
        uint64_t at = sideband_view_barrier(view), addr = 0x1000 + 16 * i;
        GuestMapping mapping;
        SidebandWhere where;

        sideband_view_where(view, ETRACE_PRIV_U, addr, &where);
        guest_text_mapping(texts, &where, i % 3, addr, &mapping);
        guest_text_jit(texts, &where, i % 3, addr, &mapping);
        if (at != UINT64_MAX) {
            sideband_view_advance(view, at);
        }
    }
    sideband_view_free(view);
    guest_text_free(texts);
    object_table_free(objects);
}

static void fuzz_sideband(const uint8_t *data, size_t size)
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
    if (sb && guest_text_in(sb)) {
        read_texts(sb);
    }
    g_clear_pointer(&sb, sideband_free);
}

static void fuzz_elf(const uint8_t *data, size_t size)
{
    SymbolTable *symbols = symbols_new();
    ObjectTable *table = object_table_new();
    ElfCode *elf = elf_code_new();
    Object *o;
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
    o = object_elf_load(table, "/bin/fuzz", f.path, NULL);
    if (o) {
        object_elf_symbols(table, o);
    }
    object_table_free(table);
    file_clear(&f);
    elf_code_free(elf);
    symbols_free(symbols);
}

static void fuzz_btf(const uint8_t *data, size_t size)
{
    ETraceGuestInfo info;

    kernel_btf_parse(data, size, &info, NULL);
}

static void fuzz_packed(const uint8_t *data, size_t size)
{
    GBytes *head, *all;
    File f;

    file_init(&f, data, size);
    packed_is(data, size);
    head = packed_open_head(f.path, 100, NULL);
    all = packed_open(f.path, NULL);
    assert(!head || g_bytes_get_size(head) <= MAX(size, 100));
    assert(!all || !head || g_bytes_get_size(all) >= MIN(100,
                                                 g_bytes_get_size(head)));
    g_clear_pointer(&head, g_bytes_unref);
    g_clear_pointer(&all, g_bytes_unref);
    file_clear(&f);
}

/* Pieces are of the file, and no byte is in two of them. */
static void fuzz_aux(const uint8_t *data, size_t size)
{
    g_autoptr(GArray) pieces = NULL;
    size_t all = 0;

    if (perf_file_is(data, size)) {
        unsigned truncated;

        pieces = perf_aux_read("file", data, size, &truncated, NULL);
    }
    for (guint i = 0; pieces && i < pieces->len; i++) {
        const Piece *piece = &g_array_index(pieces, Piece, i);

        assert(piece->size && piece->data >= data &&
               piece->size <= (size_t)(data + size - piece->data));
        all += piece->size;
    }
    assert(all <= size);
}

static void on_sample_run(void *opaque, const FlowRun *run)
{
    assert(run->count && run->code);
    *(uint64_t *)opaque += run->count;
}

static void on_sample_trap(void *opaque, const FlowTrap *trap)
{
}

static void on_sample_lost(void *opaque)
{
}

/* Every sample is walked, in code that is the file itself, from 0 on. */
static void fuzz_samples(const uint8_t *data, size_t size)
{
    static const SampleFlowOps ops = {
        .run = on_sample_run, .trap = on_sample_trap, .lost = on_sample_lost,
    };
    static const InsnIsa isa = { .xlen = 64 };
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(Names) names = names_new(objects);
    Object *o = object_new(objects, OBJECT_PROGRAM, "/file", NULL);
    ObjectCode code = { .size = size, .bytes = data };
    g_autoptr(PerfSamples) s = NULL;
    g_autoptr(CtrSamples) ctr = ctr_samples_new();
    SampleFlowStats stats = { 0 };
    uint64_t insns = 0;

    ctr_samples_add(ctr, data, size, NULL);
    if (perf_samples_in("file", data, size)) {
        s = perf_samples_read("file", data, size, NULL);
    }
    g_array_append_val(o->code, code);
    for (guint i = 0; s && i < s->samples->len; i++) {
        const PerfSample *sample = &g_array_index(s->samples, PerfSample, i);
        ProcessMaps *maps = (ProcessMaps *)sample->maps;

        if (!maps->names) {
            maps->names = names_derive(names);
            names_add_mapped(maps->names, o, 0, 0, size);
        }
        sample_flow(sample, &isa, &ops, &insns, &stats);
    }
    assert(insns == stats.insns);
}

/* All that arrives comes to one hart. */
static void load_arrivals(const IndexHart *h, TreeReader *tree,
                          const CallStackOptions *options)
{
    Profile *profile = profile_new();
    CallStack *stack = callstack_new(profile, PROFILE_ROOT, options);

    tree_reader_bind(tree, profile, options);
    for (guint k = 0; k < h->arrivals->len; k++) {
        ByteReader in = g_array_index(h->arrivals, IndexArrival, k).stacks;

        callstack_load_task(stack, k % 4, tree, h->pieces, &in);
    }
    callstack_free(stack);
    profile_free(profile);
}

/* Go on from each place of the index. */
static void load_index(const TraceIndex *index)
{
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(Names) names = names_new(objects);
    CallStackOptions options = stack_options(names);

    for (unsigned i = 0; i < MIN(index->nr_harts, MAX_HARTS); i++) {
        const IndexHart *h = &index->harts[i];
        g_autoptr(TreeReader) tree = NULL;
        ByteReader from = h->tree;

        tree = h->present ? tree_reader_new(&from, objects, tasks) : NULL;
        for (guint k = 0; tree && k < h->points->len; k++) {
            Profile *profile = profile_new();
            CallStack *stack = callstack_new(profile, PROFILE_ROOT, &options);
            ByteReader in = g_array_index(h->points, IndexPoint, k).stacks;

            tree_reader_bind(tree, profile, &options);
            callstack_load(stack, tree, h->pieces, &in);
            callstack_free(stack);
            profile_free(profile);
        }
        if (tree) {
            load_arrivals(h, tree, &options);
        }
    }
}

/* Which trace it is of, and its checksum, are made right. */
static void read_index(const Trace *t, const File *index)
{
    static const SealedKind kind = {
        .magic = "rvtrace index\n\x1a", .version = TRACE_INDEX_VERSION,
    };
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autoptr(GBytes) file = input_open(index->path, NULL);
    g_autoptr(TraceIndex) read = NULL;
    g_autoptr(GArray) ids = trace_ids_new(t);
    TraceMatch match;
    size_t size;
    const uint8_t *data = g_bytes_get_data(file, &size);
    File whole;

    sealed_file_begin(&kind, out);
    trace_ids_put(ids, out);
    if (size > out->len) {
        g_byte_array_append(out, data + out->len, size - out->len);
    }
    sealed_file_end(out);
    file_init(&whole, out->data, out->len);
    read = trace_index_read(whole.path, t, &match, NULL);
    if (read) {
        load_index(read);
    }
    file_clear(&whole);
}

static void fuzz_index(const uint8_t *data, size_t size)
{
    File files[MAX_FILES];
    unsigned n = split(data + MIN(size, 1), size - MIN(size, 1), 3, files);
    char *traces[] = { files[0].path, NULL };
    char *sidebands[] = { files[1].path, NULL };
    Trace *t = trace_open(&(TraceOptions) {
        .traces = traces, .sidebands = sidebands,
        .wrapped_at = RING_NOT_WRAPPED,
    }, NULL);

    if (t) {
        read_index(t, &files[2]);
        trace_free(t);
    }
    for (unsigned i = 0; i < n; i++) {
        file_clear(&files[i]);
    }
}

static void no_answer(void *opaque, const char *data, size_t len)
{
}

/* What a debugger sends, about the first hart that has executed anything */
static void debug(Trace *t, const uint8_t *data, size_t size)
{
    static const GdbTargetOps ops = { .send = no_answer };
    g_autoptr(GPtrArray) replays = g_ptr_array_new();
    g_autoptr(GArray) losses = g_array_new(false, false, sizeof(TraceLoss));
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(Names) names = names_new(objects);
    Replay *r = NULL;
    GdbTarget *target;
    RspReader reader;

    t->limit = MAX_INSNS;
    for (unsigned i = 0; !r && i < MIN(t->nr_harts, MAX_HARTS); i++) {
        g_ptr_array_set_size(replays, i + 1);
        if (t->harts[i].present) {
            r = replay_new(t, i, 0);
            replay_scan(r, losses);
            if (!replay_length(r)) {
                g_clear_pointer(&r, replay_free);
            }
            replays->pdata[i] = r;
        }
    }
    if (!r) {
        return;
    }
    t->limit = UINT64_MAX;
    target = gdb_target_new(t, replays, NULL, NULL);
    gdb_target_set_stacks(target, replays->len - 1,
                          replay_stacks_new(r, names, tasks, NULL));
    gdb_target_set_states(target, replays->len - 1, replay_states_new(r));
    gdb_target_connected(target);
    rsp_reader_init(&reader);
    for (size_t i = 0; i < size; i++) {
        if (rsp_reader_put(&reader, data[i]) == RSP_PACKET) {
            gdb_target_packet(target, reader.data->str, reader.data->len,
                              &ops, NULL);
        }
    }
    rsp_reader_clear(&reader);
    gdb_target_free(target);
    replay_free(r);
}

static void fuzz_gdb(const uint8_t *data, size_t size)
{
    File files[MAX_FILES];
    unsigned n = split(data + MIN(size, 1), size - MIN(size, 1), 3, files);
    char *traces[] = { files[0].path, NULL };
    char *sidebands[] = { files[1].path, NULL };
    Trace *t = trace_open(&(TraceOptions) {
        .traces = traces, .sidebands = sidebands,
        .ram = size && data[0] & 1, .wrapped_at = RING_NOT_WRAPPED,
    }, NULL);

    if (t) {
        g_autoptr(GBytes) sent = input_open(files[2].path, NULL);
        size_t len;
        const uint8_t *bytes = input_data(sent, &len);

        debug(t, bytes, len);
        trace_free(t);
    }
    for (unsigned i = 0; i < n; i++) {
        file_clear(&files[i]);
    }
}

static void fuzz_kallsyms(const uint8_t *data, size_t size)
{
    SymbolTable *symbols = symbols_new();

    if (symbols_parse_kallsyms(symbols, (const char *)data, size, NULL)) {
        symbols_sort(symbols);
        symbols_find(symbols, 0xffffffff80000000ull, NULL, NULL);
    }
    symbols_free(symbols);
}

static void fuzz_truth(const uint8_t *data, size_t size)
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

static void fuzz_packets(const uint8_t *data, size_t size)
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

static void fuzz_params(const uint8_t *data, size_t size)
{
    g_autofree char *text = g_strndup((const char *)data, size);
    g_auto(GStrv) args = g_strsplit(text, "\n", 50);
    ETraceParams params;

    etrace_params_init(&params, 64);
    if (trace_parse_params(&params, args, NULL)) {
        for (int i = 0; i < PARAMS_NR_FORMATS; i++) {
            g_autoptr(GString) out = g_string_new(NULL);

            params_text_file(out, &params, i);
        }
    }
}

static const struct {
    const char *name;
    void (*run)(const uint8_t *data, size_t size);
} targets[] = {
    { "trace", fuzz_trace },
    { "parts", fuzz_parts },
    { "ring", fuzz_ring },
    { "sideband", fuzz_sideband },
    { "elf", fuzz_elf },
    { "btf", fuzz_btf },
    { "packed", fuzz_packed },
    { "aux", fuzz_aux },
    { "samples", fuzz_samples },
    { "index", fuzz_index },
    { "gdb", fuzz_gdb },
    { "kallsyms", fuzz_kallsyms },
    { "truth", fuzz_truth },
    { "packets", fuzz_packets },
    { "params", fuzz_params },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*run)(const uint8_t *data, size_t size);
    const char *name;

    if (!run) {
        name = g_getenv("FUZZ_TARGET");
        for (unsigned i = 0; i < G_N_ELEMENTS(targets); i++) {
            if (!g_strcmp0(name, targets[i].name)) {
                run = targets[i].run;
            }
        }
        if (!run) {
            g_error("FUZZ_TARGET=%s: there is no such kind of input",
                    name ?: "");
        }
    }
    run(data, size);
    return 0;
}
