/*
 * gdb's target: call stacks
 *
 * gdb finds callers by memory and registers, which are not known. So it is sent
 * a program in Python that has stacks from registers of our own.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/text-plain.h"
#include "base/trap-text.h"
#include "gdb/target-private.h"
#include "unwinder.py.h"

/* Frames that "monitor bt" shows of a hart */
#define SHOWN_FRAMES    256

bool gdb_put_own_register(GdbTarget *g, GString *s, unsigned n)
{
    GdbHart *h = gdb_hart(g);
    unsigned first = (n - GDB_REG_STACK) * GDB_STACK_PART;
    const GArray *stack;
    unsigned depth;

    if (n == GDB_REG_PLACE) {
        rsp_put_value(s, h->at, 8);
        rsp_put_value(s, 0, 8);
        rsp_put_value(s, h->states != NULL, 8);
        rsp_put_value(s, g->id, 8);
        return true;
    }
    stack = h->stacks ? replay_stack(h->stacks, h->at, &depth) : NULL;
    if (!stack) {
        return false;
    }
    if (n == GDB_REG_DEPTH) {
        rsp_put_value(s, depth, 4);
        return true;
    }
    for (guint i = first; i < first + GDB_STACK_PART; i++) {
        rsp_put_value(s, i < stack->len ?
                      g_array_index(stack, ReplayFrame, i).pc : 0, 8);
    }
    return true;
}

bool gdb_monitor_python(GdbTarget *g, const char *arg, GString *out)
{
    g_string_append(out, unwinder_py);
    return true;
}

/* A frame is about to execute, or goes on behind a call of, what is where? */
static void add_place(GdbTarget *g, GString *out, const ReplayFrame *frame,
                      bool executes)
{
    uint64_t addr = frame->pc - frame->bias;
    SourcePlace place = { 0 };

    if (frame->symbol) {
        const char *name = text_plain(frame->symbol->name);
        uint64_t off = addr - frame->symbol->start;

        g_string_append_printf(out, " in %s", name);
        if (off) {
            g_string_append_printf(out, "+0x%" PRIx64, off);
        }
    }
    if (frame->object->file && g->places) {
        place = source_place_find(g->places, frame->object,
                                  addr - !(executes || frame->interrupted));
    }
    if (place.file) {
        g_string_append_printf(out, " at %s:%u", text_plain(place.file),
                               place.line);
    } else if (frame->object->kind != OBJECT_NONE) {
        g_string_append_printf(out, " from %s",
                               text_plain(frame->object->path));
    }
    g_string_append_c(out, '\n');
}

static void add_stack(GdbTarget *g, unsigned hart, GString *out)
{
    GdbHart *h = gdb_hart_at(g, hart);
    unsigned depth = 0;
    const GArray *stack = h->stacks ? replay_stack(h->stacks, h->at, &depth)
                                    : NULL;

    g_string_append_printf(out, "hart %u, instruction %" PRIu64 ":\n", hart,
                           h->at);
    for (guint i = 0; stack && i < stack->len; i++) {
        const ReplayFrame *frame = &g_array_index(stack, ReplayFrame, i);

        if (i == SHOWN_FRAMES) {
            g_string_append_printf(out, "... and %u more\n", depth - i);
            break;
        }
        if (frame->interrupted) {
            g_string_append_printf(out, "    interrupted%s%s\n",
                                   frame->trap ? ": " : "", frame->trap ?: "");
        }
        g_string_append_printf(out, "#%-3u 0x%0*" PRIx64 " %s", i,
                               g->xlen / 4, frame->pc,
                               priv_text(frame->priv));
        add_place(g, out, frame, i == 0);
    }
    if (!stack) {
        g_string_append(out, "its call stack cannot be decoded\n");
    }
}

bool gdb_monitor_stack(GdbTarget *g, const char *arg, GString *out)
{
    bool all = g_str_equal(arg, "all");

    if (*arg && !all) {
        g_string_append(out, "monitor bt, or monitor bt all: of all harts\n");
        return false;
    }
    for (unsigned i = 0; i < g->nr_harts; i++) {
        if (g->harts[i].replay && (all || i == g->selected)) {
            add_stack(g, i, out);
        }
    }
    return true;
}
