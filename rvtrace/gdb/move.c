/*
 * gdb's target: harts move, and stop
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/say.h"
#include "gdb/target-private.h"

/* Breakpoints, at most: gdb needs one for each place that the user names. */
#define MAX_BREAKPOINTS     65536
#define MAX_WATCHES         1024

#define NO_DATA "the trace has no data: QEMU traces loads and stores with " \
                "-global riscv-trace-encoder.data-width=64 " \
                "-global riscv-trace-encoder.data=on"

/* Which memory was accessed */
static void put_watch(GdbTarget *g, GString *s)
{
    const ReplayWatch *w = &g_array_index(g->watches, ReplayWatch, g->watched);

    g_string_append_printf(s, "%s:%" PRIx64 ";", !w->loads ? "watch" :
                           w->stores ? "awatch" : "rwatch", w->addr);
}

void gdb_put_stop(GdbTarget *g, unsigned hart, GdbStop why)
{
    GdbHart *h = gdb_hart_at(g, hart);
    g_autoptr(GString) s = g_string_new(why == GDB_STOP_INTERRUPT ? "T02" :
                                        "T05");
    const ReplayInsn *insn = replay_insn(h->replay, h->at);

    if (!insn) {
        gdb_error(g, "the trace cannot be decoded here any more: have its "
                  "files changed?");
        return;
    }
    /* gdb goes on with questions about the thread that stops. */
    g->general = hart;
    g_string_append_printf(s, "%x:", GDB_REG_PC);
    rsp_put_value(s, insn->pc, g->xlen / 8);
    g_string_append_printf(s, ";thread:%x;", hart + 1);
    switch (why) {
    case GDB_STOP_WATCHPOINT:
        put_watch(g, s);
        break;
    case GDB_STOP_BREAKPOINT:
        if (g->knows_swbreak) {
            g_string_append(s, "swbreak:;");
        }
        break;
    case GDB_STOP_BEGIN:
        g_string_append(s, "replaylog:begin;");
        break;
    case GDB_STOP_END:
        g_string_append(s, "replaylog:end;");
        break;
    default:
        break;
    }
    gdb_put(g, s);
}

/* The hart goes past what is in front of instruction @i. */
static void say_gap(GdbTarget *g, unsigned hart, uint64_t i)
{
    Replay *r = g->harts[hart].replay;
    const ReplayInsn *insn = replay_insn(r, i);
    const ReplayEvent *event;
    g_autofree char *text = NULL;

    if (!insn || !(insn->flags & REPLAY_GAP)) {
        return;
    }
    event = replay_event(r, i);
    text = g_strdup_printf("[hart %u: it is not known what was executed here%s"
                           "%s]\n", hart, event && event->lost ? ": " : "",
                           event && event->lost ? flow_loss_text(event->why) :
                           ": it was not traced");
    gdb_say(g, text);
}

/* Where in @all, or how many there are */
static guint find_address(const GArray *all, uint64_t address)
{
    guint i = 0;

    while (i < all->len && g_array_index(all, uint64_t, i) != address) {
        i++;
    }
    return i;
}

static bool is_breakpoint(const GdbTarget *g, uint64_t pc)
{
    return find_address(g->breakpoints, pc) < g->breakpoints->len;
}

/*
 * There is nothing to step to. gdb 13 waits forever, the next time that it
 * goes on, if it learns that from a step off a breakpoint, for which it has
 * removed that one alone. After a step that leads nowhere it tries once more,
 * with all breakpoints in place, and learns it then.
 */
static GdbStop no_step(const GdbTarget *g, const ReplayInsn *insn, bool back)
{
    if (insn && find_address(g->removed, insn->pc) < g->removed->len) {
        return GDB_STOP_THERE;
    }
    return back ? GDB_STOP_BEGIN : GDB_STOP_END;
}

/* Ctrl-C before the hart has moved: it stays where it is. */
static bool is_interrupted(GdbTarget *g, unsigned hart)
{
    if (!g->ops->poll || !g->ops->poll(g->opaque)) {
        return false;
    }
    gdb_put_stop(g, hart, GDB_STOP_INTERRUPT);
    return true;
}

