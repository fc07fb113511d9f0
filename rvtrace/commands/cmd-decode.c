/*
 * rvtrace decode: write what was executed
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/load-names.h"
#include "commands/views/view.h"
#include "commands/views/window.h"

#define BUFFER_SIZE     (1u << 20)
/*
 * pc, address, data and operand of 16 digits, a dtype, a size, a newline; or
 * a number, a pointer, two pids and an escaped name
 */
#define MAX_LINE        (4 * 17 + 4 * ETRACE_SB_COMM_SIZE + 16)

typedef struct DecodeState {
    CliTrace *ct;
    TraceDecoder d;
    uint64_t left;                  /* --limit, of data */
    uint64_t insns;                 /* before now */
    uint64_t serial;                /* --emit task: last one's */
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

static void make_room(DecodeState *s)
{
    if (s->fill > BUFFER_SIZE - MAX_LINE) {
        write_out(s);
    }
}

static void put_hex(DecodeState *s, uint64_t v)
{
    static const char digits[] = "0123456789abcdef";
    char *p = s->buffer + s->fill;
    int shift = v ? (63 - __builtin_clzll(v)) & ~3 : 0;

    for (; shift >= 0; shift -= 4) {
        *p++ = digits[(v >> shift) & 15];
    }
    s->fill = p - s->buffer;
}

static void put_pc(DecodeState *s, uint64_t pc)
{
    put_hex(s, pc);
    s->buffer[s->fill++] = '\n';
}

static void decode_run(DecodeState *s, const FlowRun *run)
{
    const uint8_t *code = run->code;
    uint64_t pc = run->pc;

    for (unsigned i = 0; i < run->count && !s->failed; i++) {
        make_room(s);
        put_pc(s, pc);
        pc += flow_insn_length(code);
        code += flow_insn_length(code);
    }
}

static void decode_runs(void *opaque, const FlowRun *runs, unsigned n,
                        uint64_t insns)
{
    DecodeState *s = opaque;

    s->insns += insns;
    for (unsigned i = 0; i < n; i++) {
        decode_run(s, &runs[i]);
    }
}

static void decode_loss(void *opaque, const TraceLoss *loss)
{
    DecodeState *s = opaque;

    loss_report_add(&s->ct->losses, loss);
}

static const TraceConsumer decode_consumer = {
    .flow.runs = decode_runs,
    .loss = decode_loss,
};

/*
 * Data: "pc dtype size address data [operand]" a line. What is not known or
 * not traced is "-": the pc where accesses cannot be put to instructions.
 */

static void put_text(DecodeState *s, const char *text)
{
    size_t len = strlen(text);

    memcpy(s->buffer + s->fill, text, len);
    s->fill += len;
}

static void put_column(DecodeState *s, bool known, uint64_t v)
{
    if (known) {
        put_hex(s, v);
    } else {
        put_text(s, "-");
    }
}

static const char *dtype_text(unsigned dtype)
{
    static const char *const texts[] = {
        [ETRACE_DTYPE_LOAD] = " load ",
        [ETRACE_DTYPE_STORE] = " store ",
        [ETRACE_DTYPE_CSR_RW] = " csrrw ",
        [ETRACE_DTYPE_CSR_RS] = " csrrs ",
        [ETRACE_DTYPE_CSR_RC] = " csrrc ",
        [ETRACE_DTYPE_SWAP] = " swap ",
        [ETRACE_DTYPE_ADD] = " add ",
        [ETRACE_DTYPE_AND] = " and ",
        [ETRACE_DTYPE_OR] = " or ",
        [ETRACE_DTYPE_XOR] = " xor ",
        [ETRACE_DTYPE_MAX] = " max ",
        [ETRACE_DTYPE_MIN] = " min ",
        [ETRACE_DTYPE_SC_FAILURE] = " scfail ",
        [ETRACE_DTYPE_CAS_FAILURE] = " casfail ",
    };

    return dtype < ARRAY_SIZE(texts) && texts[dtype] ? texts[dtype] : " ? ";
}

static void decode_data_insn(void *opaque, const DataFlowInsn *insn)
{
    DecodeState *s = opaque;

    if (s->left) {
        s->left--;
        make_room(s);
        put_pc(s, insn->pc);
    } else {
        s->d.stop = true;
    }
}

static void decode_access(void *opaque, const DataFlowAccess *access)
{
    DecodeState *s = opaque;
    const ETraceDataAccess *a = &access->access;
    uint8_t doptions = s->d.data.params.doptions;
    bool csr = a->dtype >= ETRACE_DTYPE_CSR_RW &&
               a->dtype <= ETRACE_DTYPE_CSR_RC;
    bool operand = csr ? a->address >> 10 != 3
                       : a->dtype >= ETRACE_DTYPE_SWAP &&
                         a->dtype != ETRACE_DTYPE_SC_FAILURE;
    bool values = !(doptions & ETRACE_DOPT_NO_DATA) && !access->inferred;
    /* A failed compare and swap reports what it compared with, no more. */
    bool data = values && a->dtype != ETRACE_DTYPE_CAS_FAILURE;

    if (!s->left) {
        s->d.stop = true;
        return;
    }
    make_room(s);
    put_column(s, access->pc_known, access->pc);
    put_text(s, dtype_text(a->dtype));
    put_hex(s, 1u << a->size);
    put_text(s, " ");
    put_column(s, csr || !(doptions & ETRACE_DOPT_NO_ADDRESS ||
                           access->inferred), a->address);
    put_text(s, " ");
    put_column(s, data, a->data);
    if (values && operand) {
        put_text(s, " ");
        put_hex(s, a->operand);
    }
    put_text(s, "\n");
}

/* --limit counts instructions, whether they are written or not. */
static void decode_count_insn(void *opaque, const DataFlowInsn *insn)
{
    DecodeState *s = opaque;

    if (s->left) {
        s->left--;
    } else {
        s->d.stop = true;
    }
}

static void no_run(void *opaque, const FlowRun *run)
{
    DecodeState *s = opaque;

    s->insns += run->count;
}

static const DataFlowOps decode_data_ops = {
    .insn = decode_count_insn,
    .access = decode_access,
};

static const DataFlowOps decode_pc_data_ops = {
    .insn = decode_data_insn,
    .access = decode_access,
};

static const TraceConsumer data_consumer = {
    .flow.run = no_run,
    .data = &decode_data_ops,
    .loss = decode_loss,
};

static const TraceConsumer pc_data_consumer = {
    .flow.run = no_run,
    .data = &decode_pc_data_ops,
    .loss = decode_loss,
};

/*
 * Tasks: "instructions pointer tid tgid name" a line, whenever it is another
 * one. The first is the number of instructions that retired before. In names,
 * which are the guest's choice, what is not ASCII and \ are \xNN.
 */

static void put_name(DecodeState *s, const char *name, size_t len)
{
    for (const char *end = name + len; name < end; name++) {
        make_room(s);
        if (g_ascii_isprint(*name) && *name != '\\') {
            s->buffer[s->fill++] = *name;
        } else {
            s->fill += sprintf(s->buffer + s->fill, "\\x%02x",
                               (uint8_t)*name);
        }
    }
}

static void put_task(DecodeState *s, const SidebandTask *task)
{
    make_room(s);
    s->fill += sprintf(s->buffer + s->fill,
                       "%" PRIu64 " %" PRIx64 " %u %u ", s->insns, task->task,
                       task->tid, task->tgid);
    put_name(s, task->comm, strlen(task->comm));
    put_text(s, "\n");
}

static void decode_task_runs(void *opaque, const FlowRun *runs, unsigned n,
                             uint64_t insns)
{
    DecodeState *s = opaque;
    SidebandTask task;

    if (trace_decoder_task(&s->d, &task) && task.serial != s->serial) {
        put_task(s, &task);
    }
    s->serial = task.serial;
    s->insns += insns;
}

/* Notes: "instructions kind text" a line, text as the names of tasks */

static void decode_note_runs(void *opaque, const FlowRun *runs, unsigned n,
                             uint64_t insns)
{
    DecodeState *s = opaque;

    s->insns += insns;
}

static void decode_note(void *opaque, const SidebandNote *note)
{
    static const char *const kinds[] = {
        [ETRACE_SB_NOTE_BEGIN] = "begin",
        [ETRACE_SB_NOTE_END] = "end",
        [ETRACE_SB_NOTE_MARK] = "mark",
        [ETRACE_SB_NOTE_TEXT] = "text",
    };
    DecodeState *s = opaque;

    if (note->kind >= ARRAY_SIZE(kinds) || !kinds[note->kind]) {
        return;
    }
    make_room(s);
    s->fill += sprintf(s->buffer + s->fill, "%" PRIu64 " %s ", s->insns,
                       kinds[note->kind]);
    put_name(s, note->text, note->len);
    put_text(s, "\n");
}

static const TraceConsumer note_consumer = {
    .flow.runs = decode_note_runs,
    .loss = decode_loss,
    .note = decode_note,
};

static const TraceConsumer task_consumer = {
    .flow.runs = decode_task_runs,
    .loss = decode_loss,
};

static const struct {
    const char *name;
    const TraceConsumer *consumer;
} emits[] = {
    { "pc", &decode_consumer },
    { "data", &data_consumer },
    { "pc,data", &pc_data_consumer },
    { "task", &task_consumer },
    { "note", &note_consumer },
};

static const TraceConsumer *choose_emit(const char *emit)
{
    for (size_t i = 0; emit && i < ARRAY_SIZE(emits); i++) {
        if (g_str_equal(emit, emits[i].name)) {
            return emits[i].consumer;
        }
    }
    say_error("what to write? 'pc', 'data', 'pc,data', 'task', 'note', "
              "'packets': "
              "--emit pc");
    return NULL;
}

/* The one hart to decode, or -1 after an error message */
static int choose_hart(const CliTrace *ct, const Trace *t)
{
    unsigned harts = 0;
    int hart = -1;

    for (unsigned i = 0; i < t->nr_harts; i++) {
        if (job_has_hart(&ct->job, t, i)) {
            hart = i;
            harts++;
        }
    }
    if (harts > 1) {
        say_error("the trace has %u harts; choose one with --hart N", harts);
        return -1;
    }
    return hart;
}

/* The rest of the hart is not needed if it cannot be written. */
static bool selected_runs(void *opaque, const FlowRun *runs, unsigned n)
{
    DecodeState *s = opaque;

    for (unsigned i = 0; i < n; i++) {
        decode_run(s, &runs[i]);
    }
    return !s->failed;
}

/* Write the pcs of the instructions that are selected. */
static int decode_selected(CliTrace *ct, Trace *t, DecodeState *s)
{
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(Names) names = load_names(&ct->job, t, objects);
    g_auto(Results) r = {
        .job = &ct->job,
        .losses = &ct->losses,
        .t = t,
        .tasks = tasks,
        .names = names,
        .what = RESULT_RUNS,
        .runs = selected_runs,
        .runs_opaque = s,
    };

    if (!names || !results_decode(&r)) {
        return CLI_ERROR;
    }
    write_out(s);
    return flush_output(stdout, "standard output") ?
           cli_finish_losses(ct) : CLI_ERROR;
}

/* --process and so on are for instructions. */
static bool can_select(const CliTrace *ct, const TraceConsumer *consumer)
{
    if ((!ct->job.selection && !ct->window.option) ||
        consumer == &decode_consumer) {
        return true;
    }
    say_error("--process, --region, --from, --to and --window select what "
              "--emit pc and --output write; others have --hart and --limit");
    return false;
}

int cmd_decode(int argc, char **argv)
{
    g_auto(CliTrace) ct = { .selects = true, .has_names = true };
    g_auto(GStrv) outputs = NULL;
    g_autofree char *kinds = view_kinds(VIEW_ANY, ", ");
    g_autofree char *about = g_strdup_printf(
        "Write what the subcommand KIND does: %s; repeated, the trace is "
        "decoded but once for all of them", kinds);
    g_autofree char *emit = NULL;
    g_autoptr(Trace) t = NULL;
    g_autofree DecodeState *s = NULL;
    GOptionEntry entries[] = {
        { "emit", 'e', 0, G_OPTION_ARG_STRING, &emit,
          "What to write: pc, a hexadecimal pc a line in the order of "
           "retirement; data, a data access a line: pc, type, size, address, "
           "data, operand, \"-\" for what is not known; pc,data, both; task, a "
           "switch of tasks a line: instructions before it, pointer, tid, "
           "tgid, name; note, a note that software took a line; or packets, "
           "a packet a line", "WHAT" },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME_ARRAY, &outputs,
          about, "KIND[=FILE]" },
        { NULL }
    };
    g_autofree GOptionEntry *views = view_options(VIEW_ANY);
    g_autofree GOptionEntry *all = cli_join_entries(entries, views);
    const TraceConsumer *consumer;
    int hart;

    if (!cli_parse(&ct, all, "Write the instructions that a hart "
                   "executed to standard output, or several\nresults of one "
                   "run of the decoder.", argc, argv)) {
        return CLI_ERROR;
    }
    if (outputs && emit) {
        say_error("--emit and --output: one of them");
        return CLI_ERROR;
    }
    if (outputs) {
        return views_write(&ct, outputs, "--output");
    }
    if (ct.make_index) {
        say_error("--make-index is for --output, or for 'rvtrace index'");
        return CLI_ERROR;
    }
    ct.job.packets_only = emit && !strcmp(emit, "packets");
    consumer = ct.job.packets_only ? NULL : choose_emit(emit);
    if ((!consumer && !ct.job.packets_only) || !can_select(&ct, consumer)) {
        return CLI_ERROR;
    }
    t = cli_open(&ct);
    if (t && ct.job.packets_only) {
        return cmd_decode_packets(&ct, t);
    }
    hart = t && window_find(&ct, t) ? choose_hart(&ct, t) : -1;
    if (hart < 0) {
        return CLI_ERROR;
    }
    s = g_new0(DecodeState, 1);
    s->ct = &ct;
    s->left = t->limit;
    if (ct.job.selection) {
        ct.job.hart = hart;
        return decode_selected(&ct, t, s);
    }
    if (consumer->data) {
        /* Accesses are reported behind the instruction: decode_count_insn() */
        t->limit = t->limit ? UINT64_MAX : 0;
    }
    trace_decode(&s->d, t, hart, consumer, s);
    write_out(s);
    loss_report_end(&ct.losses, &s->d.stats, s->insns);
    if (consumer->data && s->d.data.others) {
        say_warn("%" PRIu64 " of %" PRIu64 " data accesses cannot be put to "
                 "their instructions: filtered, or something is missing",
                 s->d.data.others,
                 s->d.data.others + s->d.data.associated);
    }
    if (!flush_output(stdout, "standard output")) {
        return CLI_ERROR;
    }
    return cli_finish_losses(&ct);
}
