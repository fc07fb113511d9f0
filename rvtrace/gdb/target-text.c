/*
 * gdb's target: texts that describe it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/target-private.h"
#include "base/trap-text.h"

static void add_register(GString *s, const char *name, unsigned bits,
                         const char *type)
{
    g_string_append_printf(s, "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\"/>\n",
                           name, bits, type);
}

static void add_vector(GString *s, const char *id, unsigned bits,
                       unsigned count)
{
    g_string_append_printf(s, "<vector id=\"%s\" type=\"uint%u\" count="
                           "\"%u\"/>\n", id, bits, count);
}

/* See unwinder.py. */
static void add_own_registers(GString *s)
{
    g_string_append(s, "<feature name=\"org.qemu.rvtrace\">\n");
    add_vector(s, "place", 64, 4);
    add_vector(s, "depth", 32, 1);
    add_vector(s, "stack", 64, GDB_STACK_PART);
    add_register(s, "rvtrace_place", 64 * 4, "place");
    add_register(s, "rvtrace_depth", 32, "depth");
    for (unsigned i = 0; i < GDB_NR_STACKS; i++) {
        g_autofree char *name = g_strdup_printf("rvtrace_stack%u", i);

        add_register(s, name, 64 * GDB_STACK_PART, "stack");
    }
    g_string_append(s, "</feature>\n");
}

/*
 * All that gdb wants of such a machine. No operating system, for that of Linux
 * takes a step by a breakpoint where it believes to get to, for which it would
 * need all registers. Floating point is always there, for
 * gdb does not take a program that has more than the machine.
 */
GString *gdb_text_features(const GdbTarget *g)
{
    unsigned xlen = g->xlen;
    static const char *const x[] = {
        "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0",
        "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6",
        "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
    };
    static const char *const f[] = {
        "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1",
        "fa0", "fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7", "fs2", "fs3",
        "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9",
        "ft10", "ft11",
    };
    static const char *const status[] = { "fflags", "frm", "fcsr" };
    GString *s = g_string_new("<?xml version=\"1.0\"?>\n"
                              "<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
                              "<target>\n");

    g_string_append_printf(s, "<architecture>riscv:rv%u</architecture>\n"
                           "<osabi>none</osabi>\n"
                           "<feature name=\"org.gnu.gdb.riscv.cpu\">\n", xlen);
    for (size_t i = 0; i < G_N_ELEMENTS(x); i++) {
        add_register(s, x[i], xlen, "int");
    }
    add_register(s, "pc", xlen, "code_ptr");
    g_string_append(s, "</feature>\n"
                    "<feature name=\"org.gnu.gdb.riscv.fpu\">\n");
    for (size_t i = 0; i < G_N_ELEMENTS(f); i++) {
        add_register(s, f[i], 64, "ieee_double");
    }
    for (size_t i = 0; i < G_N_ELEMENTS(status); i++) {
        add_register(s, status[i], 32, "int");
    }
    g_string_append(s, "</feature>\n");
    if (!g->is_lldb) {
        add_own_registers(s);
    }
    return g_string_append(s, "</target>\n");
}

/* The name of a task, which is the guest's choice, in ASCII */
static char *task_name(const SidebandTask *task)
{
    char *name = g_strdup(task->comm);

    for (char *c = name; *c; c++) {
        if (!g_ascii_isprint(*c)) {
            *c = '?';
        }
    }
    return name;
}

GString *gdb_text_threads(GdbTarget *g)
{
    GString *s = g_string_new("<?xml version=\"1.0\"?>\n<threads>\n");

    for (unsigned i = 0; i < g->nr_harts; i++) {
        GdbHart *h = gdb_hart_at(g, i);
        const ReplayMoment *m = h->replay ? replay_moment(h->replay, h->at)
                                          : NULL;
        g_autofree char *comm = m && m->task_known ? task_name(&m->task)
                                                   : NULL;
        g_autofree char *name = comm ? g_markup_escape_text(comm, -1) : NULL;

        if (!h->replay) {
            continue;
        }
        g_string_append_printf(s, "<thread id=\"%x\"%s%s%s>hart %u, "
                               "instruction %" PRIu64 " of %" PRIu64
                               "</thread>\n", i + 1, name ? " name=\"" : "",
                               name ?: "", name ? "\"" : "", i, h->at,
                               replay_length(h->replay));
    }
    return g_string_append(s, "</threads>\n");
}

static void add_event(GString *s, const ReplayEvent *event)
{
    const FlowTrap *trap = &event->trap;
    const char *what = trap->interrupt ? "interrupt" : "exception";
    const char *cause;

    if (event->gap) {
        g_string_append_printf(s, "before it: a gap: %s\n", event->lost ?
                               flow_loss_text(event->why) : "not traced");
        return;
    }
    cause = trap_cause_text(trap->interrupt, trap->cause);
    if (trap->cause == FLOW_CAUSE_UNKNOWN) {
        g_string_append_printf(s, "before it: an %s", what);
    } else {
        g_string_append_printf(s, "before it: %s %u%s%s", what, trap->cause,
                               cause ? ", " : "", cause ?: "");
    }
    if (trap->epc_known) {
        g_string_append_printf(s, ", at 0x%" PRIx64, trap->epc);
    }
    g_string_append_c(s, '\n');
}

GString *gdb_text_where(GdbTarget *g, unsigned hart)
{
    GdbHart *h = gdb_hart_at(g, hart);
    GString *s = g_string_new(NULL);
    const ReplayInsn *insn = replay_insn(h->replay, h->at);
    const ReplayMoment *m = replay_moment(h->replay, h->at);
    const ReplayEvent *event;

    g_string_printf(s, "hart %u: instruction %" PRIu64 " of %" PRIu64 "\n",
                    hart, h->at, replay_length(h->replay));
    if (!insn || !m) {
        return g_string_append(s, "which cannot be decoded any more\n");
    }
    g_string_append_printf(s, "pc: 0x%" PRIx64 ", %s\n", insn->pc,
                           priv_text(insn->priv));
    if (m->time_known) {
        g_string_append_printf(s, "virtual time: %" PRIu64 ".%09" PRIu64 " s "
                               "or later\n", m->ns / 1000000000,
                               m->ns % 1000000000);
    }
    if (m->task_known) {
        g_autofree char *name = task_name(&m->task);

        g_string_append_printf(s, "task: %s, process %u, thread %u\n", name,
                               m->task.tgid, m->task.tid);
    }
    event = insn->flags ? replay_event(h->replay, h->at) : NULL;
    if (event) {
        add_event(s, event);
    }
    return s;
}