void gdb_step(GdbTarget *g, unsigned hart, bool back, bool all)
{
    GdbHart *h = gdb_hart_at(g, hart);
    const ReplayInsn *insn;
    uint64_t at;

    g->selected = hart;
    if (is_interrupted(g, hart)) {
        return;
    }
    if (back ? !h->at : h->at + 1 >= replay_length(h->replay)) {
        insn = replay_insn(h->replay, h->at);
        gdb_put_stop(g, hart, no_step(g, insn, back));
        return;
    }
    at = back ? h->at - 1 : h->at + 1;
    if (!gdb_prepare(g, hart, at)) {
        gdb_put_stop(g, hart, GDB_STOP_INTERRUPT);
        return;
    }
    say_gap(g, hart, MAX(at, h->at));
    h->at = at;
    if (all) {
        gdb_others_go_on(g, hart, back, NULL);
    }
    insn = replay_insn(h->replay, h->at);
    gdb_put_stop(g, hart, insn && is_breakpoint(g, insn->pc) ?
                 GDB_STOP_BREAKPOINT : GDB_STOP_THERE);
}

/*
 * Where hart @stop->hart stops, and why: at a breakpoint of its own, or where
 * memory that is watched is accessed, with @all by any hart; or else at the end.
 */
static ReplayFound find_stop(GdbTarget *g, GdbPlace *stop, GdbStop *why,
                             bool back, bool all, uint64_t *bounds)
{
    GdbHart *h = &g->harts[stop->hart];
    ReplayFound found;

    stop->at = back ? 0 : replay_length(h->replay) - 1;
    *why = back ? GDB_STOP_BEGIN : GDB_STOP_END;
    found = replay_find(h->replay, h->at, back,
                        (const uint64_t *)g->breakpoints->data,
                        g->breakpoints->len, g->ops->poll, g->opaque,
                        &stop->at);
    if (found == REPLAY_FOUND) {
        *why = GDB_STOP_BREAKPOINT;
    } else if (found != REPLAY_NOT_FOUND) {
        return found;
    }
    found = gdb_find_access(g, stop, back, all, bounds);
    if (found == REPLAY_FOUND) {
        *why = GDB_STOP_WATCHPOINT;
        g->watched = stop->watched;
    }
    return found;
}

void gdb_continue(GdbTarget *g, unsigned hart, bool back, bool all)
{
    g_autofree uint64_t *bounds = g_new(uint64_t, g->nr_harts);
    GdbPlace stop = { .hart = hart };
    ReplayFound found;
    GdbStop why;

    gdb_hart_at(g, hart);
    g->selected = hart;
    if (is_interrupted(g, hart)) {
        return;
    }
    found = find_stop(g, &stop, &why, back, all, bounds);
    if ((found == REPLAY_FOUND || found == REPLAY_NOT_FOUND) &&
        !gdb_prepare(g, stop.hart, stop.at)) {
        found = REPLAY_STOPPED;
    }
    switch (found) {
    case REPLAY_STOPPED:
        gdb_put_stop(g, hart, GDB_STOP_INTERRUPT);
        break;
    case REPLAY_FOUND:
    case REPLAY_NOT_FOUND:
        g->harts[stop.hart].at = stop.at;
        g->selected = stop.hart;
        if (all) {
            gdb_others_go_on(g, stop.hart, back, bounds);
        }
        gdb_put_stop(g, stop.hart, why);
        break;
    default:
        gdb_error(g, "the trace cannot be decoded here any more: have its "
                  "files changed?");
        break;
    }
}

/*
 * ";ACTION[:THREAD]..." What moves is the thread that is named first, with a
 * step if there is one. The others go on meanwhile if an action is for them.
 */
void gdb_vcont(GdbTarget *g, const char *actions)
{
    g_auto(GStrv) list = g_strsplit(actions + 1, ";", -1);
    unsigned hart = g->selected;
    bool step = false, named = false, all = false;

    for (char **action = list; *action; action++) {
        const char *colon = strchr(*action, ':');
        bool steps = g_ascii_tolower(**action) == 's';
        unsigned which;

        if (!steps && g_ascii_tolower(**action) != 'c') {
            gdb_error(g, "vCont: only c, C, s and S");
            return;
        }
        if (!colon) {
            all = true;
            step |= steps && !named;
            continue;
        }
        colon++;
        all |= *colon == '-';
        if (!gdb_get_thread(g, &colon, &which) || *colon) {
            gdb_puts(g, "E01");
            return;
        }
        if (!named || (steps && !step)) {
            hart = which;
            step = steps;
            named = true;
        }
    }
    if (step) {
        gdb_step(g, hart, false, all);
    } else {
        gdb_continue(g, hart, false, all);
    }
}

static bool parse_breakpoint(const GdbTarget *g, const char *args,
                             uint64_t *address)
{
    uint64_t kind;

    if (!rsp_get_number(&args, address) || *args++ != ',' ||
        !rsp_get_number(&args, &kind)) {
        return false;
    }
    *address = gdb_address(g, *address);
    return true;
}

/* gdb may insert one that is there, and has it removed once then. */
void gdb_breakpoint(GdbTarget *g, bool insert, const char *args)
{
    GArray *all = g->breakpoints;
    uint64_t address;
    guint i = 0;
    bool there;

    if (!parse_breakpoint(g, args, &address)) {
        gdb_puts(g, "E01");
        return;
    }
    while (i < all->len && g_array_index(all, uint64_t, i) < address) {
        i++;
    }
    there = i < all->len && g_array_index(all, uint64_t, i) == address;
    if (insert && !there) {
        if (all->len == MAX_BREAKPOINTS) {
            gdb_error(g, "no more than %u breakpoints", MAX_BREAKPOINTS);
            return;
        }
        g_array_insert_val(all, i, address);
        i = find_address(g->removed, address);
        if (i < g->removed->len) {
            g_array_remove_index_fast(g->removed, i);
        }
    } else if (!insert && there) {
        g_array_remove_index(all, i);
        if (g->removed->len < MAX_BREAKPOINTS) {
            g_array_append_val(g->removed, address);
        }
    }
    gdb_puts(g, "OK");
}

static bool same_watch(const ReplayWatch *a, const ReplayWatch *b)
{
    return a->addr == b->addr && a->len == b->len && a->loads == b->loads &&
           a->stores == b->stores;
}

static bool has_data(const GdbTarget *g)
{
    for (unsigned i = 0; i < g->nr_harts; i++) {
        if (g->harts[i].states) {
            return true;
        }
    }
    return false;
}

void gdb_watchpoint(GdbTarget *g, bool insert, char kind, const char *args)
{
    ReplayWatch watch = { .loads = kind != '2', .stores = kind != '3' };
    guint i = 0;

    if (!has_data(g)) {
        /* gdb says that it failed, not why. */
        if (insert) {
            say_warn("gdb asks for a watchpoint: " NO_DATA);
        }
        gdb_error(g, NO_DATA);
        return;
    }
    if (!rsp_get_number(&args, &watch.addr) || *args++ != ',' ||
        !rsp_get_number(&args, &watch.len) || *args || !watch.len) {
        gdb_puts(g, "E01");
        return;
    }
    watch.addr = gdb_address(g, watch.addr);
    while (i < g->watches->len &&
           !same_watch(&g_array_index(g->watches, ReplayWatch, i), &watch)) {
        i++;
    }
    if (insert && i == MAX_WATCHES) {
        gdb_error(g, "no more than %u watchpoints", MAX_WATCHES);
        return;
    }
    if (insert && i == g->watches->len) {
        g_array_append_val(g->watches, watch);
    } else if (!insert && i < g->watches->len) {
        g_array_remove_index(g->watches, i);
    }
    gdb_puts(g, "OK");
}
